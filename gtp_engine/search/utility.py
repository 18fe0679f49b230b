"""What the search maximises: winning, and a little of the score.

Expected utilities of a score as in David J. Wu, "Accelerating Self-Play Learning in Go", 2019, appendix, and KataGo's
staticScoreUtilityFactor and dynamicScoreUtilityFactor.
"""

import math
from typing import NamedTuple

from ..compiled import inline, njit
from ..game.coords import BLACK

# KataGo's: the static utility saturates within 2 square roots of the area round zero, the dynamic one within 0.75 of
# one round a centre a fifth nearer to zero than the score that the root expects.
_STATIC_WIDTH = 2.0
_DYNAMIC_WIDTH = 0.75
_CENTRE_SHARE = 0.8
# Gauss-Hermite quadrature of five points over a normal distribution.
_NEAR, _NEAR_WEIGHT = 1.355626179974266, 0.2220759220056126
_FAR, _FAR_WEIGHT = 2.856970013872806, 0.011257411327720682
_MIDDLE_WEIGHT = 0.5333333333333333


class Utility(NamedTuple):
    """The weights of the score beside win and loss; centre: black's points round which it counts most."""

    static: float
    dynamic: float
    centre: float


def centre_of(score: float, area: int) -> float:
    """The centre for a root that expects so many points."""
    reach = _DYNAMIC_WIDTH * math.sqrt(area)
    return min(max(_CENTRE_SHARE * score, score - reach), score + reach)


@inline
def _expected(score: float, stdev: float, width: float) -> float:
    """The mean of 2/pi atan(x / width) for a normal x."""
    middle = math.atan(score / width)
    if stdev == 0.0:
        return middle * 2.0 / math.pi
    near = math.atan((score - _NEAR * stdev) / width) + math.atan((score + _NEAR * stdev) / width)
    far = math.atan((score - _FAR * stdev) / width) + math.atan((score + _FAR * stdev) / width)
    return (_MIDDLE_WEIGHT * middle + _NEAR_WEIGHT * near + _FAR_WEIGHT * far) * 2.0 / math.pi


@njit
def utility_of(value: float, score: float, stdev: float, area: int, to_move: int, scale: Utility) -> float:
    """Of win minus loss and a score with its standard deviation, all for the side to move."""
    root = math.sqrt(area)
    utility = value + scale.static * _expected(score, stdev, _STATIC_WIDTH * root)
    if scale.dynamic != 0.0:
        centre = scale.centre if to_move == BLACK else -scale.centre
        utility += scale.dynamic * _expected(score - centre, stdev, _DYNAMIC_WIDTH * root)
    return utility


@inline
def slope_of(score: float, area: int, to_move: int, scale: Utility) -> float:
    """By how much a point more raises the utility, about, for the side to move."""
    root = math.sqrt(area)
    width = _STATIC_WIDTH * root
    slope = scale.static * width / (width * width + score * score)
    if scale.dynamic != 0.0:
        width = _DYNAMIC_WIDTH * root
        score -= scale.centre if to_move == BLACK else -scale.centre
        slope += scale.dynamic * width / (width * width + score * score)
    return slope * 2.0 / math.pi
