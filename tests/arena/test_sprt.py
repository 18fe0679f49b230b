"""The sequential test against fishtest's own figures."""

import math

import pytest

from gtp_engine.arena.elo import Tally
from gtp_engine.arena.sprt import Sprt, log_likelihood_ratio


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


def test_verdict() -> None:
    test = Sprt(0, 100)
    assert test.verdict(Tally(0, 0, 0)) is None
    assert test.verdict(Tally(wins=6, draws=0, losses=4)) is None
    assert test.verdict(Tally(wins=80, draws=0, losses=20)) == "H1"
    assert test.verdict(Tally(wins=40, draws=0, losses=60)) == "H0"


def test_pairs_decide_where_there_are_any() -> None:
    # The single games stand at 80 : 20, but only one pair is finished.
    assert Sprt(0, 100).verdict(Tally(wins=80, draws=0, losses=20, pairs=(0, 0, 1, 0, 0))) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0), "elo0 < elo1, got 10 and 0"),
        ((0, 10, 0.5), "alpha is 0.5"),
        ((0, 10, 0.05, 0), "beta is 0"),
        ((0, math.nan), "got 0 and nan"),
    ],
)
def test_bad_settings_are_named(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(*arguments)
