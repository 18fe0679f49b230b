"""Self-play in several processes, so that the Python part of the searches runs in parallel.

Each process has its own games and its own evaluator, and plays for a moment per call; finished games come to the main
process, so that one process writes all files. The processes end by themselves when the main process is gone, even if it
was killed.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import TypeAlias

from ..base.system import WAIT_SECONDS, available_cpus, configure_process
from .progress import Limit, Observer, ProcessLostError
from .run_settings import RunSettings
from .selfplay import Counts, FinishedGame, SelfPlay
from .storage import GameWriter

_PATIENCE_SECONDS = 10.0  # for the last games of all
# A terminal, torchrun and systemd send them to all processes; the main process decides what they do to the others.
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_games: SelfPlay  # of a worker's process

_Call: TypeAlias = Future[tuple[list[FinishedGame], Counts, bool]]


class SelfPlayPool:
    """Processes on this machine that play by themselves between `play` and `pause`.

    All workers play `total` games together; None for no end.
    """

    def __init__(self, settings: RunSettings, seed: int, total: int | None = None) -> None:
        self.settings = settings
        self._seed, self._total = seed, total
        self._workers: list[ProcessPoolExecutor] = []  # of one process each, which has its own games
        self._calls: dict[_Call, int] = {}  # under way, with their workers
        self._counts: dict[int, Counts] = {}  # of each worker's work, at its last result
        self._order: tuple[str, int] | None = None  # network and cycle

    def close(self) -> None:
        """Ends the workers, whose games in progress are lost."""
        if self._workers:
            self._lifeline.close()
        for worker in self._workers:
            worker.shutdown(cancel_futures=True)
        self._workers = []

    @property
    def counts(self) -> Counts:
        """The work done by all workers since they began, at most about a second old."""
        return sum(self._counts.values(), Counts())

    def play(self, network: str, cycle: int) -> None:
        """Starts the workers, or lets them resume their games, with the network and in the cycle of `SelfPlay.play`."""
        self._order = network, cycle
        if not self._workers:
            self._start()
        with signals_blocked():  # the first call starts a process
            for number in range(len(self._workers)):
                self._call(number)

    def _start(self) -> None:
        count = self.settings.machine.workers or available_cpus()
        context = multiprocessing.get_context("spawn")
        other_end, self._lifeline = context.Pipe(duplex=False)
        for number in range(count):
            share = None if self._total is None else (self._total + number) // count
            arguments = other_end, self.settings, (self._seed, number), share
            self._workers.append(ProcessPoolExecutor(1, context, _begin, arguments))

    def _call(self, number: int) -> None:
        if self._order:
            with _loss_reported():
                self._calls[self._workers[number].submit(_play, *self._order)] = number

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        """Yields finished games, waiting some seconds for one; ProcessLostError, or the error that ended a worker."""
        return self._results(wait(self._calls, seconds, FIRST_COMPLETED).done)

    def pause(self) -> Iterator[FinishedGame]:
        """Makes the workers wait, and yields the games they had finished. The next `play` resumes the others."""
        self._order = None
        return self._results(wait(self._calls).done)

    def stop(self) -> Iterator[FinishedGame]:
        """Yields the games that the workers had finished before they end.

        It takes seconds at most: a user waits. Workers that are lost or do not answer only lack their games.
        """
        self._order = None
        for call in wait(self._calls, _PATIENCE_SECONDS).done:
            with contextlib.suppress(Exception):
                yield from self._results([call])

    def _results(self, calls: Iterable[_Call]) -> Iterator[FinishedGame]:
        """Yields the games of finished calls, and calls their workers again at once."""
        for call in calls:
            number = self._calls.pop(call)
            with _loss_reported():
                games, self._counts[number], is_done = call.result()
            if not is_done:
                self._call(number)
            yield from games


@contextlib.contextmanager
def _loss_reported() -> Iterator[None]:
    """Raises ProcessLostError for a worker whose process has ended."""
    try:
        yield
    except BrokenProcessPool as error:
        how = "it has crashed, or was killed by a user, or by the system because it was out of memory"
        raise ProcessLostError(f"self-play worker lost: {how}") from error


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


def _begin(lifeline: Connection, settings: RunSettings, seed: tuple[int, ...], total: int | None) -> None:
    """Prepares a worker's process, which ends when the other end of `lifeline` is closed or its process gone."""
    global _games
    for number in TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    configure_process()
    _games = SelfPlay(settings, seed, total)


def _end_with(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(0)


def _play(network: str, cycle: int) -> tuple[list[FinishedGame], Counts, bool]:
    """Plays for a moment in a worker's process; returns what `SelfPlay.play` does, and whether all games are over."""
    return *_games.play(network, cycle), _games.is_done


def play_games(
    pool: SelfPlayPool,
    network: str,
    writer: GameWriter,
    games: int,
    limit: Limit,
    observer: Observer,
    on_progress: Callable[[], None],
) -> None:
    """Plays until a number of games are finished or the limit is reached, and writes what is finished.

    The observer receives what a user who stops the work is waiting for; `on_progress` is called several times a second.
    """
    pool.play(network, writer.cycle)
    try:
        while writer.games < games and not limit.is_over():
            for game in pool.collect(WAIT_SECONDS):
                writer.add(game)
            writer.flush_late()
            on_progress()
        if limit.is_stopped():
            observer.message("stopping: the finished games are being collected")
        for game in pool.stop() if limit.is_over() else pool.pause():
            writer.add(game)
    finally:
        writer.flush()
