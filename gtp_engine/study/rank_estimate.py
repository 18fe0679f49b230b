"""What rank on OGS a person plays like on 19x19, from one game, with an interval.

Two figures of the player's moves, by the network's outputs without a search, add up to the rank:
`benchmarks/people_ranks.py` fits them on games of people from 35k to 7d and measures how far the estimates are off.
They were measured for one network and for 19x19 only, so there is no estimate for others.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from ..go.coords import BLACK, PASS, WHITE
from ..search.evaluate.batch import Evaluation, evaluate_games
from ..search.evaluate.evaluator import Evaluator
from .searches import Positions

NETWORK = "b7c96h3tfrs-taught"
BOARD = (19, 19)
FEWEST_MOVES = 60
_ABSURD = 0.001  # a prior below it
_LARGE_LOSS = 5  # points

# The rank as a sum: the constant, and the weight of each figure in the order of `PlayFigures`. 1d is 0, 1k is -1.
CONSTANT = 4.15
WEIGHTS = (-44.91, -15.67)
# Nine in ten estimates are at most this many ranks off: a line over the estimate, and its least value.
INTERVAL, LEAST_INTERVAL = (-0.221, 4.930), 1.0
WEAKEST, STRONGEST = -35, 6  # the ranks of the people in these games: 35k to 7d


@dataclass(frozen=True)
class PlayFigures:
    """What the network says of one player's moves in a game, passes left out: means over the moves.

    Attributes:
        absurd: The share of moves with a prior below 0.1 %.
        large_losses: The share of moves that lost more than 5 points by the network's lead before and after them.
    """

    absurd: float
    large_losses: float


@dataclass(frozen=True)
class RankEstimate:
    """The rank that a person plays like: numbers in which 1d is 0 and 1k is -1.

    Attributes:
        rank: The estimate.
        low: The weaker end of its interval, which holds for nine in ten games.
        high: The stronger end.
    """

    rank: float
    low: float
    high: float

    @property
    def is_dan(self) -> bool:
        """Whether the estimate is 1d or stronger. How much stronger it does not tell."""
        return self.rank >= 0

    def __str__(self) -> str:
        """Returns "8k (14k to 3k)", or for dan players "1d or stronger (at least 4k)"."""
        if self.is_dan:
            return f"1d or stronger (at least {rank_name(self.low)})"
        return f"{rank_name(self.rank)} ({rank_name(self.low)} to {rank_name(self.high)})"


def rank_name(value: float) -> str:
    """Returns the rank that a number rounds to, from "35k" to "7d", the ranks of the people in the games."""
    rounded = round(min(max(value, WEAKEST), STRONGEST))
    return f"{rounded + 1}d" if rounded >= 0 else f"{-rounded}k"


def estimate_ranks(evaluator: Evaluator, positions: Positions) -> dict[int, RankEstimate]:
    """Returns what rank each player of a game plays like, by colour.

    Nobody is estimated by another network than `NETWORK`, on another board than 19x19, or from fewer than
    `FEWEST_MOVES` moves.
    """
    record = positions.record
    if evaluator.name != NETWORK or (record.width, record.height) != BOARD:
        return {}
    return {colour: estimate(figures) for colour, figures in figures_by_player(evaluator, positions).items()}


def figures_by_player(evaluator: Evaluator, positions: Positions) -> dict[int, PlayFigures]:
    """Returns the figures of the players who have made `FEWEST_MOVES` moves, by colour."""
    numbers: dict[int, list[int]] = {BLACK: [], WHITE: []}
    for number, move in enumerate(positions.moves[: positions.count - 1]):
        if move.point != PASS:
            numbers[move.colour].append(number)
    enough = {colour: own for colour, own in numbers.items() if len(own) >= FEWEST_MOVES}
    if not enough:
        return {}
    evaluations = evaluate_games(evaluator, [positions[number] for number in range(positions.count)])
    return {colour: figures_of(evaluations, positions, own) for colour, own in enough.items()}


def figures_of(evaluations: Sequence[Evaluation], positions: Positions, numbers: Sequence[int]) -> PlayFigures:
    """Returns the figures of the moves that were played in these positions.

    Args:
        evaluations: Of all positions of the game.
        positions: The positions.
        numbers: The numbers of the moves before those that count.
    """
    priors, losses = np.empty(len(numbers)), np.zeros(len(numbers))
    for place, number in enumerate(numbers):
        now, move = evaluations[number], positions.moves[number]
        priors[place] = now.policy[now.game.vertex(move.point)]
        after = evaluations[number + 1]
        if after.game.to_move != move.colour:
            losses[place] = now.lead + after.lead
    return PlayFigures(
        absurd=float((priors < _ABSURD).mean()),
        large_losses=float((losses > _LARGE_LOSS).mean()),
    )


def estimate(figures: PlayFigures) -> RankEstimate:
    """Returns the rank that these figures add up to."""
    rank = CONSTANT + float(np.dot(WEIGHTS, astuple(figures)))
    rank = min(max(rank, WEAKEST), STRONGEST)
    half = max(float(np.polyval(INTERVAL, rank)), LEAST_INTERVAL)
    return RankEstimate(rank, rank - half, rank + half)
