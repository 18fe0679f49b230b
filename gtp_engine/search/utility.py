"""The utility that the search maximises: winning, and a little of the score.

Expected utilities of a score as in David J. Wu, "Accelerating Self-Play Learning in Go", 2019, appendix, and KataGo's
staticScoreUtilityFactor and dynamicScoreUtilityFactor.
"""

import math
from typing import NamedTuple

import numpy as np

from ..base.jit import inline, njit
from ..go.coords import BLACK

# KataGo's: the static utility saturates within 2 sqrt(area) around zero, the dynamic one within 0.75 sqrt(area) around
# a centre that is a fifth nearer to zero than the score expected at the root.
_STATIC_WIDTH = 2.0
_DYNAMIC_WIDTH = 0.75
_CENTRE_SHARE = 0.8


def _make_corrections() -> np.ndarray:
    """Returns `_CORRECTIONS`, by a sum over eight standard deviations."""
    draws = np.linspace(-4, 4, 81)
    weights = np.exp(-(draws**2) / 2)
    weights /= weights.sum()
    scores = np.arange(_SCORES + 1)[:, None] / _STEPS
    deviations = np.arange(_DEVIATIONS + 1)[None, :] / _STEPS
    means = sum(weight * np.arctan(scores + draw * deviations) for draw, weight in zip(draws, weights, strict=True))
    return np.asarray((means - np.arctan(scores)) * 2 / np.pi, np.float32)


# The difference of the mean of 2/pi atan(x) over a normal distribution from the value at its mean, by the mean and by
# the standard deviation, both in steps of 1/8. Interpolated, it is accurate to 0.001 (a quadrature of five points to
# 0.03).
_STEPS, _SCORES, _DEVIATIONS = 8, 128, 96
_CORRECTIONS = _make_corrections()


class Utility(NamedTuple):
    """The weights of the score in the utility.

    Attributes:
        static: The weight of the score itself.
        dynamic: The weight of the score relative to `centre`.
        centre: The score in points, for Black, around which the dynamic part is steepest.
    """

    static: float
    dynamic: float
    centre: float


@njit
def centred(scale: Utility, score: float, area: int, to_move: int) -> Utility:
    """Returns the utility centred for a root at which the side to move expects this score."""
    reach = _DYNAMIC_WIDTH * math.sqrt(area)
    centre = min(max(_CENTRE_SHARE * score, score - reach), score + reach)
    return Utility(scale.static, scale.dynamic, centre if to_move == BLACK else -centre)


@inline
def _expected(score: float, stdev: float, width: float) -> float:
    """Returns the mean of 2/pi atan(x / width) for a normal x."""
    x = score / width
    row = min(abs(x) * _STEPS, _SCORES - 1e-9)
    column = min(stdev / width * _STEPS, _DEVIATIONS - 1e-9)
    i, j = int(row), int(column)
    below, left = row - i, column - j
    nearer = (1 - left) * _CORRECTIONS[i, j] + left * _CORRECTIONS[i, j + 1]
    farther = (1 - left) * _CORRECTIONS[i + 1, j] + left * _CORRECTIONS[i + 1, j + 1]
    correction = (1 - below) * nearer + below * farther
    return math.atan(x) * 2.0 / math.pi + (correction if x > 0.0 else -correction)


@njit
def utility_of(value: float, score: float, stdev: float, area: int, to_move: int, scale: Utility) -> float:
    """Returns the utility of win minus loss and a score with its standard deviation, all for the side to move."""
    root = math.sqrt(area)
    utility = value + scale.static * _expected(score, stdev, _STATIC_WIDTH * root)
    if scale.dynamic != 0.0:
        centre = scale.centre if to_move == BLACK else -scale.centre
        utility += scale.dynamic * _expected(score - centre, stdev, _DYNAMIC_WIDTH * root)
    return utility


@inline
def slope_of(score: float, area: int, to_move: int, scale: Utility) -> float:
    """Returns about by how much one more point raises the utility, for the side to move."""
    root = math.sqrt(area)
    width = _STATIC_WIDTH * root
    slope = scale.static * width / (width * width + score * score)
    if scale.dynamic != 0.0:
        width = _DYNAMIC_WIDTH * root
        score -= scale.centre if to_move == BLACK else -scale.centre
        slope += scale.dynamic * width / (width * width + score * score)
    return slope * 2.0 / math.pi
