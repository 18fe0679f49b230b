"""`gtp_engine selfplay` as a process of its own."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gtp_engine.sgf import read_sgf

SELFPLAY = [sys.executable, "-m", "gtp_engine", "selfplay", "--board-size", "5", "--threads", "1", "--seed", "3"]
LIMIT = 240  # seconds; the first start may compile the core


def selfplay(folder: Path, *options: str, status: int = 0) -> str:
    command = [*SELFPLAY, "--sgf-dir", str(folder), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stdout + ran.stderr


def games_in(folder: Path) -> list[Path]:
    (run,) = folder.iterdir()
    return sorted(run.iterdir())


def test_games_are_saved_and_counted(tmp_path: Path) -> None:
    said = selfplay(tmp_path, "--games", "3", "--visits", "8")
    files = games_in(tmp_path)
    assert [file.name for file in files] == ["0001.sgf", "0002.sgf", "0003.sgf"]
    assert "\x1b" not in said
    assert re.search(r"3 games: black won \d, white \d; \d+ moves on average; in ", said)
    for number, file in enumerate(files, 1):
        record = read_sgf(file)
        moves = record.to_game().moves
        assert f"game {number}: {record.result}, {len(moves)} moves" in said
        assert len(moves) <= 50
        if record.result != "Void":
            assert re.fullmatch(r"[BW]\+[\d.]+|0", record.result)
            assert moves[-1].point == moves[-2].point == 0
    assert len({tuple(read_sgf(file).to_game().moves) for file in files}) == 3


def test_comments_on_request(tmp_path: Path) -> None:
    selfplay(tmp_path, "--games", "1", "--visits", "8", "--comments")
    (file,) = games_in(tmp_path)
    comments = [node.comment for node in read_sgf(file).nodes if node.move]
    assert all(re.match(r"Win rate: [\d.]+% black\nScore: [BW]\+[\d.]+\nVisits: \d+", text) for text in comments)


def test_a_seed_repeats_the_games(tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        selfplay(tmp_path / name, "--games", "2", "--visits", "8")
        runs.append([read_sgf(file).to_game().moves for file in games_in(tmp_path / name)])
    assert runs[0] == runs[1]


def test_control_c_keeps_what_is_finished(tmp_path: Path) -> None:
    command = [*SELFPLAY, "--sgf-dir", str(tmp_path), "--games", "100000", "--visits", "8"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        end = time.monotonic() + LIMIT
        while not program.stdout.readline().startswith("game 1:"):
            assert time.monotonic() < end
            assert program.poll() is None
        program.send_signal(signal.SIGINT)
        said, errors = program.communicate(timeout=LIMIT)
    finally:
        program.kill()
    assert program.returncode == 130, errors
    assert "stopped" in said
    assert games_in(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert f"Error: cannot make the folder {blocked}/" in selfplay(blocked, "--games", "1", status=1)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    import os
    import pty

    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [*SELFPLAY, "--sgf-dir", str(tmp_path), "--games", "1", "--visits", "8"])
    said = b""
    try:
        while chunk := os.read(master, 65536):
            said += chunk
    except OSError:  # Linux says EIO when the program has ended
        pass
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"1/1" in said
    assert b"games" in said
