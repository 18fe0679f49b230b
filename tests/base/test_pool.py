"""Pools of workers: here of processes of this machine; tests/training/test_cluster.py has those of a cluster."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from gtp_engine.base import cluster
from gtp_engine.base.cluster import Cluster, Node, versions
from gtp_engine.base.cluster_address import parse_address
from gtp_engine.base.errors import ProcessLostError, UserError
from gtp_engine.base.pool import Worker
from gtp_engine.base.processes import Processes


def number_of(worker: Worker, *rest: object) -> int:
    return worker.number


def read(worker: Worker, path: str) -> str:
    return Path(path).read_text()


def fail(worker: Worker) -> None:
    raise UserError("the user's mistake")


def end_once(worker: Worker, task: int, folder: str) -> tuple[int, int]:
    """Ends the process of the first one that is called for each task."""
    mark = Path(folder, str(task))
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task, worker.number


def end(worker: Worker) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="a process has no signals there")


def test_a_worker_answers_with_results_errors_and_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    with Processes() as pool:
        pool.prepare(workers=1)
        (worker,) = pool.idle()
        call = pool.call(worker, read, pool.share(tmp_path / "file"))
        assert pool.under_way == {call} and not pool.idle()
        assert list(pool.wait(60.0)) == [(call, "content", False)]
        pool.call(worker, fail)
        with pytest.raises(UserError, match="the user's mistake"):
            list(pool.wait(60.0))
        assert pool.idle() == [worker] and not pool.under_way


@needs_signals
def test_a_task_of_a_lost_worker_is_done_by_another_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Processes() as pool:
        pool.prepare(workers=2)
        found = dict(
            pool.results(range(3), lambda worker, task: pool.call(worker, end_once, task, str(tmp_path)), lambda: None)
        )
    assert {task: done for task, (done, _) in found.items()} == {0: 0, 1: 1, 2: 2}
    assert all(worker > 1 for _, worker in found.values()), "the numbers of lost workers are not used again"
    assert caplog.records


@needs_signals
def test_workers_that_end_before_they_do_anything_are_an_error() -> None:
    with Processes() as pool:
        pool.prepare(workers=1)
        losses = 0
        with pytest.raises(ProcessLostError, match="workers end before they have done anything: it has crashed"):
            while True:
                (worker,) = pool.idle()
                pool.call(worker, end)
                losses += sum(answer.is_lost for answer in pool.wait(60.0))
    assert losses == 3


@needs_signals
def test_a_worker_that_is_lost_while_it_waits_is_replaced() -> None:
    with Processes() as pool:
        pool.prepare(workers=1)
        (worker,) = pool.idle()
        pool.call(worker, number_of)
        list(pool.wait(60.0))
        (executor,) = pool._executors.values()
        os.kill(*executor._processes, signal.SIGKILL)
        time.sleep(0.5)
        call = pool.call(worker, number_of)
        (answer,) = pool.wait(60.0)
        assert answer.is_lost and answer.call == call
        (other,) = pool.idle()
        pool.call(other, number_of)
        assert [answer.result for answer in pool.wait(60.0)] == [other] != [worker]


class Closed:
    """Keeps whether it was closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_a_worker_keeps_an_object_until_another_one_is_wanted() -> None:
    worker = Worker(0)
    one = worker.kept("it", 1, Closed)
    assert worker.kept("it", 1, Closed) is one and not one.is_closed
    other = worker.kept("it", 2, Closed)
    assert other is not one and one.is_closed
    worker.forget("it")
    worker.forget("it")
    assert other.is_closed


@pytest.mark.parametrize("address", ["somewhere", "host:", ":80", "host:70000", "host:port", ""])
def test_a_wrong_address_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="expected auto, local or HOST:PORT"):
        parse_address(address)


class Silent(Cluster):
    """What the main process knows of a cluster, without one."""

    def __init__(self, *nodes: Node) -> None:
        self.told: list[tuple[object, ...]] = []
        super(Cluster, self).__init__()
        self._members, self._refused, self._pauses, self._nodes = {}, {}, {}, list(nodes)
        self._failures = Counter()

    def _tell(self, *message: object) -> None:
        self.told.append(message)

    def close(self) -> None:
        pass


def test_each_machine_has_its_workers_and_their_shares_of_its_gpus() -> None:
    pool = Silent(Node("a", "10.0.0.1", 3, 1.0), Node("b", "10.0.0.2", 1, 0.0))
    assert pool.size == 4 and pool.idle() == []
    assert pool.told == [("start", n, "a", 0.333) for n in range(3)] + [("start", 3, "b", 0.0)]
    pool.prepare(workers=1, with_gpus=False)
    pool.told.clear()
    pool.idle()
    assert pool.told == [("stop", 0), ("stop", 1), ("stop", 2), ("start", 4, "a", 0.0)]


def test_a_machine_of_another_version_is_left_out_and_the_last_one_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pool = Silent(Node("a", "10.0.0.1", 2, 0.0), Node("b", "10.0.0.2", 1, 0.0))
    pool.idle()
    for number in (0, 1):
        pool._handle("ready", number, "gtp_engine 0.1 with Python 2.7")
    pool._handle("ready", 2, versions())
    assert pool.idle() == [2] and pool.size == 1
    (record,) = caplog.records
    assert record.getMessage() == (
        f"machine 10.0.0.1 cannot be used: it has gtp_engine 0.1 with Python 2.7, not {versions()}; the others continue"
    )
    other = Silent(Node("a", "10.0.0.1", 1, 0.0))
    other.idle()
    with pytest.raises(UserError, match=r"machine 10\.0\.0\.1 cannot be used: gtp_engine is missing there"):
        other._handle("refused", 0, "gtp_engine is missing there")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ((3, 14, 1), "a cluster needs Ray: pip install -c constraints.txt '.[cluster]' in the checkout"),
        ((3, 15, 0), "a cluster needs Ray, which exists for Python up to 3.14, and this is Python 3.15"),
    ],
)
def test_without_ray_the_error_names_what_to_do(
    version: tuple[int, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(UserError) as error:
        Cluster("auto")
    assert str(error.value) == message


def test_commands_import_ray_only_in_its_own_process() -> None:
    code = "import sys, gtp_engine.clients.cli, gtp_engine.training.selfplay_run; print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_machine_where_no_worker_starts_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    pool = Silent(Node("a", "10.0.0.1", 1, 0.0), Node("b", "10.0.0.2", 2, 0.0))
    pool.idle()
    pool._handle("ready", 0, versions())
    for _ in range(3):
        pool._pauses.clear()
        pool.idle()
        for number in [number for number, member in pool._members.items() if member.node.name == "b"]:
            pool._handle("lost", number, "out of memory")
    assert pool.size == 1
    assert "machine 10.0.0.2 cannot be used: its workers do not start: out of memory" in caplog.text


def test_a_worker_of_a_machine_that_is_gone_is_lost_at_its_next_call() -> None:
    pool = Silent(Node("a", "10.0.0.1", 1, 0.0), Node("b", "10.0.0.2", 1, 0.0))
    pool.idle()
    for number in (0, 1):
        pool._handle("ready", number, versions())
    pool._handle("nodes", [Node("a", "10.0.0.1", 1, 0.0)])
    assert pool.idle() == [0, 1]
    lost = pool.call(1, number_of)
    pool._inbox = cluster.queue.Queue()
    pool._inbox.put(("lost", 1, "it has ended"))
    (answer,) = pool.wait(0.0)
    assert (answer.call, answer.is_lost) == (lost, True) and pool.idle() == [0]
