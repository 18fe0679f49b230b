"""Boards as plain text."""

import numpy as np
import pytest

from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_vertex, vertex
from gtp_engine.go.drawing import Marks, board_text
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import star_points


def played(width: int, height: int, moves: str) -> Game:
    game = Game(width, height, komi=7)
    for name in moves.split():
        game.play(game.to_move, parse_vertex(name, width, height))
    return game


def test_stones_stars_coordinates_and_the_last_move() -> None:
    assert str(played(5, 4, "B2 D3 A4 C2")).splitlines() == [
        "   A B C D E",
        " 4 X . . . . 4",
        " 3 . . . O . 3",
        " 2 . X(O). . 2",
        " 1 . . . . . 1",
        "   A B C D E",
        "Black (X) to move; move 4: W C2; captured by B 0, by W 0; komi 7; chinese rules",
    ]


def test_brackets_at_the_edges() -> None:
    assert " 1(X). 1" in str(played(2, 2, "A1")).splitlines()
    assert " 2 .(X)2" in str(played(2, 2, "B2")).splitlines()


def test_compact_has_one_column_a_point() -> None:
    assert board_text(played(5, 4, "B2 D3").stones(), PASS, compact=True).splitlines()[:3] == [
        "   ABCDE",
        " 4 ..... 4",
        " 3 ...O. 3",
    ]


def test_a_pass_marks_nothing() -> None:
    game = played(3, 3, "B2")
    game.play(WHITE, PASS)
    text = str(game)
    assert "(" not in text.rpartition("\n")[0]
    assert "move 2: W pass" in text


def test_labels_dead_stones_and_territory() -> None:
    game = played(3, 3, "A1 B2")
    territory = np.zeros((3, 3), np.int8)
    territory[0, 2], territory[2, 0] = BLACK, WHITE
    marks = Marks(
        labels={parse_vertex("A3", 3, 3): "1"}, dead=frozenset([parse_vertex("A1", 3, 3)]), territory=territory
    )
    assert board_text(game.stones(), game.last_point, marks, compact=True).splitlines()[1:4] == [
        " 3 1.b 3",
        " 2 .O. 2",
        " 1 x.. 1",
    ]


@pytest.mark.parametrize("size", [(2, 2), (25, 25), (25, 2), (2, 25), (19, 7)])
def test_no_empty_line_on_any_size(size: tuple[int, int]) -> None:
    lines = str(Game(*size)).splitlines()
    assert len(lines) == size[1] + 3
    assert all(line.strip() for line in lines)


@pytest.mark.parametrize(
    ("size", "stars"),
    [
        ((2, 2), ""),
        ((5, 5), "C3"),
        ((9, 9), "C3 C7 E5 G3 G7"),
        ((13, 13), "D4 D10 G7 K4 K10"),
        ((19, 19), "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16"),
        ((9, 19), "C4 C10 C16 E10 G4 G10 G16"),
    ],
)
def test_star_points(size: tuple[int, int], stars: str) -> None:
    assert {vertex(point, *size) for point in star_points(*size)} == set(stars.split())
