"""The progress of `gtp_engine selfplay` on a terminal, as its screen has it, and elsewhere."""

import io
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from screen_text import screen_of

from gtp_engine.clients.cli import main
from gtp_engine.training.selfplay_games import SelfPlayGames

LONG = "9 of 100 games, 80 moves/s; black wins 56%, 100 moves per game"
SHORT = "10 of 100 games, [80] moves/s"


def test_a_shorter_line_replaces_all_of_a_longer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output = io.StringIO()
    screens: list[str] = []

    def play(run: SelfPlayGames, seed: int | None, on_progress: Any, interval: float) -> None:
        assert interval == 1
        for text in (LONG, SHORT, LONG + "!" * 80):
            on_progress(text)
            screens.append("\n".join(screen_of(output.getvalue())).strip())

    monkeypatch.setattr(SelfPlayGames, "play", play)
    monkeypatch.setattr("rich.console.Console", partial(Console, file=output, force_terminal=True, width=70))
    done = CliRunner().invoke(main, ["selfplay", "--network", "none", "--sgf-dir", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (0, "no game was finished\n")
    assert screens[:2] == [LONG, SHORT]
    assert re.fullmatch(f"{LONG}!+…", screens[2]) and len(screens[2]) == 70
    assert "".join(screen_of(output.getvalue())).strip() == ""


@pytest.mark.parametrize("is_terminal", [False, True])
def test_elsewhere_lines_follow_each_other(is_terminal: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def play(run: SelfPlayGames, seed: int | None, on_progress: Any, interval: float) -> None:
        assert interval == 30
        for text in (LONG, SHORT):
            on_progress(text)

    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("rich.console.Console", partial(Console, force_terminal=is_terminal))
    monkeypatch.setattr(SelfPlayGames, "play", play)
    done = CliRunner().invoke(main, ["selfplay", "--network", "none", "--sgf-dir", str(tmp_path)])
    assert done.stdout.splitlines() == [LONG, SHORT, "no game was finished"]
