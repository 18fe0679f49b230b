"""The game and the board in a browser."""
