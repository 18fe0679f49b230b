"""Levels: fewer visits, and nothing absurd."""

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.play.levels import check_level, choose_at, next_level, parse_level, visits_at
from gtp_engine.search.report import MoveReport, SearchReport


def report(*moves: tuple[float, ...]) -> SearchReport:
    """A search on 9x9 that found (point, visits, winrate, lead, prior or 0.1), best first."""
    found = tuple(
        MoveReport(
            int(point), int(visits), winrate, lead, lead, 10.0, 0.0, 0.0, 0.0, *(prior or [0.1]), visits, order, (), ()
        )
        for order, (point, visits, winrate, lead, *prior) in enumerate(moves)
    )
    total = sum(move.visits for move in found)
    return SearchReport(9, 9, 1, total, total, 0.5, 0.0, 0.0, 10.0, 0.0, found, np.zeros(82), None, 1.0)


def choices(level: int, found: SearchReport) -> set[int]:
    random = np.random.default_rng(1)
    return {choose_at(level, found, random) for _ in range(300)}


def test_each_level_searches_twice_as_much():
    assert [visits_at(level, with_network=False) for level in (1, 2, 10)] == [64, 128, 32768]
    assert [visits_at(level, with_network=True) for level in (1, 2, 10)] == [4, 8, 2048]
    assert visits_at("max", with_network=True) is None


def test_a_weak_level_varies_among_good_moves():
    assert choices(1, report((20, 40, 0.50, 1.0), (30, 30, 0.47, 0.5), (40, 20, 0.44, 0.0))) == {20, 30, 40}


def test_a_weak_level_plays_no_move_that_loses_much():
    found = report((20, 40, 0.50, 1.0), (30, 30, 0.35, 0.5), (40, 30, 0.49, -9.0), (50, 1, 0.9, 9.0))
    assert choices(1, found) == {20}


def test_a_weak_level_plays_no_move_that_looks_odd_on_the_word_of_a_few_visits():
    found = report((20, 40, 0.50, 1.0, 0.001), (30, 30, 0.47, 0.5, 0.02), (40, 20, 0.44, 0.0, 0.05))
    assert choices(1, found) == {30, 40}
    assert choices(1, report((20, 400, 0.50, 1.0, 0.001), (30, 30, 0.47, 0.5, 0.02))) == {20, 30}
    assert choices(1, report((20, 40, 0.90, 1.0, 0.001), (30, 30, 0.47, 0.5, 0.2))) == {20}


def test_the_higher_the_level_the_nearer_to_the_best_move():
    found = report((20, 40, 0.50, 1.0), (30, 40, 0.45, 1.0))
    assert choices(1, found) == {20, 30}
    assert choices(7, found) == {20}
    assert choices(10, report((20, 40, 0.50, 1.0), (30, 40, 0.50, 1.0))) == {20}


@pytest.mark.parametrize("level", [0, 11, 1.5, "best"])
def test_other_levels_are_refused(level):
    with pytest.raises(ValueError, match="invalid level"):
        check_level(level)


def test_levels() -> None:
    assert (parse_level("3"), parse_level("MAX")) == (3, "max")
    with pytest.raises(UserError, match="invalid level '11': expected a whole number from 1 to 10"):
        parse_level("11")


def test_steps_between_levels() -> None:
    assert [next_level(level, 1) for level in (1, 9, 10, "max")] == [2, 10, "max", "max"]
    assert [next_level(level, -1) for level in ("max", 10, 2, 1)] == [10, 9, 1, 1]
