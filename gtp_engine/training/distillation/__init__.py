"""Distillation (Hinton, Vinyals and Dean 2015): a small network learns the outputs of a large one, its teacher.

`walks` chooses the positions, `teacher` evaluates them, and `labels` stores the results in a folder of shards.
"""
