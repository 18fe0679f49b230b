"""What rank on OGS a person plays like on 19x19, from one game, as far as one game tells it.

Two figures of a player's moves, by the network's outputs without a search, add up to a rating, which has a rank on OGS.
`benchmarks/people_ranks.py` chooses and fits them on games of people from 35k to 7d, and measures how far the estimates
are off. They were measured for one network and for 19x19 only, so there is no estimate for others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.languages.texts import Phrase, texts
from ..go.coords import BLACK, PASS, WHITE
from ..search.evaluate.batch import Evaluation, evaluate_games
from ..search.evaluate.evaluator import Evaluator
from ..search.parameters import default_parameters
from .searches import Positions

NETWORK = "b10c384h6nbttflrs-int8"
BOARD = (19, 19)
FEWEST_MOVES = 60
_OPTIMISM = default_parameters(NETWORK).root_policy_optimism

# The rating, as a multiple of that of 30k, as a sum: the constant, and the weights of two figures of a player's moves
# without passes. The first is the mean logarithm of the ratio of a move's prior to the highest one, which counts as at
# least LEAST_RATIO. The second is the logarithm of the mean change of the lead from one of the player's turns to the
# next, in points, which counts as at most MOST_POINTS.
CONSTANT, LIKELIHOOD, SWING = 4.832, 0.534, -0.429
LEAST_RATIO, MOST_POINTS = 0.0003, 10.0
# Nine in ten ratings are at most this far off. From 10k on such an interval would soon be wider than 12 ranks, so only
# the group of weaker players is told.
HALF = 0.598
GROUPS = ((-35, -20), (-19, -10))
WEAKEST, STRONGEST = -35, 6  # the ranks of the people in these games: 35k to 7d


@dataclass(frozen=True)
class RankEstimate:
    """The rank that a person plays like.

    Attributes:
        rank: A number in which 1d is 0 and 1k is -1.
    """

    rank: float

    @property
    def group(self) -> tuple[int, int] | None:
        """The weakest and the strongest rank of the group of 10k to 19k or of 20k and weaker; None from 9k on."""
        return next((group for group in GROUPS if round(self.rank) <= group[1]), None)

    @property
    def low(self) -> float:
        """The weaker end of the group, or of the interval that nine ranks in ten are in."""
        return self.group[0] if self.group else rank_of(rating_of(self.rank) - HALF)

    @property
    def high(self) -> float:
        """The stronger end."""
        return self.group[1] if self.group else rank_of(rating_of(self.rank) + HALF)

    @property
    def is_dan(self) -> bool:
        """Whether the estimate is 1d or stronger. How much stronger it does not tell."""
        return round(self.rank) >= 0

    @property
    def in_words(self) -> Phrase:
        """The rank as far as it is told."""
        low, high = rank_name(self.low), rank_name(self.high)
        if self.is_dan:
            return Phrase("players.rankDan", {"low": low})
        if self.group:
            return Phrase("players.rankGroup", {"low": low, "high": high})
        return Phrase("players.rankCell", {"rank": rank_name(self.rank), "low": low, "high": high})

    def __str__(self) -> str:
        """Returns "8k (14k to 3k)", for dan players "1d or stronger (at least 4k)", for weak ones "19k to 10k"."""
        return texts().say(self.in_words)


def rank_name(value: float) -> str:
    """Returns the rank that a number rounds to, from "35k" to "7d", the ranks of the people in the games."""
    rounded = round(min(max(value, WEAKEST), STRONGEST))
    return f"{rounded + 1}d" if rounded >= 0 else f"{-rounded}k"


def rating_of(rank: Any) -> Any:
    """Returns the rating of a rank on OGS as a multiple of that of 30k (`benchmarks/ranks.md`); also of arrays."""
    return np.exp((rank + 30) / 23.15)


def rank_of(rating: Any) -> Any:
    """Returns the rank of such a rating, from 35k to 7d; also of arrays."""
    return 23.15 * np.log(np.clip(rating, rating_of(WEAKEST), rating_of(STRONGEST))) - 30


def estimate_ranks(evaluator: Evaluator, positions: Positions) -> dict[int, RankEstimate]:
    """Returns what rank each player of a game plays like, by colour.

    Nobody is estimated by another network than `NETWORK`, on another board than 19x19, or from fewer than
    `FEWEST_MOVES` moves.
    """
    record = positions.record
    if evaluator.name != NETWORK or (record.width, record.height) != BOARD:
        return {}
    players = own_moves(positions)
    if not players:
        return {}
    evaluations = evaluations_of(evaluator, positions)
    return {colour: estimate(*ratios_and_leads(evaluations, positions, numbers)) for colour, numbers in players.items()}


def evaluations_of(evaluator: Evaluator, positions: Positions) -> list[Evaluation]:
    """Returns the evaluations of all positions of a game, which a review has left in the cache."""
    games = [positions[number] for number in range(positions.count)]
    return evaluate_games(evaluator, games, optimism=_OPTIMISM)


def own_moves(positions: Positions) -> dict[int, list[int]]:
    """Returns the numbers of the moves before those of each player who has made `FEWEST_MOVES`, without passes."""
    numbers: dict[int, list[int]] = {BLACK: [], WHITE: []}
    for number, move in enumerate(positions.moves[: positions.count - 1]):
        if move.point != PASS:
            numbers[move.colour].append(number)
    return {colour: own for colour, own in numbers.items() if len(own) >= FEWEST_MOVES}


def ratios_and_leads(
    evaluations: Sequence[Evaluation], positions: Positions, numbers: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the ratio of each move's prior to the highest one, and the player's lead before it.

    Args:
        evaluations: Of all positions of the game.
        positions: The positions.
        numbers: The numbers of the moves before those that count.
    """
    before = [evaluations[number] for number in numbers]
    played = [now.game.vertex(positions.moves[number].point) for now, number in zip(before, numbers, strict=True)]
    ratios = [now.policy[vertex] / now.priors.max() for now, vertex in zip(before, played, strict=True)]
    return np.array(ratios), np.array([now.lead for now in before])


def estimate(ratios: np.ndarray, leads: np.ndarray) -> RankEstimate:
    """Returns the rank of one player's moves, from what `ratios_and_leads` has found."""
    likelihood = np.log(np.maximum(ratios, LEAST_RATIO)).mean()
    swing = np.log(np.minimum(np.abs(np.diff(leads)), MOST_POINTS).mean())
    return RankEstimate(float(rank_of(CONSTANT + LIKELIHOOD * likelihood + SWING * swing)))
