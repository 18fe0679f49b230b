"""Training data: samples in memory, shards on disk, and batches of inputs and targets."""
