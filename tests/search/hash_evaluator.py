"""An evaluator of made-up but fixed opinions: they follow from the stones' hash and who is to move, so that a slow
reference search can ask for the same."""

from collections.abc import Callable

import numpy as np

from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.row import (
    LEAD,
    NO_RESULT,
    POLICY,
    SCORE_MEAN,
    SCORE_STDEV,
    UNKNOWN,
    VALUE_ERROR,
    WIN,
    ownership_column,
    row_columns,
)


def opinion(stones_hash: int, to_move: int, area: int) -> tuple[np.ndarray, float, float]:
    """Policy float32 [area+1] (illegal moves included), win minus loss, and score, for the side to move."""
    random = np.random.default_rng([stones_hash, to_move])
    policy = random.dirichlet(np.full(area + 1, 0.5)).astype(np.float32)
    return policy, float(np.float32(random.uniform(-1, 1))), float(np.float32(random.normal(0, 5)))


class HashEvaluator(Evaluator):
    """An evaluator with the opinions of `opinion`.

    Args:
        batch_size: Its number of positions in a batch.
        watch: Called with the arguments of each `submit`.
        change: Called with the rows, boards and indices of each, to change the rows.
    """

    name = "hash"
    largest_board = 25

    def __init__(
        self, batch_size: int = 1, watch: Callable[..., None] | None = None, change: Callable[..., None] | None = None
    ) -> None:
        self.batch_size = batch_size
        self._watch, self._change = watch, change

    def submit(self, boards, indices, symmetries=None, ladders=None, **options):  # type: ignore[no-untyped-def]
        if self._watch:
            self._watch(boards, indices, symmetries, **options)
        first = boards[indices[0]]
        area = int(first["width"]) * int(first["height"])
        opinions = [opinion(int(boards["hash"][i]), int(boards["to_move"][i]), area) for i in indices]
        rows = np.zeros((len(indices), row_columns(area)), np.float32)
        rows[:, WIN : NO_RESULT + 1] = [((1 + win) / 2, (1 - win) / 2, 0) for _, win, _ in opinions]
        rows[:, LEAD] = rows[:, SCORE_MEAN] = [score for _, _, score in opinions]
        rows[:, SCORE_STDEV] = 0
        rows[:, VALUE_ERROR:POLICY] = UNKNOWN
        rows[:, POLICY : ownership_column(area)] = [policy for policy, _, _ in opinions]
        # Black owns the first point, white the second, whoever is to move.
        signs = np.where(boards["to_move"][indices] == 1, 1, -1)
        rows[:, ownership_column(area)], rows[:, ownership_column(area) + 1] = signs, -signs
        if self._change:
            self._change(rows, boards, indices)
        return rows

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        return ticket
