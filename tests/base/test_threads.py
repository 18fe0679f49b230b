"""Work on threads of its own, and shared with others."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from gtp_engine import Engine, EngineSettings
from gtp_engine.base.threads import Helpers, on_own_thread


def names(count: int, closed: list[str]) -> Generator[str | None, None, None]:
    try:
        for _ in range(count):
            yield threading.current_thread().name
        yield None
        raise ValueError("no more")
    finally:
        closed.append(threading.current_thread().name)


def test_what_threads_work_for_is_not_copied() -> None:
    with Engine(EngineSettings(network="none")) as engine:
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="this Engine works with threads of this process: make another Engine"):
                attempt(engine)
        with pytest.raises(TypeError, match=r"this SearchFuture works with .*: pass on its result\(\) instead"):
            pickle.dumps(engine.ready)
        with pytest.raises(TypeError, match="this SearchRequest has an event of this process: send its game"):
            pickle.dumps(engine.request())


FORKED = """
import multiprocessing, threading
from gtp_engine import Engine, EngineSettings, Game, UserError, load_network, selfplay
engine, network = Engine(EngineSettings(network="none", visits=2)), load_network({network!r})
games = selfplay("none", width=5, visits=2, concurrency=2, seed=1)
def use():
    waits = future.result, future.exception, lambda: future.add_done_callback(print)
    others = lambda: network.evaluate([Game(5)]), network.close, lambda: next(games)
    for call in (engine.genmove, engine.analyze, engine.close, *waits, *others):
        try:
            call()
        except UserError as error:
            print(error, flush=True)
next(games)
begun, goes_on = threading.Event(), threading.Event()  # no thread works while the process is forked
request = engine.request(on_report=lambda report: (begun.set(), goes_on.wait()), interval=0.01)
future = engine.analyze(request, endless=True)
begun.wait()
process = multiprocessing.get_context("fork").Process(target=use)
process.start()
process.join(60)
print(process.exitcode, flush=True)
engine.stop()
goes_on.set()
next(games)
games.close()
network.evaluate([Game(5)])
network.close()
engine.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_refused(tmp_path: Path) -> None:
    """It has none of the threads: what it asked them for would never come."""
    network = Path(__file__).parents[1] / "data" / "networks" / "tiny.bin.gz"
    script = FORKED.format(network=str(network))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    *lines, status = done.stdout.splitlines()
    assert (status, done.returncode) == ("0", 0), done.stderr
    assert len(lines) == 9 and all(" belongs to the process that made it" in line for line in lines)
    assert sum("this SearchFuture " in line and ": make an Engine and ask it here, or" in line for line in lines) == 3


def test_it_runs_on_another_thread_and_raises_here() -> None:
    closed: list[str] = []
    items = on_own_thread("other", names(2, closed))
    assert [next(items), next(items), next(items)] == ["other_0", "other_0", None]
    with pytest.raises(ValueError, match="no more"):
        next(items)
    assert closed == ["other_0"]


def test_a_caller_may_want_no_more() -> None:
    closed: list[str] = []
    stopped: list[bool] = []
    items = on_own_thread("other", names(9, closed), lambda: stopped.append(not closed))
    for _ in zip(range(2), items, strict=False):
        pass
    items.close()  # type: ignore[attr-defined]
    assert (stopped, closed) == ([True], ["other_0"])
    assert "other_0" not in [thread.name for thread in threading.enumerate()]


def test_who_waits_for_helpers_does_what_they_have_not_begun() -> None:
    helpers, begun, free = Helpers(1, "helper", lambda: None), threading.Event(), threading.Event()

    def held() -> str:
        begun.set()
        free.wait()
        return threading.current_thread().name

    def frees() -> str:
        free.set()
        return threading.current_thread().name

    first = helpers.submit(held)
    begun.wait()
    second = helpers.submit(frees)
    assert (helpers.result(first), helpers.result(second)) == ("helper", threading.current_thread().name)
    helpers.close()


def test_an_error_is_raised_where_its_own_result_is_awaited() -> None:
    helpers, begun, free = Helpers(1, "helper", lambda: None), threading.Event(), threading.Event()

    def held() -> int:
        begun.set()
        free.wait()
        return 1

    def fails() -> int:
        free.set()
        raise ValueError("second")

    first = helpers.submit(held)
    begun.wait()
    second = helpers.submit(fails)  # by this thread, while it waits for the first
    assert helpers.result(first) == 1
    with pytest.raises(ValueError, match="second"):
        helpers.result(second)
    helpers.close()


def test_helpers_end_when_they_are_forgotten() -> None:
    prepared: list[str] = []
    helpers = Helpers(2, "forgotten", lambda: prepared.append(threading.current_thread().name))
    helpers.result(helpers.submit(lambda: None))
    threads = [thread for thread in threading.enumerate() if thread.name == "forgotten"]
    del helpers
    for thread in threads:
        thread.join(60)
    assert (prepared, [thread.is_alive() for thread in threads]) == (["forgotten"] * 2, [False] * 2)


def test_an_end_that_is_for_a_helper_stays_for_it() -> None:
    helpers, begun, free = Helpers(1, "helper", lambda: None), threading.Event(), threading.Event()

    def held() -> None:
        begun.set()
        free.wait()

    first = helpers.submit(held)
    begun.wait()
    helpers._end()
    threading.Timer(0.05, free.set).start()
    helpers.result(first)
    helpers._threads[0].join(20)
    assert not helpers._threads[0].is_alive()


def test_ctrl_c_ends_the_wait_of_the_thread_that_it_came_to() -> None:
    helpers, begun, free = Helpers(1, "helper", lambda: None), threading.Event(), threading.Event()

    def interrupted() -> None:
        raise KeyboardInterrupt

    first = helpers.submit(lambda: (begun.set(), free.wait()))
    begun.wait()
    helpers.submit(interrupted)
    with pytest.raises(KeyboardInterrupt):
        helpers.result(first)
    free.set()
    helpers.close()
