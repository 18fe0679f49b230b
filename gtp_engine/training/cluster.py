"""Self-play on a Ray cluster: one actor for each of its processors.

An actor plays a second at a time: each call answers with the games that it has finished since the last one. No call is
made twice and each answer is taken once, so that every game counts once, whoever is lost: what a lost actor had not yet
answered is lost with it, and another one with a seed of its own takes its place. The network's bytes go through Ray's
store, since another machine has not the run's folder; the program itself must be installed there.
"""

import contextlib
import math
import os
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine import processor_threads
from ..evaluate.choices import ROLLOUTS
from ..log import log
from ..wording import reason
from .selfplay import Counts, FinishedGame
from .settings import RunSettings
from .workers import Player, Players

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # is read when Ray is imported: nothing is sent to anybody
try:
    import ray
except ImportError as error:
    raise ValueError("a cluster needs Ray: pip install -c constraints.txt '.[cluster]' in the checkout") from error

LOCAL = "local"
_PORTION_SECONDS = 1.0  # that an actor plays at a call
_LOOK_SECONDS = 5.0  # between two looks at which machines there are
_PATIENCE_SECONDS = 10.0  # for an answer that is due, and for a connection
_STORE_BYTES = 256 << 20  # a network at a time, and a second's games of each actor
_GPU_PARTS = 1000  # Ray counts shares of a GPU in steps of 1/10000
# Losses of actors that had never answered, for each place, after which no more are begun.
_MOST_FAILURES = 3


def connect(address: str) -> None:
    """Joins the cluster: "auto" (the one that this machine belongs to), "host:port", or "local" for one of this machine
    alone, which ends with the program. ValueError and OSError say what is wrong."""
    ray._private.worker.print_to_stdstream = lambda *_, **__: None  # Ray's reports of lost processes have no switch
    stop = signal.getsignal(signal.SIGTERM)  # Ray sets its own
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            threads = processor_threads()
            ray.init(LOCAL, num_cpus=threads, include_dashboard=False, object_store_memory=_STORE_BYTES, **options)
        else:
            if address != "auto":
                _check_there(address)
            ray.init(address, **options)
    except Exception as error:  # Ray raises bare ones too
        raise ValueError(f"no Ray cluster at {address}: {reason(error)}") from error
    finally:
        signal.signal(signal.SIGTERM, stop)


def _check_there(address: str) -> None:
    """OSError where nobody listens at host:port; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("expected auto, local or host:port")
    socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()


@dataclass(frozen=True)
class _Order:
    """What to play with. network: a file's name, or "none". content: in Ray's store, the file's bytes; a list, so that
    Ray does not hand them over with every call."""

    network: str
    content: "list[ray.ObjectRef]"
    cycle: int


class _Actor:
    """Lives in a process of the cluster."""

    def __init__(self, settings: RunSettings, seed: tuple[int, ...]) -> None:
        self._finished: list[FinishedGame] = []
        self._player = Player(settings, seed, self._finished.append)
        self._folder = tempfile.TemporaryDirectory(prefix="gtp_engine-")
        self._order: _Order | None = None

    def play(self, order: _Order) -> tuple[list[FinishedGame], Counts]:
        """Plays for a while; the games finished since the last call, and what was done since the beginning."""
        if order != self._order:
            self._begin(order)
        end = time.monotonic() + _PORTION_SECONDS
        while time.monotonic() < end:
            self._player.step()
        finished = self._finished.copy()
        self._finished.clear()
        return finished, self._player.counts

    def _begin(self, order: _Order) -> None:
        network = order.network
        if order.content:
            path = Path(self._folder.name, network)
            if not path.exists():
                for old in path.parent.iterdir():
                    old.unlink()
                path.write_bytes(ray.get(order.content[0]))
            network = str(path)
        self._player.begin(network, order.cycle)
        self._order = order

    def end(self) -> None:
        """Leaves nothing behind."""
        self._folder.cleanup()


@dataclass(eq=False)
class _Place:
    """An actor as it is known here. gpu: its share of one."""

    actor: Any
    gpu: float
    counts: Counts = field(default=Counts())
    has_answered: bool = False


class Actors(Players):
    """`Players` on the cluster that `connect` has joined. seed: of their games."""

    def __init__(self, settings: RunSettings, seed: int) -> None:
        self.settings = settings
        self._seed = seed
        self._begun = 0
        self._places: list[_Place] = []
        self._tasks: dict[ray.ObjectRef, _Place] = {}
        self._order: _Order | None = None
        self._lost = Counts()
        self._failures = 0
        self._looked = -math.inf
        self._address = ray.get_runtime_context().gcs_address

    @property
    def counts(self) -> Counts:
        return sum((place.counts for place in self._places), self._lost)

    def play(self, network: str, cycle: int) -> None:
        if network == ROLLOUTS:
            self._order = _Order(network, [], cycle)
        else:
            path = Path(network)
            self._order = _Order(path.name, [ray.put(path.read_bytes())], cycle)
        waiting = set(self._places) - set(self._tasks.values())
        for place in waiting:
            self._ask(place)

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        self._fill()
        if not self._tasks:
            time.sleep(seconds)
            return
        first, _ = ray.wait(list(self._tasks), timeout=seconds)
        if first:
            ready, _ = ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
            yield from self._answers(ready)

    def pause(self) -> Iterator[FinishedGame]:
        self._order = None
        due = [task for task, place in self._tasks.items() if place.has_answered]  # others may still be starting
        if due:
            ready, _ = ray.wait(due, num_returns=len(due), timeout=_PATIENCE_SECONDS)
            yield from self._answers(ready)

    def _answers(self, tasks: "list[ray.ObjectRef]") -> Iterator[FinishedGame]:
        """The games of calls that are over; their actors play on at once."""
        for task in tasks:
            place = self._tasks.pop(task)
            try:
                games, place.counts = ray.get(task)
            except ray.exceptions.RayTaskError as error:
                raise _failure(error.cause) from error
            except ray.exceptions.RayError as error:
                self._replace(place, error)
                continue
            place.has_answered = True
            self._failures = 0
            self._ask(place)
            yield from games

    def _ask(self, place: _Place) -> None:
        if self._order:
            self._tasks[place.actor.play.remote(self._order)] = place

    def _fill(self) -> None:
        """Begins an actor at each place that has none; machines come and go."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        gpus = self._gpu_shares()
        self._looked = time.monotonic()
        wanted = gpus[: self.settings.machine.workers or len(gpus)]
        for gpu in (Counter(wanted) - Counter(place.gpu for place in self._places)).elements():
            self._places.append(self._begin(gpu))
            self._ask(self._places[-1])

    def _begin(self, gpu: float) -> _Place:
        # Ray must try nothing again by itself: see above.
        kind = ray.remote(num_cpus=1, num_gpus=gpu, max_restarts=0, max_task_retries=0)(_Actor)
        self._begun += 1
        return _Place(kind.remote(self.settings, (self._seed, self._begun)), gpu)

    def _gpu_shares(self) -> list[float]:
        """For each processor of the cluster its share of a GPU of its machine. RuntimeError where Ray has gone."""
        shares: list[float] = []
        try:
            _check_there(self._address)  # Ray would wait for a minute and then end this program
            machines = [machine["Resources"] for machine in ray.nodes() if machine["Alive"]]
        except OSError:
            machines = []
        if not machines:
            raise RuntimeError(f"the Ray cluster at {self._address} has gone")
        for resources in machines:
            processors = int(resources.get("CPU", 0))
            gpus = resources.get("GPU", 0.0) if self.settings.machine.device != "cpu" else 0.0
            share = min(1.0, math.floor(_GPU_PARTS * gpus / max(processors, 1)) / _GPU_PARTS)
            shares += [share] * processors
        return shares

    def _replace(self, place: _Place, error: Exception) -> None:
        """Another one is to take the place of a lost actor."""
        why = next((line for line in reversed(str(error).splitlines()) if line.strip()), repr(error))
        why = why.split(". ")[0].removesuffix(".")  # Ray goes on with all that may ever be the reason
        self._places.remove(place)
        self._lost += place.counts
        self._looked = -math.inf
        with contextlib.suppress(Exception):  # it may only be out of reach: its games are nobody's then
            ray.kill(place.actor)
        self._failures += not place.has_answered
        if self._failures > _MOST_FAILURES * (len(self._places) + 1):
            raise RuntimeError(f"actors of the cluster end before they have played: {why}")
        log(f"an actor of the cluster was lost, another one takes its place ({why})")

    def close(self) -> None:
        ends = [place.actor.end.remote() for place in self._places if place.has_answered]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=_PATIENCE_SECONDS)
        for place in self._places:
            with contextlib.suppress(Exception):
                ray.kill(place.actor)
        self._places, self._tasks = [], {}


def _failure(error: Exception) -> Exception:
    """What went wrong in an actor."""
    if isinstance(error, ValueError | OSError | MemoryError):
        return error
    return RuntimeError(f"an actor of the cluster has failed: {error!r}")
