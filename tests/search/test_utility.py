"""What a score is worth, against the integral that it stands for."""

import math

import numpy as np
import pytest

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.search.utility import Utility, centred, slope_of, utility_of


def expected(score: float, stdev: float, width: float) -> float:
    """The mean of 2/pi atan(x / width) over a normal distribution."""
    draws = np.linspace(-9, 9, 20001)
    weights = np.exp(-(draws**2) / 2)
    return float((weights * np.arctan((score + stdev * draws) / width)).sum() / weights.sum() * 2 / math.pi)


@pytest.mark.parametrize("area", [25, 81, 361])
@pytest.mark.parametrize(("score", "stdev"), [(0, 0), (3.5, 0), (-3.65, 10.95), (2, 25), (-40, 15), (200, 3), (0.5, 1)])
def test_scores_count_as_the_integral_says(area: int, score: float, stdev: float) -> None:
    scale = Utility(0.1, 0.3, 2.3)
    for colour, centre in ((BLACK, 2.3), (WHITE, -2.3)):
        static = expected(score, stdev, 2 * math.sqrt(area))
        dynamic = expected(score - centre, stdev, 0.75 * math.sqrt(area))
        found = utility_of(0.25, score, stdev, area, colour, scale)
        assert found == pytest.approx(0.25 + 0.1 * static + 0.3 * dynamic, abs=5e-4)
        assert found == pytest.approx(-utility_of(-0.25, -score, stdev, area, 3 - colour, scale), abs=1e-12)


def test_the_slope_is_that_of_the_utility() -> None:
    scale = Utility(0.1, 0.3, 4.0)
    for score, colour in ((-7.0, BLACK), (3.0, BLACK), (3.0, WHITE)):
        above, below = (utility_of(0.0, score + step, 0.0, 81, colour, scale) for step in (0.01, -0.01))
        assert slope_of(score, 81, colour, scale) == pytest.approx((above - below) / 0.02, rel=1e-3)


def test_the_centre_is_nearer_to_zero_but_not_far_from_the_score() -> None:
    scale = Utility(0.1, 0.3, 0.0)
    assert centred(scale, 5.0, 81, BLACK) == pytest.approx((0.1, 0.3, 4))
    assert centred(scale, 5.0, 81, WHITE).centre == pytest.approx(-4)
    assert centred(scale, -100.0, 81, BLACK).centre == pytest.approx(-100 + 0.75 * 9)
