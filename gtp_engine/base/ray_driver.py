"""The process that talks to Ray for `base.cluster`, and what its workers run; only these import Ray.

Nothing is repeated by itself: a call counts once, and Ray restarts neither workers nor calls.
"""

import contextlib
import os
import pickle
import re
import signal
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .cluster import Node, versions
from .cluster_address import AUTO, LOCAL
from .errors import EXPECTED, error_text
from .files import write_bytes
from .folders import cache_dir
from .pool import SharedFile, Worker
from .system import available_cpus, configure_process

_REFRESH_SECONDS = 5.0  # between two looks at which machines the cluster has
_PATIENCE_SECONDS = 10.0  # for a connection
_END_SECONDS = 5.0  # for Ray to leave a cluster
_STORE_BYTES = 256 << 20  # of a cluster of this machine alone: networks, and results of about a second
_KEPT_FILES = 4  # a match needs two; calls under way hold what they need themselves
_KEPT_SECONDS = 24 * 3600.0  # files of a machine that no call has needed for so long are removed
_GONE = ray.exceptions.RayActorError, ray.exceptions.ActorUnschedulableError, ray.exceptions.NodeDiedError


class RayWorker:
    """A worker in a process of the cluster; a Ray actor."""

    def __init__(self, number: int) -> None:
        configure_process()
        self._worker = Worker(number)

    def versions(self) -> str:
        """Returns what has to be the same on all machines."""
        return versions()

    def work(self, call: bytes, files: dict[str, str], contents: "list[ray.ObjectRef]") -> bytes:
        """Answers a call, and returns its result or its error, pickled.

        `files` are names of the files that it needs, by their keys, and `contents` are in the same order; in a list,
        so that Ray does not transfer them with every call.
        """
        try:
            for (key, name), content in zip(files.items(), contents, strict=True):
                _fetch(_place_of(key, name), content)
            function, arguments = pickle.loads(call)
            paths = (
                str(_place_of(item.key, item.path.name)) if isinstance(item, SharedFile) else item for item in arguments
            )
            return pickle.dumps(function(self._worker, *paths))
        except ray.exceptions.RayError:
            raise  # such as a lost file: this worker cannot go on
        except Exception as error:
            if not isinstance(error, EXPECTED):
                error.add_note(traceback.format_exc())
            try:
                return pickle.dumps(error)
            except Exception:  # an unexpected error may hold what cannot be pickled
                return pickle.dumps(RuntimeError(f"worker failed: {traceback.format_exc()}"))


def _place_of(key: str, name: str) -> Path:
    return cache_dir() / "cluster" / key / name


def _fetch(path: Path, content: "ray.ObjectRef") -> None:
    """Writes a file from Ray's store unless the machine has it, and removes those that nobody needs any more."""
    if path.exists():
        os.utime(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, ray.get(content))
    for other in path.parent.parent.glob("*/*"):
        with contextlib.suppress(OSError):  # another worker removes it as well
            if other.stat().st_mtime + _KEPT_SECONDS < time.time():
                other.unlink()
                other.parent.rmdir()


class Driver:
    """Does what the main process asks for, and tells it what happens."""

    def __init__(self, outbox: BinaryIO) -> None:
        self._outbox, self._lock = outbox, threading.Lock()
        self._actors: dict[int, Any] = {}
        self._files: dict[str, ray.ObjectRef] = {}  # the newest last

    def tell(self, *message: Any) -> None:
        """Sends a message to the main process."""
        with self._lock:
            pickle.dump(message, self._outbox)
            self._outbox.flush()

    def watch(self, address: str) -> None:
        """Reports the machines of the cluster whenever they change; ends this process if its head does not answer."""
        known: list[Node] = []
        with contextlib.suppress(Exception):
            while True:
                _connect_to(address)  # Ray would wait for a minute
                if (nodes := _nodes()) != known:
                    known = nodes
                    self.tell("nodes", nodes)
                time.sleep(_REFRESH_SECONDS)
        os._exit(1)

    def start(self, number: int, node: str, gpu: float) -> None:
        """Starts a worker on a machine."""
        place = NodeAffinitySchedulingStrategy(node, soft=False)
        kind = ray.remote(num_cpus=1, num_gpus=gpu, max_restarts=0, max_task_retries=0, scheduling_strategy=place)
        self._actors[number] = kind(RayWorker).remote(number)
        self._follow("ready", number, self._actors[number].versions.remote())

    def call(self, number: int, call: bytes, files: dict[str, str]) -> None:
        """Calls a worker."""
        contents = [self._files[key] for key in files]
        self._follow("answer", number, self._actors[number].work.remote(call, files, contents))

    def put(self, key: str, path: str) -> None:
        """Puts a file into Ray's store, and drops the oldest one if it holds too many."""
        if (known := self._files.pop(key, None)) is None:
            try:
                known = ray.put(Path(path).read_bytes())
            except Exception as error:
                self.tell("failed", f"Ray's object store cannot take {path}: {_reason(error)}")
                return
        self._files[key] = known
        while len(self._files) > _KEPT_FILES:
            del self._files[next(iter(self._files))]

    def stop(self, number: int) -> None:
        """Ends a worker."""
        with contextlib.suppress(ray.exceptions.RayError):
            ray.kill(self._actors.pop(number))

    def _follow(self, word: str, number: int, result: "ray.ObjectRef") -> None:
        result.future().add_done_callback(partial(self._report, word, number))

    def _report(self, word: str, number: int, future: "Future[Any]") -> None:
        """Tells the result of a call, or that its worker is lost; on a thread of Ray, which Ray's calls would block."""
        try:
            self.tell(word, number, future.result())
        except OSError:
            os._exit(1)  # the main process is gone
        except Exception as error:
            text = str(error)
            if word == "ready" and ("ModuleNotFoundError" in text or "ImportError" in text):
                self.tell("refused", number, "gtp_engine is missing there, or another version; install the same one")
            else:
                self.tell("lost", number, _reason(error))


def _reason(error: Exception) -> str:
    """Returns why Ray failed, in a line: of its own texts the first sentence of the last line."""
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return "Ray has ended it because its machine was out of memory"
    if isinstance(error, _GONE):
        return "it has ended, or cannot be reached"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.split(r"\.(?= |[A-Z]|$)", lines[-1] if lines else repr(error))[0]


def _nodes() -> list[Node]:
    """Returns the machines of the cluster."""
    return sorted(
        Node(
            node["NodeID"],
            node["NodeManagerAddress"],
            int(node["Resources"].get("CPU", 0)),
            node["Resources"].get("GPU", 0.0),
        )
        for node in ray.nodes()
        if node["Alive"]
    )


def _connect_to(address: str) -> None:
    """Raises OSError if nothing listens at host:port."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()


def _join(address: str) -> None:
    """Joins a cluster, or starts one of this machine; any error means that there is none."""
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address == LOCAL:
        cpus = available_cpus()
        ray.init(LOCAL, num_cpus=cpus, include_dashboard=False, object_store_memory=_STORE_BYTES, **options)
        return
    if address != AUTO:
        _connect_to(address)  # Ray would try for minutes
    ray.init(address, **options)


def main() -> None:
    """Serves a pool of `base.cluster`, whose messages come from standard input, until that is closed."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # Ray prints, and its processes inherit the streams
        os.dup2(nothing, stream)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    driver, address = Driver(outbox), sys.argv[1]
    try:
        _join(address)
        for wish in (signal.SIGINT, signal.SIGTERM):  # Ray has set its own
            signal.signal(wish, signal.SIG_IGN)
        head = ray.get_runtime_context().gcs_address
    except Exception as error:  # Ray raises bare ones too
        driver.tell("failed", f"no Ray cluster at {address}: {error_text(error)}")
        return
    threading.Thread(target=driver.watch, args=(head,), daemon=True).start()
    with contextlib.suppress(EOFError):
        while True:
            word, *content = pickle.load(inbox)
            getattr(driver, word)(*content)
    end = threading.Timer(_END_SECONDS, os._exit, (1,))  # without its head Ray takes longer
    end.daemon = True
    end.start()
    ray.shutdown()
