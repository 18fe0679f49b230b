"""The curve from which `benchmarks/rank_ladder.py` reads the strength of each rank."""

import itertools
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

    pairings = [Pairing(1.0, 0.0, 6400, 10000), Pairing(2.0, 1.0, 4500, 10000), Pairing(3.0, 2.0, 7600, 10000)]
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


def test_a_curve_is_smooth_where_the_games_allow_it() -> None:
    from rank_curve import Pairing, fit

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
    from rank_curve import Pairing, fit

    points = [0.0, 0.3, 0.32, 0.34, 0.36, 1.0]
    near = [Pairing(b, a, 16, 25) for a, b in itertools.pairwise(points)]
    more = [*near, Pairing(0.34, 0.32, 640, 1000)]
    error = fit(points, near, anchor=-1.0).difference(0.32, 0.3)[1]
    assert fit(points, more, anchor=-1.0).difference(0.32, 0.3)[1] < 0.8 * error


def test_the_place_of_a_program_follows_from_its_games_against_ranks() -> None:
    from rank_ladder import PACHI_RANK, place_among

    from gtp_engine.games.elo import Tally
    from gtp_engine.play.ranks import Rank

    nothing, low, high = place_among({Rank(0): Tally(0, 0, 0)})
    assert nothing == pytest.approx(PACHI_RANK.number, abs=0.1)
    assert high - low == pytest.approx(2 * 1.96 * 5, abs=0.3)  # the prior
    # 64 % against the rank below is 100 Elo: the program is one rank above, and 36 % against the next shows the same.
    place, low, high = place_among({Rank(1): Tally(3600, 0, 6400), Rank(3): Tally(6400, 0, 3600)})
    assert place == pytest.approx(2, abs=0.1)
    assert 0 < high - low < 0.2
    drawn, *_ = place_among({Rank(1): Tally(0, 10000, 0)})
    assert drawn == pytest.approx(1, abs=0.1)
    beaten, _, high = place_among({Rank(-2): Tally(0, 0, 7)})
    assert -2 < beaten < high  # all games won: above the rank, but not without bounds
