"""Distillation (Hinton, Vinyals and Dean 2015): a small network learns the outputs of a large one, its teacher.

`teacher` chooses the positions and evaluates them, and `labels` stores the results in a folder of shards.
"""
