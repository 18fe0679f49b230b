"""The fit of the rank benchmark: the curve from which strengths are read."""

import itertools

import numpy as np
import pytest
from rank_ladder import Curve, Pairing, fit


def test_a_strength_has_the_elo_for_which_it_was_chosen() -> None:
    strengths, elos = np.array([0.8, 1.0, 2.0, 3.0]), np.array([0.0, 100.0, 100.0, 300.0])
    curve = Curve(strengths, elos, np.zeros((3, 3)), None, 0.0)
    for elo in np.linspace(0, 300, 31):
        assert curve.elo(curve.strength_at(elo)) == pytest.approx(elo)
    assert curve.strength_at(100) == 1.0  # the lowest one on a plateau
    assert (curve.strength_at(-5), curve.strength_at(305)) == (0.8, 3.0)


def test_a_curve_follows_the_games_and_never_falls() -> None:
    pairings = [Pairing(1.0, 0.0, 6400, 10000), Pairing(2.0, 1.0, 4500, 10000), Pairing(3.0, 2.0, 7600, 10000)]
    curve = fit([0.0, 1.0, 2.0, 3.0], pairings, anchor=-1.0)
    assert curve.elos == pytest.approx([0, 100, 100, 300], abs=5)
    assert np.isnan(curve.errors).tolist() == [False, False, True, False]


def test_the_error_of_a_difference_follows_from_the_number_of_games() -> None:
    games = [Pairing(1.0, 0.0, 256, 400), Pairing(2.0, 1.0, 256, 400)]
    curve = fit([0.0, 1.0, 2.0], games, anchor=-1.0)
    one = 400 / np.log(10) / np.sqrt(400 * 0.64 * 0.36)
    assert curve.difference(1.0, 0.0) == pytest.approx((100, one), rel=0.01)
    assert curve.difference(2.0, 0.0) == pytest.approx((200, one * 2**0.5), rel=0.01)
    assert curve.difference(1.5, 0.5) == pytest.approx((100, one / 2**0.5), rel=0.01)


def test_a_curve_is_smooth_where_the_games_allow_it() -> None:
    points = [0.0, 0.1, 0.2, 0.3, 0.4, 1.0]
    won = [200, 160, 190, 160, 200]  # of 250: as two kinds of steps, or all alike with errors of 25 Elo

    def steps(games: float) -> np.ndarray:
        played = [
            Pairing(stronger, weaker, games * points_won, games * 250)
            for (weaker, stronger), points_won in zip(itertools.pairwise(points), won, strict=True)
        ]
        return np.diff(fit(points, played, anchor=-1.0).elos)

    few, many = steps(0.1), steps(100)
    assert np.ptp(few[1:4]) < np.ptp(many[1:4]) / 2
    assert many == pytest.approx(400 * np.log10(np.array(won) / (250 - np.array(won))), abs=3)


def test_games_also_tell_about_the_steps_beside_theirs() -> None:
    points = [0.0, 0.3, 0.32, 0.34, 0.36, 1.0]
    near = [Pairing(b, a, 16, 25) for a, b in itertools.pairwise(points)]
    more = [*near, Pairing(0.34, 0.32, 640, 1000)]
    error = fit(points, near, anchor=-1.0).difference(0.32, 0.3)[1]
    assert fit(points, more, anchor=-1.0).difference(0.32, 0.3)[1] < 0.8 * error
