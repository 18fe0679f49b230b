"""Elo, win rate and their intervals against literal numbers."""

import math

import pytest

from gtp_engine.arena.elo import Tally, elo_difference, elo_interval, expected_score, score_interval, wilson_interval


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
    tally = Tally(wins=60, draws=0, losses=40)
    assert score_interval(tally) == pytest.approx((0.502003, 0.690599), abs=1e-6)  # Wilson's
    assert elo_interval(tally) == pytest.approx((elo_difference(0.502003), elo_difference(0.690599)), abs=1e-3)


def test_draws_narrow_the_interval() -> None:
    few = elo_interval(Tally(wins=50, draws=0, losses=50))
    many = elo_interval(Tally(wins=10, draws=80, losses=10))
    assert many[1] < few[1]


def test_elo_interval_of_pairs_uses_their_spread() -> None:
    # Won as White and lost as Black in nearly every opening: the score of a pair hardly varies.
    tally = Tally(wins=50, draws=0, losses=50, pairs=(1, 0, 48, 0, 1))
    # The variance of a pair's score is 2 * 0.25 / 50 = 0.01, that of a game 0.02, as that of 100 * 0.25 / 0.02 = 1250
    # independent wins and losses: 1.96 * sqrt(0.25 / (1250 + 1.96^2)) = 0.0276756
    assert score_interval(tally) == pytest.approx((0.5 - 0.0276756, 0.5 + 0.0276756), abs=1e-6)
    assert elo_interval(tally)[1] == pytest.approx(elo_difference(0.5 + 0.0276756), abs=1e-3)


def test_few_pairs_do_not_make_the_interval_narrow() -> None:
    few = Tally(wins=7, draws=0, losses=1, pairs=(0, 0, 1, 0, 3))
    assert score_interval(few) == pytest.approx((0.5291, 0.9776), abs=5e-5)  # Wilson's for 7 of 8
    assert elo_interval(few) == pytest.approx((20.2, 656.0), abs=1)
    assert score_interval(Tally(wins=4, draws=0, losses=4, pairs=(0, 0, 4, 0, 0))) == wilson_interval(0.5, 8)


@pytest.mark.parametrize("counts", [(7, 0, 1), (3, 5, 2), (60, 0, 40), (1, 0, 0), (0, 3, 0), (9, 1, 0)])
def test_both_intervals_say_the_same_and_hold_the_score(counts: tuple[int, int, int]) -> None:
    tally = Tally(*counts)
    low, high = score_interval(tally)
    assert 0 <= low <= tally.score <= high <= 1
    assert elo_interval(tally) == (elo_difference(low), elo_difference(high))


def test_elo_interval_of_a_clean_sweep_is_open_above() -> None:
    low, high = elo_interval(Tally(wins=20, draws=0, losses=0, pairs=(0, 0, 0, 0, 10)))
    assert low == pytest.approx(elo_difference(1 - 0.16113), abs=0.05)
    assert high == math.inf


def test_interval_of_a_clean_sweep_reaches_the_end_whatever_is_rounded() -> None:
    assert {wilson_interval(1.0, games)[1] for games in range(1, 200)} == {1.0}
    assert {wilson_interval(0.0, games)[0] for games in range(1, 200)} == {0.0}


def test_elo_interval_before_the_first_game() -> None:
    assert elo_interval(Tally(0, 0, 0)) == (-math.inf, math.inf)
