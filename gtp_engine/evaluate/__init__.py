"""What a position is worth: the evaluator interface and those who fill it."""
