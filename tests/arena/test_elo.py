"""Elo, score and their intervals against literal numbers, and the sequential test against fishtest's figures."""

import math

import pytest

from gtp_engine.arena.elo import (
    Sprt,
    Tally,
    elo_difference,
    elo_interval,
    expected_score,
    finite_elo,
    log_likelihood_ratio,
    mean_margin,
    score_interval,
    student_quantile,
    wilson_interval,
)


@pytest.mark.parametrize(("score", "elo"), [(0.6, 70.4365), (0.75, 190.8485), (0.25, -190.8485), (10 / 11, 400.0)])
def test_elo_of_known_scores_and_back(score: float, elo: float) -> None:
    assert elo_difference(score) == pytest.approx(elo, abs=1e-4)
    assert expected_score(elo) == pytest.approx(score, abs=1e-6)


def test_the_ends_of_elo() -> None:
    assert (elo_difference(1.0), elo_difference(0.0)) == (math.inf, -math.inf)
    assert str(elo_difference(0.5)) == "0.0"  # not -0.0: it is shown


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228), (30, 2.042), (100, 1.984)],
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, rel=1.5e-3)


def test_the_margin_of_a_mean_is_students() -> None:
    # Student 1908 used Cushny and Peebles' ten differences of hours of sleep: mean 1.58, standard deviation 1.23.
    sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    assert mean_margin(sleep) == pytest.approx(2.262 * 1.22996 / 10**0.5, abs=1e-3)


def test_elo_stays_finite_if_all_games_are_won() -> None:
    assert finite_elo(Tally(40, 0, 0)) == pytest.approx(elo_difference(40.5 / 41))
    assert finite_elo(Tally(0, 0, 40)) == pytest.approx(-finite_elo(Tally(40, 0, 0)))


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


def test_wilson_interval_reaches_its_ends_whatever_is_rounded() -> None:
    assert {wilson_interval(1.0, games)[1] for games in range(1, 200)} == {1.0}
    assert {wilson_interval(0.0, games)[0] for games in range(1, 200)} == {0.0}
    assert wilson_interval(0.5, 0) == (0.0, 1.0)


def test_elo_interval_before_the_first_game() -> None:
    assert elo_interval(Tally(0, 0, 0)) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "ratio"),
    [  # fishtest's LLRcalc.LLR_logistic
        ((3, 20, 50, 22, 5), 0, 20, 0.04032037241670679),
        ((3, 20, 50, 22, 5), 0, 5, 0.17838022438188125),
        ((3, 20, 50, 22, 5), -10, 10, 0.9344729113889829),
        ((0, 10, 30, 12, 0), 0, 20, -0.27041453628885204),
        ((12, 40, 60, 30, 8), 0, 20, -2.9973011351582723),
        ((12, 40, 60, 30, 8), -10, 10, -2.0579732004260216),
    ],
)
def test_ratio_matches_fishtest(pairs: tuple[int, ...], elo0: float, elo1: float, ratio: float) -> None:
    assert log_likelihood_ratio(pairs, elo0, elo1) == pytest.approx(ratio, abs=1e-9)


def test_ratio_of_decisive_games_is_the_binomial_one() -> None:
    # Without draws the hypotheses are two coins: 1/2 and 1 / (1 + 10 ** -0.25).
    coin = 1 / (1 + 10**-0.25)
    plain = 60 * math.log(coin / 0.5) + 40 * math.log((1 - coin) / 0.5)
    assert log_likelihood_ratio((40, 0, 60), 0, 100) == pytest.approx(plain, abs=2e-3)


def test_bounds_are_walds() -> None:
    assert Sprt(0, 10).bounds == pytest.approx((-2.944438979166441, 2.944438979166440))
    assert Sprt(0, 10, alpha=0.1, beta=0.2).bounds == pytest.approx((-1.5040774, 2.0794415))


@pytest.mark.parametrize(
    ("tally", "verdict"),
    [
        (Tally(0, 0, 0), None),
        (Tally(wins=6, draws=0, losses=4), None),
        (Tally(wins=80, draws=0, losses=20), "H1"),
        (Tally(wins=40, draws=0, losses=60), "H0"),
        # Pairs decide where there are any: the games stand at 80 : 20, but only one pair is finished.
        (Tally(wins=80, draws=0, losses=20, pairs=(0, 0, 1, 0, 0)), None),
    ],
)
def test_verdict(tally: Tally, verdict: str | None) -> None:
    assert Sprt(0, 100).verdict(tally) == verdict


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0), "elo0 < elo1, got 10 and 0"),
        ((0, 10, 0.5), "alpha is 0.5"),
        ((0, 10, 0.05, 0), "beta is 0"),
        ((0, math.nan), "got 0 and nan"),
    ],
)
def test_bad_tests_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(*arguments)
