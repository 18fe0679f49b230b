"""Exact reading of life and death: whether stones can be captured in a part of the board, by proof."""

USUAL_SECONDS = 10.0  # for a group
