"""`gtp_engine selfplay`: games of a network, or of rollouts, against itself."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ...base.errors import UserError, error_text
from ...base.fields import Range, Text
from ...base.folders import games_dir
from ...base.interrupts import end_on_signals
from ...base.settings import like, setting
from ...engine.settings import COUNT, EngineSettings
from ...go.rules import RULESETS
from ...search.evaluate.choices import network_on
from ...search.evaluate.devices import check_device
from ...training.progress import resource_errors
from ...training.run_settings import GameSettings, MachineSettings, RunSettings, SearchSettings
from .command import command
from .common_options import BOARD_SIZE, ClusterOptions, GameOptions, network_file, parameters
from .options import ANY_PATH, EXISTING_FILE, FOLDER
from .outputs import check_folder, new_folder

RULES_NAME = Text(None, "rules", lambda: RULESETS)
_GAMES, _SEARCH, _MACHINE = GameSettings(), SearchSettings(), MachineSettings()  # a whole `RunSettings` imports numpy


@dataclass(frozen=True)
class SelfPlayOptions:
    """The games, the search, the machine and what is written; None or empty if an option is not given.

    Attributes:
        games: Number of games.
        sizes: N or WIDTHxHEIGHT (repeatable).
        komi: The same komi in all games.
        rules: Ruleset; repeat the option to draw one at random for each game.
        visits: Visits of a full search.
        seed: Random seed; with one worker the games are reproducible.
        parameters: Set a search parameter (repeatable).
        settings: A settings file as for `train`.
        workers: Processes that play.
        concurrency: Games at a time in a process.
        sgf_dir: Folder for the games; those that it has are kept.
        shards: Folder for the samples.
        comments: Save each move's win rate, score and main line as a comment.
    """

    games: int = setting(100, 1, heading="Games")
    sizes: tuple[tuple[int, int], ...] = setting(
        (), accepts=BOARD_SIZE, flags=["--board-size"], multiple=True, shown=", ".join(_GAMES.sizes)
    )
    komi: float | None = like(GameOptions, "komi", shown="varied around 7")
    rules: tuple[str, ...] = setting(
        (), accepts=RULES_NAME, multiple=True, metavar="RULES", shown=" and ".join(_GAMES.rules)
    )
    network: str = like(EngineSettings, "network", heading="Search")
    visits: int | None = setting(None, accepts=COUNT, shown=str(_SEARCH.visits["0"]))
    seed: int | None = setting(None, accepts=Range(0, whole=True))
    parameters: Any = parameters(flags=["--set"])
    settings: Path | None = setting(None, accepts=EXISTING_FILE)
    workers: int | None = setting(None, accepts=COUNT, shown="one per CPU", heading="Machine")
    concurrency: int | None = setting(None, accepts=COUNT, shown=str(_MACHINE.concurrency))
    device: str | None = like(EngineSettings, "device", default=None)
    precision: str | None = like(EngineSettings, "precision", default=None)
    cluster: str | None = like(ClusterOptions, "cluster")
    sgf_dir: Path | None = setting(None, accepts=FOLDER, shown="a new folder", heading="Output")
    shards: Path | None = setting(None, accepts=ANY_PATH, metavar="FOLDER", shown="that of the games")
    comments: bool = setting(False)


@command(common=("games", "network", "board-size", "visits"), groups={"options": SelfPlayOptions})
def selfplay(options: SelfPlayOptions) -> None:
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
    from ...base.cluster import cluster_at
    from ...engine.compile_ahead import compile_ahead
    from ...training.selfplay_games import SelfPlayGames
    from .run_display import RunDisplay

    settings = _settings(options)
    network = _network(options.network, settings)
    for place in (options.sgf_dir or games_dir(), options.shards):
        if place:
            check_folder(place)  # before games are played in vain
    check_device(settings.machine.device)
    compile_ahead()  # Ctrl-C ends it at once, and would leave the folder
    folder = options.sgf_dir or new_folder(games_dir(), "selfplay")
    run = SelfPlayGames(settings, network, options.games, folder, options.shards or folder)
    try:
        end_on_signals(run.limit)
        with cluster_at(options.cluster) as pool, RunDisplay() as display:
            run.play(options.seed, display, pool)
        if run.limit.stopped:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        click.echo("stopped")
        raise
    except resource_errors() as error:
        kept = "; the saved games are kept" if run.saved.games else ""
        raise click.ClickException(f"{error_text(error)}{kept}") from error
    finally:
        if not (run.saved.games or options.sgf_dir):
            with suppress(OSError):  # not empty: the lock file of a shard that could not be written, or games after all
                folder.rmdir()
        click.echo(run.summary())


def _settings(options: SelfPlayOptions) -> RunSettings:
    """Returns the file's settings, or the defaults, with the options applied; BadParameter for a wrong --set."""
    from ...training.new_run import given_settings

    settings = given_settings(None, options.settings) or RunSettings()
    games, search, machine = settings.games, settings.search, settings.machine
    if options.sizes:
        games = replace(games, sizes={f"{width}x{height}": 1.0 for width, height in options.sizes})
    if options.rules:
        games = replace(games, rules=list(options.rules))
    if options.komi is not None:
        games = games.with_komi(options.komi)
    if options.visits:
        search = replace(search, visits={"0": options.visits})
    try:
        search = replace(search, parameters=search.parameters | options.parameters)
    except UserError as error:
        raise click.BadParameter(f"{error} of a file for --settings", param_hint="'--set'") from error
    typed = {name: getattr(options, name) for name in ("workers", "concurrency", "device", "precision")}
    machine = replace(machine, **{name: value for name, value in typed.items() if value})
    cycle = replace(settings.cycle, comments=settings.cycle.comments or options.comments)
    return replace(settings, games=games, search=search, machine=machine, cycle=cycle)


def _network(name: str, settings: RunSettings) -> str:
    """Returns the evaluator for all boards of the settings; UsageError if they have different networks."""
    networks = {network_on(network_file(name), *board) for board in settings.games.boards}
    if len(networks) > 1:
        raise click.UsageError("these boards have different networks: choose one with --network, or use one size")
    return networks.pop()
