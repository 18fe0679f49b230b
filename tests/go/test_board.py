"""The compiled board and the game on it: each rule on a drawn board."""

import os
import random
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from drawn_positions import drawn

from gtp_engine.go.board import BOARD, BUTTON_BLACK, MAX_POINTS, copy_board, find_liberties
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex, point_at, point_of_index
from gtp_engine.go.game import Game, IllegalMove
from gtp_engine.go.rules import RULESETS, Rules

SIMPLE = Rules("SIMPLE", suicide=False)
SIMPLE_SUICIDE = Rules("SIMPLE", suicide=True)
POSITIONAL = Rules("POSITIONAL", suicide=False)
SITUATIONAL = Rules("SITUATIONAL", suicide=False)


def diagram(game: Game) -> str:
    return "\n".join(" ".join(".XO"[stone] for stone in row) for row in game.stones())


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize(
    ("before", "after", "prisoners"),
    [
        (
            """
            . X .
            X O a
            . X .""",
            """
            . X .
            X . X
            . X .""",
            1,
        ),
        (  # several chains
            """
            . X X . .
            X O O X .
            X O a O X
            . X O X .
            . . X . .""",
            """
            . X X . .
            X . . X .
            X . X . X
            . X . X .
            . . X . .""",
            5,
        ),
        (  # one chain that is touched twice
            """
            O O X
            O a X
            X X X""",
            """
            . . X
            . X X
            X X X""",
            3,
        ),
        (  # the capture comes before the suicide
            """
            a O X
            O O X
            X X .""",
            """
            X . X
            . . X
            X X .""",
            3,
        ),
    ],
)
def test_stones_without_liberties_are_taken(before: str, after: str, prisoners: int) -> None:
    game, at = drawn(before)
    assert game.is_legal(at["a"])
    game.play(BLACK, at["a"])
    assert diagram(game) == lines(after)
    assert (game.captures(BLACK), game.captures(WHITE)) == (prisoners, 0)
    assert game.board["ko_point"][0] == PASS


def test_snapback_is_no_ko() -> None:
    game, at = drawn("""
        X O a b X
        X O O O X
        . X X X .""")
    game.play(BLACK, at["a"])
    game.play(WHITE, at["b"])
    assert game.captures(WHITE) == 1
    assert game.is_legal(at["a"])
    game.play(BLACK, at["a"])
    assert game.captures(BLACK) == 5


KO = """
    . X O .
    X O a O
    . X O .
    . . . ."""


def test_simple_ko_may_not_be_retaken_at_once() -> None:
    game, at = drawn(KO)
    taken = parse_vertex("B3", 4, 4)
    game.play(BLACK, at["a"])
    assert game.board["ko_point"][0] == taken
    assert not game.is_legal(taken)
    with pytest.raises(IllegalMove, match=r"^illegal move: B3 retakes the ko; play elsewhere first$"):
        game.play(WHITE, taken)
    game.play(WHITE, parse_vertex("D1", 4, 4))
    game.play(BLACK, parse_vertex("A1", 4, 4))
    assert game.is_legal(taken)
    game.play(WHITE, taken)
    assert game.board["ko_point"][0] == at["a"]


@pytest.mark.parametrize(("rules", "may_retake"), [(SIMPLE, True), (POSITIONAL, False), (SITUATIONAL, False)])
def test_passes_lift_the_simple_ko_but_no_superko(rules: Rules, may_retake: bool) -> None:
    game, at = drawn(KO, rules=rules)
    game.play(BLACK, at["a"])
    game.play(WHITE, PASS)
    assert game.board["ko_point"][0] == PASS
    game.play(BLACK, PASS)
    assert game.is_legal(parse_vertex("B3", 4, 4)) is may_retake


@pytest.mark.parametrize(("rules", "may_retake"), [(SIMPLE, True), (POSITIONAL, False), (SITUATIONAL, True)])
def test_sending_two_returning_one(rules: Rules, may_retake: bool) -> None:
    """The position comes back with the other player to move: positional superko alone forbids it."""
    game, at = drawn(
        """
        a O b
        X X O
        . . .""",
        WHITE,
        rules=rules,
    )
    game.play(WHITE, at["a"])
    game.play(BLACK, at["b"])
    retake = parse_vertex("B3", 3, 3)
    assert game.is_legal(retake) is may_retake
    assert game.legal_moves()[1] == may_retake


def test_superko_is_not_refused_by_play() -> None:
    game, at = drawn(KO, rules=POSITIONAL)
    game.play(BLACK, at["a"])
    game.play(WHITE, PASS)
    game.play(BLACK, PASS)
    game.play(WHITE, parse_vertex("B3", 4, 4))
    assert game.captures(WHITE) == 1


def test_a_move_out_of_turn_begins_a_new_history() -> None:
    game, at = drawn(KO, rules=POSITIONAL)
    taken = parse_vertex("B3", 4, 4)
    game.play(BLACK, at["a"])
    game.play(BLACK, taken)
    game.undo()
    assert not game.is_legal(taken)
    assert game.is_legal(taken, BLACK)
    game.play(WHITE, PASS)
    game.play(WHITE, taken)
    assert game.stone_at(at["a"]) == EMPTY


def test_the_position_before_a_move_out_of_turn_may_not_return() -> None:
    game, at = drawn(
        """
        . X O .
        X a X O
        . X O .""",
        rules=POSITIONAL,
    )
    game.play(WHITE, at["a"])
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    assert not game.is_legal(parse_vertex("C2", 4, 3))


SUICIDE = """
    a O . .
    O . O O
    O O X b
    O . O O"""


@pytest.mark.parametrize("rules", [SIMPLE, SIMPLE_SUICIDE])
def test_suicide_of_one_stone_is_never_legal(rules: Rules) -> None:
    game, at = drawn(SUICIDE, rules=rules)
    assert not game.is_legal(at["a"])
    with pytest.raises(IllegalMove, match=r"^illegal move: A4 is suicide$"):
        game.play(BLACK, at["a"])


SUICIDE_OF_THREE = """
    X X a O
    O O O O
    . . . ."""
AFTER_SUICIDE = ". . . O\nO O O O\n. . . ."


def test_suicide_of_several_stones_is_for_the_rules_to_allow() -> None:
    game, at = drawn(SUICIDE_OF_THREE)
    assert not game.is_legal(at["a"])
    with pytest.raises(IllegalMove, match="is suicide"):
        game.play(BLACK, at["a"])
    game, at = drawn(SUICIDE_OF_THREE, rules=SIMPLE_SUICIDE)
    assert game.is_legal(at["a"])
    game.play(BLACK, at["a"])
    assert diagram(game) == AFTER_SUICIDE
    assert (game.captures(BLACK), game.captures(WHITE)) == (0, 3)
    assert game.board["ko_point"][0] == PASS


def test_tolerant_play_retakes_a_ko() -> None:
    game, at = drawn(KO)
    taken = parse_vertex("B3", 4, 4)
    game.play(BLACK, at["a"])
    game.play(WHITE, taken, tolerant=True)
    assert (game.stone_at(taken), game.stone_at(at["a"])) == (WHITE, EMPTY)
    assert not game.is_legal(at["a"])
    game.undo()
    assert not game.is_legal(taken)
    with pytest.raises(IllegalMove, match=r"^illegal move: C3 is occupied$"):
        game.play(WHITE, at["a"], tolerant=True)


def test_tolerant_play_lets_several_stones_die_under_any_rules() -> None:
    game, at = drawn(SUICIDE_OF_THREE)
    game.play(BLACK, at["a"], tolerant=True)
    assert diagram(game) == AFTER_SUICIDE
    assert not game.board["suicide"][0]
    game.undo()
    assert not game.is_legal(at["a"])
    game, at = drawn(SUICIDE)
    with pytest.raises(IllegalMove, match=r"^illegal move: A4 is suicide$"):
        game.play(BLACK, at["a"], tolerant=True)


def test_suicide_may_not_repeat_a_position_under_superko() -> None:
    """Two stones that die at once leave the position before the first of them, with white to move again."""
    game, at = drawn(
        """
        . a O .
        O O O .
        . . . .""",
        rules=RULESETS["tromp-taylor"],
    )
    game.play(BLACK, at["a"])
    game.play(WHITE, PASS)
    corner = parse_vertex("A3", 4, 3)
    assert not game.is_legal(corner)
    game.set_rules(RULESETS["new-zealand"])
    game.undo()
    game.undo()
    game.play(BLACK, at["a"])
    game.play(WHITE, PASS)
    assert game.is_legal(corner)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 25), (25, 2), (9, 9), (13, 7), (19, 19), (25, 25)])
def test_every_size_has_corners_edges_and_a_middle(width: int, height: int) -> None:
    game = Game(width, height, rules=SIMPLE)
    assert game.legal_moves().tolist() == [True] * (width * height + 1)
    corner, right, below = point_at(0, 0, width), point_at(1, 0, width), point_at(0, 1, width)
    for colour, point in [(WHITE, corner), (BLACK, right), (WHITE, PASS), (BLACK, below)]:
        game.play(colour, point)
    assert game.stone_at(corner) == EMPTY
    far_right, far_corner = point_at(width - 1, 0, width), point_at(width - 1, height - 1, width)
    assert find_liberties(game.board[0], right, 4)[0] == (2 if width == 2 else 3)
    if width > 3 and height > 2:
        game.play(WHITE, far_right)
        game.play(BLACK, far_corner)
        assert find_liberties(game.board[0], far_right, 4)[0] == 2
        assert find_liberties(game.board[0], far_corner, 4)[0] == 2


@pytest.mark.parametrize(("width", "height"), [(1, 9), (9, 1), (26, 9), (9, 26), (0, 0)])
def test_other_sizes_are_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match=f"unacceptable size {width}x{height}"):
        Game(width, height)


@pytest.mark.parametrize("colour", [-1, 0, 3])
def test_a_colour_that_is_none_is_refused(colour: int) -> None:
    game = Game(5)
    point = parse_vertex("C3", 5, 5)
    with pytest.raises(ValueError, match=f"invalid colour {colour}"):
        game.play(colour, point)
    with pytest.raises(ValueError, match=f"invalid colour {colour}"):
        game.is_legal(point, colour)
    with pytest.raises(ValueError, match=f"invalid colour {colour}"):
        game.set_up([point], [], colour)
    assert (game.moves, game.setup_stones, game.to_move) == ([], [], BLACK)


def test_two_passes_end_the_game_and_moves_go_on() -> None:
    game = Game(5)
    game.play(BLACK, PASS)
    assert not game.is_over
    game.play(WHITE, PASS)
    assert game.is_over
    game.play(BLACK, point_at(2, 2, 5))
    assert not game.is_over
    game.undo()
    assert game.is_over


def test_hundreds_of_passes() -> None:
    game = Game(3)
    for _ in range(200):
        game.play(BLACK, PASS)
        game.play(WHITE, PASS)
        assert game.is_over


def test_nothing_is_undone_at_the_start() -> None:
    with pytest.raises(ValueError, match=r"^cannot undo: there is no move to take back$"):
        Game(3).undo()


def test_a_set_up_chain_needs_a_liberty() -> None:
    game = Game(3)
    game.play(BLACK, point_at(1, 1, 3))
    before = diagram(game)
    with pytest.raises(ValueError, match="no liberty"):
        game.set_up([point_at(0, 0, 3)], [point_at(1, 0, 3), point_at(0, 1, 3)])
    with pytest.raises(ValueError, match="B2"):
        game.set_up([point_at(1, 1, 3)], [point_at(1, 1, 3)])
    assert diagram(game) == before


def test_set_up_takes_stones_in_any_order() -> None:
    """Stones whose liberties are filled before their eyes' stones come are not taken."""
    ring = [point_at(x, y, 5) for x, y in product(range(5), range(5)) if (x, y) not in ((1, 1), (3, 3))]
    game = Game(5)
    game.set_up(ring, [])
    assert find_liberties(game.board[0], ring[0], 4)[0] == 2


def test_large_boards_work_as_plain_python() -> None:
    script = (
        "from gtp_engine.go.coords import parse_vertex\n"
        "from gtp_engine.go.game import Game\n"
        "game = Game(25)\n"
        "for name in ('B1', 'A1', 'A2', 'A1', 'D4'):\n"
        "    point = parse_vertex(name, 25, 25)\n"
        "    if game.is_legal(point):\n"
        "        game.play(game.to_move, point)\n"
        "print(len(game.moves), game.captures(1))"
    )
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", script]
    result = subprocess.run(command, env=plain, capture_output=True, text=True, timeout=120, check=False)
    assert (result.stdout.split(), result.stderr) == (["4", "1"], "")


def test_the_pass_that_takes_the_button_does_not_help_to_end_the_game() -> None:
    game = Game(5, rules=RULESETS["aga-button"])
    game.play(BLACK, PASS)
    assert (game.passes, game.board["button"][0]) == (0, BUTTON_BLACK)
    game.play(WHITE, PASS)
    assert not game.is_over
    game.play(BLACK, PASS)
    assert game.is_over


def test_a_change_of_rules_counts_the_passes_anew() -> None:
    button, usual = RULESETS["aga-button"], RULESETS["chinese"]
    game = Game(5, rules=usual)
    game.play(BLACK, PASS)
    game.set_rules(button)
    assert (game.passes, game.board["button"][0]) == (0, BUTTON_BLACK)
    game.play(WHITE, PASS)
    assert game.passes == 1 and not game.is_over
    game.set_rules(usual)
    assert game.passes == 2 and game.is_over
    game.undo()
    assert game.passes == 1
    game.set_rules(button)
    assert game.passes == 0

    game.play(BLACK, PASS)  # out of turn: the passes before are forgotten
    assert game.passes == 1
    game.set_rules(usual)
    assert game.passes == 1
    game.set_komi(3)
    assert game.passes == 1


@pytest.mark.parametrize("seed", range(30))
def test_changed_rules_leave_the_position_of_a_game_under_them(seed: int) -> None:
    chance = random.Random(seed)
    games = [Game(3, rules=RULESETS[name]) for name in ("aga", "aga-button")]
    for _ in range(20):
        legal = [index for index in range(9) if all(game.legal_moves()[index] for game in games)]
        point = point_of_index(chance.choice(legal), 3, 3) if legal and chance.random() < 0.5 else PASS
        for game in games:
            game.play(game.to_move, point)
    if chance.random() < 0.5:
        for game in games:
            game.undo()
    for game, other in (games, reversed(games)):
        changed = game.copy()
        changed.set_rules(other.rules)
        for field in ("passes", "moves_shown", "button"):
            assert changed.board[field] == other.board[field], field
        changed.undo()
        other = other.copy()
        other.undo()
        for field in ("passes", "moves_shown", "button"):
            assert changed.board[field] == other.board[field], field


def test_a_copy_has_every_field() -> None:
    """A record of random bytes, so that a field that `copy_board` forgets is found whatever it means."""
    random = np.random.default_rng(1)
    source, target = (np.frombuffer(random.bytes(BOARD.itemsize), BOARD).copy() for _ in range(2))
    source["width"], source["height"], source["empty_count"], source["komi"] = 5, 3, 7, 6.5
    source["suicide"], source["friendly_pass"] = True, False
    target["suicide"], target["friendly_pass"] = False, True
    ladders = target["ladders"].copy()
    copy_board(target[0], source[0])
    names = BOARD.names or ()
    used = {name: (3 + 2) * (5 + 1) + 1 for name in names if BOARD[name].shape == (MAX_POINTS,)}
    used["empties"] = 7
    for name in names:
        expected = ladders if name == "ladders" else source[name]
        assert (target[name][..., : used.get(name)] == expected[..., : used.get(name)]).all(), name
