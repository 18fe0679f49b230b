"""Clients of the engine: GTP, the analysis protocol, the terminal, the browser, the command line."""
