"""Self-play on a Ray cluster: one worker for each of its CPUs, as a Ray actor.

No call is repeated and each result is used once, so that every game counts once, whichever worker is lost: the games
that a lost worker had not returned yet are lost with it, and another worker with its own seed replaces it. The
network's bytes go through Ray's object store, because other machines do not have the folder of the run; the program
itself must be installed there.
"""

import contextlib
import logging
import math
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import UserError, error_text
from ..base.system import available_cpus, configure_process
from ..search.evaluate.choices import ROLLOUTS
from .limit import ProcessLostError
from .run_settings import RunSettings
from .selfplay import Counts, FinishedGame
from .workers import Played, SelfPlayPool, SelfPlayWorker, worker_error

logger = logging.getLogger(__name__)

try:
    import ray
except ImportError as error:
    raise UserError("a cluster needs Ray: pip install -c constraints.txt '.[cluster]' in the checkout") from error

LOCAL = "local"
_REFRESH_SECONDS = 5.0  # between two checks of which machines the cluster has
_PATIENCE_SECONDS = 10.0  # for a result that is due, and for a connection
_STORE_BYTES = 256 << 20  # one network at a time, and the games of about a second of each worker
_GPU_PARTS = 1000  # shares of a GPU are rounded down to 1/1000; Ray counts in steps of 1/10000
# The run fails when more workers than this, for each one in member, were lost in a row before their first result.
_MOST_FAILURES = 3


def connect(address: str) -> None:
    """Joins a cluster.

    Args:
        address: "auto" for the cluster that this machine belongs to, "host:port", or "local" for a cluster of this
            machine alone, which ends with the program.

    Raises:
        UserError: No cluster can be reached there.
    """
    # Ray has no option that switches its reports of lost processes off.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    stop = signal.getsignal(signal.SIGTERM)  # Ray sets its own
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            threads = available_cpus()
            ray.init(LOCAL, num_cpus=threads, include_dashboard=False, object_store_memory=_STORE_BYTES, **options)
        else:
            if address != "auto":
                _check_reachable(address)
            ray.init(address, **options)
    except Exception as error:  # Ray raises bare ones too
        raise UserError(f"no Ray cluster at {address}: {error_text(error)}") from error
    finally:
        signal.signal(signal.SIGTERM, stop)


def _check_reachable(address: str) -> None:
    """Raises OSError if nothing listens at host:port; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UserError("expected auto, local or host:port")
    socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()


class _Order(NamedTuple):
    """What to play with.

    Attributes:
        network: Name of the network's file, "none" for rollouts.
        content: The file's bytes in Ray's object store; in a list, so that Ray does not transfer them with every call.
            Empty for rollouts.
        cycle: Cycle of the run.
    """

    network: str
    content: "list[ray.ObjectRef]"
    cycle: int


class _RayWorker:
    """A worker in a process of the cluster; a Ray actor."""

    def __init__(self, settings: RunSettings, seed: tuple[int, ...]) -> None:
        configure_process()
        self._worker = SelfPlayWorker(settings, seed)
        self._folder = tempfile.TemporaryDirectory(prefix="gtp_engine-")

    def play(self, order: _Order) -> Played:
        """Plays for a moment."""
        network = order.network
        if order.content:
            path = Path(self._folder.name, network)
            if not path.exists():
                for old in path.parent.iterdir():
                    old.unlink()
                path.write_bytes(ray.get(order.content[0]))
            network = str(path)
        return self._worker.play(network, order.cycle)

    def end(self) -> None:
        """Removes the worker's files."""
        self._folder.cleanup()


@dataclass(eq=False)
class _Member:
    """A worker as the main process knows it.

    Attributes:
        actor: Ray's handle of the worker.
        gpu: The worker's share of a GPU, 0..1.
        counts: The work it had done at its last result.
        has_answered: Whether it has returned a result.
    """

    actor: Any
    gpu: float
    counts: Counts = field(default=Counts())
    has_answered: bool = False


class ClusterPool(SelfPlayPool):
    """A pool of workers on the cluster that `connect` has joined."""

    def __init__(self, settings: RunSettings, seed: int) -> None:
        super().__init__(settings, seed)
        self._begun = 0
        self._members: list[_Member] = []
        self._tasks: dict[ray.ObjectRef, _Member] = {}
        self._order: _Order | None = None
        self._lost = Counts()
        self._failures = 0
        self._refreshed = -math.inf
        self._address = ray.get_runtime_context().gcs_address

    @property
    def counts(self) -> Counts:
        return sum((member.counts for member in self._members), self._lost)

    def play(self, network: str, cycle: int) -> None:
        if network == ROLLOUTS:
            self._order = _Order(network, [], cycle)
        else:
            path = Path(network)
            self._order = _Order(path.name, [ray.put(path.read_bytes())], cycle)
        waiting = set(self._members) - set(self._tasks.values())
        for member in waiting:
            self._call(member)

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        self._fill()
        if not self._tasks:
            time.sleep(seconds)
            return
        first, _ = ray.wait(list(self._tasks), timeout=seconds)
        if first:
            ready, _ = ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
            yield from self._results(ready)

    def pause(self) -> Iterator[FinishedGame]:
        self._order = None
        yield from self._results(self._last_calls())

    def stop(self) -> Iterator[FinishedGame]:
        for task in self._last_calls():
            with contextlib.suppress(ray.exceptions.RayError):
                games, _ = ray.get(task)
                yield from games

    def _last_calls(self) -> "list[ray.ObjectRef]":
        """Waits a while for the calls under way; returns those that have ended."""
        due = [task for task, member in self._tasks.items() if member.has_answered]  # others may still be starting
        return ray.wait(due, num_returns=len(due), timeout=_PATIENCE_SECONDS)[0] if due else []

    def _results(self, tasks: "list[ray.ObjectRef]") -> Iterator[FinishedGame]:
        """Yields the games of finished calls, and calls their workers again at once."""
        for task in tasks:
            member = self._tasks.pop(task)
            try:
                games, member.counts = ray.get(task)
            except ray.exceptions.RayTaskError as error:
                raise worker_error(error.cause, "cluster") from error
            except ray.exceptions.RayError as error:
                self._replace(member, error)
                continue
            member.has_answered = True
            self._failures = 0
            self._call(member)
            yield from games

    def _call(self, member: _Member) -> None:
        if self._order:
            self._tasks[member.actor.play.remote(self._order)] = member

    def _fill(self) -> None:
        """Starts a worker for each CPU that has none; machines come and go."""
        if time.monotonic() - self._refreshed < _REFRESH_SECONDS:
            return
        gpus = self._gpu_shares()
        self._refreshed = time.monotonic()
        wanted = gpus[: self.settings.machine.workers or len(gpus)]
        for gpu in (Counter(wanted) - Counter(member.gpu for member in self._members)).elements():
            # Ray must not repeat anything by itself: every game counts once.
            kind = ray.remote(num_cpus=1, num_gpus=gpu, max_restarts=0, max_task_retries=0)(_RayWorker)
            self._begun += 1
            self._members.append(_Member(kind.remote(self.settings, (self._seed, self._begun)), gpu))
            self._call(self._members[-1])

    def _gpu_shares(self) -> list[float]:
        """Returns for each CPU of the cluster its share of a GPU. Raises ProcessLostError if the cluster is gone."""
        shares: list[float] = []
        try:
            _check_reachable(self._address)  # Ray would wait for a minute and then end this program
            machines = [machine["Resources"] for machine in ray.nodes() if machine["Alive"]]
        except OSError:
            machines = []
        if not machines:
            raise ProcessLostError(f"the Ray cluster at {self._address} is gone")
        for resources in machines:
            cpus = int(resources.get("CPU", 0))
            gpus = resources.get("GPU", 0.0) if self.settings.machine.device != "cpu" else 0.0
            share = min(1.0, math.floor(_GPU_PARTS * gpus / max(cpus, 1)) / _GPU_PARTS)
            shares += [share] * cpus
        return shares

    def _replace(self, member: _Member, error: Exception) -> None:
        """Forgets a lost worker, so that another one replaces it."""
        why = next((line for line in reversed(str(error).splitlines()) if line.strip()), repr(error))
        why = why.split(". ")[0].removesuffix(".")  # Ray adds a list of all possible reasons
        self._members.remove(member)
        self._lost += member.counts
        self._refreshed = -math.inf
        with contextlib.suppress(Exception):  # it may only be unreachable; its games are dropped
            ray.kill(member.actor)
        self._failures += not member.has_answered
        if self._failures > _MOST_FAILURES * (len(self._members) + 1):
            raise ProcessLostError(f"cluster workers exit before they play: {why}")
        logger.warning(f"cluster worker lost, starting another one ({why})")

    def close(self) -> None:
        ends = [member.actor.end.remote() for member in self._members if member.has_answered]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=_PATIENCE_SECONDS)
        for member in self._members:
            with contextlib.suppress(Exception):
                ray.kill(member.actor)
        self._members, self._tasks = [], {}
