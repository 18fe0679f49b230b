"""Ctrl-C at any moment of a start: it is never lost, never ends in a traceback, and does not wait for compilation."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gtp_engine.base.system import EXIT_INTERRUPTED

ROOT = Path(__file__).resolve().parents[2]
RECORD = "(;SZ[9];B[cc];W[gg];B[cg];W[gc];B[ee];W[ec];B[ge];W[eg];B[ce];W[cd])"
TRIES = 5  # of each command: 20 of each lost none when this was written
# Seconds. Before, Python itself is starting, which answers with a traceback of its own.
EARLIEST, LATEST = 0.5, 4.0
ENGINE = f"{sys.executable} -m gtp_engine gtp --network none --visits 50 --threads 1"
COMMANDS = {
    "review": ["review", "game.sgf", "--network", "none", "--seconds", "2"],
    "review with a network": ["review", "game.sgf", "--seconds", "2"],
    "match": ["match", ENGINE, ENGINE, "--games", "1000", "--sgf-dir", "games"],
    "match of networks": ["match", "--network", "b4c32-9x9", "--network", "none", "--games", "1000"],
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_interrupt_is_lost(name: str, tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(RECORD)
    command = [sys.executable, "-m", "gtp_engine", *COMMANDS[name]]
    if COMMANDS[name][0] == "match":
        command += ["--board-size", "9"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GTP_ENGINE_GAMES": str(tmp_path)}
    moments = random.Random(name)
    for _ in range(TRIES):
        seconds = moments.uniform(EARLIEST, LATEST)
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            try:
                _, errors = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == EXIT_INTERRUPTED, f"after {seconds:.2f} s: {errors}"
        assert "Traceback" not in errors and "Exception ignored" not in errors, f"after {seconds:.2f} s: {errors}"


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("module", "first"),
    [
        ("gtp_engine.clients.cli.compiling", "1/"),
        ("gtp_engine benchmark", "1/"),
        ("gtp_engine learn {0}/game.sgf --out {0}/run --config b1c8", "the samples of games"),
    ],
)
def test_ctrl_c_ends_the_first_compilation_at_once(module: str, first: str, tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(RECORD)
    command = [sys.executable, "-m", *module.format(tmp_path).split()]
    environment = os.environ | {"GTP_ENGINE_CACHE": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"gtp_engine: compiling {first}")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
