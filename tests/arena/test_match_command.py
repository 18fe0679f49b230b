"""`gtp_engine match`: its lines, its files, Ctrl-C, and its messages about engines that don't start."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from in_process import invoke

Script = Callable[..., str]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gtp_engine", "match", *arguments, "--board-size", "5"]


def run(*arguments: str) -> Result:
    return invoke("match", *arguments, "--board-size", "5")


def test_lines_and_files(scripted: Script, tmp_path: Path) -> None:
    quitter, stayer = scripted("--name", "Quitter", "resign"), scripted("--name", "Stayer")
    files = "--sgf-dir", str(tmp_path / "games"), "--json", str(tmp_path / "result.json")
    done = run(quitter, stayer, "--games", "2", *files)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "game 1: Quitter 1 (A) - Stayer 1 (B): W+R, resignation",
        "game 2: Stayer 1 (B) - Quitter 1 (A): B+R, resignation",
        "2 of 2 games: A won 0, lost 2, drew 0; score 0.0% (0.0 to 65.8), Elo -inf (-inf to +113)",
        f"games and results: {tmp_path / 'games'}",
    ]
    assert json.loads((tmp_path / "result.json").read_text())["losses"] == 2
    assert sorted(file.name for file in (tmp_path / "games").glob("*.sgf")) == ["game-0001.sgf", "game-0002.sgf"]


def test_a_match_that_is_over_already_is_told(scripted: Script, tmp_path: Path) -> None:
    words = scripted("resign"), scripted(), "--sgf-dir", str(tmp_path), "--games"
    assert run(*words, "2").stdout.splitlines()[-1] == f"games and results: {tmp_path}"
    *_, summary, last = run(*words, "2").stdout.splitlines()
    assert summary.startswith("2 of 2 games: A won 0, lost 2")
    assert last == f"nothing was played: the results are those of 2 games already in {tmp_path}"
    assert run(*words, "3").stdout.splitlines()[-1] == f"games and results: {tmp_path}"


def test_an_existing_file_is_kept_unless_the_match_resumes(scripted: Script, tmp_path: Path) -> None:
    players, file = (scripted("resign"), scripted()), tmp_path / "result.json"
    words = *players, "--games", "2", "--json", str(file), "--sgf-dir"
    file.write_text("mine")
    kept = run(*words, str(tmp_path / "one"))
    assert (kept.exit_code, file.read_text()) == (1, "mine")
    assert kept.stderr == f"Error: {file} already exists; choose another name or add --force\n"
    assert not (tmp_path / "one").exists()
    assert run(*words, str(tmp_path / "one"), "--force").exit_code == 0
    first = file.read_bytes()
    file.write_text(json.dumps(json.loads(first) | {"games": json.loads(first)["games"][:1]}))
    assert run(*words, str(tmp_path / "one")).exit_code == 0
    assert file.read_bytes() == first
    assert run(*words, str(tmp_path / "two")).exit_code == 1
    assert file.read_bytes() == first


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no /dev/stdout")
def test_the_result_goes_to_a_pipe(scripted: Script, tmp_path: Path) -> None:
    words = scripted("resign"), scripted(), "--games", "2", "--json", "/dev/stdout", "--sgf-dir", str(tmp_path)
    for forced in ((), ("--force",)):  # the second match resumes
        done = subprocess.run(command(*words, *forced), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout[done.stdout.index("{\n") :])["losses"] == 2


def test_the_openings_are_not_overwritten(scripted: Script, tmp_path: Path) -> None:
    file = tmp_path / "openings.sgf"
    file.write_text("(;SZ[5];B[cc])")
    words = scripted(), scripted(), "--openings", str(file), "--sgf-dir", str(tmp_path / "games")
    done = run(*words, "--json", str(file), "--force")
    assert done.stderr == f"Error: {file} is one of the files to read; choose another name\n"
    assert file.read_text() == "(;SZ[5];B[cc])"


def test_the_files_of_the_match_are_not_overwritten(scripted: Script, tmp_path: Path) -> None:
    for name in ("match.json", "results.jsonl", "other/../results.jsonl"):
        file = tmp_path / name
        done = run(scripted("resign"), scripted(), "--sgf-dir", str(tmp_path), "--json", str(file), "--force")
        assert done.stderr == f"Error: {file} is a file of the match itself; choose another name for --json\n"
        assert not file.exists()


def test_sequential_test_is_told(scripted: Script, tmp_path: Path) -> None:
    done = run(scripted("resign"), scripted(), "--games", "40", "--sprt", "0", "400", "--sgf-dir", str(tmp_path))
    assert "sequential test: Elo 0 accepted, -" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("/nonexistent", "/nonexistent"), "cannot start engine '/nonexistent': program '/nonexistent' not found"),
        (("a", "b", "--sprt", "5", "0"), "sprt needs elo0 < elo1, got 5 and 0"),
        (("a", "b", "--json", "/nonexistent/r.json"), "write /nonexistent/r.json: folder /nonexistent does not exist"),
        (("a", "b", "--sprt", "0", "10000"), "sprt: Elo differences up to 3000, not 0 and 10000"),
        (("a", "b", "--time", "300", "10", "0"), "invalid time 300 10 0: a period needs"),
        (("a", "b", "--rules", "chess"), "unknown rules: 'chess'"),
        (("a", "b", "--openings", "none.sgf"), "'none.sgf' does not exist"),
    ],
)
def test_errors_take_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, "--sgf-dir", str(tmp_path))
    assert done.exit_code != 0
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_match_that_does_not_begin_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_GAMES", str(tmp_path))
    for players, message in (
        (("/nonexistent", "/nonexistent"), "program '/nonexistent' not found"),
        (("--network", "nowhere", "--network", "none"), "no network 'nowhere'"),
    ):
        done = run(*players)
        assert done.exit_code == 1 and message in done.stderr.splitlines()[-1]
        assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_games(scripted: Script, tmp_path: Path, number: signal.Signals) -> None:
    words = scripted("resign"), scripted(), "--games", "300"
    files = "--sgf-dir", str(tmp_path / "games"), "--json", str(tmp_path / "result.json")
    process = subprocess.Popen(command(*words, *files), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline().startswith("game ")
    process.send_signal(number)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.splitlines()[-1] == f"stopped; resume with --sgf-dir {tmp_path / 'games'}"
    assert "Traceback" not in errors
    played = json.loads((tmp_path / "result.json").read_text())["played"]
    assert out.splitlines()[-2].startswith(f"{played} of 300 games: A won 0, lost {played}, ")
    assert played >= 3
    assert len((tmp_path / "games" / "results.jsonl").read_text().splitlines()) == played


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_ends_an_engine_that_is_only_starting(scripted: Script, tmp_path: Path) -> None:
    file = tmp_path / "started"
    mute = f"import os, pathlib, time; pathlib.Path({str(file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    words = scripted(), shlex.join([sys.executable, "-c", mute]), "--sgf-dir", str(tmp_path / "games")
    process = subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (file.exists() and file.read_text()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)
