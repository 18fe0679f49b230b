"""Shipped networks, as package data: installed as `gtp_engine.weights`."""
