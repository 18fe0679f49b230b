"""Sequential halving with Gumbel noise, and other ways to make a root look further: forced playouts."""

import math

import numpy as np
import pytest
from hash_evaluator import HashEvaluator
from searching import run, search_of, searched

from gtp_engine.go.coords import BLACK, PASS, all_points, index_of_point
from gtp_engine.go.game import Game
from gtp_engine.search.gumbel import completed_utilities, considered_visits, plan_halving
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits, RootMoves, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search


@pytest.mark.parametrize(
    ("moves", "visits", "each"),
    [(4, 8, [3, 3, 1, 1]), (8, 24, [7, 7, 3, 3, 1, 1, 1, 1]), (8, 12, [2, 2, 2, 2, 1, 1, 1, 1]), (1, 5, [5])],
)
def test_each_round_shares_as_many_visits_among_half_of_the_moves(moves: int, visits: int, each: list[int]) -> None:
    given = [0] * moves
    for number in considered_visits(moves, visits):
        given[given.index(number)] += 1
    assert sorted(given, reverse=True) == each


@pytest.mark.parametrize(("batch", "visits"), [(1, 33), (4, 33), (8, 100)])
def test_visits_are_halved(batch: int, visits: int) -> None:
    search, report = searched(Game(5), visits, HashEvaluator(batch), gumbel_moves=8, gumbel_noise=1)
    assert report.visits == visits
    planned = [0] * 8
    for number in considered_visits(8, visits - 1):
        planned[planned.index(number)] += 1
    assert sorted((move.visits for move in report.moves), reverse=True) == sorted(planned, reverse=True)
    assert report.moves[0].visits == max(planned)
    assert search.choose(report) == report.moves[0].point


def test_without_noise_the_moves_are_the_likeliest() -> None:
    _, report = searched(Game(5), 17, gumbel_moves=4)
    likeliest = np.argsort(-report.priors)[:4]
    assert {index_of_point(move.point, 5, 5) for move in report.moves} == set(likeliest.tolist())
    reports = [searched(Game(5), 17, seed=seed, gumbel_moves=4, gumbel_noise=1)[1] for seed in range(20)]
    assert len({move.point for report in reports for move in report.moves}) > 8


def test_moves_without_visits_get_the_mixed_value() -> None:
    search, report = searched(Game(5), 17, gumbel_moves=4)
    tree, node = search.tree, search.root
    priors = search.priors_at(search.root)
    utilities = completed_utilities(tree, node, priors)
    visited = {index_of_point(move.point, 5, 5): move.utility for move in report.moves}
    share = sum(priors[move] for move in visited)
    mean = sum(priors[move] * utility for move, utility in visited.items()) / share
    mixed = (tree.nodes[node]["own_utility"] + 16 * mean) / 17
    for move, utility in enumerate(utilities):
        assert utility == pytest.approx(visited.get(move, mixed), abs=1e-5)


def test_the_target_is_a_better_policy() -> None:
    for seed in range(5):
        search, report = searched(Game(5), 33, seed=seed, gumbel_moves=8, gumbel_noise=1)
        target, priors = report.policy_target(), report.priors
        assert target.sum() == pytest.approx(1, abs=1e-5)
        assert ((target > 0) == (priors > 0)).all()
        utilities = completed_utilities(search.tree, search.root, priors)
        assert (target * utilities).sum() > (priors * utilities).sum()


def test_forbidden_moves_are_not_drawn() -> None:
    search = search_of(Game(5), gumbel_moves=8, gumbel_noise=1)
    only = [move.point for move in searched(Game(5), 33, gumbel_moves=8)[1].moves[:3]]
    report = run(search, Limits(visits=20), root_moves=RootMoves(allow=tuple((BLACK, point, 1) for point in only)))
    assert {move.point for move in report.moves} == set(only)


def test_there_is_no_plan_for_more_visits_than_memory_can_hold() -> None:
    priors = np.full(26, 1 / 26, np.float32)
    assert not len(plan_halving(priors, np.zeros(26, bool), 8, 2**50, np.zeros(26)).considered_visits)


@pytest.mark.parametrize("batch", [1, 4])
def test_a_search_that_is_allowed_no_move_ends_with_the_root(batch: int) -> None:
    search = Search(HashEvaluator(batch), SearchParameters(gumbel_moves=8), seed=1)
    everything = RootMoves(avoid=tuple((BLACK, point, 1) for point in [PASS, *all_points(5, 5)]))
    report = run_search(search, SearchRequest(Game(5), Limits(visits=100), everything))
    assert (report.visits, report.moves, report.improved_policy) == (1, (), None)
    assert search.choose(report) == PASS


def test_a_later_search_begins_anew() -> None:
    search, _ = searched(Game(5), 33, gumbel_moves=8, gumbel_noise=1)
    report = run(search, Limits(visits=33))
    assert report.new_visits == 33 == report.visits


def test_forced_playouts_look_into_every_move_begun() -> None:
    _, usual = searched(Game(5), 400)
    _, forced = searched(Game(5), 400, forced_playouts=2.0)
    for move in forced.moves:
        assert move.visits >= math.floor(math.sqrt(2 * move.prior * 399))
    assert any(move.visits < math.sqrt(2 * move.prior * 399) - 1 for move in usual.moves)
    target = forced.policy_target()
    assert target.sum() == pytest.approx(1, abs=1e-5)
    # What was only forced does not speak for a move.
    assert any(move.selection < move.weight for move in forced.moves)
