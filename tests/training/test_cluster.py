"""Work on a Ray cluster: whatever is lost, no game is missing or counted twice, and Ray says nothing."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import miniature
import pytest
from ray_machines import Machines, needs_ray
from running import check_whole

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
    run = Started(tmp_path, machines.address, games="96")
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
    run.wait_for(lambda: len(run.errors) == 2)
    run.finish()
    assert len(run.errors) == 2


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
