"""`gtp_engine benchmark`: how fast this machine searches."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import click

from ...base.messages import plural
from ...base.settings import setting
from ...base.system import wait_for
from ...engine.settings import EngineSettings
from ...search.evaluate.choices import names_file
from ...search.request import Limits
from .command import command
from .common_options import BOARD_SIZE, search_options
from .doctor import cpu, gpu

SIZES = ((9, 9), (13, 13), (19, 19))
NETWORK_SIZES = ((19, 19),)
SECONDS, NETWORK_SECONDS = 3.0, 2.0
_USUAL_SECONDS = f"{NETWORK_SECONDS:g}; {SECONDS:g} without a network"


def _in_words(sizes: Sequence[tuple[int, int]]) -> str:
    return " and ".join(", ".join(str(width) for width, _ in sizes).rsplit(", ", 1))


@dataclass(frozen=True)
class BoardOptions:
    """The boards.

    Attributes:
        sizes: N or WIDTHxHEIGHT, 2 to 25 (repeatable).
    """

    sizes: tuple[tuple[int, int], ...] = setting(
        (),
        accepts=BOARD_SIZE,
        flags=["--board-size"],
        multiple=True,
        shown=f"{_in_words(SIZES)}; {_in_words(NETWORK_SIZES)} for a network file",
        heading="Game",
    )


@command(
    common=("network", "board-size", "threads", "seconds"),
    groups={"boards": BoardOptions, "search": search_options(seconds=_USUAL_SECONDS)},
)
def benchmark(boards: BoardOptions, search: EngineSettings) -> None:
    """Measure visits per second, and find the best number of threads and batch size for a network.

    Every search starts with an empty tree and runs for 2 s (3 s without a network), or as long as --seconds or
    --visits allow. An opening position is searched with each number of threads up to --threads and each batch size. The
    table also shows the positions per second of the network alone on the same threads, measured before and after the
    search. The last line recommends what to set.

    With --network none, and on boards that the default network does not play on, the empty board and a board that is a
    third full are searched.

    \b
    Examples:
      gtp_engine benchmark                    the default network on 9, 13 and 19
      gtp_engine benchmark --network kata1-b18c384 --board-size 9 --board-size 19
      gtp_engine benchmark --network none --board-size 9 --threads 1 --visits 20000
      gtp_engine benchmark --network uniform  the tree alone
    """
    settings = replace(search, seed=search.seed or 0)
    is_named = names_file(settings.network)
    sizes_of: dict[str, list[tuple[int, int]]] = {}
    for size in boards.sizes or (NETWORK_SIZES if is_named else SIZES):
        sizes_of.setdefault(settings.network_on(*size), []).append(size)
    for network, its_sizes in sizes_of.items():
        is_network = names_file(network)
        here = replace(settings, network=network)
        if search.visits is None and search.seconds is None:
            here = replace(here, seconds=NETWORK_SECONDS if is_network else SECONDS)
        (_measure_network if is_network else _measure_search)(its_sizes, here)


def _measure_search(sizes: Sequence[tuple[int, int]], settings: EngineSettings) -> None:
    """Prints the speed of the search with rollouts or the uniform evaluator, a line per position."""
    from ...engine.engine import Engine
    from .speed import random_position

    limits = Limits(settings.visits, settings.seconds)
    with Engine(settings) as engine:
        wait_for(engine.ready)  # an error at the start is reported before the table's heading
        click.echo(f"{cpu()}, {plural(settings.threads, 'thread')}, network {settings.network}")
        click.echo(f"{'board':>7} {'stones':>7} {'visits/s':>10}")
        for width, height in sizes:
            for moves in (0, width * height // 3):
                engine.load(random_position(width, height, moves))
                engine.clear_cache()
                report = engine.analyze(engine.request(limits=limits)).result()
                click.echo(f"{f'{width}x{height}':>7} {moves:>7} {report.new_visits / report.seconds:>10,.0f}")


def _measure_network(sizes: Sequence[tuple[int, int]], settings: EngineSettings) -> None:
    """Prints a table of threads and batch sizes for each board size."""
    from .speed import measure, natural_position, recommended

    with closing(settings.new_worker()) as worker:
        worker.warm_up()
        evaluator = worker.network()
        profile = settings.search_parameters(settings.network).profile
        worker.check_profile(profile)
        machine = cpu() if evaluator.device == "cpu" else gpu()
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
