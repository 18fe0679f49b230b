"""Self-play in several processes, so that the Python part of the searches runs in parallel.

Each process has its own games and its own evaluator, and plays for a moment per call; finished games come to the main
process, so that one process writes all files. The processes end by themselves when the main process is gone, even if it
was killed.
"""

import contextlib
import logging
import multiprocessing
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self, TypeAlias

import numpy as np

from ..base.errors import EXPECTED
from ..base.system import available_cpus, configure_process
from ..search.evaluate.evaluator import Evaluator
from ..search.evaluate.factory import make_evaluator
from .limit import RESOURCE_ERRORS, ProcessLostError
from .run_settings import RunSettings
from .selfplay import Counts, FinishedGame, SelfPlay

logger = logging.getLogger(__name__)

_CALL_SECONDS = 0.5  # how long a worker plays per call
_PATIENCE_SECONDS = 10.0  # for a process to end, and for the last games of all
# A terminal, torchrun and systemd send them to all processes; the main process decides what they do to the others.
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Played: TypeAlias = tuple[list[FinishedGame], Counts]
"""The result of a call: the games that were finished since the last one, and all the work done so far."""


class SelfPlayPool(ABC):
    """Workers that play by themselves between `play` and `pause`. A context manager: the workers end with it.

    Args:
        settings: The settings of the run.
        seed: Seed of the games.
    """

    def __init__(self, settings: RunSettings, seed: int) -> None:
        self.settings = settings
        self._seed = seed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """The work done by all workers since they began, at most about a second old."""

    @abstractmethod
    def play(self, network: str, cycle: int) -> None:
        """Starts the workers, or lets them resume their games.

        Args:
            network: File of the network, "none" for rollouts.
            cycle: Cycle of the run, which decides the settings of the searches.
        """

    @abstractmethod
    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        """Yields the games that are finished within a time.

        Args:
            seconds: How long to wait if there is none.

        Raises:
            ProcessLostError: A worker or the cluster is gone.
            Exception: The error that ended a worker.
        """

    @abstractmethod
    def pause(self) -> Iterator[FinishedGame]:
        """Makes the workers wait, and yields the games they had finished. The next `play` resumes the others."""

    @abstractmethod
    def stop(self) -> Iterator[FinishedGame]:
        """Yields the games that the workers had finished before `close` ends them.

        It takes seconds at most: a user waits. Workers that are lost or do not answer only lack their games.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends the workers; their games in progress are lost."""


@dataclass(eq=False)
class _Member:
    """A worker as the main process knows it.

    Attributes:
        process: Its process.
        pipe: The way to it.
        left: Number of games that it still has to play; None for no end.
        counts: The work it had done at its last result.
        is_playing: Whether a call is under way.
    """

    process: Any
    pipe: Connection
    left: int | None
    counts: Counts = field(default=Counts())
    is_playing: bool = False


class LocalPool(SelfPlayPool):
    """A pool of processes on this machine.

    Args:
        settings: The settings of the run.
        seed: Seed of the games.
        total: The number of games that all workers play together; None for no end.
    """

    def __init__(self, settings: RunSettings, seed: int, total: int | None = None) -> None:
        super().__init__(settings, seed)
        self._total = total
        self._members: list[_Member] = []
        self._order: tuple[str, int] | None = None  # network and cycle

    @property
    def counts(self) -> Counts:
        return sum((member.counts for member in self._members), Counts())

    def play(self, network: str, cycle: int) -> None:
        self._order = network, cycle
        if not self._members:
            count = self.settings.machine.workers or available_cpus()
            self._members = [self._start(number, count) for number in range(count)]
        for member in self._members:
            self._call(member)

    def _start(self, number: int, count: int) -> _Member:
        """Starts one of `count` workers."""
        context = multiprocessing.get_context("spawn")
        pipe, other_end = context.Pipe()
        share = None if self._total is None else (self._total + number) // count
        arguments = (other_end, self.settings, (self._seed, number), share)
        process = context.Process(target=_run_worker, args=arguments, name=f"selfplay-{number}", daemon=True)
        with signals_blocked():
            process.start()
        other_end.close()
        return _Member(process, pipe, share)

    def _call(self, member: _Member) -> None:
        if self._order and member.left != 0:
            try:
                member.pipe.send(self._order)
            except OSError as error:
                raise self._loss(member) from error
            member.is_playing = True

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        ready = wait([member.pipe for member in self._members], seconds)
        for member in self._members:
            if member.pipe in ready:
                yield from self._result(member)

    def pause(self) -> Iterator[FinishedGame]:
        self._order = None
        for member in self._members:
            if member.is_playing:
                yield from self._result(member)

    def stop(self) -> Iterator[FinishedGame]:
        self._order = None
        end = time.monotonic() + _PATIENCE_SECONDS
        for member in self._members:
            with contextlib.suppress(Exception):
                if member.is_playing and member.pipe.poll(max(0.0, end - time.monotonic())):
                    yield from self._result(member)

    def _result(self, member: _Member) -> list[FinishedGame]:
        """Returns the games of a call, and calls the worker again at once."""
        try:
            result: Played | Exception = member.pipe.recv()
        except (EOFError, OSError) as error:
            raise self._loss(member) from error
        if isinstance(result, Exception):
            raise result
        games, member.counts = result
        member.is_playing = False
        if member.left is not None:
            member.left -= len(games)
        self._call(member)
        return games

    def _loss(self, member: _Member) -> Exception:
        """Returns the error that ended a worker, or one that says how its process ended."""
        with contextlib.suppress(EOFError, OSError):
            while member.pipe.poll():
                if isinstance(message := member.pipe.recv(), Exception):
                    return message
        member.process.join(_PATIENCE_SECONDS)
        return ProcessLostError(f"self-play worker lost: {_exit_text(member.process.exitcode)}")

    def close(self) -> None:
        for member in self._members:
            member.pipe.close()
        for member in self._members:
            member.process.join(_PATIENCE_SECONDS)
            if member.process.is_alive():
                member.process.kill()
        self._members = []


def _exit_text(status: int | None) -> str:
    """Describes how a process ended, by its exit status in `multiprocessing`."""
    if status is None:
        return "still running, but its pipe is closed"
    if status >= 0:
        return f"exit status {status}"
    if status == -signal.SIGKILL:
        return "killed by a user, or by the system because it was out of memory"
    return f"ended by signal {-status} ({signal.strsignal(-status)})"


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Blocks termination signals while child processes start, until they can ignore them; restores them on exit."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # otherwise starting the first process would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_worker(pipe: Connection, settings: RunSettings, seed: tuple[int, ...], total: int | None) -> None:
    """The main function of a worker's process: it answers each call with what it has played, or with an error."""
    for number in TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    configure_process()
    worker = SelfPlayWorker(settings, seed, total)
    try:
        while True:
            pipe.send(worker.play(*pipe.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the pool is closed, or the main process is gone
    except Exception as error:
        try:
            pipe.send(worker_error(error, "self-play"))
        except OSError:
            logger.error(str(worker_error(error, "self-play")))


def worker_error(error: Exception, kind: str) -> Exception:
    """Returns the error to raise for one that ended a worker; it can be pickled, whatever an unexpected one holds."""
    if isinstance(error, (*EXPECTED, *RESOURCE_ERRORS)):
        return error
    return RuntimeError(f"{kind} worker failed: {error!r}")


class SelfPlayWorker:
    """The self-play of one process.

    Args:
        settings: The settings of the run.
        seed: Seed of the games.
        total: The number of games to play; None for no end.
    """

    def __init__(self, settings: RunSettings, seed: tuple[int, ...], total: int | None = None) -> None:
        self._settings, self._seed, self._total = settings, seed, total
        self._selfplay: SelfPlay | None = None
        self._network = ""
        self._finished: list[FinishedGame] = []

    def play(self, network: str, cycle: int) -> Played:
        """Begins or resumes the games, with this network and the settings of that cycle, and plays for a moment."""
        if self._selfplay is None:
            self._selfplay = SelfPlay(
                self._settings,
                partial(self._evaluator, network),
                self._finished.append,
                games=self._settings.machine.concurrency,
                total=self._total,
                seed=self._seed,
                cycle=cycle,
            )
        else:
            self._selfplay.begin_cycle(cycle)
            if network != self._network:
                self._selfplay.change_network(partial(self._evaluator, network))
        self._network = network
        end = time.monotonic() + _CALL_SECONDS
        while time.monotonic() < end and not self._selfplay.is_done:
            self._selfplay.step()
        finished = self._finished.copy()
        self._finished.clear()
        return finished, self._selfplay.counts

    def close(self) -> None:
        """Frees the evaluators' memory."""
        if self._selfplay:
            self._selfplay.close()

    def _evaluator(self, network: str) -> Evaluator:
        seed, machine = int(np.random.default_rng(self._seed).integers(2**62)), self._settings.machine
        # Without a cache: repeated positions come in another symmetry.
        return make_evaluator(
            network, seed=seed, device=machine.device, precision=machine.precision, cache_megabytes=0.0
        )
