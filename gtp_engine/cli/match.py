"""`gtp_engine match`: two GTP engines, or two networks, play each other; score, Elo and its interval are shown as the
games come in."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gtp_engine.cli.options import DEVICES, PRECISIONS, GameOptions, Seconds, game_options, search_parameters
from gtp_engine.cli.outputs import check_place, new_folder
from gtp_engine.wording import counted

if TYPE_CHECKING:
    from rich.console import Group

    from gtp_engine.match.networks import Progress
    from gtp_engine.match.results import GameResult, MatchResult

NETWORK_VISITS = 100
NETWORK_CONCURRENCY = 64
FOR_ENGINES = ("clock", "timeout")
FOR_NETWORKS = ("set_a", "set_b", "visits", "threads", "device", "precision")
TABLE_WIDTH = 72  # columns; in fewer the engines' names take one letter a line


@click.command()
@click.argument("engines", nargs=-1, metavar="[ENGINE_A ENGINE_B]")
@click.option(
    "--network",
    "networks",
    multiple=True,
    metavar="NAME",
    help="Given twice, for A and B: networks by file or name instead of engines; none: rollouts.",
)
@click.option("--set-a", multiple=True, metavar="NAME=VALUE", help="Set a search parameter of A, with networks.")
@click.option("--set-b", multiple=True, metavar="NAME=VALUE", help="The same for B.")
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="Games to play.")
@game_options
@click.option(
    "--time",
    "clock",
    type=click.IntRange(0),
    nargs=3,
    default=(0, 0, 0),
    metavar="MAIN BYO STONES",
    help="Time as in GTP's time_settings, refereed; 0 2 1 is 2 s a move.  [default: no clock]",
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=300.0,
    show_default=True,
    help="Seconds without an answer after which an engine without a clock has lost.",
)
@click.option(
    "--openings",
    type=click.Path(exists=True, path_type=Path),
    help="SGF file or folder: begin with the first moves of these games.  [default: random moves]",
)
@click.option("--opening-moves", type=click.IntRange(0), default=2, show_default=True, help="Moves of an opening.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Chooses the random openings.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    help=f"Games at a time.  [default: 1; {NETWORK_CONCURRENCY} with networks]",
)
@click.option(
    "--visits", type=click.IntRange(1), default=NETWORK_VISITS, show_default=True, help="A move, with networks."
)
@click.option("--threads", type=click.IntRange(1, 256), help="Processor threads, with networks.  [default: all]")
@click.option("--device", type=click.Choice(DEVICES), default="auto", show_default=True, help="Of networks.")
@click.option("--precision", type=click.Choice(PRECISIONS), default="auto", show_default=True, help="Of networks.")
@click.option(
    "--sprt",
    type=float,
    nargs=2,
    metavar="ELO0 ELO1",
    help="Stop when the games decide whether A is ELO1 or only ELO0 stronger (5 % errors).",
)
@click.option(
    "--sgf-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where games and results lie; the same match goes on there.  [default: a new folder]",
)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the result here.")
@click.pass_context
def match(
    context: click.Context,
    engines: tuple[str, ...],
    networks: tuple[str, ...],
    games: int,
    game: GameOptions,
    openings: Path | None,
    opening_moves: int,
    seed: int,
    concurrency: int | None,
    sprt: tuple[float, float] | None,
    sgf_dir: Path | None,
    json_file: Path | None,
    **others: Any,
) -> None:
    """Let two GTP engines, given by their command lines, play each other, or two networks.

    Each opening is played twice, with either engine as black. An engine that crashes, falls silent, plays an illegal
    move or oversteps its time loses that game. Networks play many games side by side in this process, which takes
    minutes where engines take hours. Ctrl-C ends the match and keeps what is done; with the same --sgf-dir it goes on.

    After two passes a stone is dead where its own side's engine says so. One that only the opponent takes for dead
    lives unless it is captured: under area rules both play on for that once, where both know kgs-genmove_cleanup.
    Under rules like Tromp and Taylor's all stones stand. Between networks the ownership that both find decides: where
    one of them has hardly learned yet, take --rules tromp-taylor.

    \b
    Examples:
      gtp_engine match "gtp_engine gtp --seconds 1" "gnugo --mode gtp --chinese-rules --level 10" \\
          --board-size 9 --games 20
      gtp_engine match "gtp_engine gtp --visits 400" "gtp_engine gtp --visits 400 --set c_puct=1.5" \\
          --board-size 9 --games 1000 --sprt 0 30 --concurrency 4 --sgf-dir cpuct
      gtp_engine match A.sh B.sh --time 300 10 5 --json result.json
      gtp_engine match --network new.bin.gz --network old.bin.gz --board-size 9 --games 200 --visits 100
      gtp_engine match --network new.bin.gz --network new.bin.gz --set-b value_bias=0 --sprt 0 20 --games 1000
    """
    from gtp_engine.match.results import write_json
    from gtp_engine.match.sprt import Sprt
    from gtp_engine.paths import games_dir

    _check_players(context, engines, networks)
    test = Sprt(*sprt) if sprt else None
    if json_file:
        check_place(json_file)
    folder = sgf_dir or new_folder(games_dir(), "match")
    display = _Display(folder)
    try:
        with display:
            options: dict[str, Any] = {
                "games": games,
                "width": game.width,
                "height": game.height,
                "komi": game.komi,
                "rules": game.rules,
                "openings": openings,
                "opening_moves": opening_moves,
                "seed": seed,
                "sprt": test,
                "folder": folder,
                "on_game": display.show,
            }
            play = _play_networks if networks else _play_engines
            result = play(networks or engines, concurrency, display, options, others)
        display.finish(result)
    except (ValueError, OSError):
        if not sgf_dir and not display.result:
            _remove_unused(folder)
        raise
    except KeyboardInterrupt:
        if display.result and not display.live:
            click.echo(summary(display.result))
        click.echo(f"stopped; go on with --sgf-dir {folder}")
        raise
    finally:
        if display.result and json_file:
            write_json(json_file, display.result)


def _check_players(context: click.Context, engines: tuple[str, ...], networks: tuple[str, ...]) -> None:
    """Two of one kind, and no options of the other; UsageError otherwise."""
    if engines and networks:
        raise click.UsageError("give two engines or --network twice, not both")
    if len(networks or engines) != 2:
        given = f"{len(networks)} of --network" if networks else counted(len(engines), "engine")
        raise click.UsageError(f"a match needs two engines, or --network twice; given: {given}")
    wrong = FOR_ENGINES if networks else FOR_NETWORKS
    for param in context.command.params:
        if param.name in wrong and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
            kind = "GTP engines" if networks else "networks"
            raise click.UsageError(f"{param.opts[0]} is for matches of {kind}")


def _play_engines(
    engines: tuple[str, ...], concurrency: int | None, display: "_Display", options: Any, others: Any
) -> "MatchResult":
    from gtp_engine.match.match import play_match

    time, patience = others["clock"], others["timeout"]
    engine_a, engine_b = engines
    return play_match(engine_a, engine_b, time=time, patience=patience, concurrency=concurrency or 1, **options)


def _play_networks(
    networks: tuple[str, ...], concurrency: int | None, display: "_Display", options: Any, others: Any
) -> "MatchResult":
    from gtp_engine.engine import processor_threads
    from gtp_engine.match.networks import play_networks
    from gtp_engine.search.thinker import compile_ahead

    threads = others["threads"] or processor_threads()
    compile_ahead()
    machine = {"threads": threads, "device": others["device"], "precision": others["precision"]}
    network_a, network_b = networks
    return play_networks(
        network_a,
        network_b,
        parameters_a=search_parameters(network_a, others["set_a"]),
        parameters_b=search_parameters(network_b, others["set_b"]),
        visits=others["visits"],
        concurrency=concurrency or NETWORK_CONCURRENCY,
        on_progress=display.progress,
        **machine,
        **options,
    )


def _remove_unused(folder: Path) -> None:
    """Removes the new folder of a match that did not come to its first game."""
    from gtp_engine.match.results import SETTINGS_FILE

    if {file.name for file in folder.iterdir()} <= {SETTINGS_FILE}:
        (folder / SETTINGS_FILE).unlink(missing_ok=True)
        folder.rmdir()


class _Display:
    """The state of the match: on a terminal a table that is redrawn, elsewhere a line a game."""

    def __init__(self, folder: Path) -> None:
        from rich.console import Console
        from rich.live import Live

        self.folder = folder
        self.result: MatchResult | None = None
        self.going_on = ""
        self.console = Console(highlight=False)
        self.live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None

    def __enter__(self) -> "_Display":
        if self.live:
            self.live.start()
            self.live.update("starting ...", refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self.live:
            self.live.stop()

    def show(self, result: "MatchResult", game: "GameResult | None" = None) -> None:
        """Takes the games so far; on a terminal only what went wrong in the last one is told in words."""
        self.result = result
        if game and (game.notes or not self.live):
            self.console.print(game_line(game), markup=False, soft_wrap=True)
        self._draw()

    def progress(self, progress: "Progress") -> None:
        """Takes what is going on beside the games that are over."""
        rate = progress.positions / max(progress.seconds, 1e-9)
        self.going_on = (
            f"{counted(progress.games, 'game')} under way, {progress.moves / max(1, progress.games):.0f} moves each; "
            f"{rate:,.0f} positions/s"
        )
        self._draw()

    def _draw(self) -> None:
        from rich.console import Group

        if self.live:
            status = _status(self.result, self.console.width) if self.result else ""
            self.live.update(Group(status, self.going_on) if self.going_on else status, refresh=True)

    def finish(self, result: "MatchResult") -> None:
        """Shows the end: the whole match, and where it lies."""
        self.going_on = ""
        self.show(result)
        if not self.live:
            click.echo(summary(result))
        click.echo(f"games and results: {self.folder}")


def _status(result: "MatchResult", width: int) -> "Group":
    """The table and the summary; where the terminal is too narrow for the table, the summary alone."""
    from rich.console import Group
    from rich.table import Table

    if width < TABLE_WIDTH:
        return Group(summary(result))
    table = Table()
    table.add_column("engine", overflow="fold")
    for title in ("wins", "as black", "as white", "draws", "faults", "seconds a game"):
        table.add_column(title, justify="right")
    alike = result.name("A") == result.name("B")
    for engine in result.commands:
        won = [game for game in result.games if game.winner == engine]
        black = [game for game in result.games if game.black == engine]
        seconds = sum(game.seconds[engine] for game in result.games) / max(1, len(result.games))
        as_black = sum(game.black == engine for game in won)
        table.add_row(
            f"{engine}: {result.name(engine)}" + (f"\n{result.commands[engine]}" if alike else ""),
            str(len(won)),
            f"{as_black} of {len(black)}",
            f"{len(won) - as_black} of {len(result.games) - len(black)}",
            str(result.tally.draws),
            str(result.faults(engine)),
            f"{seconds:.1f}",
        )
    return Group(table, summary(result))


def game_line(game: "GameResult") -> str:
    """One game in one line, with what went wrong."""
    black, white = (f"{game.names[engine]} ({engine})" for engine in (game.black, "B" if game.black == "A" else "A"))
    notes = "".join(f"; {note}" for note in game.notes)
    return f"game {game.number + 1}: {black} - {white}: {game.result}, {game.reason}{notes}"


def summary(result: "MatchResult") -> str:
    """Score, Elo and the sequential test in a line or two, from the view of engine A."""
    from gtp_engine.match.elo import elo_difference, elo_interval, wilson_interval

    tally = result.tally
    low, high = (100 * end for end in wilson_interval(tally.score, tally.games))
    elo_low, elo_high = elo_interval(tally)
    text = (
        f"{tally.games} of {counted(result.planned, 'game')}: "
        f"A won {tally.wins}, lost {tally.losses}, drew {tally.draws}; "
        f"score {100 * tally.score:.1f} % ({low:.1f} to {high:.1f}), "
        f"Elo {elo_difference(tally.score):+.0f} ({elo_low:+.0f} to {elo_high:+.0f})"
    )
    if result.sprt:
        lower, upper = result.sprt.bounds
        accepted = {"H0": f"Elo {result.sprt.elo0:g} accepted", "H1": f"Elo {result.sprt.elo1:g} accepted"}
        verdict = accepted.get(result.verdict or "", "undecided")
        text += f"\nsequential test: {verdict}, {result.sprt.ratio(tally):+.2f} between {lower:+.2f} and {upper:+.2f}"
    return text
