"""A given number of self-play games, saved as they finish; `gtp_engine selfplay` runs it."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..base.messages import plural
from ..base.system import WAIT_SECONDS, available_cpus
from ..game.coords import BLACK
from .data.storage import GameWriter
from .selfplay import Counts, FinishedGame
from .settings import RunSettings
from .workers import LocalPool

_CYCLE = 0  # in the notes of the shards: these games do not belong to a training run


class SelfPlayGames:
    """Plays games in worker processes and writes them to files.

    Args:
        settings: How to play; the workers' concurrency is lowered if there are fewer games to play.
        network: The network's file, or the name of an evaluator without a network.
        games: Number of games to play.
        folder: Folder for the game records.
        shards: Folder for the samples.

    Attributes:
        finished: The games that are finished and written.
        stopped: Setting it to True, also from a signal handler, makes `play` return soon.
    """

    def __init__(self, settings: RunSettings, network: str, games: int, folder: Path, shards: Path) -> None:
        self.finished: list[FinishedGame] = []
        self.stopped = False
        self._settings, self._network, self._games, self._folder = settings, network, games, folder
        self._collected = 0  # the finished games, also those that wait to be written
        self._writer = GameWriter(shards, folder, settings.cycle.shard_games)

    def play(self, seed: int | None, on_progress: Callable[[str], None], interval: float) -> None:
        """Plays until all games are finished or `stopped` is set, and writes what is finished.

        Args:
            seed: Random seed; None for a different one each time.
            on_progress: Receives the progress as one line.
            interval: Seconds between two such lines.
        """
        start, last_report = time.monotonic(), 0.0
        with LocalPool(self._worker_settings(), time.time_ns() if seed is None else seed, self._games) as workers:
            workers.play(self._network, _CYCLE)
            try:
                while self._collected < self._games and not self.stopped:
                    for game in workers.collect(WAIT_SECONDS):
                        self._collected += 1
                        self.finished += self._writer.add(game, _CYCLE)
                    self.finished += self._writer.flush_late(_CYCLE)
                    now = time.monotonic()
                    if now - last_report >= interval:
                        last_report = now
                        on_progress(self._progress(workers.counts - Counts(), now - start))
                if self.stopped:
                    on_progress("stopping: the finished games are being collected")
                    for game in workers.stop():
                        self._collected += 1
                        self.finished += self._writer.add(game, _CYCLE)
            finally:
                self.finished += self._writer.flush(_CYCLE)

    def _worker_settings(self) -> RunSettings:
        """Returns the settings with no more games at a time than each worker will play."""
        machine = self._settings.machine
        games_per_worker = -(-self._games // (machine.workers or available_cpus()))
        machine = replace(machine, concurrency=min(machine.concurrency, games_per_worker))
        return replace(self._settings, machine=machine)

    def _progress(self, counts: Counts, seconds: float) -> str:
        games = f"{self._collected} of {plural(self._games, 'game')}"
        return f"{games}, {counts.speed_text(seconds)}{self._results()}" if counts.positions else f"{games}, starting"

    def summary(self) -> str:
        """Returns one line about the finished games: their number, results, early decisions, and folder."""
        if not self.finished:
            return "no game was saved" if self._collected else "no game was finished"
        checked = [game for game in self.finished if game.is_checked]
        wrong = sum(game.is_upset for game in checked)
        decisions = f"; {plural(len(checked), 'early decision')} checked, {wrong} wrong" if checked else ""
        return f"{plural(len(self.finished), 'game')}{self._results()}{decisions}; in {self._folder}"

    def _results(self) -> str:
        if not self.finished:
            return ""
        black = sum(game.sample.winner == BLACK for game in self.finished) / len(self.finished)
        length = sum(len(game.sample.moves) for game in self.finished) / len(self.finished)
        return f"; black wins {black:.0%}, {length:.0f} moves per game"
