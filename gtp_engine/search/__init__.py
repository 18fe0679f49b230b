"""The tree search: selection, the tree, the clock, and the end of the game. Compiled, and free of torch."""
