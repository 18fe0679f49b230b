"""Self-play in several processes, so that the Python part of the searches runs in parallel.

Each worker of a pool has its own games and its own evaluator, and plays for a moment per call; finished games come to
the main process, so that one process writes all files. Each game counts once: those that a lost worker had not returned
are lost with it, and another one with its own seed replaces it.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..base.pool import Pool, Portions, SharedFile, Worker
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
        self._pool, self._seed, self._is_endless = pool, seed, total is None
        self._key = time.time_ns()  # a worker may have had the games of another run
        self._games = Portions(pool, total if total is None else range(total), settings.machine.concurrency)
        self._counts: dict[int, Counts] = {}  # of each worker's work, at its last result
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
            self._games.call(worker, self._call)

    def _call(self, worker: int, more: list[int]) -> int:
        assert self._order
        arguments = self._key, self.settings, self._seed, *self._order, None if self._is_endless else len(more)
        return self._pool.call(worker, _play, *arguments)

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        """Yields finished games, waiting some seconds for one; ProcessLostError, or the error of a call."""
        self._call_all()
        for worker, (games, counts) in self._games.results(seconds):
            self._counts[worker] = counts
            if not self._is_endless:
                for _ in games:
                    self._games.due[worker].pop()
            if self._order:
                self._games.call(worker, self._call)  # at once
            yield from games

    def pause(self) -> Iterator[FinishedGame]:
        """Makes the workers wait, and yields the games they had finished. The next `play` resumes the others."""
        self._order = None
        while self._games.is_under_way:
            yield from self.collect(WAIT_SECONDS)

    def stop(self) -> Iterator[FinishedGame]:
        """Yields the games that the workers had finished before they end.

        It takes seconds at most: a user waits. The games of workers that are lost or do not answer are missing.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        self._order = None
        while self._games.is_under_way and time.monotonic() < end:
            try:
                yield from self.collect(WAIT_SECONDS)
            except Exception:  # of one of them
                continue


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
