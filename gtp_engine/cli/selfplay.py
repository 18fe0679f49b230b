"""`gtp_engine selfplay`: games of a network, or of rollouts, against itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import UserError
from ..base.interrupts import end_on_signals
from ..evaluate.choices import network_on
from .command import command
from .engine_settings import network_file
from .outputs import new_folder
from .selfplay_options import SelfPlayOptions, selfplay_options

if TYPE_CHECKING:
    from ..training.settings import RunSettings

_TERMINAL_SECONDS, _LINE_SECONDS = 1.0, 30.0  # between two reports of progress


@command(common=("games", "network", "board-size", "visits"))
@selfplay_options
def selfplay(**options: Any) -> None:
    """Play the engine against itself and save the games as SGF and as training samples.

    Many games are played at the same time. Openings, komi and rules vary, the searches use noise, and the moves that a
    search preferred are kept as a sample. There is no resignation; every game is played to the end and scored. Ctrl-C
    stops and keeps the finished games.

    \b
    Examples:
      gtp_engine selfplay                                         100 games on 9x9
      gtp_engine selfplay --network run/networks/0030.bin.gz --games 1000 --visits 64
      gtp_engine selfplay --network none --board-size 7 --comments
    """
    from ..base.errors import error_text
    from ..base.folders import games_dir
    from ..play.worker import compile_ahead
    from ..training.errors import RESOURCE_ERRORS
    from ..training.selfplay_games import SelfPlayGames

    chosen = SelfPlayOptions(**options)
    settings = _settings(chosen)
    network = _network(chosen.network, settings)
    compile_ahead()  # Ctrl-C ends it at once, and would leave the folder
    folder = new_folder(chosen.sgf_dir or games_dir(), "selfplay")
    run = SelfPlayGames(settings, network, chosen.games, folder, chosen.shards or folder)
    try:
        end_on_signals(run.limit)
        with _progress() as (show, interval):
            run.play(chosen.seed, show, interval)
        if run.limit.stopped:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        click.echo("stopped")
        raise
    except RESOURCE_ERRORS as error:
        raise click.ClickException(f"{error_text(error)}; the finished games are kept") from error
    finally:
        if not run.saved:
            with suppress(OSError):  # not empty: the lock file of a shard that could not be written, or games after all
                folder.rmdir()
        click.echo(run.summary())


def _settings(options: SelfPlayOptions) -> "RunSettings":
    """Returns the file's settings, or the defaults, with the options applied; BadParameter for a wrong --set."""
    from ..search.parameters import split_setting
    from ..training.new_run import given_settings
    from ..training.settings import RunSettings

    settings = given_settings(None, options.settings) or RunSettings()
    games, search, machine = settings.games, settings.search, settings.machine
    if options.sizes:
        games = replace(games, sizes={f"{width}x{height}": 1.0 for width, height in options.sizes})
    if options.rules:
        games = replace(games, rules=list(options.rules))
    if options.komi is not None:
        games = replace(games, komi=dict.fromkeys(games.sizes, options.komi), komi_spread=0.0, wide_komi_share=0.0)
    if options.visits:
        search = replace(search, visits={"0": options.visits})
    try:
        search = replace(search, parameters=search.parameters | dict(map(split_setting, options.parameters)))
    except UserError as error:
        raise click.BadParameter(f"{error} of a file for --settings", param_hint="'--set'") from error
    typed = {name: getattr(options, name) for name in ("workers", "concurrency", "device", "precision")}
    machine = replace(machine, **{name: value for name, value in typed.items() if value})
    cycle = replace(settings.cycle, comments=settings.cycle.comments or options.comments)
    return replace(settings, games=games, search=search, machine=machine, cycle=cycle)


def _network(name: str, settings: "RunSettings") -> str:
    """Returns the evaluator for all boards of the settings; UsageError if they have different networks."""
    networks = {network_on(network_file(name), *board) for board in settings.games.boards}
    if len(networks) > 1:
        raise click.UsageError("these boards have different networks: choose one with --network, or use one size")
    return networks.pop()


@contextmanager
def _progress() -> Iterator[tuple[Callable[[str], None], float]]:
    """Within a `with` block lines of progress can be shown; where the screen is redrawn, each replaces the one before.

    Yields:
        The function that shows a line, and the seconds between two lines.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from .live import can_redraw

    console = Console()
    if not can_redraw(console):
        yield click.echo, _LINE_SECONDS
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield (
            lambda text: live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True),
            _TERMINAL_SECONDS,
        )
