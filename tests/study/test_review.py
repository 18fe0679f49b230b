"""The review of a record: what a move cost, and the whole of it on a small game."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reviews import D4, E5, F6, game_of, review

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits
from gtp_engine.study.move_review import MoveReview
from gtp_engine.study.searches import Positions, Searches, review_moves


@pytest.mark.parametrize(("colour", "winrate", "lead"), [(BLACK, 0.3, -4.0), (WHITE, 0.7, 4.0)])
def test_cost_is_the_value_before_the_move_less_the_value_after(colour: int, winrate: float, lead: float) -> None:
    mistake = review(colour, D4, E5, (0.5, 0.7), (0.0, 4.0))
    assert (mistake.winrate_loss, mistake.points_loss) == (pytest.approx(0.2), pytest.approx(4.0))
    assert (mistake.winrate, mistake.lead) == (pytest.approx(winrate), pytest.approx(lead))
    assert (mistake.best, mistake.better_line) == (E5, (E5, F6))


def test_a_move_that_the_search_prefers_or_after_which_the_value_rises_costs_nothing() -> None:
    first = review(BLACK, E5, E5, (0.5, 0.9), (0.0, 9.0))
    assert (first.winrate_loss, first.points_loss, first.better_line) == (0, 0, ())
    assert (first.drop("winrate"), first.drop("points")) == (pytest.approx(0.4), 9)
    better = review(BLACK, D4, E5, (0.5, 0.45), (0.0, -0.5))
    assert (better.winrate_loss, better.points_loss) == (0, 0)
    assert (better.drop("winrate"), better.drop("points")) == (pytest.approx(-0.05), -0.5)


def test_a_move_with_stones_set_up_after_it_costs_nothing() -> None:
    mistake = replace(review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0)), has_setup=True)
    assert [mistake.cost(by) + mistake.drop(by) for by in ("winrate", "points")] == [0, 0]
    assert (mistake.winrate, mistake.lead) == (pytest.approx(0.3), pytest.approx(-4.0))
    game = game_of([mistake])
    assert game.judged() == game.mistakes == [] and game.own_moves == [mistake]


def test_place_and_complexity() -> None:
    # E5 is the best; D4 is expected to lose 2 points, and a player who follows the policy chooses it every fourth time.
    second = review(BLACK, D4, E5, (0.5, 0.5), (0.0, 0.0), others=((D4, 0.1, 2.0),), prior=0.3)
    assert (second.place, second.complexity) == (2, pytest.approx(0.1 * 2.0 / 0.4))
    assert review(BLACK, E5, E5, (0.5, 0.5), (0.0, 0.0)).place == 1
    untried = review(BLACK, D4, E5, (0.5, 0.5), (0.0, 0.0), others=((F6, 0.9, 5.0),), prior=0.1)
    assert (untried.place, untried.complexity) == (None, 1)


def reviewed(
    data: bytes, limits: Limits, numbers: range | None = None, komi: float | None = None, **options: Any
) -> Iterator[MoveReview]:
    searches = Searches(UniformEvaluator(8), SearchParameters(), limits, seed=1, **options)
    return review_moves(searches, Positions(read_sgf(data), komi=komi), numbers)


@pytest.mark.parametrize("limits", [Limits(visits=8), Limits(visits=8, seconds=60)])
def test_every_move_is_reviewed_passes_and_setup_too(limits: Limits) -> None:
    data = b"(;SZ[5:4]KM[3]RU[Japanese]AB[aa];B[bb];AW[dd];B[cc];W[]AE[aa];B[];W[bc];AW[ea])"
    reviews = list(reviewed(data, limits, komi=0.5))
    assert [done.has_setup for done in reviews] == [True, False, True, False, True]
    assert [done.move for done in reviews] == read_sgf(data).moves
    assert [done.number for done in reviews] == [1, 2, 3, 4, 5]
    assert [done.before.to_move for done in reviews] == [BLACK, BLACK, WHITE, BLACK, WHITE]
    assert all(done.before.visits == 8 for done in reviews)
    assert all(0 <= done.winrate <= 1 and done.winrate_loss >= 0 for done in reviews)


def test_only_a_range_of_moves_is_searched() -> None:
    data = b"(;SZ[5:4]KM[3];B[bb];W[cc];B[];W[bc];B[cb])"
    every, some = (list(reviewed(data, Limits(visits=8), numbers=numbers)) for numbers in (None, range(2, 4)))
    assert [done.number for done in some] == [2, 3]
    assert [done.winrate for done in some] == [done.winrate for done in every[1:3]]
    assert np.array_equal(some[0].before.priors, every[1].before.priors)


def test_with_rollouts_the_tree_goes_on_from_move_to_move() -> None:
    evaluator = RolloutEvaluator(threads=1, seed=1)
    record = read_sgf(b"(;SZ[5];B[cc];W[cb];B[bb])")
    searches = Searches(evaluator, SearchParameters(), Limits(visits=400), seed=1)
    reviews = list(review_moves(searches, Positions(record)))
    assert reviews[0].before.new_visits == 400
    assert 0 < reviews[0].after.new_visits < 400


@pytest.mark.parametrize("limits", [Limits(visits=8), Limits(seconds=1000)])
def test_stopped_review_ends_without_the_move_that_is_being_searched(limits: Limits) -> None:
    stopped = iter([False] * 20 + [True] * 1000)
    reviews = list(reviewed(b"(;SZ[9];B[cc]" + b";W[];B[]" * 50 + b")", limits, is_stopped=lambda: next(stopped)))
    assert len(reviews) < 100
    assert [done.number for done in reviews] == list(range(1, len(reviews) + 1))


def test_review_ends_at_a_move_that_cannot_be_played() -> None:
    data = b"(;SZ[5];B[bb];W[bb])"
    assert [move.number for move in reviewed(data, Limits(visits=2))] == [1]
    assert "move 2: illegal move: B4 is occupied" in Positions(read_sgf(data)).problem
