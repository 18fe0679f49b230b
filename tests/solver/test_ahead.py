"""Compiling the solver in another process, before it is asked something."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from unittest.mock import Mock

import pytest

from gtp_engine.base import jit, warm_up
from gtp_engine.go.game import Game
from gtp_engine.solver import ahead, first_calls, solution
from gtp_engine.solver.refutations import Outcome

LIMIT = 60  # seconds for the end of a process


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """A process that has not begun to compile anything, whose helpers sleep, and the helpers."""
    helpers: list[subprocess.Popen[bytes]] = []

    def start(module: str) -> "subprocess.Popen[bytes]":
        assert module == "gtp_engine.solver.first_calls"
        helpers.append(subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LIMIT})"]))
        return helpers[-1]

    monkeypatch.setattr(ahead, "_has_begun", False)
    monkeypatch.setattr(ahead, "_helper", None)
    monkeypatch.setattr(ahead, "_is_loaded", False)
    monkeypatch.setattr(warm_up, "start_helper", start)
    monkeypatch.setattr(warm_up, "is_kept", Mock(return_value=False))
    yield helpers
    for helper in helpers:
        helper.kill()
        helper.wait(LIMIT)


def test_the_last_function_is_the_one_that_is_looked_for() -> None:
    first_calls.main()
    assert warm_up.is_kept(ahead.LAST) or jit.CACHE_FOLDER is None
    assert jit.config.DISABLE_JIT or not warm_up.is_kept(f"{ahead.LAST}_more")


def test_one_helper_is_started_once_the_engine_is_ready(started: list["subprocess.Popen[bytes]"]) -> None:
    ready, again, failed = Future[None](), Future[None](), Future[None]()
    for future in (ready, again, failed):
        ahead.begin_when(future)
    failed.set_exception(ValueError())
    assert not started
    ready.set_result(None)
    again.set_result(None)
    assert len(started) == 1


def test_a_helper_that_ends_is_no_zombie_though_nobody_asks(started: list["subprocess.Popen[bytes]"]) -> None:
    ahead.begin()
    os.kill(started[0].pid, signal.SIGTERM)
    until = time.monotonic() + LIMIT
    while started[0].returncode is None and time.monotonic() < until:
        time.sleep(0.01)
    assert started[0].returncode == -signal.SIGTERM


def test_nothing_is_started_if_the_solver_is_there(
    started: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "is_kept", Mock(return_value=True))
    ahead.prepare()
    assert not started


def test_a_question_waits_for_the_helper_and_can_be_stopped(
    started: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    compiled = Mock()
    monkeypatch.setattr(first_calls, "main", compiled)
    ahead.prepare(lambda: True)
    assert caplog.messages == ["compiling the solver; its code is kept until the program, Python or numba changes"]
    compiled.assert_not_called()
    assert not ahead.is_ready()
    looked = []

    def is_stopped() -> bool:
        looked.append(started[0].poll())
        started[0].kill()
        return False

    ahead.prepare(is_stopped)
    assert looked and looked[0] is None and started[0].returncode is not None
    ahead.prepare()
    compiled.assert_called_once()
    assert ahead.is_ready()
    assert len(started) == 1


def test_a_group_is_not_read_without_the_solver(started: list["subprocess.Popen[bytes]"]) -> None:
    game = Game(5)
    game.set_up(["A4", "B4"], ["A3", "B3", "C4", "C5"])
    stop = Mock(is_set=Mock(return_value=True))
    found = solution.solve(game, ["A4"], stop=stop)
    assert {answer.outcome for answer in found.answers.values()} == {Outcome.UNKNOWN}
