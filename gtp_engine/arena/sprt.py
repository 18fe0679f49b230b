"""Sequential probability ratio test of a match: stops as soon as the games decide between two Elo differences.

This is the generalised test (GSPRT): the likelihood of the results is maximised under each hypothesis about the
expected score, without assumptions about draws or the correlation of the games of a pair.
Source: M. Van den Bergh, "A practical introduction to the GSPRT" and the multinomial maximum likelihood it rests on
(hardy.uhasselt.be/Fishtest: GSPRT_approximation.pdf, support_MLE_multinomial.pdf), as used by Stockfish's fishtest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import UserError
from ..base.fields import Range, invalid, parse_number
from .elo import Tally, expected_score

# fishtest's count for results that have not occurred yet, to avoid the logarithm of zero.
UNSEEN = 1e-3
# Beyond it the expected score is 0 or 1 but for rounding, and no result could be likely under the hypothesis.
_LARGEST_ELO = 3000.0


@dataclass(frozen=True)
class Sprt:
    """A sequential test of two hypotheses about player "A" (logistic Elo).

    Attributes:
        elo0: H0 is that "A" is this much stronger.
        elo1: H1 is that "A" is this much stronger.
        alpha: Probability of accepting H1 although H0 is true.
        beta: Probability of accepting H0 although H1 is true.

    Raises:
        UserError: `elo0` is not below `elo1`, a difference is too large, or a probability is not between 0 and 0.5.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

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


def as_sprt(value: Sprt | tuple[float, float] | None) -> Sprt | None:
    """Returns the test that a caller gives as Sprt or as the Elo differences of H0 and H1.

    Raises:
        UserError: It is neither, or `Sprt` refuses the differences.
    """
    if value is None or isinstance(value, Sprt):
        return value
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise invalid("sprt", value, "two Elo differences, such as (0, 20)")
    elo0, elo1 = (parse_number("Elo difference", elo, Range(), from_text=False) for elo in value)
    return Sprt(elo0, elo1)


def log_likelihood_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Returns the generalised log likelihood ratio of "elo1 stronger" to "elo0 stronger".

    Args:
        counts: How often each score occurred, from 0 to 1 in even steps: losses, draws and wins, or the five results
            of a pair.
        elo0: Elo difference of H0.
        elo1: Elo difference of H1.

    Returns:
        The ratio; 0.0 before the first result.
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
