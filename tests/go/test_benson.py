"""Pass-alive chains and areas on drawn boards, and against the definitions on random ones."""

import os
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from cases import some
from drawn_positions import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_board import ReferenceBoard
from reference_life import Owners, area, pass_alive

from gtp_engine.go.benson import AREA_WORKSPACE, find_pass_alive, read_area, write_owner
from gtp_engine.go.board import NO_TAX, SEKI_TAX
from gtp_engine.go.coords import BLACK, WHITE, point_at
from gtp_engine.go.game import Game

Finder = Callable[[np.ndarray, bool, np.ndarray], None]
WORKSPACE = np.zeros(1, AREA_WORKSPACE)[0]


def find_area(board: np.ndarray, suicide: bool, owner: np.ndarray, tax: int = NO_TAX) -> None:
    board["tax"] = tax
    read_area(board, suicide, WORKSPACE)
    write_owner(board, WORKSPACE, owner)


def find_independent_area(board: np.ndarray, suicide: bool, owner: np.ndarray) -> None:
    find_area(board, suicide, owner, SEKI_TAX)


def owners(find: Finder, diagram: str, suicide: bool = False) -> str:
    """What `find` makes of a drawn board, drawn: b and w for what a colour owns."""
    game, _ = drawn(diagram)
    owner = np.full(game.area, 9, np.int8)
    find(game.board[0], suicide, owner)
    return "\n".join(" ".join(".bw"[colour] for colour in row) for row in owner.reshape(game.height, game.width))


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def test_two_eyes_are_alive() -> None:
    assert owners(
        find_pass_alive,
        """
        . X . X O .
        X X X X O .
        O O O O O .""",
    ) == lines("""
        b b b b . .
        b b b b . .
        . . . . . .""")


def test_its_memory_is_not_freed_before_the_end() -> None:
    program = (
        "import numpy as np; from gtp_engine.go.game import Game; "
        "from gtp_engine.go.benson import find_pass_alive; "
        "find_pass_alive(Game(9).board[0], False, np.zeros(81, np.int8))"
    )
    # With glibc memory of this size then goes back to the system as soon as it is freed: what uses it still crashes.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "32768"}
    assert AREA_WORKSPACE.itemsize > 32768
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.parametrize(
    "diagram",
    [
        """
        . X X O .
        X X X O .
        O O O O .""",  # one eye
        """
        . X O . .
        X O O . .
        O O . . .""",  # the corner chain hangs on the eye that its neighbour needs too
    ],
)
def test_one_eye_or_a_false_one_is_not_enough(diagram: str) -> None:
    assert "b" not in owners(find_pass_alive, diagram)


def test_chains_that_share_two_eyes_are_alive_together() -> None:
    assert owners(
        find_pass_alive,
        """
        . X X O
        X . X O
        X X O O
        O O O .""",
    ) == lines("""
        b b b .
        b b b .
        b b . .
        . . . .""")


def test_a_prisoner_in_a_small_eye_does_not_save_itself() -> None:
    diagram = """
        O . X . X O .
        X X X X X O .
        O O O O O O ."""
    assert owners(find_pass_alive, diagram) == lines("""
        b b b b b . .
        b b b b b . .
        . . . . . . .""")
    assert owners(find_area, diagram) == lines("""
        b b b b b w w
        b b b b b w w
        w w w w w w w""")


def test_an_opponent_with_room_for_an_eye_is_not_proven_dead() -> None:
    diagram = """
        . . . . X . X .
        . O . . X X X .
        . . . . X . X X
        X X X X X X X ."""
    assert owners(find_pass_alive, diagram) == lines("""
        . . . . b b b b
        . . . . b b b b
        . . . . b b b b
        b b b b b b b b""")
    assert owners(find_pass_alive, diagram.replace("O", ".")) == "\n".join(["b b b b b b b b"] * 4)


def test_suicide_decides_whether_prisoners_have_to_touch() -> None:
    """Every empty point of the left region touches black's chain, two of white's stones there do not."""
    diagram = """
        O . X . X O .
        O O X X X O .
        . X X O O O .
        X X O O . . ."""
    alive = owners(find_pass_alive, diagram, suicide=False).splitlines()
    assert alive[0] == ". . b b b . ."
    assert "b" not in owners(find_pass_alive, diagram, suicide=True)


def test_territory_of_a_chain_in_atari_is_left_out_under_a_tax() -> None:
    diagram = """
        . X O .
        X X O .
        O O O O"""
    assert owners(find_area, diagram).splitlines()[0] == "b b w w"
    assert owners(find_independent_area, diagram).splitlines()[0] == ". b w w"


def random_board(seed: int, width: int, height: int, moves: int) -> tuple[Game, ReferenceBoard]:
    generator = random.Random(seed)
    game, reference = Game(width, height), ReferenceBoard(width, height, "SIMPLE", suicide=False)
    for _ in range(moves):
        colour = generator.choice((BLACK, WHITE))
        # Eyes are left open, so that something lives.
        points = [p for p in reference.points() if any(reference.colour(n) != colour for n in reference.neighbours[p])]
        generator.shuffle(points)
        at = next((p for p in points if reference.simple_illegality(p, colour) is None), None)
        if at is not None:
            game.play(colour, point_at(*at, width))
            reference.play(at, colour)
    return game, reference


def check(game: Game, reference: ReferenceBoard) -> int:
    """Compares both analyses under both suicide rules; the number of points that are pass-alive."""
    proven = 0
    finders: list[tuple[Finder, Callable[[ReferenceBoard, bool], Owners]]] = [
        (find_pass_alive, pass_alive),
        (find_area, area),
    ]
    for find, define in finders:
        for suicide in (False, True):
            owner = np.full(game.area, 9, np.int8)
            find(game.board[0], suicide, owner)
            expected = define(reference, suicide)
            assert owner.tolist() == [expected.get(p, 0) for p in reference.points()], reference.diagram()
            proven += np.count_nonzero(owner) if find is find_pass_alive else 0
    return proven


@settings(max_examples=some(60), deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(2, 8), st.integers(0, 120))
def test_random_boards_by_the_definitions(seed: int, width: int, height: int, moves: int) -> None:
    check(*random_board(seed, width, height, moves))


@pytest.mark.slow
def test_many_random_boards() -> None:
    proven = sum(check(*random_board(seed, 3 + seed % 5, 3 + seed % 4, 20 + seed % 90)) for seed in range(some(5000)))
    assert proven > some(10_000)
