"""Rollouts: what they may play, when they end, what they count; the tactics and shapes that they look at."""

import numpy as np
import pytest
from drawn_positions import FINISHED, drawn, random_position, reference_of
from reference_board import ReferenceBoard

from gtp_engine.base.jit import random_below
from gtp_engine.go.board import MAX_POINTS, play
from gtp_engine.go.coords import BLACK, PASS, WHITE, all_points, point_at, xy
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.evaluate import rollouts
from gtp_engine.search.evaluate.rollout_moves import (
    _URGENT,
    is_eye,
    is_urgent_shape,
    liberties_after,
    would_be_in_atari,
)

SIZES = [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19)]


def state(seed: int = 1) -> np.ndarray:
    return np.array([seed], np.uint64)


def candidates() -> np.ndarray:
    return np.zeros(rollouts.MAX_CANDIDATES, np.int16)


def amaf_colours() -> np.ndarray:
    return np.full(MAX_POINTS, 9, np.int8)


def slow_area(reference: ReferenceBoard) -> int:
    """Black's stones and surrounded points minus white's."""
    margin = 0
    for point in reference.points():
        colour = reference.colour(point)
        if colour == 0:
            around = {reference.colour(near) for near in reference.border(reference.region(point, [0]))}
            colour = around.pop() if len(around) == 1 else 0
        margin += {0: 0, 1: 1, 2: -1}[colour]
    return margin


def test_an_eye_has_at_most_one_hostile_diagonal_and_none_at_the_edge() -> None:
    game, at = drawn("""
        a X . O X b
        X X . X X X
        . . . . . .
        . X O . O X
        X c X . X d
        X X X . O X
    """)
    eyes = {mark: is_eye(game.board[0], point, BLACK) for mark, point in at.items()}
    assert eyes == {"a": True, "b": True, "c": True, "d": False}
    assert not is_eye(game.board[0], at["a"], WHITE)


@pytest.mark.parametrize("seed", range(4))
def test_liberties_after_a_move_are_those_of_the_slow_board(seed: int) -> None:
    for moves in (10, 40, 70):
        game = random_position(9, 9, moves, seed)
        reference = reference_of(game.board)
        for x, y in reference.points():
            if reference.colour((x, y)):
                continue
            for colour in (BLACK, WHITE):
                after = reference.after((x, y), colour)
                takes = sum(stone == 3 - colour for stone in after.values()) < sum(
                    stone == 3 - colour for stone in reference.stones.values()
                )
                stands = (x, y) in after
                expected = 2 if takes else min(2, len(reference.liberties((x, y), after))) if stands else 0
                assert liberties_after(game.board[0], point_at(x, y, 9), colour) == expected


def test_a_chain_with_two_liberties_would_be_in_atari() -> None:
    game, at = drawn("""
        . . . . .
        . X X O .
        . a X O .
        . O O b .
        . . . . .
    """)
    board = game.board[0]
    head = board["chain"][point_at(1, 1, 5)]
    assert not would_be_in_atari(board, head, at["a"])
    game.play(WHITE, point_at(0, 1, 5))
    game.play(WHITE, point_at(1, 0, 5))
    board = game.board[0]
    assert would_be_in_atari(board, board["chain"][point_at(1, 1, 5)], at["a"])


@pytest.mark.parametrize(
    ("diagram", "urgent"),
    [
        ("X O X / . a . / . . .", True),  # hane
        ("O X O / . a . / . . .", True),  # colours swapped
        (". . X / . a O / . . X", True),  # turned
        ("X O . / O a . / . . .", True),  # cut
        ("X O . / O a O / . . .", False),  # the cutting stone would be taken
        ("X O . / O a . / . O .", False),
        (". X . / . a . / . . .", False),
        (". . . / . a . / . . .", False),
    ],
)
def test_shapes(diagram: str, urgent: bool) -> None:
    rows = [". . . . ."] + [f". {row.strip()} ." for row in diagram.split("/")] + [". . . . ."]
    game, at = drawn("\n".join(rows))
    assert is_urgent_shape(game.board[0], at["a"]) == urgent


def test_shapes_are_symmetric() -> None:
    codes = np.arange(1 << 16)
    places = [(codes >> (2 * place)) & 3 for place in range(8)]

    def code(order: list[int], colours: list[int]) -> np.ndarray:
        return sum(np.array(colours)[places[place]] << (2 * index) for index, place in enumerate(order))

    assert _URGENT[code([2, 4, 7, 1, 6, 0, 3, 5], [0, 1, 2, 3])].tolist() == _URGENT.tolist()  # a quarter turn
    assert _URGENT[code([2, 1, 0, 4, 3, 7, 6, 5], [0, 1, 2, 3])].tolist() == _URGENT.tolist()  # mirrored
    assert _URGENT[code(list(range(8)), [0, 2, 1, 3])].tolist() == _URGENT.tolist()


def test_a_random_number_below_a_limit_takes_every_value_alike() -> None:
    numbers = state()
    counts = np.bincount([random_below(numbers, 7) for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert counts.min() > 880  # 1000 +- 4 standard deviations


@pytest.mark.parametrize(("width", "height"), SIZES[:4])
def test_random_moves_are_legal_and_never_fill_an_eye(width: int, height: int) -> None:
    numbers = state()
    for seed in range(3):
        game = random_position(width, height, 3, seed)
        board = game.board.copy()
        passes = moves = 0
        while passes < 2 and moves < rollouts.MOVE_CAP_PER_POINT * width * height:
            colour = int(board["to_move"][0])
            point = rollouts.anywhere(board[0], numbers)
            if point != PASS:
                reference = reference_of(board)
                assert point != board["ko_point"][0]
                assert not reference.is_suicide(xy(point, width), colour)
                assert not is_eye(board[0], point, colour)
            passes = passes + 1 if point == PASS else 0
            moves += 1
            play(board[0], point)


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_rollout_ends_and_its_count_equals_a_slow_one(width: int, height: int, heavy: bool) -> None:
    numbers = state()
    for seed in range(5):
        board = random_position(width, height, 2, seed).board.copy()
        moves = rollouts.play_rollout(board[0], numbers, heavy, candidates(), amaf_colours())
        assert 2 <= moves <= rollouts.MOVE_CAP_PER_POINT * width * height
        owned = np.zeros(width * height, np.int32)
        margin = rollouts.count_area(board[0], owned)
        assert margin == owned.sum()
        if moves < rollouts.MOVE_CAP_PER_POINT * width * height:
            assert margin == slow_area(reference_of(board))


def test_a_finished_position_is_counted_as_it_stands() -> None:
    game, _ = drawn(FINISHED)
    board = game.board.copy()
    assert rollouts.play_rollout(board[0], state(), True, candidates(), amaf_colours()) == 2
    owned = np.zeros(81, np.int32)
    assert rollouts.count_area(board[0], owned) == 9
    assert (owned.reshape(9, 9)[:, :5] == 1).all()
    assert (owned.reshape(9, 9)[:, 5:] == -1).all()


def test_the_first_colour_at_each_point_is_recorded() -> None:
    game = random_position(9, 9, 4, 1)
    board, colours = game.board.copy(), amaf_colours()
    rollouts.play_rollout(board[0], state(), True, candidates(), colours)
    for point in all_points(9, 9):
        assert colours[point] in (0, BLACK, WHITE)
        if game.stone_at(point) == 0 and board["stones"][0, point]:
            assert colours[point]  # a stone was played there


def test_rollouts_continue_after_two_passes() -> None:
    game = random_position(9, 9, 4, 1)
    game.play(game.to_move, PASS)
    game.play(game.to_move, PASS)
    board = game.board.copy()
    assert rollouts.play_rollout(board[0], state(), True, candidates(), amaf_colours()) > 20


def test_an_atari_is_answered() -> None:
    game, _ = drawn("""
        . . . . . . .
        . . . O . . .
        . . O X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    game.play(WHITE, point_at(4, 2, 7))
    board = game.board
    numbers = state()
    answers = {int(rollouts._answer(board[0], numbers, candidates())) for _ in range(20)}
    assert answers == {point_at(3, 3, 7)}


def test_the_chain_that_moved_into_atari_is_taken() -> None:
    game, at = drawn("""
        . X . . .
        X . b . .
        . X . . .
        . . . . .
        . . . . .
    """)
    game.play(WHITE, point_at(1, 1, 5))
    numbers = state()
    assert {int(rollouts._answer(game.board[0], numbers, candidates())) for _ in range(20)} == {at["b"]}


def test_the_offset_has_komi_bonus_and_button() -> None:
    game, _ = drawn(FINISHED, komi=6.5)
    assert rollouts.score_offset(game.board[0]) == -6.5
    aga = random_position(9, 9, 0, 0, komi=0.5)
    aga.set_rules(RULESETS["chinese"])
    aga.place_handicap(all_points(9, 9)[:3])
    assert rollouts.score_offset(aga.board[0]) == -0.5 - 3
    button = random_position(9, 9, 0, 0, komi=6.0)
    button.set_rules(RULESETS["aga-button"])
    button.play(BLACK, PASS)
    assert rollouts.score_offset(button.board[0]) == -5.5


def test_territory_is_area_less_the_stones_put_down() -> None:
    japanese = RULESETS["japanese"]
    game, _ = drawn(FINISHED, rules=japanese)
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    # Two eyes each: nothing to choose between them.
    assert 9 + rollouts.score_offset(game.board[0]) == 0
    # A dead white stone: black has two points of territory and a prisoner, white two points.
    taken, _ = drawn(
        """
        . X O X X
        X X . X X
        X X X X X
        O O O O O
        . O . O O
    """,
        rules=japanese,
    )
    taken.play(BLACK, point_at(2, 1, 5))
    taken.play(WHITE, PASS)
    taken.play(BLACK, PASS)
    black, white = 13, 9
    assert rollouts.score_offset(taken.board[0]) == -(black - white)


def test_a_needless_move_at_home_costs_a_point_of_territory_and_none_of_area() -> None:
    diagram = """
        . X . X X O . O .
        . X X X X O O O .
    """
    for rules, cost in (("japanese", 1.0), ("chinese", 0.0)):
        offsets = []
        for point in (PASS, point_at(0, 1, 9)):
            game, _ = drawn(diagram, rules=RULESETS[rules])
            game.play(BLACK, point)
            game.play(WHITE, PASS)
            game.play(BLACK, PASS)
            offsets.append(rollouts.score_offset(game.board[0]))
        assert offsets[0] - offsets[1] == cost
