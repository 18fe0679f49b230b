"""The evaluation row: evaluators write it, the cache keeps it, the search tree reads it.

The evaluation of a position is one row of float32. All values are for the side to move:

========  ==============================================================================================================
0-2       probabilities of a win, a loss and no result
3         lead: the points by which the side to move is ahead
4, 5      mean and standard deviation of the final score, in points
6-8       short-term errors: the expected error of win minus loss, that of the score in points, and the number of turns
          until the value settles; UNKNOWN from an evaluator that does not estimate them
9-        policy [area + 1] in move-index order: 0 on illegal moves, sums to 1
then      ownership [area] in -1..1; +1: the side to move owns the point
then      AMAF statistics [2, 2, area], from rollouts only (`Evaluator.is_rollout`). [0] is about the side to move, [1]
          about the opponent: the share of rollouts in which that player was the first to play at a point, and the sum
          over these of win minus loss for that player, divided by the number of all rollouts
========  ==============================================================================================================

The numbers come first so that their columns are the same on every board.
"""

from dataclasses import dataclass

import numpy as np

from ...base.jit import inline

WIN, LOSS, NO_RESULT, LEAD, SCORE_MEAN, SCORE_STDEV, VALUE_ERROR, SCORE_ERROR, VARIANCE_TIME, POLICY = range(10)
UNKNOWN = -1.0  # in the columns of short-term errors; KataGo prints the same number


@inline
def ownership_column(area: int) -> int:
    """Returns the column at which ownership begins, for a board of `area` points."""
    return POLICY + area + 1


@inline
def amaf_column(area: int) -> int:
    """Returns the column at which AMAF statistics begin, and rows without them end."""
    return POLICY + 2 * area + 1


def row_columns(area: int, *, amaf: bool = False) -> int:
    """Returns the number of columns of a row, with or without AMAF statistics."""
    return amaf_column(area) + (4 * area if amaf else 0)


@dataclass(frozen=True)
class EvaluationRow:
    """A named view of one row for readers outside compiled code.

    Args:
        row: float32 [columns], not copied.
        area: the number of points of the board.
    """

    row: np.ndarray
    area: int

    @property
    def value(self) -> np.ndarray:
        """Probabilities of a win, a loss and no result, float32 [3]."""
        return self.row[WIN:LEAD]

    @property
    def winrate(self) -> float:
        """The win rate of the side to move, 0 to 1; half of no result counts as a win."""
        win, loss, _ = self.value.tolist()
        return 0.5 + 0.5 * (win - loss)

    @property
    def lead(self) -> float:
        """The points by which the side to move is ahead."""
        return float(self.row[LEAD])

    @property
    def score_mean(self) -> float:
        """The mean of the final score, in points."""
        return float(self.row[SCORE_MEAN])

    @property
    def score_stdev(self) -> float:
        """The standard deviation of the final score, in points."""
        return float(self.row[SCORE_STDEV])

    @property
    def short_term_errors(self) -> np.ndarray:
        """Expected errors of win minus loss and of the score, and turns until the value settles, float32 [3].

        Each is UNKNOWN if the evaluator does not estimate them.
        """
        return self.row[VALUE_ERROR:POLICY]

    @property
    def policy(self) -> np.ndarray:
        """Move probabilities, float32 [area + 1]."""
        return self.row[POLICY : ownership_column(self.area)]

    @property
    def ownership(self) -> np.ndarray:
        """The owner of each point in -1..1, float32 [area]."""
        return self.row[ownership_column(self.area) : amaf_column(self.area)]

    @property
    def amaf(self) -> np.ndarray | None:
        """AMAF statistics, float32 [2, 2, area]; None unless the evaluator is a rollout evaluator."""
        rest = self.row[amaf_column(self.area) :]
        return rest.reshape(2, 2, self.area) if len(rest) else None
