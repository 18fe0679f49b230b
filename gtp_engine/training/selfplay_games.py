"""Games of self-play that belong to no run: those of `gtp_engine selfplay`, and those of Python programs."""

import os
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from ..base.fields import Range
from ..base.messages import plural
from ..base.pool import Pool
from ..base.processes import own_unless
from ..base.threads import on_own_thread
from ..go.coords import check_board_size
from ..go.rules import Rules, as_rules, check_komi
from ..go.sgf import GameRecord, read_sgf
from ..nets.library import file_or_name, find_network
from ..search.evaluate.choices import AUTO, ROLLOUTS, network_on
from .progress import Limit, Observer
from .run_settings import CycleSettings, GameSettings, MachineSettings, RunSettings, SearchSettings, parse_size
from .selfplay import SelfPlay
from .storage import GameWriter, ShardFacts, total
from .workers import SelfPlayPool, play_games

_CYCLE = 0  # in the notes of the shards


class SelfPlayGames:
    """Plays games in worker processes and writes records to `folder` and samples to `shards`.

    `network` is a file, or the name of an evaluator without a network.

    Attributes:
        limit: Stops the work.
    """

    def __init__(self, settings: RunSettings, network: str, games: int, folder: Path, shards: Path) -> None:
        self.limit = Limit()
        self._settings = settings
        self._network, self._games, self._folder = network, games, folder
        self._writer = GameWriter(shards, folder, settings.cycle.shard_games, _CYCLE)

    @property
    def saved(self) -> ShardFacts:
        """Facts about the games that are written."""
        return total(self._writer.written)

    def play(self, seed: int | None, observer: Observer, pool: Pool | None = None) -> None:
        """Plays until all games are finished or the limit stops it; without a seed, different ones each time.

        The games are played by a pool, by default one of this machine. The concurrency is lowered for few games.
        """
        start = time.monotonic()

        def report() -> None:
            counts = workers.counts
            speed = counts.speed_text(time.monotonic() - start) if counts.positions else "starting"
            observer.progress("self-play", self._writer.games, self._games, f"{speed}{self._results()}")

        seed = time.time_ns() if seed is None else seed
        machine = self._settings.machine
        with own_unless(pool) as pool:
            pool.prepare(machine.workers)
            concurrency = min(machine.concurrency, -(-self._games // pool.size))
            settings = replace(self._settings, machine=replace(machine, concurrency=concurrency))
            workers = SelfPlayPool(pool, settings, seed, self._games)
            play_games(workers, self._network, self._writer, self._games, self.limit, observer, report)

    def summary(self) -> str:
        """Returns one line about the games: their number, results, early decisions, and folder."""
        saved = self.saved
        if not saved.games:
            return "no game was saved" if self._writer.games else "no game was finished"
        checks = f"; {plural(saved.checked, 'early decision')} checked, {saved.upsets} wrong" if saved.checked else ""
        return f"{plural(saved.games, 'game')}{self._results()}{checks}; in {self._folder}"

    def _results(self) -> str:
        saved = self.saved
        if not saved.games:
            return ""
        return f"; black wins {saved.black / saved.games:.0%}, {saved.moves / saved.games:.0f} moves per game"


def selfplay(
    network: str | os.PathLike[str] = AUTO,
    *,
    games: int | None = None,
    width: int = 9,
    height: int | None = None,
    visits: int = 32,
    rules: Rules | str | None = None,
    komi: float | None = None,
    seed: int | None = None,
    concurrency: int = 32,
    comments: bool = False,
) -> Iterator[GameRecord]:
    """Plays the engine against itself and yields the games as they finish.

    Many games are played at a time, so that they share batches; games that finish early come first. Openings vary and
    the searches use noise, as in training; there is no resignation, so that every game is counted at its end. It runs
    in this process, while the iterator waits for the next game; `gtp_engine selfplay` uses all CPUs.

    Args:
        network: A network's file or name; "auto" for the default one for the board, "none" for rollouts.
        games: The number of games; None for an endless iterator.
        width: The board's columns.
        height: The board's rows; None for a square board.
        visits: The visits of each search.
        rules: The rules, by which area is counted; None to draw Chinese or Tromp-Taylor rules for each game.
        komi: White's komi; None to vary it around the usual one.
        seed: The seed of everything random, which repeats the same games; None for other games each time.
        concurrency: The number of games at a time.
        comments: Whether the records' comments report what each search found.

    Raises:
        UserError: The network is not found, or another argument is invalid.
    """
    height = width if height is None else height
    check_board_size(width, height)
    parse_size(f"{width}x{height}")
    evaluator = network_on(file_or_name(network), width, height)
    if evaluator != ROLLOUTS:
        find_network(evaluator)
    Range(1, whole=True).parse("number of visits", visits, from_text=False)
    if seed is not None:
        Range(0, whole=True).parse("seed", seed, from_text=False)
    played = GameSettings(sizes={f"{width}x{height}": 1.0})
    if rules is not None:
        played = replace(played, rules=[as_rules(rules).to_json()])
    if komi is not None:
        check_komi(komi)
        played = played.with_komi(komi)
    machine = MachineSettings(concurrency=concurrency)
    cycle = CycleSettings(comments=comments, games=1 if games is None else games)
    if games is not None:
        machine = replace(machine, concurrency=min(concurrency, games))
    settings = RunSettings(cycle=cycle, games=played, search=SearchSettings(visits={"0": visits}), machine=machine)
    seed = int.from_bytes(os.urandom(7)) if seed is None else seed
    return on_own_thread("selfplay", _play(settings, evaluator, games, seed))


def _play(settings: RunSettings, network: str, games: int | None, seed: int) -> Generator[GameRecord, None, None]:
    selfplay = SelfPlay(settings, (seed,), games)
    yielded = 0
    try:
        while games is None or yielded < games:
            finished, _ = selfplay.play(network, 0)
            for game in finished:
                yielded += 1
                yield read_sgf(game.sgf.encode())
    finally:
        selfplay.close()
