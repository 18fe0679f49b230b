"""Elo difference and score of a match, each with its 95 % interval, means of several matches, and the sequential test
that ends a match.

The test is the generalised sequential probability ratio test (GSPRT): the likelihood of the results is maximised under
each of two hypotheses about the expected score, without assumptions about draws or the correlation of the games of a
pair. Source: M. Van den Bergh, "A practical introduction to the GSPRT" and the multinomial maximum likelihood it rests
on (hardy.uhasselt.be/Fishtest: GSPRT_approximation.pdf, support_MLE_multinomial.pdf), as used by Stockfish's fishtest.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import UserError
from ..base.fields import Range, invalid

# Two-sided 95 % quantile of the normal distribution.
Z95 = 1.959963984540054
# The same of Student's distribution with 1, 2, ... degrees of freedom.
_STUDENT95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
# With fewer pairs the estimate of their variance has a standard error of more than half of it: sqrt(2 / (pairs - 1)).
_LEAST_PAIRS = 10
# fishtest's count for results that have not occurred yet, to avoid the logarithm of zero.
UNSEEN = 1e-3
# Beyond it the expected score is 0 or 1 but for rounding, and no result could be likely under the hypothesis.
_LARGEST_ELO = 3000.0


@dataclass(frozen=True)
class Tally:
    """The results of one side of a match."""

    wins: int
    draws: int
    losses: int
    # Numbers of finished pairs of games (one opening, both colours) in which this side scored 0, 1/2, 1, 1 1/2 and 2
    # points. The games of pairs are in the other counts too.
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


def finite_elo(tally: Tally) -> float:
    """Returns the Elo difference of a match to which half a win and half a loss were added: it is never infinite."""
    return elo_difference((tally.games * tally.score + 1 / 2) / (tally.games + 1))


def mean_margin(values: Sequence[float]) -> float:
    """Returns by how much the true mean may differ from that of these values in either direction, with 95 % confidence.

    The values, at least two, are assumed to be independent and normally distributed (Student 1908).
    """
    return student_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def student_quantile(freedom: int) -> float:
    """Returns the two-sided 95 % quantile of Student's distribution with a number of degrees of freedom."""
    if freedom <= len(_STUDENT95):
        return _STUDENT95[freedom - 1]
    # The first terms of its expansion around the normal distribution (Abramowitz and Stegun, 26.7.5).
    cubic, quintic = (Z95**3 + Z95) / 4, (5 * Z95**5 + 16 * Z95**3 + 3 * Z95) / 96
    return Z95 + cubic / freedom + quintic / freedom**2


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
    is_paired = sum(tally.pairs) >= _LEAST_PAIRS
    counts = tally.pairs if is_paired else (tally.losses, tally.draws, tally.wins)
    total = max(sum(counts), 1)
    values = [i / (len(counts) - 1) for i in range(len(counts))]
    mean = sum(value * count for value, count in zip(values, counts, strict=True)) / total
    variance = sum(count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)) / total
    return 2.0 * variance if is_paired else variance


@dataclass(frozen=True)
class Sprt:
    """A sequential test of two hypotheses about player "A": that it is `elo0` stronger, or `elo1` (logistic Elo).

    Raises UserError if `elo0` is not below `elo1`, a difference is too large, or a probability not between 0 and 0.5.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05  # the probability of accepting H1 although H0 is true
    beta: float = 0.05  # the probability of accepting H0 although H1 is true

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise UserError(f"sprt needs elo0 < elo1, got {self.elo0:g} and {self.elo1:g}")
        if max(-self.elo0, self.elo1) > _LARGEST_ELO:
            raise UserError(f"sprt: Elo differences up to {_LARGEST_ELO:g}, not {self.elo0:g} and {self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < value < 0.5:
                raise UserError(f"sprt {name} is {value:g}; it must lie between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which H0 and H1 are accepted (A. Wald, 1945)."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)

    def ratio(self, tally: Tally) -> float:
        """Returns the log likelihood ratio of H1 to H0: from the pairs if there are any, otherwise from the games."""
        counts = tally.pairs if sum(tally.pairs) else (tally.losses, tally.draws, tally.wins)
        return log_likelihood_ratio(counts, self.elo0, self.elo1)

    def verdict(self, tally: Tally) -> str | None:
        """Returns the accepted hypothesis, "H0" or "H1"; None if undecided."""
        ratio, (lower, upper) = self.ratio(tally), self.bounds
        if ratio >= upper:
            return "H1"
        return "H0" if ratio <= lower else None


def as_sprt(value: Sprt | tuple[float, float]) -> Sprt:
    """Returns the test that a caller gives as Sprt or as the Elo differences of H0 and H1; UserError for others."""
    if isinstance(value, Sprt):
        return value
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise invalid("sprt", value, "two Elo differences, such as (0, 20)")
    elo0, elo1 = (Range().parse("Elo difference", elo, from_text=False) for elo in value)
    return Sprt(elo0, elo1)


def log_likelihood_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Returns the generalised log likelihood ratio of "elo1 stronger" to "elo0 stronger".

    `counts` are how often each score occurred, from 0 to 1 in even steps: losses, draws and wins, or the five results
    of a pair. Before the first result the ratio is 0.
    """
    if sum(counts) == 0:
        return 0.0
    seen = [count or UNSEEN for count in counts]
    total = sum(seen)
    rates = [count / total for count in seen]
    likeliest0 = _likeliest(rates, expected_score(elo0))
    likeliest1 = _likeliest(rates, expected_score(elo1))
    return total * sum(
        rate * math.log(one / zero) for rate, zero, one in zip(rates, likeliest0, likeliest1, strict=True)
    )


def _likeliest(rates: list[float], mean: float) -> list[float]:
    """Returns the distribution with the given mean that maximises the likelihood of the observed rates.

    It is rate / (1 + x * (score - mean)) with the x that yields this mean (support_MLE_multinomial.pdf, 1.2). The
    excess decreases with x, so that bisection finds it.
    """
    offsets = [i / (len(rates) - 1) - mean for i in range(len(rates))]
    low, high = -1.0 / offsets[-1], -1.0 / offsets[0]
    for _ in range(100):
        x = (low + high) / 2.0
        excess = sum(rate * offset / (1.0 + x * offset) for rate, offset in zip(rates, offsets, strict=True))
        low, high = (x, high) if excess > 0.0 else (low, x)
    x = (low + high) / 2.0
    return [rate / (1.0 + x * offset) for rate, offset in zip(rates, offsets, strict=True)]
