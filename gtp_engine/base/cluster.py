"""A pool of workers on a Ray cluster: one for each CPU of its machines, which may come and go.

Ray runs in a process of its own (`base.ray_driver`), which this one talks to through pipes. Ray prints to the standard
streams of its process, sets handlers of signals, and ends the process if the head of the cluster is gone for a minute:
none of that reaches the program that uses the pool. This process does not import Ray.

Messages to that process are tuples of a word and its arguments, pickled; a call is pickled once more, for the worker
alone. Those that come back:

- `nodes`: the machines of the cluster, as `Node`s, whenever they change; the first one says that it is connected
- `ready`: a worker has started, on which version of what
- `answer`: a worker's result, pickled
- `lost`, `refused`: a worker was lost, or does not start on its machine
- `failed`: the cluster cannot be used, and why
"""

import contextlib
import hashlib
import math
import pickle
import platform
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from . import VERSION
from .errors import ProcessLostError, UserError
from .pool import MOST_LOSSES, Pool, SharedFile, logger

_NEWEST_PYTHON = (3, 14)  # that Ray has wheels for, by its package index
_CONNECT_SECONDS = 90.0  # Ray itself gives up after a minute
_END_SECONDS = 10.0  # for Ray to end
_RETRY_SECONDS = 10.0  # after a worker that did not start; Ray takes some to notice that a machine is gone
_GPU_PARTS = 1000  # shares of a GPU are rounded down to 1/1000; Ray counts in steps of 1/10000
_DRIVER = "from gtp_engine.base.ray_driver import main; main()"


class Node(NamedTuple):
    """A machine of the cluster: Ray's name of it, its address, and how many CPUs and GPUs it has for Ray."""

    name: str
    address: str
    cpus: int
    gpus: float


@dataclass(eq=False)
class _Member:
    """A worker as the main process knows it."""

    node: Node
    gpu: float  # its share of one
    is_ready: bool = False

    @property
    def place(self) -> tuple[str, float]:
        return self.node.name, self.gpu


def versions() -> str:
    """Returns what has to be the same on all machines."""
    return f"gtp_engine {VERSION} with Python {platform.python_version()}"


def cluster_at(address: str | None) -> contextlib.AbstractContextManager["Cluster | None"]:
    """Returns the pool of a cluster for a `with` block, or None without an address."""
    return Cluster(address) if address else contextlib.nullcontext()


class Cluster(Pool):
    """A pool of workers on a Ray cluster.

    Args:
        address: "auto" for the cluster that this machine belongs to, "host:port" of its head, or "local" for one of
            this machine alone, which ends with the pool.

    Raises:
        UserError: Ray is missing, or no cluster can be reached there.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        _check_ray()
        self._address = address
        self._members: dict[int, _Member] = {}
        self._nodes: list[Node] = []
        self._refused: dict[str, str] = {}  # why no worker starts on a machine, by its name
        self._pauses: dict[str, float] = {}  # until when no worker is started on a machine, by its name
        self._failures: Counter[str] = Counter()  # of workers of a machine to start, in a row
        self._inbox: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self._driver = subprocess.Popen(
            [sys.executable, "-c", _DRIVER, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a terminal's signals are for the main process
        )
        threading.Thread(target=self._read, name="cluster", daemon=True).start()
        end = time.monotonic() + _CONNECT_SECONDS
        try:
            while not self._nodes:
                self._handle(*self._inbox.get(timeout=max(0.0, end - time.monotonic())))
        except queue.Empty as error:
            self.close()
            raise UserError(
                f"no Ray cluster at {address}: no connection after {_CONNECT_SECONDS:.0f} seconds"
            ) from error
        except ProcessLostError as error:
            self.close()
            raise UserError(
                f"no Ray cluster at {address}: Ray has ended; does `python -c 'import ray'` work?"
            ) from error
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        """Receives the driver's messages, on a thread."""
        assert self._driver.stdout
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self._inbox.put(pickle.load(self._driver.stdout))
        self._inbox.put(("gone",))

    def _tell(self, *message: Any) -> None:
        assert self._driver.stdin
        with contextlib.suppress(OSError):  # its end is reported by the thread that reads
            pickle.dump(message, self._driver.stdin)
            self._driver.stdin.flush()

    def close(self) -> None:
        assert self._driver.stdin
        with contextlib.suppress(OSError):
            self._driver.stdin.close()  # which ends it
        try:
            self._driver.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._driver.kill()
            self._driver.wait()

    @property
    def size(self) -> int:
        return max(1, self._wanted().total())

    def share(self, path: Path) -> SharedFile:
        path = path.absolute()
        key = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        self._tell("put", key, str(path))
        return SharedFile(path, key)

    def _wanted(self) -> Counter[tuple[str, float]]:
        """Returns how many workers there should be at each place: a machine, and a share of a GPU."""
        wanted: Counter[tuple[str, float]] = Counter()
        for node in self._nodes:
            count = 0 if node.name in self._refused else min(node.cpus, self._per_machine or node.cpus)
            gpus = node.gpus if self._with_gpus else 0.0
            wanted[node.name, min(1.0, math.floor(_GPU_PARTS * gpus / max(count, 1)) / _GPU_PARTS)] += count
        return wanted

    def _fill(self) -> None:
        nodes = {node.name: node for node in self._nodes}
        wanted, there = self._wanted(), Counter(member.place for member in self._members.values())
        surplus = there - wanted
        for number, member in list(self._members.items()):
            # One that worked on a machine that is gone is found lost at its next call.
            is_gone = member.is_ready and member.node.name not in nodes
            if surplus[member.place] > 0 and number not in self._calls and not is_gone:
                surplus[member.place] -= 1
                del self._members[number]
                self._tell("stop", number)
        for name, gpu in (wanted - there).elements():
            if time.monotonic() < self._pauses.get(name, 0.0):
                continue
            number = next(self._worker_numbers)
            self._members[number] = _Member(nodes[name], gpu)
            self._tell("start", number, name, gpu)

    def _ready(self) -> Iterable[int]:
        return [number for number, member in self._members.items() if member.is_ready]

    def _send(self, worker: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        files = {item.key: item.path.name for item in arguments if isinstance(item, SharedFile)}
        self._tell("call", worker, pickle.dumps((function, arguments)), files)

    def _receive(self, seconds: float) -> Iterator[tuple[int, Any]]:
        with contextlib.suppress(queue.Empty):
            message = self._inbox.get(timeout=seconds)
            while True:
                if answer := self._handle(*message):
                    yield answer
                message = self._inbox.get_nowait()

    def _handle(self, word: str, *content: Any) -> tuple[int, Any] | None:
        """Takes note of a message; returns a worker and its result or error, if it is about a call."""
        if word == "nodes":
            (self._nodes,) = content
        elif word == "failed":
            raise UserError(*content)
        elif word == "gone":
            raise ProcessLostError(f"the Ray cluster at {self._address} is gone")
        elif content[0] in self._members:  # else it was dismissed
            return self._handle_worker(word, *content)
        return None

    def _handle_worker(self, word: str, number: int, content: Any) -> tuple[int, Any] | None:
        member = self._members[number]
        if word == "answer":
            return number, pickle.loads(content)
        if word == "lost":
            del self._members[number]
            self._tell("stop", number)  # it may only be unreachable, and must not go on
            if not member.is_ready:
                self._note_failure(member.node, content)
            return number, ProcessLostError(f"{content} (machine {member.node.address})")
        if word == "ready" and content == versions():
            member.is_ready = True
            self._failures.pop(member.node.name, None)
        else:
            self._refuse(member.node, f"it has {content}, not {versions()}" if word == "ready" else content)
        return None

    def _note_failure(self, node: Node, why: str) -> None:
        """Pauses a machine on which a worker did not start, and stops using it after too many failures."""
        self._pauses[node.name] = time.monotonic() + _RETRY_SECONDS
        self._failures[node.name] += 1
        if self._failures[node.name] >= MOST_LOSSES * min(node.cpus, self._per_machine or node.cpus):
            self._refuse(node, f"its workers do not start: {why}")

    def _refuse(self, node: Node, why: str) -> None:
        """Stops using a machine. Raises UserError if it is the last one."""
        if node.name in self._refused:
            return
        text = f"machine {node.address} cannot be used: {why}"
        self._refused[node.name] = text
        if not self._wanted().total():
            raise UserError(text)
        logger.warning(f"{text}; the others continue")


def _check_ray() -> None:
    """Raises UserError if Ray is not installed."""
    if find_spec("ray") is None:
        newest, this = (".".join(map(str, version[:2])) for version in (_NEWEST_PYTHON, sys.version_info))
        if sys.version_info[:2] > _NEWEST_PYTHON:
            raise UserError(f"a cluster needs Ray, which exists for Python up to {newest}, and this is Python {this}")
        raise UserError("a cluster needs Ray: pip install -c constraints.txt '.[cluster]' in the checkout")
