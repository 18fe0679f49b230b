"""Self-play games that are written as they finish: those of a run's cycle, and those of `gtp_engine selfplay`."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..base.messages import plural
from ..base.system import WAIT_SECONDS, available_cpus
from .limit import Limit
from .run_settings import RunSettings
from .selfplay import Counts
from .storage import GameWriter, total
from .workers import LocalPool, SelfPlayPool

_CYCLE = 0  # in the notes of the shards: these games do not belong to a training run


def play_games(
    pool: SelfPlayPool,
    network: str,
    cycle: int,
    writer: GameWriter,
    games: int,
    limit: Limit,
    on_progress: Callable[[], None],
    on_message: Callable[[str], None],
) -> None:
    """Plays until a number of games are finished or the limit is reached, and writes what is finished.

    Args:
        pool: The workers.
        network: File of the network, "none" for rollouts.
        cycle: Cycle of the run.
        writer: Writes the games.
        games: Number of games.
        limit: When to stop.
        on_progress: Called several times a second.
        on_message: Receives what a user who stops the work is waiting for.
    """
    pool.play(network, cycle)
    try:
        while writer.games < games and not limit.is_over():
            for game in pool.collect(WAIT_SECONDS):
                writer.add(game)
            writer.flush_late()
            on_progress()
        if limit.is_stopped():
            on_message("stopping: the finished games are being collected")
        for game in pool.stop() if limit.is_over() else pool.pause():
            writer.add(game)
    finally:
        writer.flush()


class SelfPlayGames:
    """Plays games in worker processes and writes them to files.

    Args:
        settings: How to play; the workers' concurrency is lowered if there are fewer games to play.
        network: The network's file, or the name of an evaluator without a network.
        games: Number of games to play.
        folder: Folder for the game records.
        shards: Folder for the samples.

    Attributes:
        limit: Stops the work.
    """

    def __init__(self, settings: RunSettings, network: str, games: int, folder: Path, shards: Path) -> None:
        self.limit = Limit()
        self._settings, self._network, self._games, self._folder = settings, network, games, folder
        self._writer = GameWriter(shards, folder, settings.cycle.shard_games, _CYCLE)

    @property
    def saved(self) -> int:
        """The number of games that are written."""
        return total(self._writer.written).games

    def play(self, seed: int | None, on_progress: Callable[[str], None], interval: float) -> None:
        """Plays until all games are finished or the limit stops it, and writes what is finished.

        Args:
            seed: Random seed; None for a different one each time.
            on_progress: Receives the progress as one line.
            interval: Seconds between two such lines.
        """
        start, reported = time.monotonic(), 0.0

        def report() -> None:
            nonlocal reported
            now = time.monotonic()
            if now - reported >= interval:
                reported = now
                on_progress(self._progress(workers.counts, now - start))

        with LocalPool(self._worker_settings(), time.time_ns() if seed is None else seed, self._games) as workers:
            play_games(workers, self._network, _CYCLE, self._writer, self._games, self.limit, report, on_progress)

    def _worker_settings(self) -> RunSettings:
        """Returns the settings with no more games at a time than each worker will play."""
        machine = self._settings.machine
        games_per_worker = -(-self._games // (machine.workers or available_cpus()))
        machine = replace(machine, concurrency=min(machine.concurrency, games_per_worker))
        return replace(self._settings, machine=machine)

    def _progress(self, counts: Counts, seconds: float) -> str:
        games = f"{self._writer.games} of {plural(self._games, 'game')}"
        return f"{games}, {counts.speed_text(seconds)}{self._results()}" if counts.positions else f"{games}, starting"

    def summary(self) -> str:
        """Returns one line about the games: their number, results, early decisions, and folder."""
        saved = total(self._writer.written)
        if not saved.games:
            return "no game was saved" if self._writer.games else "no game was finished"
        checks = f"; {plural(saved.checked, 'early decision')} checked, {saved.upsets} wrong" if saved.checked else ""
        return f"{plural(saved.games, 'game')}{self._results()}{checks}; in {self._folder}"

    def _results(self) -> str:
        saved = total(self._writer.written)
        if not saved.games:
            return ""
        return f"; black wins {saved.black / saved.games:.0%}, {saved.moves / saved.games:.0f} moves per game"
