"""`gtp_engine benchmark`: how fast this machine searches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..evaluate.choices import AUTO, network_on
from ..wording import counted
from .options import BoardSize, SearchOptions, analysis_options

if TYPE_CHECKING:
    from ..engine import EngineSettings
    from ..game.game import Game

SIZES = ((9, 9), (13, 13), (19, 19))
NETWORK_SIZES = ((19, 19),)
SECONDS, NETWORK_SECONDS = 3.0, 2.0


@click.command()
@click.option(
    "--board-size",
    "sizes",
    type=BoardSize(),
    multiple=True,
    help="N or WIDTHxHEIGHT (repeatable).  [default: 9, 13, 19; with --network 19]",
)
@analysis_options
def benchmark(sizes: tuple[tuple[int, int], ...], search: SearchOptions) -> None:
    """Measure visits per second, and how to set threads and batches for a network.

    Each search begins with an empty tree. Without a network: once from the empty board, once from a board a third full,
    3 s each where neither --seconds nor --visits is given; beside it stand the random playouts per second.

    With a network: for each number of threads up to --threads, and each size of batches, the search's visits per second
    from a position in the opening, for 2 s, and the positions per second of the bare network, measured before and after
    on the same threads; then what to set.

    \b
    Examples:
      gtp_engine benchmark                         what the engine takes on 9x9, 13x13 and 19x19
      gtp_engine benchmark --network kata1-b18c384 --board-size 9 --board-size 19
      gtp_engine benchmark --network none --board-size 9 --threads 1 --visits 20000
      gtp_engine benchmark --network uniform       the tree alone, with an evaluator that costs nothing
    """
    from dataclasses import replace

    from ..search.parameters import WITHOUT_NETWORK
    from .options import engine_settings

    settings = engine_settings(replace(search, seed=search.seed or 0))
    is_named = settings.network not in (AUTO, *WITHOUT_NETWORK)
    boards: dict[str, list[tuple[int, int]]] = {}
    for size in sizes or (NETWORK_SIZES if is_named else SIZES):
        boards.setdefault(network_on(settings.network, *size), []).append(size)
    for network, its_boards in boards.items():
        is_network = network not in WITHOUT_NETWORK
        here = replace(settings, network=network)
        if search.visits is None and search.seconds is None:
            here = replace(here, seconds=NETWORK_SECONDS if is_network else SECONDS)
        (_measure_network if is_network else _measure_search)(its_boards, here)


def _measure_search(sizes: Sequence[tuple[int, int]], settings: "EngineSettings") -> None:
    from ..engine import Engine
    from .compiling import wait_until_ready
    from .machine import processor

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


def _measure_network(sizes: Sequence[tuple[int, int]], settings: "EngineSettings") -> None:
    """Threads and batches, a table for each size of the board."""
    from ..engine import new_thinker
    from .machine import gpu, processor
    from .network_speed import measure, natural_position, recommended

    thinker = new_thinker(settings)
    thinker.warm_up()
    evaluator = thinker.network()
    profile = settings.search_parameters(settings.network).profile
    thinker.check_profile(profile)
    machine = processor() if evaluator.device.type == "cpu" else gpu()
    click.echo(f"{machine}; {evaluator.name}, {evaluator.precision}")
    for width, height in sizes:
        game = natural_position(evaluator, width, height, profile)
        click.echo(f"{width}x{height}, move {len(game.moves)}")
        click.echo(f"{'threads':>9} {'batch':>7} {'network/s':>11} {'visits/s':>10} {'share':>7}")
        speeds = []
        for speed in measure(evaluator, game, settings):
            speeds.append(speed)
            rates = f"{speed.network:>11,.1f} {speed.search:>10,.1f} {speed.search / speed.network:>7.0%}"
            click.echo(f"{speed.threads:>9} {speed.batch:>7} {rates}")
        best = recommended(speeds)
        click.echo(f"best on {width}x{height}: --set batch_size={best.batch} --threads {best.threads}")
    thinker.close()


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
