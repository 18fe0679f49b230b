"""The ladder reader on drawn positions, and against plain reading on random ones."""

import random

import drawn_positions
import numpy as np
import pytest
from cases import some
from reference_board import BLACK, WHITE, Point, ReferenceBoard, read_diagram
from reference_life import LadderReader

from gtp_engine.go.coords import point_at
from gtp_engine.go.game import Game
from gtp_engine.go.ladders import find_ladders, new_workspace
from gtp_engine.go.rules import Rules

SIMPLE = Rules("SIMPLE", suicide=False)
WORKSPACE = new_workspace()


def read(game: Game) -> tuple[set[Point], set[Point]]:
    """The stones that are caught and the working moves, as (x, y)."""
    caught, working = np.ones((2, game.area), np.bool_)
    find_ladders(game.board[0], WORKSPACE, caught, working)
    by_plane = [{(int(i) % game.width, int(i) // game.width) for i in np.flatnonzero(p)} for p in (caught, working)]
    return by_plane[0], by_plane[1]


def drawn(diagram: str, to_move: int = BLACK) -> tuple[Game, dict[str, Point]]:
    return drawn_positions.drawn(diagram, to_move)[0], read_diagram(diagram)[3]


def test_a_ladder_to_the_edge() -> None:
    game, at = drawn("""
        . . . . . . .
        . X X . . . .
        . X O a . . .
        . . b X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .""")
    caught, working = read(game)
    assert caught == {(2, 2)}
    assert working == {at["a"], at["b"]}


def test_working_moves_are_for_the_player_to_move() -> None:
    diagram = """
        . . . . . . .
        . X X . . . .
        . X O . . . .
        . . . X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . ."""
    caught, working = read(drawn(diagram, WHITE)[0])
    assert caught == {(2, 2)}
    assert working == set()


def test_a_ladder_across_the_board_and_its_breaker() -> None:
    diagram = """
        . . . . . . . . .
        . . X X . . . . .
        . X O . . . . b .
        . . X . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . a . .
        . . . . . . . . ."""
    assert read(drawn(diagram)[0])[0] == {(2, 2)}
    assert read(drawn(diagram.replace("b", "O"))[0])[0] == {(2, 2)}
    assert read(drawn(diagram.replace("a", "O"))[0])[0] == set()


def test_a_chain_in_atari_that_can_run_is_not_caught() -> None:
    game, _ = drawn("""
        . X . . .
        X O . . .
        . X . . .
        . . . . .""")
    assert read(game)[0] == set()


def test_a_chain_in_atari_at_the_edge_is_caught() -> None:
    game, _ = drawn("""
        . O X . .
        . O X . .
        O X X . .
        . . . . .""")
    assert (2, 0) not in read(game)[0]
    game, _ = drawn("""
        X O . . .
        X O . . .
        . X X . .
        . . . . .""")
    assert read(game)[0] == set()
    game, _ = drawn("""
        O . X . .
        X X X . .
        . . . . .
        . . . . .""")
    assert read(game)[0] == {(0, 0)}


def test_taking_an_attacker_in_atari_is_an_escape() -> None:
    diagram = """
        O . X . .
        X O X . .
        . X . . .
        O . . . .
        O O O O ."""
    assert read(drawn(diagram)[0])[0].isdisjoint({(0, 0), (1, 1)})
    assert read(drawn(diagram.replace(". X . . .", "X X . . ."))[0])[0] >= {(0, 0), (1, 1)}


def test_a_snapback_catches() -> None:
    game, at = drawn("""
        X O a b X .
        X O O O X .
        X X X X . .
        . . . . . .""")
    caught, working = read(game)
    assert caught == {(1, 0), (1, 1), (2, 1), (3, 1)}
    assert working == {at["a"], at["b"]}


def random_position(generator: random.Random) -> tuple[Game, ReferenceBoard]:
    """The same random game on both boards; some end on a ko."""
    width, height = generator.choice([(4, 4), (5, 5), (6, 4), (6, 6), (7, 7)])
    game, reference = Game(width, height, rules=SIMPLE), ReferenceBoard(width, height, "SIMPLE", suicide=False)
    for _ in range(generator.randrange(4, 2 * width * height)):
        colour = reference.to_move
        legal = [point for point in reference.points() if reference.simple_illegality(point, colour) is None]
        if not legal:
            break
        at = generator.choice(legal)
        game.play(colour, point_at(*at, width))
        reference.play(at, colour)
    return game, reference


def compare(generator: random.Random) -> None:
    game, reference = random_position(generator)
    reader = LadderReader(reference)
    caught: set[Point] = set()
    working: set[Point] = set()
    for chain in reference.all_chains():
        stone = next(iter(chain))
        if reader.caught(stone):
            caught |= chain
        if reference.colour(stone) != reference.to_move:
            working |= reader.working_moves(stone)
    assert read(game) == (caught, working), reference.diagram()


def test_random_positions_are_read_as_the_reference_reads_them() -> None:
    generator = random.Random(1)
    for _ in range(some(150)):
        compare(generator)


@pytest.mark.slow
def test_many_random_positions() -> None:
    generator = random.Random(2)
    for _ in range(some(6000)):
        compare(generator)
