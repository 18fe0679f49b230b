"""A game played in the terminal, and the board drawn there."""
