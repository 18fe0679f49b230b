"""Self-play in several processes: Python's own part of a search runs in parallel, each has its games and its evaluator.

The processes only play; what is finished comes here, so that one process writes all files. They end by themselves when
this process has gone, however it ended.
"""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self

from ..engine import processor_threads
from ..evaluate.interface import Evaluator
from ..log import log
from .selfplay import Counts, FinishedGame, SelfPlay
from .settings import RunSettings

_REPORT_SECONDS = 1.0
_PATIENCE_SECONDS = 10.0  # for a process to end
# A terminal, torchrun and systemd send them to all processes; what becomes of them the first one decides.
_WISHES = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class _Play:
    """Tells a worker to play on, with this network."""

    network: str
    cycle: int


@dataclass(frozen=True)
class _Failure:
    """What went wrong in a worker."""

    error: Exception


_PAUSE, _PAUSED, _END = "pause", "paused", "end"


class Players(Protocol):
    """Processes that play by themselves between `play` and `pause`; `collect` gives what they have finished.

    A context manager: they end with it.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def counts(self) -> Counts:
        """What all have done since they began, as of a second ago."""

    def play(self, network: str, cycle: int) -> None:
        """Begins, or goes on, with this network's file ("none" for playouts) and the settings of that cycle."""

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        """The games that were finished within so many seconds. Raises what went wrong in a process."""

    def pause(self) -> Iterator[FinishedGame]:
        """Has them wait, and gives what they had finished till then; their games go on with the next `play`."""

    def close(self) -> None:
        """Ends them; their games under way are lost."""


class Workers(Players):
    """`Players` on this machine. seed: of their games."""

    def __init__(self, settings: RunSettings, seed: int) -> None:
        self.settings = settings
        self._seed = seed
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[Any] = []
        self._links: list[Connection] = []
        self._counts: list[Counts] = []

    @property
    def counts(self) -> Counts:
        return sum(self._counts, Counts())

    def play(self, network: str, cycle: int) -> None:
        if not self._processes:
            self._start()
        self._tell(_Play(network, cycle))

    def _start(self) -> None:
        count = self.settings.machine.workers or processor_threads()
        for number in range(count):
            link, other = self._context.Pipe()
            arguments = (other, self.settings, (self._seed, number))
            process = self._context.Process(target=_work, args=arguments, name=f"selfplay-{number}", daemon=True)
            with _unheard():
                process.start()
            other.close()
            self._processes.append(process)
            self._links.append(link)
            self._counts.append(Counts())

    def _tell(self, message: object) -> None:
        for link in self._links:
            try:
                link.send(message)
            except OSError as error:
                raise self._lost(link) from error

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        for link in wait(self._links, seconds):
            message = self._receive(link)
            if isinstance(message, FinishedGame):
                yield message

    def pause(self) -> Iterator[FinishedGame]:
        self._tell(_PAUSE)
        for link in self._links:
            while (message := self._receive(link)) != _PAUSED:
                if isinstance(message, FinishedGame):
                    yield message

    def _receive(self, link: Any) -> object:
        """The next message of a worker."""
        try:
            message = link.recv()
        except (EOFError, OSError) as error:
            raise self._lost(link) from error
        if isinstance(message, _Failure):
            raise message.error
        if isinstance(message, Counts):
            self._counts[self._links.index(link)] = message
        return message

    def _lost(self, link: Any) -> Exception:
        """What the process at that link said last, or how it ended."""
        with contextlib.suppress(EOFError, OSError):
            while link.poll():
                message = link.recv()
                if isinstance(message, _Failure):
                    return message.error
        process = self._processes[self._links.index(link)]
        process.join(_PATIENCE_SECONDS)
        return RuntimeError(f"a process that played has gone: {_how_it_ended(process.exitcode)}")

    def close(self) -> None:
        for link in self._links:
            with contextlib.suppress(OSError):
                link.send(_END)
            link.close()
        for process in self._processes:
            process.join(_PATIENCE_SECONDS)
            if process.is_alive():
                process.kill()
        self._processes, self._links, self._counts = [], [], []


def _how_it_ended(status: int | None) -> str:
    """Of a process's exit status as `multiprocessing` has it."""
    if status is None:
        return "it runs, but its link is broken"
    if status >= 0:
        return f"exit status {status}"
    if status == -signal.SIGKILL:
        return "killed by somebody, or by the system for lack of memory"
    return f"ended by signal {-status} ({signal.strsignal(-status)})"


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """What is begun within does not hear `_WISHES` before it can say so itself; this process hears them afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which the first process would begin, and hear them again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WISHES)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(link: Connection, settings: RunSettings, seed: tuple[int, ...]) -> None:
    """The life of a worker."""
    for wish in _WISHES:
        signal.signal(wish, signal.SIG_IGN)
    try:
        _Worker(link, settings, seed).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # nobody is there any more
    except Exception as error:
        try:
            link.send(_Failure(error if isinstance(error, ValueError | OSError | MemoryError) else _as_text(error)))
        except OSError:
            log(f"a process that played has failed: {error!r}")


def _as_text(error: Exception) -> RuntimeError:
    return RuntimeError(f"a process that played has failed: {error!r}")


class _Worker:
    def __init__(self, link: Connection, settings: RunSettings, seed: tuple[int, ...]) -> None:
        self._link = link
        self._player = Player(settings, seed, link.send)
        self._reported = 0.0

    def run(self) -> None:
        message: object = self._link.recv()
        while message != _END:
            if isinstance(message, _Play):
                self._player.begin(message.network, message.cycle)
                self._play_on()
            message = self._link.recv()

    def _play_on(self) -> None:
        """Plays until somebody says something, or has gone: then the link is ready too."""
        while not self._link.poll():
            self._player.step()
            now = time.monotonic()
            if now - self._reported >= _REPORT_SECONDS:
                self._reported = now
                self._link.send(self._player.counts)
        self._link.send(self._player.counts)
        self._link.send(_PAUSED)


class Player:
    """The self-play of one process: `begin`, then `step` for as long as it is to play; the games go on at each `begin`.

    seed: of its games, which `on_game` takes.
    """

    def __init__(self, settings: RunSettings, seed: tuple[int, ...], on_game: Callable[[FinishedGame], None]) -> None:
        self._settings, self._seed, self._on_game = settings, seed, on_game
        self._selfplay: SelfPlay | None = None
        self._network = ""
        self._precision = settings.machine.precision

    @property
    def counts(self) -> Counts:
        return self._selfplay.counts if self._selfplay else Counts()

    def begin(self, network: str, cycle: int) -> None:
        """Begins, or goes on, with this network's file and the settings of that cycle."""
        make = partial(self._evaluator, network)
        if self._selfplay is None:
            games = self._settings.machine.concurrency
            self._selfplay = SelfPlay(self._settings, make, self._on_game, games=games, seed=self._seed, cycle=cycle)
        else:
            self._selfplay.begin_cycle(cycle)
            if network != self._network:
                self._selfplay.change_network(make)
        self._network = network

    def step(self) -> None:
        """Works on a batch of each board size."""
        assert self._selfplay is not None
        self._selfplay.step()

    def _evaluator(self, network: str) -> Evaluator:
        evaluator = evaluator_for(network, self._settings.machine.device, self._precision)
        self._precision = getattr(evaluator, "precision", self._precision)  # one trial is enough
        return evaluator


def evaluator_for(network: str, device: str, precision: str) -> Evaluator:
    """One for self-play, of one thread: without a cache, since positions come again turned otherwise."""
    from ..evaluate.choices import ROLLOUTS
    from ..evaluate.factory import make_evaluator

    if network == ROLLOUTS:
        return make_evaluator(ROLLOUTS)
    from ..evaluate.network import NetworkEvaluator
    from ..network.library import find_network

    return NetworkEvaluator(find_network(network), device=device, precision=precision, cache_megabytes=0.0)
