"""Symmetric positions at the root: which are symmetric, which moves are searched, what reports say of the others."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hash_evaluator import HashEvaluator
from searching import run, search_of, searched

from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point
from gtp_engine.go.game import Game, Move
from gtp_engine.go.symmetry import apply, transform_point
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits, RootMoves
from gtp_engine.search.root_symmetry import find_symmetries, mirrored_moves
from gtp_engine.study.move_review import MoveReview


def symmetries_of(game: Game, dead: tuple[int, ...] = ()) -> tuple[int, ...]:
    return find_symmetries(game, np.zeros((3, game.area + 1), np.int16), dead)


def game_of(*moves: str, width: int = 9, height: int = 9) -> Game:
    game = Game(width, height)
    for number, move in enumerate(moves):
        game.play(WHITE if number % 2 else BLACK, move)
    return game


def pruned(game: Game, visits: int = 400, **settings: Any) -> SearchReport:
    return searched(game, visits, root_symmetry_pruning=True, **settings)[1]


@pytest.mark.parametrize(
    ("game", "count", "left"),
    [
        (game_of(), 7, 15),
        (game_of("E5"), 7, 14),
        (game_of(width=9, height=7), 3, 20),
        (game_of("D4", "pass"), 1, 44),
        (game_of("D4", "F6", "E5", "pass"), 1, 42),
        (game_of("D4", "C7"), 0, 79),
    ],
)
def test_one_point_of_each_orbit_is_left(game: Game, count: int, left: int) -> None:
    symmetries = symmetries_of(game)
    assert len(symmetries) == count
    mirrored = mirrored_moves(game, symmetries)
    assert np.count_nonzero(game.legal_moves() & ~mirrored) == left + 1  # the pass
    indices = np.arange(game.area).reshape(game.height, game.width)
    orbits = [{apply(indices, number).flat[index] for number in (0, *symmetries)} for index in range(game.area)]
    assert all(np.count_nonzero(~mirrored[list(orbit)]) == 1 for orbit in orbits)


def test_black_opens_in_the_upper_right_and_white_in_the_lower_left() -> None:
    empty, black_passed = Game(9), Game(9)
    black_passed.play(BLACK, PASS)
    for game, first in ((empty, "G7"), (black_passed, "C3")):
        mirrored = mirrored_moves(game, symmetries_of(game))
        corners = [name for name in ("C3", "C7", "G3", "G7") if not mirrored[index_of_point(game.point(name), 9, 9)]]
        assert corners == [first]


def test_a_ko_makes_only_its_own_axis_symmetric() -> None:
    black, white = ["A3", "B4", "B2", "J3", "H4", "H2", "G3"], ["D3", "C4", "C2", "F3", "G4", "G2"]
    quiet, game = Game(9, 5), Game(9, 5)
    quiet.set_up([*black, "C3"], white)
    assert symmetries_of(quiet) == (1, 2, 3)
    game.set_up(black, [*white, "B3"])
    assert symmetries_of(game) == (1,)
    game.play(BLACK, "C3")
    assert np.array_equal(game.stones(), quiet.stones()) and game.is_legal("H3") and not game.is_legal("B3")
    assert symmetries_of(game) == (1,)


def test_restrictions_and_dead_stones_have_to_be_symmetric_too() -> None:
    game = Game(9)
    banned = np.zeros((3, game.area + 1), np.int16)
    banned[WHITE, index_of_point(game.point("C3"), 9, 9)] = 4
    assert find_symmetries(game, banned, ()) == (7,)  # the diagonal through C3
    stones = game_of("D4", "pass", "F6")
    assert len(symmetries_of(stones)) == 3 and len(symmetries_of(stones, (stones.point("D4"),))) == 1


def test_the_report_has_the_mirror_images_of_each_move() -> None:
    report = pruned(Game(9))
    images = {move.point for move in report.moves if move.symmetry_of is not None}
    assert images and not images & {move.point for move in report.searched}
    assert [move.order for move in report.moves] == list(range(len(report.moves)))
    assert sum(move.visits for move in report.searched) == report.visits - 1
    assert report.moves[0].symmetry_of is None
    for image in report.moves:
        if image.symmetry_of is None:
            continue
        move = report.move_at(image.symmetry_of)
        assert move is not None and move in report.searched and report.move_at(image.point) is image
        assert (image.visits, image.winrate, image.pv_visits) == (move.visits, move.winrate, move.pv_visits)
        numbers = symmetries_of(Game(9))
        assert image.pv in [tuple(transform_point(point, number, 9, 9) for point in move.pv) for number in numbers]


def test_a_drawing_has_all_mirror_images_of_the_best_moves() -> None:
    report = pruned(Game(9), 600)
    drawn = report.candidates()
    marked = np.zeros((9, 9), bool)
    for disc in drawn:
        marked.flat[index_of_point(int(disc.point), 9, 9)] = True
    assert len(drawn) > 9 and all(np.array_equal(apply(marked, number), marked) for number in range(8))
    assert [disc.is_best for disc in drawn].count(True) == 1


def test_a_position_without_symmetry_and_the_switch_turned_off_change_nothing() -> None:
    for game, pruning in ((game_of("D4", "C7"), True), (Game(9), False)):
        usual, report = searched(game, 200)[1], searched(game, 200, root_symmetry_pruning=pruning)[1]
        assert report.moves == usual.moves and report.searched == report.moves


def test_ownership_is_mirrored_with_the_move() -> None:
    search = search_of(Game(7), root_symmetry_pruning=True)
    report = run(search, Limits(visits=200), moves_ownership=True)
    image = next(move for move in report.moves if move.symmetry_of is not None)
    move = report.move_at(image.symmetry_of)
    assert move is not None and image.ownership is not None and move.ownership is not None
    numbers = [n for n in symmetries_of(Game(7)) if transform_point(move.point, n, 7, 7) == image.point]
    assert any(np.array_equal(apply(move.ownership, number), image.ownership) for number in numbers)
    whole = report.ownership if report.ownership is not None else np.zeros(0)
    assert whole.any() and all(np.allclose(apply(whole, number), whole, atol=1e-6) for number in range(8))


def test_moves_that_are_allowed_by_name_are_all_searched() -> None:
    allow = tuple(("black", name, 1) for name in ("C3", "G7"))
    report = run(search_of(Game(9), root_symmetry_pruning=True), Limits(visits=60), root_moves=RootMoves(allow=allow))
    # The two points are each other's images; the other corners are forbidden and are not listed.
    assert [move.vertex for move in report.moves] == ["G7", "C3"]
    assert np.count_nonzero(report.priors) == 2
    avoid = RootMoves(avoid=(("black", "C3", 1),))
    report = run(search_of(Game(9), root_symmetry_pruning=True), Limits(visits=300), root_moves=avoid)
    assert report.move_at("C3") is None and report.priors[index_of_point(Game(9).point("C3"), 9, 9)] == 0


def test_only_searched_moves_are_drawn() -> None:
    report = pruned(Game(9))
    random = np.random.default_rng(1)
    drawn = {report.choose(5.0, random) for _ in range(300)}
    assert len(drawn) > 5 and drawn <= {move.point for move in report.searched}
    image = next(move for move in report.moves if move.symmetry_of is not None)
    assert replace(report, moves=(image,)).choose(0.0, random) == image.point  # of those that a caller leaves


@pytest.mark.parametrize("settings", [{}, {"gumbel_moves": 4}, {"gumbel_moves": 4, "gumbel_noise": 1.0}])
def test_the_policy_target_is_symmetric(settings: dict[str, Any]) -> None:
    target = pruned(Game(9), 64, **settings).policy_target()
    assert target.sum() == pytest.approx(1)
    plane = target[:-1].reshape(9, 9)
    assert all(np.array_equal(apply(plane, number), plane) for number in range(8))


@pytest.mark.parametrize(
    "settings", [{"root_noise": 0.25, "forced_playouts": 2.0}, {"graph_search": True}, {"wide_root_noise": 0.2}]
)
def test_noise_and_several_leaves_in_a_batch_leave_mirror_images_alone(settings: dict[str, Any]) -> None:
    search, report = searched(Game(9), 300, HashEvaluator(), root_symmetry_pruning=True, batch_size=16, **settings)
    mirrored = mirrored_moves(Game(9), symmetries_of(Game(9)))
    visited = {index_of_point(move.point, 9, 9) for move in report.searched}
    assert not visited & set(np.flatnonzero(mirrored).tolist())
    assert {int(search.tree.nodes["move"][child]) for child in search.children()} == visited


def test_a_tree_is_kept_after_a_searched_move_and_begun_afresh_after_its_image() -> None:
    search = search_of(Game(9), root_symmetry_pruning=True)
    report = run(search, Limits(visits=300))
    best, image = report.moves[0], report.moves[1]
    assert image.symmetry_of == best.point
    for move, visits in ((best, best.visits), (image, 0)):
        game = Game(9)
        game.play(BLACK, move.point)
        search.set_position(game)
        assert search.visits == visits
        after = run(search, Limits(visits=max(visits, 50)))
        assert after.moves and after.visits >= 50


def test_a_tree_with_visits_of_images_is_dropped() -> None:
    game = game_of("E5")
    search = search_of(Game(9), root_symmetry_pruning=True)
    run(search, Limits(visits=500), root_moves=RootMoves(allow=(("black", "E5", 1),)))
    search.set_position(game)
    assert search.visits > 400
    report = run(search, Limits(visits=600))
    images = mirrored_moves(game, symmetries_of(game))
    assert all(not images[index_of_point(move.point, 9, 9)] for move in report.searched)
    assert 1 + sum(move.visits for move in report.searched) == 600 == report.visits


def test_an_image_of_the_best_move_is_the_best_move_in_a_review() -> None:
    """It costs nothing, whatever the search after it says, and images take up no places of other moves."""
    game = game_of("E5")
    before, after = pruned(game, 600), pruned(game_of("E5", "C3"), 100)
    second = before.searched[1]
    for move in before.moves:
        review = MoveReview(2, Move(WHITE, move.point), before, replace(after, winrate=0.9, lead=20.0))
        if move.point == before.moves[0].point or move.symmetry_of == before.moves[0].point:
            assert before.is_best(move.point)
            assert (review.best, review.place, review.better_line, review.cost.lead) == (move.point, 1, (), 0.0)
        else:
            assert review.best == before.moves[0].point and review.cost.lead > 0
            assert (review.place == 2) == (second.point in (move.point, move.symmetry_of))
    assert {row["move"] for row in before.table()} == {move.vertex for move in before.searched}
