"""Elo difference and win rate of a match, each with its 95 % interval."""

import math
from dataclasses import dataclass

# Two-sided 95 % quantile of the normal distribution.
Z95 = 1.959963984540054
# With fewer pairs the estimate of their variance has a standard error of more than half of it: sqrt(2 / (pairs - 1)).
_LEAST_PAIRS = 10


@dataclass(frozen=True)
class Tally:
    """The results of one side of a match.

    Attributes:
        wins: Games won.
        draws: Games drawn.
        losses: Games lost.
        pairs: Numbers of finished pairs of games (one opening, both colours) in which this side scored 0, 1/2, 1,
            1 1/2 and 2 points. The games of pairs are in the other counts too.
    """

    wins: int
    draws: int
    losses: int
    pairs: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game, 0..1, with half a point for a draw; 0.5 before the first game."""
        return (self.wins + 0.5 * self.draws) / self.games if self.games else 0.5


def expected_score(elo: float) -> float:
    """Returns the expected points per game of a player that is `elo` stronger (logistic Elo)."""
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


def elo_difference(score: float) -> float:
    """Returns the Elo difference for an expected score; infinite for scores up to 0 or from 1."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def wilson_interval(score: float, games: float) -> tuple[float, float]:
    """Returns the 95 % interval of a win rate (E. B. Wilson, 1927); (0, 1) before the first game.

    It assumes independent wins and losses; `score_interval` also fits draws and pairs. `games` need not be whole.
    """
    if games == 0:
        return 0.0, 1.0
    weight = Z95 * Z95 / games
    centre = (score + weight / 2.0) / (1.0 + weight)
    margin = Z95 * math.sqrt((score * (1.0 - score) + weight / 4.0) / games) / (1.0 + weight)
    # A rounding error would make an open end of the Elo interval a number.
    low = 0.0 if score <= 0.0 else max(0.0, centre - margin)
    return low, 1.0 if score >= 1.0 else min(1.0, centre + margin)


def score_interval(tally: Tally) -> tuple[float, float]:
    """Returns the 95 % interval of the score, 0 to 1.

    It is Wilson's interval for as many wins and losses as would have the variance of these results. The variance is
    that of the pairs once there are _LEAST_PAIRS (the pentanomial model: the games of a pair share an opening and are
    not independent), otherwise that of the games (trinomial: draws narrow the interval).
    """
    score, variance = tally.score, _variance(tally)
    if variance == 0.0:  # all results are equal
        return wilson_interval(score, tally.games)
    return wilson_interval(score, tally.games * score * (1.0 - score) / variance)


def elo_interval(tally: Tally) -> tuple[float, float]:
    """Returns the 95 % interval of the Elo difference, which is that of the score in Elo; its ends may be infinite."""
    low, high = score_interval(tally)
    return elo_difference(low), elo_difference(high)


def _variance(tally: Tally) -> float:
    """Returns the variance of a game's points; from pairs, twice the variance of a pair's mean."""
    if sum(tally.pairs) >= _LEAST_PAIRS:
        return 2.0 * _variance_of_counts(tally.pairs)
    return _variance_of_counts((tally.losses, tally.draws, tally.wins))


def _variance_of_counts(counts: tuple[int, ...]) -> float:
    """Returns the variance of scores with evenly spaced values from 0 to 1, given their counts, lowest value first."""
    total = sum(counts)
    if total == 0:
        return 0.0
    values = [i / (len(counts) - 1) for i in range(len(counts))]
    mean = sum(value * count for value, count in zip(values, counts, strict=True)) / total
    return sum(count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)) / total
