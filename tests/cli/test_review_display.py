"""What `gtp_engine review` prints: tables of chosen values, without any search."""

import io
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from reviews import D4, E5, F6, G7, game_of, loss, reason
from rich.console import Console, RenderableType
from screen_text import screen_of

from gtp_engine.clients.cli import review_display
from gtp_engine.clients.cli.review_display import (
    CLASS_STYLES,
    follow,
    mistakes_table,
    move_line,
    players_table,
    show_game,
    show_total,
)
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.study.game_review import PlayerFigures
from gtp_engine.study.move_review import MoveReview, find_mistakes
from gtp_engine.study.reviewer import ReviewStep

MOVES = [
    loss(10, BLACK, D4, E5, 3, 0.1),
    loss(11, WHITE, D4, E5, 7.04, 0.3),
    loss(12, BLACK, G7, F6, 1, 0.02),
    loss(13, WHITE, E5, E5, 0),
]


def lines(*shown: RenderableType) -> list[list[str]]:
    """The words of each line that is not empty, at a width of 80 columns."""
    console = Console(file=io.StringIO(), width=80)
    console.print(*shown)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    return [line.split() for line in text.splitlines() if line.strip()]


def test_a_mistake_made_again_is_the_line_of_its_worst_move() -> None:
    moves = [loss(9, WHITE, G7, E5, 4, 0.1), *MOVES]
    head, _, *rows = lines(mistakes_table(find_mistakes(moves)))
    assert head == ["move", "player", "played", "better", "points", "win", "rate"]
    again = ["D4;", "worst", "of", "2", "from", "move", "9", "on"]
    assert rows[0] == ["11", "White", *again, "E5", "F6", "-7.0", "-30.0%"]
    assert rows[1] == ["10", "Black", "D4", "E5", "F6", "-3.0", "-10.0%"]
    assert rows[2] == ["12", "Black", "G7", "F6", "F6", "-1.0", "-2.0%"]
    assert len(rows) == 3


@pytest.mark.usefixtures("phases_on_9x9")
def test_long_names_leave_the_names_of_the_rows_whole() -> None:
    players = {letter * 60: PlayerFigures("Ann", MOVES) for letter in "ab"}
    assert "middle game, from move 12" in {" ".join(row[:5]) for row in lines(players_table(players, (9, 9)))}


@pytest.mark.parametrize(("points", "style"), [(0.4, 0), (0.5, 1), (2, 2), (3, 3), (6, 4), (12, 5)])
def test_colours_by_points_lost(points: float, style: int) -> None:
    assert move_line(loss(1, BLACK, D4, E5, points)).style == CLASS_STYLES[style]
    if style:
        (row,) = mistakes_table(find_mistakes([loss(1, BLACK, D4, E5, points)])).rows
        assert row.style == CLASS_STYLES[style]


@pytest.mark.parametrize(
    ("review", "words"),
    [
        (loss(7, WHITE, D4, E5, 2.5, 0.1), "7 W D4 60.0% B+2.5 -2.5 -10.0% E5"),
        (loss(7, BLACK, D4, E5, 0.04, 0.0), "7 B D4 50.0% even"),
        (loss(7, BLACK, E5, E5, 0, 0), "7 B E5 50.0% even"),
    ],
)
def test_line_of_a_move(review: MoveReview, words: str) -> None:
    assert " ".join(move_line(review).plain.split()) == words


@pytest.mark.usefixtures("phases_on_9x9")
def test_players_by_phase_and_class() -> None:
    players = {"Black\nA [b]": PlayerFigures("A [b]", MOVES[::2]), "White": PlayerFigures("White", MOVES[1::2])}
    table = {row[0]: row[1:] for row in lines(players_table(players, (9, 9)))}
    assert table["A"] == ["[b]", "White"]
    assert table["moves"] == ["by", "points", "lost"]
    assert table["points"] == ["lost", "per", "move", "2.00", "3.50"]
    assert table["opening"] == ["3.00", "7.00"]
    assert table["middle"] == ["game,", "from", "move", "12", "1.00", "0.00"]
    assert "endgame" not in table
    assert table["engine's"] == ["first", "choice", "0", "(0%)", "1", "(50%)"]
    assert table["6"] == ["to", "12", "0", "1"]


def test_a_move_that_repeats_a_mistake_costs_nothing_more(capsys: pytest.CaptureFixture[str]) -> None:
    show_game(game_of([loss(9, WHITE, G7, E5, 4, 0.1), *MOVES]), all_moves=True)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["the", "same", "point", "missed", "again", "0", "1"] in shown
    assert ["9", "W", "G7", "60.0%", "B+4.0", "as", "move", "11", "E5"] in shown


def test_game_and_total(capsys: pytest.CaptureFixture[str]) -> None:
    games = [game_of(MOVES), game_of(MOVES, player=WHITE)]
    show_game(games[1], all_moves=True)
    text = capsys.readouterr().out
    assert text.startswith("Ann 3d - Bob, B+2\nmoves 10 to 13; net, 20 visits per position; Chinese rules, komi 7\n")
    assert [line.split()[:2] for line in text.splitlines()[-2:]] == [["11", "W"], ["13", "W"]]
    show_total(games, None)
    assert [line.split() for line in capsys.readouterr().out.splitlines() if "moves  " in line] == [["moves", "2", "4"]]
    show_total(games, "Bob")
    assert "6" in next(line for line in capsys.readouterr().out.splitlines() if "moves  " in line).split()


def test_the_first_reason_is_shown_below_the_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = {11: (reason((D4,), "[3]"), reason((E5,), "the second")), 12: ()}
    show_game(game_of(MOVES, reasons=reasons), all_moves=False)
    shown = capsys.readouterr().out
    assert "11 D4 [3] is a neutral point: it gains no territory.\n" in re.sub(" +", " ", shown)
    assert "the second" not in shown and "12 G7" not in shown


def test_the_points_of_the_reasons_stand_below_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    mistakes = [loss(1, BLACK, PASS, D4, 3.0, 0.2), loss(2, WHITE, E5, D4, 3.0, 0.2)]
    show_game(game_of(mistakes, reasons={1: (reason((D4,), "[1]"),), 2: (reason((D4,), "[2]"),)}), all_moves=False)
    first, second = (line for line in capsys.readouterr().out.splitlines() if "neutral" in line)
    assert first.index("pass") == second.index("E5")


def test_names_cannot_change_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    review = game_of(MOVES)
    review.record.black, review.record.white_rank = "\x1b[31mAnn", "\x1b]0;1d"
    show_game(review, all_moves=False)
    shown = capsys.readouterr().out
    assert "\x1b[31mAnn" not in shown and "\x1b]" not in shown and "?[31mAnn" in shown


def test_the_bar_and_what_the_review_costs_are_lines_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(review_display, "Console", partial(Console, file=output, force_terminal=True, width=80))
    name = "2026-11-30-005757-9x9-engine-15k.sgf"

    def steps() -> Iterator[ReviewStep]:
        yield (step := ReviewStep("moves", 0, 4, game_of(MOVES), expected=30.0, is_short=True))
        assert screen_of(output.getvalue())[:2] == [
            "the review takes about 30 seconds, because reviews have at least 20 visits per ",
            "position",
        ]
        yield replace(step, stage="again", expected=100.0)
        time.sleep(0.3)  # the bar is drawn ten times a second
        bar = screen_of(output.getvalue())[2]
        assert bar.startswith(f"{name}, second look ") and bar.rstrip().endswith("about 1.7 minutes left")

    follow(steps(), name, is_first=True)


def test_a_single_move_is_no_range_and_a_zero_has_no_minus(capsys: pytest.CaptureFixture[str]) -> None:
    show_game(game_of([loss(5, BLACK, D4, E5, 0.01, 0.06)]), all_moves=True)
    text = capsys.readouterr().out
    assert text.splitlines()[1].startswith("move 5; ")
    assert "-0.0" not in text
    assert text.splitlines()[-1].split() == ["5", "B", "D4", "44.0%", "even", "0.0", "-6.0%", "E5"]
