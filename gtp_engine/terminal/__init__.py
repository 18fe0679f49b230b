"""The game and the board drawn in a terminal."""
