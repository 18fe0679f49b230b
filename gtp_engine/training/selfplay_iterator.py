"""Self-play for Python programs: an iterator over finished games."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ..base.fields import Range, invalid, parse_number
from ..go.coords import check_board_size
from ..go.rules import Rules, as_rules, check_komi
from ..go.sgf import GameRecord, read_sgf
from ..nets.library import find_network
from ..search.evaluate.choices import AUTO, ROLLOUTS, network_on
from .run_settings import CycleSettings, GameSettings, MachineSettings, RunSettings, SearchSettings, parse_size
from .workers import SelfPlayWorker


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
        network: A network's file or name; "auto" for the bundled network for the board's size, "none" for rollouts.
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
    if not isinstance(network, str | os.PathLike):
        raise invalid("network", network, "a name or a file")
    evaluator = network_on(os.fspath(network), width, height)
    if evaluator != ROLLOUTS:
        find_network(evaluator)
    numbers = {"number of games": games, "number of visits": visits, "concurrency": concurrency}
    for name, value in numbers.items():
        if value is not None or name != "number of games":
            parse_number(name, value, Range(1, whole=True), from_text=False)
    if seed is not None:
        parse_number("seed", seed, Range(0, whole=True), from_text=False)
    settings = RunSettings(
        cycle=CycleSettings(comments=comments),
        games=_game_settings(f"{width}x{height}", rules, komi),
        search=SearchSettings(visits={"0": visits}),
        machine=MachineSettings(concurrency=concurrency if games is None else min(concurrency, games)),
    )
    return _play(settings, evaluator, games, int.from_bytes(os.urandom(7)) if seed is None else seed)


def _game_settings(size: str, rules: Rules | str | None, komi: float | None) -> GameSettings:
    settings = GameSettings(sizes={size: 1.0})
    if rules is not None:
        settings.rules[:] = [as_rules(rules).to_json()]
    if komi is None:
        return settings
    check_komi(komi)
    return GameSettings(settings.sizes, settings.rules, komi={size: komi}, komi_spread=0.0, wide_komi_share=0.0)


def _play(settings: RunSettings, network: str, games: int | None, seed: int) -> Iterator[GameRecord]:
    """Yields the games; they are played on a thread of its own, so that torch's settings elsewhere stay as they are."""
    worker = SelfPlayWorker(settings, (seed,), games)
    yielded = 0
    with ThreadPoolExecutor(1, "selfplay") as thread:
        try:
            while games is None or yielded < games:
                finished, _ = thread.submit(worker.play, network, 0).result()
                for game in finished:
                    yielded += 1
                    yield read_sgf(game.sgf.encode())
        finally:
            try:
                closed = thread.submit(worker.close)
            except RuntimeError:  # the program ends, and threads take no more work
                worker.close()
            else:
                closed.result()
