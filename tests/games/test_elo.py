"""Elo, win rate and their intervals against literal numbers."""

import math

import pytest

from gtp_engine.games.elo import Tally, elo_difference, elo_interval, expected_score, wilson_interval


def test_elo_of_known_scores() -> None:
    assert str(elo_difference(0.5)) == "0.0"  # not -0.0: it is shown
    assert elo_difference(0.6) == pytest.approx(70.4365, abs=1e-4)
    assert elo_difference(0.75) == pytest.approx(190.8485, abs=1e-4)
    assert elo_difference(0.25) == pytest.approx(-190.8485, abs=1e-4)
    assert elo_difference(1.0) == math.inf
    assert elo_difference(0.0) == -math.inf


def test_expected_score_is_the_inverse() -> None:
    assert expected_score(400.0) == pytest.approx(10 / 11)
    assert elo_difference(expected_score(123.0)) == pytest.approx(123.0)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval_matches_newcombe(wins: int, games: int, low: float, high: float) -> None:
    assert wilson_interval(wins / games, games) == pytest.approx((low, high), abs=5e-5)


def test_wilson_interval_before_the_first_game() -> None:
    assert wilson_interval(0.5, 0) == (0.0, 1.0)


def test_elo_interval_of_games() -> None:
    # 0.6 +- 1.96 * sqrt(0.24 / 100)
    low, high = elo_interval(Tally(wins=60, draws=0, losses=40))
    assert (low, high) == pytest.approx((elo_difference(0.503982), elo_difference(0.696018)), abs=1e-3)


def test_draws_narrow_the_interval() -> None:
    few = elo_interval(Tally(wins=50, draws=0, losses=50))
    many = elo_interval(Tally(wins=10, draws=80, losses=10))
    assert many[1] < few[1]


def test_elo_interval_of_pairs_uses_their_spread() -> None:
    # Won as White and lost as Black in nearly every opening: the score of a pair hardly varies.
    tally = Tally(wins=50, draws=0, losses=50, pairs=(1, 0, 48, 0, 1))
    # variance of a pair's score: 2 * 0.25 / 50 = 0.01; 1.96 * sqrt(2 * 0.01 / 100) = 0.0277
    assert elo_interval(tally)[1] == pytest.approx(elo_difference(0.5 + 0.0277181), abs=1e-3)


def test_elo_interval_of_a_clean_sweep_is_open_above() -> None:
    low, high = elo_interval(Tally(wins=20, draws=0, losses=0, pairs=(0, 0, 0, 0, 10)))
    assert low == pytest.approx(elo_difference(1 - 0.16113), abs=0.05)
    assert high == math.inf


def test_interval_of_a_clean_sweep_reaches_the_end_whatever_is_rounded() -> None:
    assert {wilson_interval(1.0, games)[1] for games in range(1, 200)} == {1.0}
    assert {wilson_interval(0.0, games)[0] for games in range(1, 200)} == {0.0}


def test_elo_interval_before_the_first_game() -> None:
    assert elo_interval(Tally(0, 0, 0)) == (-math.inf, math.inf)
