"""Self-play in several processes, so that the Python part of the searches runs in parallel.

Each worker of a pool has its own games and its own evaluator, and plays for a moment per call; finished games come to
the main process, so that one process writes all files. Each game counts once: those that a lost worker had not returned
are lost with it, and another one with its own seed replaces it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from ..base.pool import Answer, Pool, SharedFile, Worker
from ..base.system import WAIT_SECONDS
from ..search.evaluate.choices import names_file
from .progress import Limit, Observer
from .run_settings import RunSettings
from .selfplay import Counts, FinishedGame, Played, SelfPlay
from .storage import GameWriter

_PATIENCE_SECONDS = 10.0  # for the last games of all


class SelfPlayPool:
    """Workers of a pool that play by themselves between `play` and `pause`.

    They play `total` games together, in which others replace those of lost workers; None for no end.
    """

    def __init__(self, pool: Pool, settings: RunSettings, seed: int, total: int | None = None) -> None:
        self.settings = settings
        self._pool, self._seed, self._total = pool, seed, total
        self._key = time.time_ns()  # a worker may have had the games of another run
        self._calls: dict[int, int] = {}  # under way, with their workers
        self._counts: dict[int, Counts] = {}  # of each worker's work, at its last result
        self._due: Counter[int] = Counter()  # games that each worker has still to play of the total
        self._order: tuple[SharedFile | str, int] | None = None  # network and cycle

    @property
    def counts(self) -> Counts:
        """The work done by all workers since they began, at most about a second old."""
        return sum(self._counts.values(), Counts())

    def play(self, network: str, cycle: int) -> None:
        """Starts the workers, or lets them resume their games, with the network and in the cycle of `SelfPlay.play`."""
        machine = self.settings.machine
        self._pool.prepare(machine.workers, with_gpus=machine.device != "cpu")
        self._order = self._pool.share(Path(network)) if names_file(network) else network, cycle
        self._call_all()

    def _call_all(self) -> None:
        """Calls the workers that wait, new ones among them."""
        for worker in self._pool.idle() if self._order else ():
            self._call(worker)

    def _call(self, worker: int) -> None:
        if self._order:
            more = self._portion(worker)
            if self._total is None or self._due[worker]:
                arguments = self._key, self.settings, self._seed, *self._order, more
                self._calls[self._pool.call(worker, _play, *arguments)] = worker

    def _portion(self, worker: int) -> int | None:
        """Gives a worker that has few games more of the total; returns how many, or None if there is no total.

        A single worker takes all of them, so that the same seed plays the same games. Several take as many as they play
        at a time, and leave some of the others for machines that join, and for the fastest.
        """
        if self._total is None:
            return None
        room, size = self.settings.machine.concurrency - self._due[worker], self._pool.size
        if room <= 0:
            return 0
        more = self._total if size == 1 else min(self._total, max(room, -(-self._total // (2 * size))))
        self._due[worker] += more
        self._total -= more
        return more

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        """Yields finished games, waiting some seconds for one; ProcessLostError, or the error of a call."""
        self._call_all()
        for answer in self._pool.wait(seconds):
            yield from self._result(answer)

    @property
    def _is_waiting(self) -> bool:
        return not self._pool.under_way.isdisjoint(self._calls)

    def pause(self) -> Iterator[FinishedGame]:
        """Makes the workers wait, and yields the games they had finished. The next `play` resumes the others."""
        self._order = None
        while self._is_waiting:
            yield from self.collect(WAIT_SECONDS)

    def stop(self) -> Iterator[FinishedGame]:
        """Yields the games that the workers had finished before they end.

        It takes seconds at most: a user waits. The games of workers that are lost or do not answer are missing.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        self._order = None
        while self._is_waiting and time.monotonic() < end:
            try:
                yield from self.collect(WAIT_SECONDS)
            except Exception:  # of one of them
                continue

    def _result(self, answer: Answer) -> Iterator[FinishedGame]:
        """Yields the games of a finished call, and calls its worker again at once."""
        worker = self._calls.pop(answer.call, None)
        if worker is None:
            return
        if answer.is_lost:
            lost = self._due.pop(worker, 0)
            if self._total is not None:
                self._total += lost
            return
        games, self._counts[worker] = answer.result
        self._due[worker] -= len(games)
        self._call(worker)
        yield from games


def _play(
    worker: Worker, key: int, settings: RunSettings, seed: int, network: str, cycle: int, more: int | None
) -> Played:
    """Plays for a moment in a worker's process, of a total if there are `more`; returns what `SelfPlay.play` does."""
    total = None if more is None else 0
    selfplay = worker.kept("selfplay", key, lambda: SelfPlay(settings, (seed, worker.number), total))
    return selfplay.play(network, cycle, more or 0)


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
