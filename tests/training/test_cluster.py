"""Work on a Ray cluster: whatever is lost, no game is missing or counted twice, and Ray says nothing."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import miniature
import numpy as np
import pytest
import worker_calls
from in_process import invoke
from making import write_records
from ray_machines import Machines, needs_ray
from running import check_whole

from gtp_engine.base import cluster
from gtp_engine.base.cluster import Cluster
from gtp_engine.base.errors import ProcessLostError, UserError
from gtp_engine.training.data.shards import read_shard, shard_files
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.storage import shard_facts

LIMIT = 600  # seconds; the first start may compile the core
PROGRAM = [sys.executable, "-m", "gtp_engine"]
ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"
OURS = re.compile(r"gtp_engine: (worker lost|machine )|Error: ")


@pytest.fixture
def machines() -> Iterator[Machines]:
    with Machines() as found:
        found.start()
        yield found


class Started:
    """A run of `train` in its own process, on a cluster."""

    def __init__(self, folder: Path, address: str, **replaced: str) -> None:
        folder.mkdir(exist_ok=True)
        settings = folder / "settings.toml"
        settings.write_text(miniature.text(**({"workers": "0"} | replaced)))
        self.settings = miniature.settings(**replaced)
        self.folder = RunFolder(folder / "run")
        given = [] if self.folder.exists else ["--settings", str(settings)]
        self._errors = (folder / "stderr").open("w+")
        command = [*PROGRAM, "train", str(self.folder.path), *given, "--cluster", address]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self._deadline = time.monotonic() + LIMIT

    @property
    def errors(self) -> list[str]:
        """The lines of stderr so far, which are all ours."""
        self._errors.seek(0)
        lines = self._errors.read().splitlines()
        assert all(OURS.match(line) for line in lines), lines
        return lines

    def wait_for(self, moment: Callable[[], bool]) -> None:
        while not moment():
            assert self.process.poll() is None, (self.process.communicate()[0], self.errors)
            assert time.monotonic() < self._deadline
            time.sleep(0.05)

    def end(self) -> str:
        """Waits for its end and returns its output, without what it reported as errors."""
        output, _ = self.process.communicate(timeout=LIMIT)
        for line in output.splitlines():
            assert re.match(r"b1c16, |cycle |a cycle |\d+ cycles?, |done: ", line), line
        return output

    def finish(self) -> None:
        """Waits for its end and checks it."""
        assert "done: " in self.end()
        check_whole(self.folder, self.settings)


@needs_ray
@pytest.mark.slow
def test_a_killed_machine_and_a_killed_worker_are_replaced_and_nothing_counts_twice(
    machines: Machines, tmp_path: Path
) -> None:
    for _ in range(2):
        machines.start()
    run = Started(tmp_path, machines.address, games="300")
    run.wait_for(lambda: all(machines.workers(number) for number in range(3)))
    run.wait_for((run.folder.shards / "000001.shard").exists)
    machines.kill(2)
    run.wait_for(lambda: len(run.errors) == 1)
    assert run.errors[0].startswith(
        "gtp_engine: worker lost, another one replaces it: it has ended, or cannot be reached (machine "
    )
    machines.start()  # plays within a cycle
    run.wait_for(lambda: bool(machines.workers(3)))
    run.wait_for(run.folder.network(1).exists)
    run.wait_for(lambda: any(facts.cycle == 2 for facts in shard_facts(run.folder.shards).values()))
    (worker,) = machines.workers(1)
    os.kill(worker, signal.SIGKILL)
    run.wait_for(lambda: machines.workers(1) not in ([], [worker]))
    run.finish()
    assert len(run.errors) in (1, 2)  # one that waits between two cycles is replaced without a line


@needs_ray
@pytest.mark.slow
def test_a_lost_head_is_one_line_and_the_run_resumes_with_or_without_a_cluster(
    machines: Machines, tmp_path: Path
) -> None:
    machines.start()
    run = Started(tmp_path, machines.address)
    run.wait_for((run.folder.shards / "000001.shard").exists)
    machines.kill(0)
    run.end()
    assert run.process.returncode == 1
    line = run.errors[-1]  # after those of lost workers, if these were noticed before
    address = re.escape(machines.address)
    assert re.match(rf"Error: the Ray cluster at {address} is gone; nothing saved is lost: run the same", line)
    ran = subprocess.run(
        [*PROGRAM, "train", str(run.folder.path)], capture_output=True, text=True, timeout=LIMIT, check=True
    )
    assert "done: " in ran.stdout
    check_whole(run.folder, run.settings)


def answer_of(pool: Cluster, function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what the first worker that is ready answers."""
    while not (workers := pool.idle()):
        assert not list(pool.wait(1.0))
    call = pool.call(workers[0], function, *arguments)
    while True:
        for answer in pool.wait(60.0):
            assert answer.call == call
            return answer.result


@needs_ray
@pytest.mark.slow
def test_workers_get_files_and_give_results_and_errors(
    machines: Machines, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    with Cluster(machines.address) as pool:
        for content in ("one", "another"):
            file.write_text(content)
            shared = pool.share(file)
            for _ in range(2):
                _, path, text = answer_of(pool, worker_calls.read, shared)
                assert text == content and Path(path).name == "file" and Path(path) != file
                Path(path).unlink()  # the worker fetches it again
        with pytest.raises(UserError, match=r"^the user's mistake$"):
            answer_of(pool, worker_calls.fail)
        with pytest.raises(LookupError, match="a bug") as error:
            answer_of(pool, worker_calls.fail_unexpectedly)
        assert "in fail_unexpectedly" in error.value.__notes__[0], "where it happened"
        with pytest.raises(OSError, match="No such file"):
            pool.share(tmp_path / "missing")
        machines.kill(0)
        with pytest.raises(ProcessLostError, match=rf"the Ray cluster at {machines.address} is gone"):
            while True:
                list(pool.wait(10.0))
    assert capfd.readouterr() == ("", "")


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_machine_with_another_version_is_left_out(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # workers find modules in the folder of the main process, too
    copy = tmp_path / "gtp_engine"
    shutil.copytree(ROOT / "gtp_engine", copy, ignore=shutil.ignore_patterns("__pycache__", "*.gz", "static"))
    (copy / "base" / "__init__.py").write_text('VERSION = "0.0.1"\n')
    machines.start(PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with Cluster(machines.address) as pool:
        while pool.size != 1:
            pool.idle()
            list(pool.wait(1.0))
        (refused,) = pool._refused.values()
    assert "cannot be used: it has gtp_engine 0.0.1 with Python" in refused


@needs_ray
@pytest.mark.slow
def test_a_match_is_played_by_all_machines_and_one_may_go(machines: Machines, tmp_path: Path) -> None:
    machines.start()
    command = [*PROGRAM, "match", "--network", str(TINY), "--network", "none", "--cluster", machines.address]
    options = ["--board-size", "5", "--games", "80", "--visits", "20", "--sgf-dir", str(tmp_path)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "results.jsonl"
    while not (results.exists() and results.read_text().count("\n") > 20):
        assert process.poll() is None
        time.sleep(0.1)
    machines.kill(1)
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    assert all(OURS.match(line) for line in errors.splitlines()), errors
    numbers = [json.loads(line)["number"] for line in results.read_text().splitlines()]
    assert sorted(numbers) == list(range(80)) and "80 of 80 games: " in output
    assert len(list(tmp_path.glob("game-*.sgf"))) == 80


@needs_ray
@pytest.mark.slow
def test_a_teacher_labels_on_machines_what_it_labels_here(machines: Machines, tmp_path: Path) -> None:
    records = tmp_path / "games.sgfs"
    write_records(records, range(40))
    options = ["--teacher", str(TINY), "--label-only", "--positions", "2000", "--board-sizes", "5=1", "--device", "cpu"]
    for name, more in {"here": [], "there": ["--cluster", machines.address]}.items():
        command = [*PROGRAM, "learn", str(records), "--labels", str(tmp_path / name), *options, *more]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
    here, there = ({path.name: read_shard(path) for path in shard_files(tmp_path / name)} for name in ("here", "there"))
    assert len(here) == 2 and here.keys() == there.keys()
    for name, games in here.items():
        assert sorted(games.games["number"]) == sorted(there[name].games["number"])
        np.testing.assert_array_equal(games.moves, there[name].moves)


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:free", "127.0.0.1:silent"])
def test_a_cluster_that_is_not_there_is_one_line(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 10.0)
    monkeypatch.setattr(cluster, "_END_SECONDS", 0.1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if "silent" in address:
            other.listen()
        address = re.sub("free|silent", str(other.getsockname()[1]), address)
        ran = invoke("train", str(tmp_path / "run"), "--cluster", address)
    assert ran.exit_code == 1
    assert ran.stderr.startswith(f"Error: no Ray cluster at {address}: ") and ran.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
