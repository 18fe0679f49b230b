"""The first calls: their log, and the process that makes some of them meanwhile."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base import jit
from gtp_engine.base import warm_up as subject
from gtp_engine.base.warm_up import Step, warm_up

LIMIT = 60  # seconds for the start and the end of a process; a second on a quiet machine
# A module that works for a while, and a program that works until it is ended.
MODULE = """
import time
from pathlib import Path
def main():
    time.sleep({seconds})
    Path(__file__).with_suffix(".done").touch()
"""
HELPER = """
import time
from gtp_engine.base.warm_up import end_with_parent
end_with_parent()
print("begun", flush=True)
time.sleep({seconds})
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list["subprocess.Popen[bytes]"]:
    """A cold cache in a folder of its own and two cores; the processes that have been started."""
    processes: list[subprocess.Popen[bytes]] = []
    start: Callable[[str], subprocess.Popen[bytes] | None] = subject.start_helper

    def note(module: str) -> "subprocess.Popen[bytes] | None":
        if process := start(module):
            processes.append(process)
        return process

    monkeypatch.setenv("GTP_ENGINE_CACHE", str(tmp_path))

    monkeypatch.setattr(subject, "start_helper", note)
    monkeypatch.setattr(subject, "available_cpus", Mock(return_value=2))
    monkeypatch.setattr(subject, "is_cold", Mock(return_value=True))
    monkeypatch.setattr(subject.jit, "mark_complete", Mock(return_value=""))
    monkeypatch.setattr(subject.jit, "CACHE_FOLDER", tmp_path)
    return processes


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> tuple[str, Path]:
    """A helper's module, in a folder with a space, and the file that it makes in the end."""
    packages = folder / "a folder"
    packages.mkdir()
    (packages / "helper_of_a_test.py").write_text(MODULE.format(seconds=seconds))
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setattr(sys, "path", [*sys.path, packages])  # what is no text is ignored, as by imports
    return "helper_of_a_test", packages / "helper_of_a_test.done"


def test_a_warm_start_says_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(subject, "is_cold", Mock(return_value=False))
    one, two = Mock(), Mock()
    warm_up([Step("one", one), Step("two", two, "nowhere")])
    assert (one.call_count, two.call_count, caplog.messages) == (1, 1, [])


@pytest.mark.skipif(bool(jit.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_warm_start_names_what_it_compiles(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(subject, "is_cold", Mock(return_value=False))

    def compile_two() -> None:
        for more in (1, 2):
            function = eval(f"lambda number: number + {more}")  # without a source file, hence not kept
            assert jit.njit(function)(1) == 1 + more

    warm_up([Step("the rules", lambda: None), Step("the network", compile_two), Step("the search", lambda: None)])
    compile_two()
    assert caplog.messages == ["compiling the network"]


def test_a_cold_start_waits_for_its_helper(
    started: list["subprocess.Popen[bytes]"],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    name, done = module(tmp_path, monkeypatch, 0.5)
    seen: list[bool] = []
    steps = [
        Step("the rules", lambda: None),
        Step("the search", lambda: seen.append(done.exists()), name),
        Step("the count", lambda: seen.append(done.exists()), name),
    ]
    with caplog.at_level(logging.INFO, subject.logger.name):
        warm_up(steps)
    assert seen == [True, True]
    assert [process.returncode for process in started] == [0]
    *said, last = caplog.messages
    assert said == ["compiling 1/3: the rules", "compiling 2/3: the search", "compiling 3/3: the count"]
    assert last.startswith("compiled in ")


def test_a_step_runs_without_its_helper(
    started: list["subprocess.Popen[bytes]"], caplog: pytest.LogCaptureFixture
) -> None:
    run = Mock()
    with caplog.at_level(logging.INFO, subject.logger.name):
        warm_up([Step("the search", run, "gtp_engine.no_such_module")])
    run.assert_called_once()
    assert "the process that compiles the search ended with status 1: compiling it here" in caplog.messages


def test_a_helper_that_never_ends_is_ended(
    started: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(subject, "_PATIENCE", 0.1)
    name, done = module(tmp_path, monkeypatch, LIMIT)
    run = Mock()
    warm_up([Step("the search", run, name)])
    run.assert_called_once()
    assert [process.returncode is None for process in started] == [False]
    assert not done.exists()


@pytest.mark.parametrize(("name", "value"), [("CACHE_FOLDER", None), ("available_cpus", Mock(return_value=1))])
def test_without_a_second_core_or_a_folder_there_is_no_helper(
    started: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(subject if hasattr(subject, name) else subject.jit, name, value)
    run = Mock()
    warm_up([Step("the search", run, "nowhere")])
    run.assert_called_once()
    assert not started


def test_a_failed_step_ends_the_helper(
    started: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, done = module(tmp_path, monkeypatch, LIMIT)
    with pytest.raises(ZeroDivisionError):
        warm_up([Step("the evaluator", lambda: 1 // 0), Step("the search", Mock(), name)])
    assert [process.returncode is None for process in started] == [False]
    assert not done.exists()


def helper(seconds: float) -> "subprocess.Popen[str]":
    """A helper that has begun its work."""
    command = [sys.executable, "-c", HELPER.format(seconds=seconds)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def test_a_helper_ends_by_itself_without_a_word() -> None:
    process = helper(0.1)
    assert process.wait(LIMIT) == 0
    assert process.communicate() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_a_helper_outlives_ctrl_c_but_not_its_parent() -> None:
    process = helper(LIMIT)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.2)
    assert process.poll() is None
    process.communicate(timeout=LIMIT / 2)  # closes the pipe, as the end of the parent does
    assert process.returncode == 1


def test_garbage_collection_is_as_before() -> None:
    subject.gc.disable()
    try:
        with subject.without_garbage_collection():
            pass
        assert not subject.gc.isenabled()
    finally:
        subject.gc.enable()
    with subject.without_garbage_collection():
        assert not subject.gc.isenabled()
    assert subject.gc.isenabled()
