"""What moves say about the player's rank: the points that each loses, and how likely a network finds it."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..game.coords import BLACK, PASS, WHITE, index_of_point
from ..game.game import Game, Move
from ..sgf import GameRecord

if TYPE_CHECKING:
    from ..evaluate.batch import Evaluation

# The loss of a move is measured this many moves later, or at the end of the game: the same player is to move again, so
# that what the network thinks of the right to move cancels out. Chosen by measurement (docs/ranks.md), as the limits
# between the kinds are.
HORIZON = 2
LOSSES = (-6.0, -3.0, -1.0, 0.3, 1.5, 4.0, 8.0)  # points
PRIORS = (0.02, 0.1, 0.4, 0.7)
KINDS = (len(LOSSES) + 1) * (len(PRIORS) + 1)
BATCH = 64  # positions of a game that are in memory at once


def count_kinds(
    positions: Iterable[Game], moves: Sequence[Move], evaluate: "Callable[[Iterable[Game]], Sequence[Evaluation]]"
) -> dict[int, np.ndarray]:
    """Counts the moves of each kind that both players made in a game.

    A move's loss is the fall of the lead that the network gives its player, without a search, from the position before
    it to the one `HORIZON` moves later; its prior is the probability that the network gives it. Passes are left out.

    Args:
        positions: The positions before each move and the one after the last; they may be one game that is played on in
            between, such as `GameRecord.positions`.
        moves: Consecutive moves of the game.
        evaluate: Evaluates up to `BATCH` of the positions, and copies each before it takes the next one, as
            `Network.evaluate` does.

    Returns:
        The counts by colour, int [KINDS].
    """
    leads: list[float] = []  # of Black
    priors: list[float] = []
    rest = iter(positions)
    while part := evaluate(itertools.islice(rest, BATCH)):
        for evaluation in part:
            if len(leads) < len(moves):
                priors.append(_prior(evaluation, moves[len(leads)]))
            leads.append(evaluation.lead if evaluation.game.to_move == BLACK else -evaluation.lead)
    found = {colour: np.zeros(KINDS, np.int64) for colour in (BLACK, WHITE)}
    for number, (move, prior) in enumerate(zip(moves, priors, strict=True)):
        if move.point != PASS:
            loss = leads[number] - leads[min(number + HORIZON, len(moves))]
            found[move.colour][_kind(loss if move.colour == BLACK else -loss, prior)] += 1
    return found


def _prior(evaluation: "Evaluation", move: Move) -> float:
    return float(evaluation.priors[index_of_point(move.point, evaluation.game.width, evaluation.game.height)])


def _kind(loss: float, prior: float) -> int:
    return int(np.digitize(loss, LOSSES)) * (len(PRIORS) + 1) + int(np.digitize(prior, PRIORS))


def why_unusable(record: GameRecord) -> str:
    """Returns why a record says nothing about its players' ranks; empty if it does.

    The losses are those of players who move in turns, in a game that nobody changes by hand.
    """
    played = 0
    for node in record.nodes:
        if played and node.has_setup:
            return f"stones are set up after move {played}"
        played += node.move is not None
    pairs = enumerate(itertools.pairwise(record.moves), 2)
    number = next((number for number, (one, other) in pairs if one.colour == other.colour), None)
    if number is None:
        return ""
    as_moves = " (handicap stones have to be set up, not played)" if number == 2 else ""
    return f"the players do not alternate at move {number}{as_moves}"
