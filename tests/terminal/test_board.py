"""The board drawn by rich, read back without its colours, and what stands beside and below it."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from gtp_engine.clients.terminal.board import (
    SIDE_WIDTH,
    board_view,
    candidate_marks,
    candidate_table,
    colour_board,
    engine_move_line,
    hint_line,
    hint_marks,
    lead_in_words,
    main_line,
    points,
    result_in_words,
    side_lines,
    territory_marks,
)
from gtp_engine.clients.terminal.words import SHOWN_VALUES
from gtp_engine.go.coords import BLACK, COLUMNS, PASS, WHITE, parse_vertex
from gtp_engine.go.drawing import Marks
from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport


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


def test_marks_differ_in_shape() -> None:
    game = played(3, 3, "A1 B2")
    territory = np.zeros((3, 3), np.int8)
    territory[0, 2], territory[1, 0] = BLACK, WHITE
    marks = Marks({parse_vertex("A3", 3, 3): "1"}, frozenset([parse_vertex("A1", 3, 3)]), territory)
    assert colour_board(game, marks, compact=True).plain.splitlines()[1:4] == [" 3 1┬■ 3", " 2 □○┤ 2", " 1 x┴┘ 1"]
    dead = Marks(dead=frozenset([parse_vertex("B2", 3, 3)]))
    assert colour_board(game, dead, compact=True).plain.splitlines()[2] == " 2 ├o┤ 2"


@pytest.mark.parametrize(
    ("colours", "encoding", "wish"),
    [("none", "utf-8", ""), ("standard", "utf-8", ""), ("truecolor", "ascii", ""), ("truecolor", "utf-8", "1")],
)
def test_plain_where_colours_or_unicode_are_missing_or_not_wished(
    colours: str, encoding: str, wish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", wish)
    output, written = console(80, colours=colours, encoding=encoding)
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


def at(name: str) -> int:
    return parse_vertex(name, 3, 3)


def report(to_move: int, lead: float, ownership: np.ndarray | None = None) -> SearchReport:
    best = MoveReport(
        at("B2"), 900, 0.61, 2.5, 2.5, 3, 0.2, 0.5, 0.1, 0.4, 900, 0, (at("B2"), at("A3"), PASS), (900, 9, 1)
    )
    other = MoveReport(PASS, 100, 0.4, -1.5, -1.5, 3, 0, 0.3, 0, 0.1, 100, 1, (PASS,), (100,))
    priors = np.full(10, 0.1, np.float32)
    return SearchReport(
        3, 3, to_move, 1000, 1000, 0.6, lead, lead, 3, 0.2, (best, other), priors, ownership, seconds=1.25
    )


def printed(thing: object, width: int = 80) -> list[str]:
    console = Console(width=width, color_system=None, file=io.StringIO())
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_players_terms_and_latest_moves() -> None:
    game = Game(3, komi=0.5)
    game.play(BLACK, at("B2"))
    assert side_lines(game, {BLACK: "you", WHITE: "engine"}, 1)[-1].plain == "move 1: B2"
    game.play(WHITE, PASS)
    assert [line.plain for line in side_lines(game, {BLACK: "you", WHITE: "engine, 12k"}, 5)] == [
        " ●  black  you",
        " ○  white  engine, 12k",
        "",
        "captured by black 0, by white 0",
        "Chinese rules, komi 0.5",
        "moves 4-5: B2 pass",
    ]


def test_the_engines_move_with_the_opponents_win_rate_after_it() -> None:
    game = Game(3)
    game.play(BLACK, at("B2"))
    searched = report(BLACK, -9.0)  # the position before the move
    lines = {shown: engine_move_line(game, searched, shown).plain for shown in SHOWN_VALUES}
    assert lines == {
        "winrate": "black plays B2  (1.2 s, your win rate 39%)",
        "score": "black plays B2  (1.2 s, black leads by about 2.5 points)",
        "nothing": "black plays B2",
    }
    unvisited = replace(searched, moves=searched.moves[1:])
    assert engine_move_line(game, unvisited).plain == "black plays B2"
    game.play(WHITE, PASS)
    assert engine_move_line(game, None).plain == "white passes: pass too to end the game and count it"
    game.play(BLACK, PASS)
    assert engine_move_line(game, None).plain == "black passes"


def test_a_hint_is_marked_and_names_the_leader() -> None:
    assert hint_marks(report(WHITE, 1)).labels == {at("B2"): "*"}
    lines = {shown: hint_line(report(WHITE, -9.0), shown) for shown in SHOWN_VALUES}
    assert lines == {
        "winrate": "hint: B2 (marked *); your win rate 61%; white leads by about 2.5 points; then A3 pass",
        "score": "hint: B2 (marked *); white leads by about 2.5 points; then A3 pass",
        "nothing": "hint: B2 (marked *); then A3 pass",
    }


def test_a_hint_to_pass_marks_nothing() -> None:
    passing = replace(report(BLACK, 0.2), moves=report(BLACK, 0.2).moves[1:])
    assert hint_marks(passing).labels == {}
    assert hint_line(passing) == "hint: pass; your win rate 40%; white leads by about 1.5 points"


def test_candidates() -> None:
    assert candidate_marks(report(BLACK, 1)).labels == {at("B2"): "1", PASS: "2"}
    assert printed(candidate_table(report(BLACK, 1), 80)) == [
        "   move  win rate  score  visits  main line",
        "1  B2         61%   +2.5     900  B2 A3 pass",
        "2  pass       40%   -1.5     100  pass",
    ]
    assert printed(candidate_table(report(BLACK, 1), 36), 36)[1] == "1  B2         61%   +2.5     900"
    assert main_line(report(BLACK, 1)) == "B2 A3 pass"


def test_the_table_fits_next_to_19x19_on_80_columns() -> None:
    moves = tuple(move._replace(visits=98765) for move in report(BLACK, 1).moves)
    lines = printed(candidate_table(replace(report(BLACK, 1), moves=moves), SIDE_WIDTH), SIDE_WIDTH)
    assert lines[1] == "1  B2         61%   +2.5  98,765"


def test_territory_is_the_same_whoever_moves() -> None:
    game = Game(3)
    game.play(BLACK, at("B2"))
    game.play(WHITE, at("A1"))
    ownership = np.array([[0.9, 0.1, -0.9], [1, 1, 1], [1, 0.5, -0.2]], np.float32)
    for to_move, seen in ((BLACK, ownership), (WHITE, -ownership)):
        marks = territory_marks(game, report(to_move, 1, seen))
        assert marks.territory is not None
        assert marks.territory.tolist() == [[1, 0, 2], [1, 1, 1], [1, 1, 0]]
        assert marks.dead == {at("A1")}


@pytest.mark.parametrize(
    ("to_move", "lead", "words"),
    [
        (BLACK, 3.26, "black leads by about 3.3 points"),
        (WHITE, 3.26, "white leads by about 3.3 points"),
        (WHITE, -12, "black leads by about 12.0 points"),
        (WHITE, -0.49, "the game is about even (B+0.5)"),
        (WHITE, 0.94, "the game is about even (W+0.9)"),
        (BLACK, 0.04, "the game is even"),
        (BLACK, 1.0, "black leads by about 1.0 points"),
    ],
)
def test_who_is_ahead(to_move: int, lead: float, words: str) -> None:
    assert lead_in_words(to_move, lead) == words


def test_leads() -> None:
    assert [points(lead) for lead in (1.5, -0.5, -0.01, 0)] == ["+1.5", "-0.5", "0.0", "0.0"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("W+3.5", "white wins by 3.5 points"),
        ("B+1", "black wins by 1 point"),
        ("B+0.5", "black wins by 0.5 point"),
        ("W+R", "white wins by resignation"),
        ("0", "a draw"),
    ],
)
def test_results(result: str, words: str) -> None:
    assert result_in_words(result) == words
