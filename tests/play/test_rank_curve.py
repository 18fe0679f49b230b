"""The curve from which `benchmarks/rank_ladder.py` reads the strength of each rank."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def importable() -> None:
    sys.path.append(str(BENCHMARKS))


def test_a_strength_has_the_elo_for_which_it_was_chosen() -> None:
    from rank_curve import Curve

    strengths, elos = np.array([0.8, 1.0, 2.0, 3.0]), np.array([0.0, 100.0, 100.0, 300.0])
    curve = Curve(strengths, elos, np.zeros((3, 3)), None, 0.0)
    for elo in np.linspace(0, 300, 31):
        assert curve.elo(curve.strength_at(elo)) == pytest.approx(elo)
    assert curve.strength_at(100) == 1.0  # the lowest one on a plateau
    assert (curve.strength_at(-5), curve.strength_at(305)) == (0.8, 3.0)


def test_a_curve_follows_the_games_and_never_falls() -> None:
    from rank_curve import Pairing, fit

    pairings = [Pairing(1.0, 0.0, 64, 100), Pairing(2.0, 1.0, 45, 100), Pairing(3.0, 2.0, 76, 100)]
    curve = fit([0.0, 1.0, 2.0, 3.0], pairings, anchor=-1.0)
    assert curve.elos == pytest.approx([0, 100, 100, 300], abs=5)
    assert np.isnan(curve.errors).tolist() == [False, False, True, False]


def test_the_error_of_a_difference_follows_from_the_number_of_games() -> None:
    from rank_curve import Pairing, fit

    games = [Pairing(1.0, 0.0, 256, 400), Pairing(2.0, 1.0, 256, 400)]
    curve = fit([0.0, 1.0, 2.0], games, anchor=-1.0)
    one = 400 / np.log(10) / np.sqrt(400 * 0.64 * 0.36)
    assert curve.difference(1.0, 0.0) == pytest.approx((100, one), rel=0.01)
    assert curve.difference(2.0, 0.0) == pytest.approx((200, one * 2**0.5), rel=0.01)
    assert curve.difference(1.5, 0.5) == pytest.approx((100, one / 2**0.5), rel=0.01)
