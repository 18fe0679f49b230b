"""`gtp_engine play` in a process of its own, with piped input."""

import subprocess
import sys
from pathlib import Path

PLAY = [sys.executable, "-m", "gtp_engine", "play", "--network", "none"]
QUICK = ["--visits", "8", "--threads", "1", "--seed", "1", "--board-size", "5"]
LIMIT = 120  # seconds; the first start may compile the core


def run(lines: str, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [*PLAY, *QUICK, "--sgf-dir", str(folder), *options]
    return subprocess.run(command, input=lines.encode(), capture_output=True, timeout=LIMIT)


def play(lines: str, folder: Path, *options: str, status: int = 0) -> str:
    """What the program says to these lines."""
    ran = run(lines, folder, *options)
    said = ran.stdout.decode()
    assert ran.returncode == status, said + ran.stderr.decode()
    assert "Traceback" not in ran.stderr.decode()
    assert "\x1b" not in said
    return said


def only_game(folder: Path) -> Path:
    (file,) = folder.glob("*.sgf")
    return file
