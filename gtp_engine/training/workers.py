"""Self-play in several processes, so that the Python part of the searches runs in parallel.

Each process has its own games and its own evaluator. The processes only play; finished games come to the main process,
so that one process writes all files. They end by themselves when the main process is gone, even if it was killed.
"""

import contextlib
import logging
import multiprocessing
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

import numpy as np

from ..base.errors import EXPECTED
from ..base.system import available_cpus, configure_process
from ..evaluate.evaluator import Evaluator
from ..evaluate.factory import make_evaluator
from .limit import RESOURCE_ERRORS, ProcessLostError
from .selfplay import Counts, FinishedGame, SelfPlay
from .settings import RunSettings

logger = logging.getLogger(__name__)

_REPORT_SECONDS = 1.0
_PATIENCE_SECONDS = 10.0  # for a process to end, and for the last games of all
# A terminal, torchrun and systemd send them to all processes; the main process decides what they do to the others.
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class _Play:
    """Asks a worker to play with this network."""

    network: str
    cycle: int


@dataclass(frozen=True)
class _Failure:
    """Reports the error that ended a worker."""

    error: Exception


_PAUSE, _PAUSED, _END = "pause", "paused", "end"


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
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[Any] = []
        self._pipes: list[Connection] = []
        self._counts: list[Counts] = []

    @property
    def counts(self) -> Counts:
        return sum(self._counts, Counts())

    def play(self, network: str, cycle: int) -> None:
        if not self._processes:
            self._start()
        self._send(_Play(network, cycle))

    def _start(self) -> None:
        count = self.settings.machine.workers or available_cpus()
        for number in range(count):
            pipe, other_end = self._context.Pipe()
            share = None if self._total is None else (self._total + number) // count
            arguments = (other_end, self.settings, (self._seed, number), share)
            process = self._context.Process(target=_run_worker, args=arguments, name=f"selfplay-{number}", daemon=True)
            with signals_blocked():
                process.start()
            other_end.close()
            self._processes.append(process)
            self._pipes.append(pipe)
            self._counts.append(Counts())

    def _send(self, message: object) -> None:
        for pipe in self._pipes:
            try:
                pipe.send(message)
            except OSError as error:
                raise self._loss(pipe) from error

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        for pipe in wait(self._pipes, seconds):
            message = self._receive(pipe)
            if isinstance(message, FinishedGame):
                yield message

    def pause(self) -> Iterator[FinishedGame]:
        self._send(_PAUSE)
        for pipe in self._pipes:
            while (message := self._receive(pipe)) != _PAUSED:
                if isinstance(message, FinishedGame):
                    yield message

    def stop(self) -> Iterator[FinishedGame]:
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.send(_PAUSE)
        end = time.monotonic() + _PATIENCE_SECONDS
        for pipe in self._pipes:
            with contextlib.suppress(EOFError, OSError):
                while pipe.poll(max(0.0, end - time.monotonic())) and (message := pipe.recv()) != _PAUSED:
                    if isinstance(message, FinishedGame):
                        yield message

    def _receive(self, pipe: Any) -> object:
        """Returns the next message of a worker."""
        try:
            message = pipe.recv()
        except (EOFError, OSError) as error:
            raise self._loss(pipe) from error
        if isinstance(message, _Failure):
            raise message.error
        if isinstance(message, Counts):
            self._counts[self._pipes.index(pipe)] = message
        return message

    def _loss(self, pipe: Any) -> Exception:
        """Returns the error that ended the worker at that pipe, or one that says how its process ended."""
        with contextlib.suppress(EOFError, OSError):
            while pipe.poll():
                message = pipe.recv()
                if isinstance(message, _Failure):
                    return message.error
        process = self._processes[self._pipes.index(pipe)]
        process.join(_PATIENCE_SECONDS)
        return ProcessLostError(f"self-play worker lost: {_exit_text(process.exitcode)}")

    def close(self) -> None:
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.send(_END)
            pipe.close()
        for process in self._processes:
            process.join(_PATIENCE_SECONDS)
            if process.is_alive():
                process.kill()
        self._processes, self._pipes, self._counts = [], [], []


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
    """The main function of a worker's process."""
    for number in TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    configure_process()
    try:
        _PipeLoop(pipe, settings, seed, total).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the main process is gone
    except Exception as error:
        try:
            pipe.send(_Failure(error if isinstance(error, (*EXPECTED, *RESOURCE_ERRORS)) else _as_text(error)))
        except OSError:
            logger.error(str(_as_text(error)))


def _as_text(error: Exception) -> RuntimeError:
    """Returns an error that can be pickled, whatever the given one holds."""
    return RuntimeError(f"self-play worker failed: {error!r}")


class _PipeLoop:
    """A worker that is controlled through a pipe."""

    def __init__(self, pipe: Connection, settings: RunSettings, seed: tuple[int, ...], total: int | None) -> None:
        self._pipe = pipe
        self._worker = SelfPlayWorker(settings, seed, pipe.send, total)
        self._reported = 0.0

    def run(self) -> None:
        """Handles messages until the one that ends the worker."""
        message: object = self._pipe.recv()
        while message != _END:
            if isinstance(message, _Play):
                self._worker.begin(message.network, message.cycle)
                self._play()
            message = self._pipe.recv()

    def _play(self) -> None:
        """Plays until a message arrives or the main process is gone, which makes the pipe ready too."""
        while not self._pipe.poll(_REPORT_SECONDS if self._worker.is_done else 0.0):
            self._worker.step()
            now = time.monotonic()
            if now - self._reported >= _REPORT_SECONDS:
                self._reported = now
                self._pipe.send(self._worker.counts)
        self._pipe.send(self._worker.counts)
        self._pipe.send(_PAUSED)


class SelfPlayWorker:
    """The self-play of one process: `begin`, then `step` while it plays; each `begin` resumes the games.

    Args:
        settings: The settings of the run.
        seed: Seed of the games.
        on_game: Called with each finished game.
        total: The number of games to play; None for no end.
    """

    def __init__(
        self,
        settings: RunSettings,
        seed: tuple[int, ...],
        on_game: Callable[[FinishedGame], None],
        total: int | None = None,
    ) -> None:
        self._settings, self._seed, self._on_game, self._total = settings, seed, on_game, total
        self._selfplay: SelfPlay | None = None
        self._network = ""

    @property
    def counts(self) -> Counts:
        """The work done since the worker began."""
        return self._selfplay.counts if self._selfplay else Counts()

    @property
    def is_done(self) -> bool:
        """Whether all games have been played."""
        return self._selfplay is not None and self._selfplay.is_done

    def begin(self, network: str, cycle: int) -> None:
        """Begins or resumes the games, with this network and the settings of that cycle."""
        make = partial(self._evaluator, network)
        if self._selfplay is None:
            self._selfplay = SelfPlay(
                self._settings,
                make,
                self._on_game,
                games=self._settings.machine.concurrency,
                total=self._total,
                seed=self._seed,
                cycle=cycle,
            )
        else:
            self._selfplay.begin_cycle(cycle)
            if network != self._network:
                self._selfplay.change_network(make)
        self._network = network

    def step(self) -> None:
        """Submits or collects a batch of each board size."""
        assert self._selfplay is not None
        self._selfplay.step()

    def _evaluator(self, network: str) -> Evaluator:
        seed, machine = int(np.random.default_rng(self._seed).integers(2**62)), self._settings.machine
        # Without a cache: repeated positions come in another symmetry.
        return make_evaluator(
            network, seed=seed, device=machine.device, precision=machine.precision, cache_megabytes=0.0
        )
