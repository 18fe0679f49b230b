"""What a match shows on a terminal, as the screen has it in the end."""

import io
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console
from screen_text import screen_of

from gtp_engine.arena.network_match import Progress
from gtp_engine.arena.results import GameResult, MatchResult
from gtp_engine.clients.cli import match_display


def result(played: int, name: str = "same") -> MatchResult:
    """A match of four games, of which A wins the first."""
    games = tuple(
        GameResult(
            number=number,
            black="A" if number % 2 == 0 else "B",
            winner="A" if number == 0 else None,
            result="B+1",
            reason="score",
            moves=30,
            names={"A": name, "B": name},
            seconds={"A": 1.0, "B": 1.0},
            claims={},
        )
        for number in range(played)
    )
    return MatchResult({"A": "same", "B": "same value_bias=0"}, 4, games, None)


@pytest.mark.parametrize("width", [100, 60])
def test_nothing_is_under_way_at_the_end(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(match_display, "Console", partial(Console, file=output, force_terminal=True, width=width))
    with match_display.MatchDisplay(Path("games")) as display:
        display.on_game(result(2))
        display.on_progress(Progress(2, 66, 1000, 1.0))
        assert "2 games under way, 33 moves on average; 1,000 positions/s" in screen_of(output.getvalue())
        display.on_game(result(4))
    shown = "\n".join(screen_of(output.getvalue()))
    assert "under way" not in shown and shown.count("4 of 4 games: A won 1") == 1


def test_a_dumb_terminal_has_a_line_for_each_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(match_display, "Console", partial(Console, force_terminal=True))
    with match_display.MatchDisplay(Path("games")) as display:
        display.on_game(result(1), result(1).games[0])
        assert capsys.readouterr().out == "game 1: same (A) - same (B): B+1, score\n"


def status(match: MatchResult) -> str:
    """The table and the summary, in 100 columns."""
    console = Console(file=io.StringIO(), width=100, record=True)
    console.print(match_display._status(match, 100))
    return console.export_text()


def test_a_command_line_is_shown_where_the_name_does_not_tell_the_players_apart() -> None:
    text = status(result(4))
    assert text.count("A: same") == 1 and text.count("same value_bias=0") == 1
    assert [line.split("│")[1].strip() for line in text.splitlines() if "│" in line] == [
        "A: same",
        "B: same",
        "same value_bias=0",
    ]


def test_an_engine_cannot_write_escape_sequences() -> None:
    game = result(1, name="\x1b[31mRed").games[0]
    assert match_display.game_line(game).startswith("game 1: ?[31mRed (A) - ?[31mRed (B): B+1, score")


def test_games_between_networks_have_no_times() -> None:
    untimed = tuple(replace(game, seconds={}) for game in result(2).games)
    assert "seconds per game" in status(result(2))
    assert "seconds" not in status(replace(result(2), games=untimed))


def test_faults_and_games_that_were_broken_off_are_in_the_summary() -> None:
    assert "faults" not in match_display.summary(result(4)) and "broken off" not in match_display.summary(result(4))
    first, second, *others = result(4).games
    games = (replace(first, reason="crash"), replace(second, reason="move cap"), *others)
    text = match_display.summary(replace(result(4), games=games))
    assert text.endswith("; lost by faults: A 0, B 1; broken off: 1")
