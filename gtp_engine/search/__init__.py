"""The tree search: selection, evaluation in batches, backup, reports. Compiled, and free of torch."""
