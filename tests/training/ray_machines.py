"""A Ray cluster of this machine alone, whose nodes stand for machines."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import pytest
from running import children_of

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra [cluster])")

_START = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
_SECONDS = 120  # for a node to join


class Machines:
    """Nodes with one CPU each; the first one is the head. A context manager, which kills them."""

    def __init__(self, store: int = 80_000_000) -> None:
        self._store = store
        self._nodes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{unused.getsockname()[1]}"
        self._folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # paths of sockets must be short
        return self

    def __exit__(self, *error: object) -> None:
        for number in reversed(range(len(self._nodes))):
            self.kill(number)
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self, **environment: str) -> None:
        """Adds a node, and waits until it has joined."""
        head = ["--head", "--port", self.address.split(":")[1], "--temp-dir", str(self._folder)]
        place = ["--address", self.address] if self._nodes else [*head, "--include-dashboard", "false"]
        resources = ["--num-cpus", "1", "--num-gpus", "0", "--object-store-memory", str(self._store)]
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])  # of `worker_calls`
        log = self._folder / f"node{len(self._nodes)}"
        with log.open("wb") as output:
            node = subprocess.Popen(
                [*_START, *place, *resources],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # With Ray's niceness tests beside these would slow the workers down.
                env=os.environ | {"RAY_worker_niceness": "0", "PYTHONPATH": path} | environment,
                start_new_session=True,
            )
        self._nodes.append(node)
        deadline = time.monotonic() + _SECONDS
        while b"Ray runtime started" not in log.read_bytes():
            assert node.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)

    def kill(self, number: int) -> None:
        """Ends all processes of a node at once, as a power cut does."""
        for pid in reversed(_tree_of(self._nodes[number].pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._nodes[number].wait()

    def workers(self, number: int) -> list[int]:
        """Returns the processes of a node that play."""
        return [pid for pid in _tree_of(self._nodes[number].pid) if "RayWorker" in _command_of(pid)]


def _tree_of(pid: int) -> list[int]:
    """Returns a process, then its descendants."""
    found = [pid]
    for parent in found:
        found += children_of(parent)
    return found


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
