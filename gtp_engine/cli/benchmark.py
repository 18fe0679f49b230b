"""`gtp_engine benchmark`: how fast this machine searches."""

from typing import TYPE_CHECKING

import click

from ..wording import counted
from .options import BoardSize, SearchOptions, analysis_options

if TYPE_CHECKING:
    from ..engine import EngineSettings
    from ..game.game import Game

SIZES = ("9", "13", "19")
SECONDS = 3.0


@click.command()
@click.option(
    "--board-size",
    "sizes",
    type=BoardSize(),
    multiple=True,
    default=SIZES,
    show_default=True,
    help="N or WIDTHxHEIGHT (repeatable).",
)
@analysis_options
def benchmark(sizes: tuple[tuple[int, int], ...], search: SearchOptions) -> None:
    """Measure visits and random playouts per second.

    Each search begins with an empty tree: once from the empty board, once from a board a third full. It takes 3 s where
    neither --seconds nor --visits is given.

    \b
    Examples:
      gtp_engine benchmark
      gtp_engine benchmark --board-size 9 --threads 1 --visits 20000
      gtp_engine benchmark --network uniform       the tree alone, with an evaluator that costs nothing
    """
    from dataclasses import replace

    from ..engine import Engine
    from .compiling import wait_until_ready
    from .machine import processor
    from .options import engine_settings

    if search.visits is None and search.seconds is None:
        search = replace(search, seconds=SECONDS)
    settings = engine_settings(replace(search, seed=search.seed or 0))
    with Engine(settings) as engine:
        wait_until_ready(engine)  # what keeps it from starting is said before the table's head
    click.echo(f"{processor()}, {counted(settings.threads, 'thread')}, network {settings.network}")
    click.echo(f"{'board':>7} {'stones':>7} {'visits/s':>10} {'playouts/s':>11}")
    for width, height in sizes:
        for moves in (0, width * height // 3):
            game = _position(width, height, moves)
            visits = _visits_per_second(game, settings)
            playouts = f"{_playouts_per_second(game, settings):,.0f}" if settings.network == "none" else "-"
            click.echo(f"{f'{width}x{height}':>7} {moves:>7} {visits:>10,.0f} {playouts:>11}")


def _position(width: int, height: int, moves: int) -> "Game":
    """The same random moves every time."""
    import numpy as np

    from ..game.coords import point_of_index
    from ..game.game import Game

    game = Game(width, height)
    random = np.random.default_rng(1)
    for _ in range(moves):
        legal = game.legal_moves()[:-1].nonzero()[0]
        game.play(game.to_move, point_of_index(int(random.choice(legal)), width, height))
    return game


def _visits_per_second(game: "Game", settings: "EngineSettings") -> float:
    from ..engine import Engine
    from ..search.search import Limits

    with Engine(settings) as engine:
        engine.ready.result()
        engine.load(game)
        report = engine.analyze(limits=Limits(visits=settings.visits, seconds=settings.seconds)).result()
    return report.playouts / report.seconds


def _playouts_per_second(game: "Game", settings: "EngineSettings") -> float:
    """Random games to the end, from that position, for a second."""
    import time

    import numpy as np

    from ..evaluate.rollouts import PLAYOUTS, RolloutEvaluator

    evaluator = RolloutEvaluator(threads=settings.threads, seed=settings.seed)
    indices = np.zeros(evaluator.batch_size, np.int64)
    start = time.perf_counter()
    played = 0
    while time.perf_counter() < start + 1:
        evaluator.collect(evaluator.submit(game.board, indices))
        played += len(indices) * PLAYOUTS
    rate = played / (time.perf_counter() - start)
    evaluator.close()
    return rate
