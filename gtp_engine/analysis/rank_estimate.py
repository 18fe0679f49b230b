"""Estimates of players' ranks from the kinds of their moves (`rank_evidence`), by Bayes' rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..languages.texts import DEFAULT, texts
from ..play.ranks import Rank

CONFIDENCE = 0.95
FEWEST_MOVES = 10  # that tell something about a rank. Chosen by judgement


@dataclass(frozen=True, eq=False)
class RankModel:
    """How often players of each rank make moves of each kind, with one network on one board.

    Attributes:
        shares: The shares of the kinds in the moves of each rank, float [KINDS], which sum to 1; the ranks ascend.
        spread: How many times as much as independent moves the evidence of games varies, at least 1.
    """

    shares: Mapping[Rank, np.ndarray]
    spread: float


@dataclass(frozen=True)
class RankEstimate:
    """An estimate of a player's rank.

    Attributes:
        rank: The rank nearest to the mean.
        low: The lower end of the interval that holds the rank with a probability of 95 %.
        high: Its upper end.
        moves: The number of moves that it is made from.
        or_weaker: Whether the interval reaches the weakest rank that was measured: the player may be weaker.
        or_stronger: The same for the strongest one.
    """

    rank: Rank
    low: Rank
    high: Rank
    moves: int
    or_weaker: bool
    or_stronger: bool

    def interval(self, language: str = DEFAULT) -> str:
        """Returns the interval as text: "14k to 9k", "25k or weaker to 22k", or "4d or stronger" for a single rank."""
        text = texts(language)
        low = text("players.orWeaker", rank=str(self.low)) if self.or_weaker else str(self.low)
        high = text("players.orStronger", rank=str(self.high)) if self.or_stronger else str(self.high)
        if self.low == self.high:
            return high if self.or_stronger else low
        return text("players.interval", low=low, high=high)

    def text(self, language: str = DEFAULT) -> str:
        """Returns the rank and the interval, "12k (14k to 9k)"; the interval alone if it is a single rank."""
        interval = self.interval(language)
        if self.low == self.high:
            return interval
        return texts(language)("players.rankInterval", rank=str(self.rank), interval=interval)

    def __str__(self) -> str:
        return self.text()


def estimate_as_data(found: RankEstimate | None) -> dict[str, Any] | None:
    """Returns an estimate as data for JSON."""
    if found is None:
        return None
    return {
        "rank": str(found.rank),
        "low": str(found.low),
        "high": str(found.high),
        "or_weaker": found.or_weaker,
        "or_stronger": found.or_stronger,
        "moves": found.moves,
    }


def estimate(model: RankModel, counts: np.ndarray) -> RankEstimate | None:
    """Estimates the rank of a player; each rank of the model is equally likely before the moves are seen.

    Args:
        model: Of the network that found the evidence, on the same board.
        counts: How many moves of each kind the player made, int [KINDS].

    Returns:
        The estimate; None with fewer than FEWEST_MOVES moves.
    """
    if counts.sum() < FEWEST_MOVES:
        return None
    ranks = list(model.shares)
    log_likelihoods = np.log(np.array([*model.shares.values()])) @ counts / model.spread
    weights = np.exp(log_likelihoods - log_likelihoods.max())
    cumulative = np.cumsum(weights) / weights.sum()
    tail = (1 - CONFIDENCE) / 2
    low, high = (ranks[int(np.searchsorted(cumulative, share))] for share in (tail, 1 - tail))
    mean = float(np.array([rank.number for rank in ranks]) @ weights / weights.sum())
    nearest = min(ranks, key=lambda rank: abs(rank.number - mean))
    return RankEstimate(nearest, low, high, int(counts.sum()), low == ranks[0], high == ranks[-1])
