"""The rating of the person who plays here: Glicko-2, and the next opponent."""

from dataclasses import replace

import pytest

from gtp_engine.engine.ranks import Rank
from gtp_engine.table.player_rating import PlayerRating, first_rating, within_reach

KNOWN = PlayerRating(-900.0, 70.0, games=40, last=1)


def test_a_game_of_the_example_of_the_paper() -> None:
    """Its first game: 1500 (200) beats 1400 (30); g = 0.9955 and E = 0.639 are the paper's."""
    after = PlayerRating(100.0, 200.0).after(Rank(0), 1)
    variance = 1 / (0.9955**2 * 0.639 * 0.361)
    spread = 1 / (1 / ((200 / 173.7178) ** 2 + 0.06**2) + 1 / variance)
    assert after.rating == pytest.approx(100 + 173.7178 * spread * 0.9955 * 0.361, abs=0.1)
    assert after.deviation == pytest.approx(173.7178 * spread**0.5, abs=0.1)
    assert after.volatility == pytest.approx(0.06, abs=1e-4) and (after.games, after.last) == (1, 1)


def test_a_surprise_raises_the_volatility_and_a_handicap_counts_as_ranks() -> None:
    assert KNOWN.after(Rank(20), 1).volatility > KNOWN.volatility > KNOWN.after(Rank(-9), 0.5).volatility
    assert KNOWN.after(Rank(-5), 1, stones=4) == KNOWN.after(Rank(-9), 1)


def test_the_next_opponent() -> None:
    assert KNOWN.opponent == KNOWN.rank == Rank(-9)
    unsure = replace(KNOWN, deviation=300.0)
    assert unsure.opponent > Rank(-9) > replace(unsure, last=0).opponent
    assert replace(unsure, last=0.5).opponent == Rank(-9)
    assert first_rating(None).deviation > first_rating(Rank(-9)).deviation
    assert replace(KNOWN, rating=9000.0).opponent == replace(KNOWN, rating=9000.0).rank == Rank(5)


@pytest.mark.parametrize(
    ("rating", "size", "stones"), [(-2400, 19, 0), (-2500, 19, 0), (-2600, 19, 2), (-9000, 19, 9), (-2600, 13, 0)]
)
def test_a_player_below_the_weakest_rank_takes_stones_where_their_worth_is_known(
    rating: float, size: int, stones: int
) -> None:
    weak = replace(KNOWN, rating=rating)
    assert weak.stones(within_reach(weak.opponent), size, size) == stones
    assert weak.rank == Rank(-24)
