"""`gtp_engine review` as a process."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gtp_engine.sgf import read_sgf

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "gtp_engine", "review", "--network", "none"]
QUICK = ["--threads", "1", "--seed", "1"]
TINY = str(ROOT / "tests" / "data" / "networks" / "tiny.bin.gz")
RECORD = b"(;SZ[5]KM[1]PB[A]PW[B]C[start](;B[cc];W[bb];B[dd];W[dd];B[aa])(;B[bb]))"


def review(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "--network", "uniform", *map(str, arguments), *QUICK]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)


def test_moves_table_comments_and_curve_up_to_the_illegal_move(tmp_path: Path) -> None:
    file, out, curve = tmp_path / "game.sgf", tmp_path / "out.sgf", tmp_path / "curve.svg"
    file.write_bytes(RECORD)
    done = review(file, "--visits", "4", "--sgf-out", out, "--plot", curve)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"Error: {file}: move 4: illegal move: D2 is occupied"
    assert [line[:11].split() for line in done.stdout.splitlines()[1:4]] == [
        ["1", "B", "C3"],
        ["2", "W", "B4"],
        ["3", "B", "D2"],
    ]
    assert "\nBlack: " in done.stdout and "\nWhite: " in done.stdout
    record = read_sgf(out)
    assert record.moves == read_sgf(file).moves
    assert [node.comment.split(":")[0] for node in record.nodes] == ["start", *["Win rate"] * 3, "", ""]
    assert b"<svg" in curve.read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("empty.sgf", b"", [], "empty.sgf: no SGF game found"),
        ("cut.sgf", RECORD[:40], [], "cut.sgf: line 1: the file ends inside a value"),
        ("none.sgf", b"(;SZ[5])", [], "none.sgf: there are no moves to review"),
        ("large.sgf", b"(;SZ[26];B[aa])", [], "cannot play on a board of 26x26"),
        ("a.sgf", RECORD, ["--sgf-out", "{folder}/a.sgf"], "a.sgf exists already; give a new name"),
        ("a.sgf", RECORD, ["--plot", "{folder}/b.doc"], "b.doc: the name of a picture must end in .png"),
        ("a.sgf", RECORD, ["--plot", "{folder}/c/b.png"], "b.png: there is no folder"),
        ("a.sgf", b"(;SZ[21];B[aa])", ["--network", TINY, "--strict"], "Error: tiny plays on boards up to 19x19"),
        ("a.sgf", RECORD, ["--network", TINY, "--profile", "rank_5k"], "Error: tiny imitates nobody"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, name: str, data: bytes, options: list[str], message: str) -> None:
    (tmp_path / name).write_bytes(data)
    done = review(tmp_path / name, *(option.format(folder=tmp_path) for option in options))
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
def test_interrupted_review_saves_what_is_done(tmp_path: Path) -> None:
    file, out = tmp_path / "game.sgf", tmp_path / "out.sgf"
    file.write_bytes(RECORD)
    command = [*COMMAND, file, "--network", "uniform", "--seconds", "2", "--sgf-out", out, *QUICK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        time.sleep(0.5)  # Into the next search.
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert (lines[1].split()[:3], process.returncode) == (["1", "B", "C3"], 130)
    assert rest.startswith("stopped after move 1\n")
    assert [bool(node.comment) for node in read_sgf(out).nodes] == [True, True, False, False, False, False]
