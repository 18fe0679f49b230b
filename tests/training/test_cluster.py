"""Self-play on a Ray cluster: after actors are killed, no game is missing or counted twice."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import miniature
import pytest
from running import check_whole, children_of

from gtp_engine.training.run_folder import RunFolder

LIMIT = 600  # seconds; the first start may compile the core
PROGRAM = [sys.executable, "-m", "gtp_engine", "train"]

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra [cluster])")


class Started:
    """A run in its own process, on a cluster of this machine alone."""

    def __init__(self, folder: Path, **replaced: str) -> None:
        settings = folder / "settings.toml"
        settings.write_text(miniature.text(workers="2", **replaced))
        self.folder = RunFolder(folder / "run")
        command = [*PROGRAM, str(self.folder.path), "--settings", str(settings), "--cluster", "local"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._deadline = time.monotonic() + LIMIT

    def wait_for(self, moment: Callable[[], bool]) -> None:
        while not moment():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < self._deadline
            time.sleep(0.02)

    def end(self) -> str:
        """Waits for its end and returns its output."""
        output, _ = self.process.communicate(timeout=LIMIT)
        assert "Traceback" not in output
        return output

    def named(self, name: str) -> list[int]:
        """Returns its processes whose command contains `name`."""
        found, waiting = [], [self.process.pid]
        while waiting:
            children = children_of(waiting.pop())
            waiting += children
            found += [child for child in children if name in command_of(child)]
        return found

    def kill(self, name: str, most: int) -> int:
        """Kills at most `most` such processes; returns how many."""
        pids = self.named(name)[:most]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return len(pids)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    except OSError:
        return ""


@needs_ray
@pytest.mark.slow
def test_lost_actors_are_replaced_and_nothing_counts_twice(tmp_path: Path) -> None:
    run = Started(tmp_path)
    run.wait_for((run.folder.shards / "000001.shard").exists)
    killed = run.kill("ray::_RayWorker", 1)
    run.wait_for(run.folder.network(1).exists)
    run.wait_for(lambda: any(run.folder.shards.glob("00000[6-9].shard")) or run.folder.network(2).exists())
    run.wait_for(lambda: len(run.named("ray::_RayWorker")) == 2)
    killed += run.kill("ray::_RayWorker", 2)
    output = run.end()
    assert killed == 3
    assert "done: " in output
    assert output.count("cluster worker lost, starting another one") == killed
    assert "raylet" not in output
    check_whole(run.folder, miniature.settings())


@needs_ray
@pytest.mark.slow
def test_a_lost_cluster_is_one_line_and_the_run_resumes_without_it(tmp_path: Path) -> None:
    run = Started(tmp_path, cycles="2")
    run.wait_for((run.folder.shards / "000001.shard").exists)
    assert run.kill("gcs_server", 1) == 1 or run.named("/gcs_server")
    output = run.end()
    assert run.process.returncode == 1
    assert "the Ray cluster at" in output and "is gone; nothing saved is lost" in output
    ran = subprocess.run([*PROGRAM, str(run.folder.path)], capture_output=True, text=True, timeout=LIMIT)
    assert "done: " in ran.stdout, ran.stderr
    check_whole(run.folder, miniature.settings(cycles="2"))


@needs_ray
@pytest.mark.slow
def test_a_stop_keeps_finished_games_although_a_worker_is_lost() -> None:
    import ray

    from gtp_engine.training.cluster import LOCAL, ClusterPool, connect

    settings = miniature.settings(workers="2", visits="{ 0 = 2 }")
    machine = replace(settings.machine, concurrency=2)  # with so few games at once, some end within each call
    connect(LOCAL)
    try:
        with ClusterPool(replace(settings, machine=machine), seed=1) as pool:
            pool.play("none", 1)
            while sum(member.counts.moves > 500 for member in pool._members) < 2:  # the first calls may only compile
                list(pool.collect(1.0))
            calls = {member: call for call, member in pool._tasks.items()}
            lost, other = pool._members
            ray.kill(lost.actor)
            kept = {game.sample.number for game in pool.stop()}
            finished, _ = ray.get(calls[other])
    finally:
        ray.shutdown()
    assert finished and kept >= {game.sample.number for game in finished}


@needs_ray
@pytest.mark.parametrize("address", ["somewhere", "127.0.0.1:free"])
def test_a_cluster_that_is_not_there_is_one_line(address: str, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = address.replace("free", str(unused.getsockname()[1]))
        command = [*PROGRAM, str(tmp_path / "run"), "--cluster", address]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Error: no Ray cluster at {address}: ") and ran.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_ray_the_error_names_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['ray'] = None; from gtp_engine.clients.cli import main; main()"
    command = [sys.executable, "-c", code, "train", str(tmp_path / "run"), "--cluster", "auto"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ran.returncode == 1
    assert ran.stderr == "Error: a cluster needs Ray: pip install -c constraints.txt '.[cluster]' in the checkout\n"
