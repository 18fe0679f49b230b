"""`gtp_engine selfplay`: games of a network, or of playouts, against itself."""

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..evaluate.choices import AUTO, network_on
from ..wording import counted
from .options import DEVICES, PRECISIONS, BoardSize, Komi, network_file
from .outputs import new_folder

if TYPE_CHECKING:
    from ..training.selfplay import FinishedGame
    from ..training.settings import RunSettings

_LINE_SECONDS = 30.0


@click.command()
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="How many to play.")
@click.option(
    "--network",
    default=AUTO,
    show_default=True,
    metavar="NAME",
    help="A file or name; auto: the shipped one for the board, if there is one; none: playouts.",
)
@click.option("--board-size", "sizes", multiple=True, type=BoardSize(), help="May be given again.  [default: 9]")
@click.option("--komi", type=Komi(), help="The same in all games.  [default: varied round 7]")
@click.option("--rules", multiple=True, help="May be given again; one is drawn for each game.")
@click.option("--visits", type=click.IntRange(1), help="Of a full search.  [default: 32]")
@click.option(
    "--settings", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A TOML file as of runs."
)
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a search parameter (repeatable).")
@click.option("--workers", type=click.IntRange(1), help="Processes that play.  [default: one a processor]")
@click.option("--concurrency", type=click.IntRange(1), help="Games side by side in each of them.  [default: 32]")
@click.option("--device", type=click.Choice(DEVICES), help="Of a network.")
@click.option("--precision", type=click.Choice(PRECISIONS), help="Of a network.")
@click.option("--seed", type=click.IntRange(0), help="With it and one worker the games are the same again.")
@click.option(
    "--sgf-dir",
    type=click.Path(path_type=Path),
    help="Each run makes a folder of its own in it.  [default: see doctor]",
)
@click.option(
    "--shards", type=click.Path(path_type=Path), help="A folder for the samples.  [default: beside the games]"
)
@click.option("--comments", is_flag=True, help="Each move's win rate, score and main line as its comment.")
def selfplay(games: int, sgf_dir: Path | None, shards: Path | None, **options: Any) -> None:
    """Let a network play itself: the games as SGF, and as samples to learn from.

    Many games are played side by side. Openings, komi and rules vary, moves are searched with noise, and what a search
    preferred is kept as a sample. Nobody resigns: every game is played out and counted. Ctrl-C keeps the games that are
    finished.

    \b
    Examples:
      gtp_engine selfplay                                         100 games on 9x9
      gtp_engine selfplay --network run/networks/0030.bin.gz --games 1000 --visits 64
      gtp_engine selfplay --network none --board-size 7 --comments
    """
    from ..paths import games_dir
    from ..search.thinker import compile_ahead
    from ..wording import reason

    settings = _settings(options)
    network = _network(options["network"], settings)
    folder = new_folder(sgf_dir or games_dir(), "selfplay")
    run = _Run(settings, network, games, folder, shards or folder)
    try:
        compile_ahead()
        run.play(options["seed"])
    except KeyboardInterrupt:
        click.echo("stopped")
        raise
    except (RuntimeError, MemoryError) as error:
        raise click.ClickException(f"{reason(error)}; the finished games are kept") from error
    finally:
        if not run.finished:
            folder.rmdir()
        click.echo(run.summary())


def _settings(options: dict[str, Any]) -> "RunSettings":
    from ..training.settings import RunSettings, read_settings

    settings = read_settings(options["settings"]) if options["settings"] else RunSettings()
    games, search, machine, cycle = settings.games, settings.search, settings.machine, settings.cycle
    if options["sizes"]:
        games = replace(games, sizes={f"{width}x{height}": 1.0 for width, height in options["sizes"]})
    if options["rules"]:
        games = replace(games, rules=list(options["rules"]))
    if options["komi"] is not None:
        komi = dict.fromkeys(games.sizes, options["komi"])
        games = replace(games, komi=komi, komi_spread=0.0, wide_komi_share=0.0)
    if options["visits"]:
        search = replace(search, visits={"0": options["visits"]})
    if options["parameters"]:
        named = [text.partition("=") for text in options["parameters"]]
        search = replace(
            search, parameters=search.parameters | {name.strip(): value.strip() for name, _, value in named}
        )
    given = {name: options[name] for name in ("workers", "concurrency", "device", "precision") if options[name]}
    cycle = replace(cycle, comments=cycle.comments or options["comments"])
    return replace(settings, games=games, search=search, machine=replace(machine, **given), cycle=cycle)


def _network(name: str, settings: "RunSettings") -> str:
    """What to play with; ValueError says where a name was looked up, UsageError that no network is for all boards."""
    networks = {network_on(network_file(name), *board) for board in settings.games.boards}
    if len(networks) > 1:
        raise click.UsageError("these boards have different networks: name one with --network, or play them apart")
    return networks.pop()


class _Run:
    """Games as they come, and what is said of them."""

    def __init__(self, settings: "RunSettings", network: str, games: int, folder: Path, shards: Path) -> None:
        from ..training.storage import GameWriter

        self.settings, self.network, self.games, self.folder = settings, network, games, folder
        self.finished: list[FinishedGame] = []
        self._writer = GameWriter(shards, folder, settings.cycle.shard_games)
        self._stopped = False

    def play(self, seed: int | None) -> None:
        from rich.console import Console

        from ..engine import processor_threads
        from ..training.loop import speed_text
        from ..training.selfplay import Counts
        from ..training.workers import Workers

        console = Console(highlight=False)
        signal.signal(signal.SIGINT, self._stop)
        settings, began, told = self.settings, time.monotonic(), 0.0
        at_once = -(-self.games // (settings.machine.workers or processor_threads()))
        machine = replace(settings.machine, concurrency=min(settings.machine.concurrency, at_once))
        with Workers(replace(settings, machine=machine), seed if seed is not None else time.time_ns()) as workers:
            workers.play(self.network, 0)
            try:
                while len(self.finished) < self.games and not self._stopped:
                    for game in workers.collect(0.2):
                        if len(self.finished) < self.games:
                            self.finished.append(game)
                            self._writer.add(game, 0)
                    self._writer.flush_late(0)
                    now = time.monotonic()
                    if now - told >= (1.0 if console.is_terminal else _LINE_SECONDS):
                        told = now
                        facts = speed_text(workers.counts - Counts(), now - began)
                        text = f"{len(self.finished)} of {self.games} games, {facts}{self._results()}"
                        if console.is_terminal:
                            console.print(text, end="\r", no_wrap=True, overflow="ellipsis")
                        else:
                            click.echo(text)
            finally:
                self._writer.flush(0)
        if self._stopped:
            raise KeyboardInterrupt

    def _stop(self, number: int, frame: object) -> None:
        self._stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _results(self) -> str:
        if not self.finished:
            return ""
        black = sum(game.sample.winner == 1 for game in self.finished) / len(self.finished)
        length = sum(len(game.sample.moves) for game in self.finished) / len(self.finished)
        return f"; black wins {black:.0%}, {length:.0f} moves a game"

    def summary(self) -> str:
        if not self.finished:
            return "no game was finished"
        checked = [game for game in self.finished if game.is_checked]
        upsets = f"; {sum(game.is_upset for game in checked)} of {len(checked)} decisions wrong" if checked else ""
        return f"{counted(len(self.finished), 'game')}{self._results()}{upsets}; in {self.folder}"
