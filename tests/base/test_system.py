"""The settings of a whole process, and what users type to start the program again."""

import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.system import available_cpus, command_arguments, configure_process, program_line, quoted, wait_for


@pytest.mark.parametrize(
    ("given", "expected"), [({}, "3000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "passive"}, None)]
)
def test_threads_wait_quietly_unless_the_user_wants_otherwise(
    given: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    configure_process()
    assert os.environ.get("GOMP_SPINCOUNT") == expected


def test_importing_the_package_changes_no_setting_of_the_process() -> None:
    code = """
import os
before = dict(os.environ)
import torch
threads = torch.get_num_threads()
import gtp_engine.search.evaluate.network_evaluator, gtp_engine.engine.engine, gtp_engine.training.selfplay_run, logging
print(before == dict(os.environ), threads == torch.get_num_threads(), logging.getLogger("gtp_engine").handlers)
"""
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("True True []\n", 0), done.stderr


def test_waiting_ends_with_the_future() -> None:
    future: Future[int] = Future()
    began = time.monotonic()
    threading.Timer(0.05, future.set_result, (1,)).start()
    assert wait_for(future) == 1 and time.monotonic() - began < 5


def test_there_is_a_cpu() -> None:
    assert 1 <= available_cpus() <= (os.cpu_count() or 1)


def test_the_line_that_starts_the_program_again_is_that_which_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my programs" / "gtp_engine"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", "")
    for started, line in {
        str(program): quoted(str(program)),
        ".venv/bin/gtp_engine": ".venv/bin/gtp_engine",
        "/somewhere/gtp_engine/__main__.py": f"{quoted(sys.executable)} -m gtp_engine",
        "pytest": "gtp_engine",
    }.items():
        monkeypatch.setattr(sys, "argv", [started, "play"])
        assert program_line() == line
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", [str(program), "play"])
    assert program_line() == "gtp_engine"


def test_the_program_is_found_by_its_name_without_the_suffix_of_its_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "gtp_engine.exe"
    launcher.touch()
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "gtp_engine"), "play"])
    monkeypatch.setattr(shutil, "which", lambda _: str(launcher))  # as on Windows
    assert program_line() == "gtp_engine"


@pytest.mark.parametrize(
    ("word", "windows", "elsewhere"),
    [
        ("game.sgf", "game.sgf", "game.sgf"),
        (r"sgf\game.sgf", r"sgf\game.sgf", r"'sgf\game.sgf'"),
        (r"C:\My Games\a.sgf", r'"C:\My Games\a.sgf"', r"'C:\My Games\a.sgf'"),
        (r"C:\Users\RUNNER~1\c++\a.exe", r"C:\Users\RUNNER~1\c++\a.exe", r"'C:\Users\RUNNER~1\c++\a.exe'"),
        ("me&you.sgf", '"me&you.sgf"', "'me&you.sgf'"),
        ("(1).sgf", '"(1).sgf"', "'(1).sgf'"),
        ("a^b\\", '"a^b\\\\"', "'a^b\\'"),
        ("对局-1.sgf", "对局-1.sgf", "'对局-1.sgf'"),
    ],
)
def test_words_are_quoted_as_the_shell_reads_them(word: str, windows: str, elsewhere: str) -> None:
    assert (quoted(word, windows=True), quoted(word, windows=False)) == (windows, elsewhere)


def test_a_command_line_is_split_as_by_a_shell_but_not_for_windows() -> None:
    command = '"/opt/my engines/katago" gtp -model "a b.bin.gz"'
    assert command_arguments(command, windows=False) == ["/opt/my engines/katago", "gtp", "-model", "a b.bin.gz"]
    assert command_arguments(command, windows=True) == command
    assert command_arguments("", windows=False) == []


def test_this_program_is_started_for_its_name_if_that_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", r"C:\Program Files\python.exe")
    command = 'gtp_engine gtp --network "a b.bin.gz"'
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert command_arguments(command, windows=True) == (
        r'"C:\Program Files\python.exe" -m gtp_engine gtp --network "a b.bin.gz"'
    )
    assert command_arguments(command, windows=False) == [
        *(sys.executable, "-m", "gtp_engine"),
        *("gtp", "--network", "a b.bin.gz"),
    ]
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert command_arguments(command, windows=True) == command
    assert command_arguments(command, windows=False) == ["gtp_engine", "gtp", "--network", "a b.bin.gz"]


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete the working folder")
def test_one_line_in_a_working_folder_that_has_been_deleted(tmp_path: Path) -> None:
    code = "import os, gtp_engine.__main__ as program; os.rmdir(os.getcwd()); program.run()"
    command = [sys.executable, "-c", code, "doctor"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: the working folder no longer exists: change to another one with cd\n"


def test_a_number_of_threads_that_numba_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in ("0", "-2"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        with pytest.raises(UserError, match=f"NUMBA_NUM_THREADS is {threads} in the environment"):
            configure_process()
    for threads in ("1", "many"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        configure_process()
