"""The evaluation of positions: the interface of evaluators, and the evaluators themselves."""
