"""What moves say about the rank of who plays them: the points that each loses, and how likely a network finds it."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..game.coords import BLACK, PASS, WHITE, index_of_point
from ..game.game import Move

if TYPE_CHECKING:
    from ..evaluate.batch import Evaluation

# The loss of a move is measured this many moves later, or at the end of the game: the same player is to move again, so
# that what the network thinks of the right to move cancels out. Chosen by measurement (docs/ranks.md), as the limits
# between the kinds are.
HORIZON = 2
LOSSES = (-6.0, -3.0, -1.0, 0.3, 1.5, 4.0, 8.0)  # points
PRIORS = (0.02, 0.1, 0.4, 0.7)
KINDS = (len(LOSSES) + 1) * (len(PRIORS) + 1)


def count_kinds(evaluations: Sequence["Evaluation"]) -> dict[int, np.ndarray]:
    """Counts the moves of each kind that both players made in a game.

    A move's loss is the fall of the lead that the network gives its player, without a search, from the position before
    it to the one `HORIZON` moves later; its prior is the probability that the network gives it. Passes are left out.

    Args:
        evaluations: Those of consecutive positions of one game; the first move that counts is made at the first one.

    Returns:
        The counts by colour, int [KINDS].
    """
    found = {colour: np.zeros(KINDS, np.int64) for colour in (BLACK, WHITE)}
    for number, (before, after) in enumerate(itertools.pairwise(evaluations)):
        move = after.game.moves[-1]
        if move.point != PASS:
            later = evaluations[min(number + HORIZON, len(evaluations) - 1)]
            found[move.colour][_kind(before, later, move)] += 1
    return found


def _kind(before: "Evaluation", later: "Evaluation", move: Move) -> int:
    loss = _lead(before, move.colour) - _lead(later, move.colour)
    prior = before.priors[index_of_point(move.point, before.game.width, before.game.height)]
    return int(np.digitize(loss, LOSSES)) * (len(PRIORS) + 1) + int(np.digitize(prior, PRIORS))


def _lead(evaluation: "Evaluation", colour: int) -> float:
    """Returns the points by which a player is ahead."""
    return evaluation.lead if evaluation.game.to_move == colour else -evaluation.lead
