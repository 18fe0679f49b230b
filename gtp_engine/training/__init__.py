"""Games that the engine plays against itself."""
