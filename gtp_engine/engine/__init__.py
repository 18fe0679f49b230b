"""How the engine plays a game: the engine and its search thread, time, the decision for a move, the end of the game."""
