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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from ..base.errors import UserError
from ..base.system import WAIT_SECONDS, available_cpus, configure_process
from .progress import Limit, Observer, ProcessLostError, resource_errors
from .run_settings import RunSettings
from .selfplay import Counts, FinishedGame, Played, SelfPlay
from .storage import GameWriter

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS = 10.0  # for a process to end, and for the last games of all
# A terminal, torchrun and systemd send them to all processes; the main process decides what they do to the others.
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(eq=False)
class _Member:
    """A worker as the main process knows it."""

    process: Any
    pipe: Connection
    left: int | None  # games that it still has to play; None for no end
    counts: Counts = field(default=Counts())  # the work it had done at its last result
    is_playing: bool = False  # whether a call is under way


class SelfPlayPool:
    """Processes on this machine that play by themselves between `play` and `pause`.

    A context manager: the workers end with it, and their games in progress are lost. All workers play `total` games
    together; None for no end.
    """

    def __init__(self, settings: RunSettings, seed: int, total: int | None = None) -> None:
        self.settings = settings
        self._seed, self._total = seed, total
        self._members: list[_Member] = []
        self._order: tuple[str, int] | None = None  # network and cycle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers."""
        for member in self._members:
            member.pipe.close()
        for member in self._members:
            member.process.join(_PATIENCE_SECONDS)
            if member.process.is_alive():
                member.process.kill()
        self._members = []

    @property
    def counts(self) -> Counts:
        """The work done by all workers since they began, at most about a second old."""
        return sum((member.counts for member in self._members), Counts())

    def play(self, network: str, cycle: int) -> None:
        """Starts the workers, or lets them resume their games, with the network and in the cycle of `SelfPlay.play`."""
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
        """Yields finished games, waiting some seconds for one; ProcessLostError, or the error that ended a worker."""
        ready = wait([member.pipe for member in self._members], seconds)
        for member in self._members:
            if member.pipe in ready:
                yield from self._result(member)

    def pause(self) -> Iterator[FinishedGame]:
        """Makes the workers wait, and yields the games they had finished. The next `play` resumes the others."""
        self._order = None
        for member in self._members:
            if member.is_playing:
                yield from self._result(member)

    def stop(self) -> Iterator[FinishedGame]:
        """Yields the games that the workers had finished before they end.

        It takes seconds at most: a user waits. Workers that are lost or do not answer only lack their games.
        """
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


def _exit_text(status: int | None) -> str:
    """Describes how a process ended, by its exit status in `multiprocessing`."""
    if status is None:
        return "still running, but its pipe is closed"
    if status >= 0:
        return f"exit status {status}"
    if status == -9:  # SIGKILL, which Windows' Python does not name
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
    selfplay = SelfPlay(settings, seed, total)
    try:
        while True:
            pipe.send(selfplay.play(*pipe.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the pool is closed, or the main process is gone
    except Exception as error:
        # An unexpected error may hold what cannot be pickled.
        is_known = isinstance(error, (UserError, *resource_errors()))
        answer = error if is_known else RuntimeError(f"self-play worker failed: {error!r}")
        try:
            pipe.send(answer)
        except OSError:
            logger.error(str(answer))


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
