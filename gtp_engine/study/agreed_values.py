"""What the positions of a reviewed game are worth, so that the curve falls by what the list says that a mistake costs.

The cost of a mistake may come from longer searches than the values of the positions around it, and a position between
two mistakes has been searched for both. So each run of mistakes in a row keeps their costs, and lies at the mean of
what the searches found.
"""

from collections.abc import Collection, Sequence
from itertools import groupby

import numpy as np

from .move_review import MoveReview, Worth, worth


def agreed_worths(moves: Sequence[MoveReview], told: Collection[int]) -> tuple[Worth, ...]:
    """Returns what the positions before the first move and after each are worth.

    Args:
        moves: The reviewed moves of a game, in order.
        told: The numbers of the moves whose costs are told; to these come those of which longer searches have taken all
            cost.
    """
    worths = [worth(move.before) for move in moves[:1]] + [worth(move.after) for move in moves]
    for is_told, run in groupby(range(len(moves)), lambda at: moves[at].longer is not None or moves[at].number in told):
        if is_told:
            places = [*run]
            played, better = np.swapaxes([moves[at].compared for at in places], 0, 1)
            path = np.vstack([np.zeros(2), np.cumsum(played - better, axis=0)])
            path += np.mean(better - path[:-1], axis=0)
            worths[places[0] : places[-1] + 2] = (Worth(lead, min(1, max(0, rate))) for lead, rate in path.tolist())
    return tuple(worths)
