"""The board drawn by rich, read back without its colours."""

import io
import re

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from gtp_engine.clients.terminal.board import board_view, colour_board
from gtp_engine.go.coords import BLACK, COLUMNS, WHITE, parse_vertex
from gtp_engine.go.diagram import Marks
from gtp_engine.go.game import Game


def console(width: int, *, colours: str = "truecolor", encoding: str = "utf-8") -> tuple[Console, io.BytesIO]:
    written = io.BytesIO()
    file = io.TextIOWrapper(written, encoding=encoding, write_through=True)
    settings = {"color_system": None} if colours == "none" else {"color_system": colours, "force_terminal": True}
    return Console(width=width, file=file, legacy_windows=False, **settings), written


def played(width: int, height: int, moves: str) -> Game:
    game = Game(width, height)
    for name in moves.split():
        game.play(game.to_move, parse_vertex(name, width, height))
    return game


def test_two_columns_a_point() -> None:
    assert colour_board(played(5, 4, "B2 D3 A4 C2")).plain.splitlines() == [
        "    A B C D E",
        " 4  ●─┬─┬─┬─┐  4",
        " 3  ├─┼─┼─○─┤  3",
        " 2  ├─●(○)┼─┤  2",
        " 1  └─┴─┴─┴─┘  1",
        "    A B C D E",
    ]


def test_one_column_a_point_where_it_is_narrow() -> None:
    output, written = console(20)
    output.print(board_view(Game(9), output))
    assert "┌┬┬┬┬┬┬┬┐" in Text.from_ansi(written.getvalue().decode()).plain


def test_stones_differ_in_colour_and_shape() -> None:
    board = colour_board(played(2, 2, "A1 B2"))
    styles = {board.plain[span.start]: str(span.style) for span in board.spans if board.plain[span.start] in "●○"}
    assert styles == {"●": "#000000 on #d7af5f", "○": "bold #ffffff on #d7af5f"}


def test_marks() -> None:
    game = played(3, 3, "A1 B2")
    territory = np.zeros((3, 3), np.int8)
    territory[0, 2] = BLACK
    marks = Marks({parse_vertex("A3", 3, 3): "1"}, frozenset([parse_vertex("A1", 3, 3)]), territory)
    assert colour_board(game, marks, compact=True).plain.splitlines()[1:4] == [" 3 1┬■ 3", " 2 ├○┤ 2", " 1 x┴┘ 1"]


@pytest.mark.parametrize(("colours", "encoding"), [("none", "utf-8"), ("standard", "utf-8"), ("truecolor", "ascii")])
def test_plain_where_colours_or_unicode_are_missing(colours: str, encoding: str) -> None:
    output, written = console(80, colours=colours, encoding=encoding)
    output.print(board_view(played(9, 9, "E5"), output))
    assert " 5 . . . .(X). . . . 5" in written.getvalue().decode()


def test_plain_where_no_colour_is_wished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output, written = console(80)
    output.print(board_view(played(9, 9, "E5"), output))
    assert " 5 . . . .(X). . . . 5" in written.getvalue().decode()


@pytest.mark.parametrize("size", [(2, 2), (25, 25), (25, 2), (2, 25)])
@pytest.mark.parametrize("width", [30, 80, 120])
def test_no_line_is_wider_than_the_terminal(size: tuple[int, int], width: int) -> None:
    output, written = console(width, colours="256")
    output.print(board_view(Game(*size), output, side=[Text("black: you"), Text("white: the engine")]))
    lines = Text.from_ansi(written.getvalue().decode()).plain.splitlines()
    assert max(map(len, lines)) <= width
    assert sum(line.strip().startswith("1 ") for line in lines) == 1
    assert any("black: you" in line for line in lines)


SIDE = [
    Text("●  black  you"),
    Text("○  white  engine, 12k"),
    Text("captured by black 12, by white 3"),
    Text("word " * 25),
]


@pytest.mark.parametrize("size", [9, 13, 19, 25])
@pytest.mark.parametrize("width", [58, 70, 78, 80, 85, 90, 95, 120])
def test_lines_next_to_the_board_cut_off_no_column(size: int, width: int) -> None:
    output, written = console(width)
    output.print(board_view(Game(size), output, side=SIDE), soft_wrap=True)
    lines = Text.from_ansi(written.getvalue().decode()).plain.splitlines()
    assert "…" not in "".join(lines)
    letters = " ".join(COLUMNS[:size])
    assert sum(letters in line for line in lines) == 2
    rows = [line for line in lines if re.match(r" ?\d+  [┌├└]", line)]
    assert [int(line.split()[0]) for line in rows] == list(range(size, 0, -1))
    assert all(re.match(rf" ?(\d+)  \S{{{2 * size - 1}}}  \1\b", line) for line in rows)
    assert "".join(lines).count("word") == 25


def test_territory_and_dead_stones_differ_in_shape() -> None:
    game = played(3, 3, "A1 B2")
    territory = np.array([[BLACK, 0, WHITE], [0, 0, 0], [0, 0, 0]], np.int8)
    dead = frozenset(parse_vertex(name, 3, 3) for name in ("A1", "B2"))
    board = colour_board(game, Marks(dead=dead, territory=territory), compact=True)
    assert board.plain.splitlines()[1:4] == [" 3 ■┬□ 3", " 2 ├o┤ 2", " 1 x┴┘ 1"]
