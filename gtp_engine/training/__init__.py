"""Training of networks: on games that the engine plays against itself, on game records, and on a teacher's outputs."""
