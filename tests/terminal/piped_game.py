"""`gtp_engine play` with piped input, in this process, where everything is imported and compiled already."""

import sys
from functools import cache
from pathlib import Path
from unittest.mock import patch

from click.testing import Result
from in_process import invoke

import gtp_engine.__main__ as program
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings

PLAY = [sys.executable, "-m", "gtp_engine", "play", "--network", "none"]
QUICK = ["--visits", "8", "--threads", "1", "--seed", "1", "--board-size", "5"]
LIMIT = 120  # seconds; the first start may compile the core


@cache
def _compile() -> None:
    """Compiles what is missing: a game that is left before the engine is ready ends its process."""
    with Engine(EngineSettings(network="none", threads=1)) as engine:
        engine.ready.result(LIMIT)


def run(lines: str, folder: Path, *options: str) -> Result:
    _compile()
    command = [*PLAY[3:], *QUICK, "--sgf-dir", str(folder), *options]
    with patch.object(sys, "argv", [program.__file__]):  # what it is called in what it says
        return invoke(*command, input=lines.encode())


def play(lines: str, folder: Path, *options: str, status: int = 0) -> str:
    """What the program says to these lines."""
    ran = run(lines, folder, *options)
    assert ran.exit_code == status, ran.output
    assert "Traceback" not in ran.stderr
    assert "\x1b" not in ran.stdout
    return ran.stdout


def only_game(folder: Path) -> Path:
    (file,) = folder.glob("*.sgf")
    return file
