"""`gtp_engine match`: two GTP engines, or two networks, play against each other."""

import shutil
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...arena.match_settings import EngineMatchSettings, MatchSettings
from ...base import interrupts
from ...base.errors import UserError
from ...base.fields import Range, Text
from ...base.files import LOCK
from ...base.folders import games_dir
from ...base.messages import plural
from ...base.settings import like, setting
from ...base.system import available_cpus
from ...engine.settings import COUNT, NETWORK, EngineSettings
from ...search.parameters import default_parameters
from .command import command
from .common_options import SECONDS, THREADS, ClusterOptions, GameOptions, parameters
from .defaults import refuse_given
from .options import EXISTING_PATH, FILE, FOLDER
from .outputs import check_folder, check_outputs, new_folder

if TYPE_CHECKING:
    from ...arena.results import MatchResult
    from .match_display import MatchDisplay


NETWORK_VISITS = 100
NETWORK_CONCURRENCY = 64
FOR_ENGINES = ("clock", "timeout", "handicap")  # options that only matches of GTP engines accept
FOR_NETWORKS = ("set_a", "set_b", "visits", "threads", "device", "precision", "cluster")
# Options that are settings of every match.
_COMMON = ("games", "width", "height", "komi", "rules", "openings", "opening_moves", "seed", "sprt")


def _refuse_rank(_: object) -> None:
    raise UserError('--rank belongs in an engine\'s command, such as "gtp_engine gtp --rank 5k"')


@dataclass(frozen=True)
class MatchOptions(GameOptions):
    """The players, the games and the machine; None if an option without a default is not given.

    Attributes:
        engines: The command lines of GTP engines.
        networks: Network of A, then of B (give the option twice): a name or a file; none: random rollouts.
        set_a: Set a search parameter of A, with networks (repeatable).
        set_b: Set a search parameter of B, with networks (repeatable).
        rank: Refused, with an error that says where it belongs.
        openings: SGF file or folder of games whose first moves are the openings.
        opening_moves: Moves per opening; once the board has no others left, later ones are longer.
        seed: Random seed of the openings, and of the searches of --network.
        sprt: Stop as soon as the games decide whether A is ELO1 or only ELO0 stronger (5% errors).
        clock: Engines: time limits as in GTP's time_settings, enforced; 0 2 1 is 2 s per move. What an engine has to
            load or compile before its first move counts.
        handicap: Engines: stones that the first engine, which then always has Black, takes; 0 or 2 to 9. The komi
            becomes 0.5, and there are no openings.
        timeout: Engines: without a clock, one that does not answer for this many seconds loses.
        visits: Networks: visits per move.
        concurrency: Games played at the same time.
        sgf_dir: Folder for games and results; that of an unfinished match resumes it.
        json_file: Write the result as JSON; a match that resumes replaces its own.
        force: Overwrite existing files.
    """

    engines: tuple[str, ...] = setting((), accepts=Text(), argument=True, nargs=-1, metavar="[ENGINE_A ENGINE_B]")
    networks: tuple[str, ...] = setting((), accepts=NETWORK, flags=["--network"], multiple=True, heading="Players")
    set_a: Any = parameters()
    set_b: Any = parameters()
    rank: None = setting(None, accepts=Text(_refuse_rank), hidden=True)
    games: int = like(MatchSettings, "games", heading="Match")
    handicap: int = like(EngineMatchSettings, "handicap")
    openings: Path | None = setting(None, accepts=EXISTING_PATH, shown="random moves")
    opening_moves: int = like(MatchSettings, "opening_moves")
    seed: int = like(MatchSettings, "seed")
    sprt: tuple[float, float] | None = setting(None, accepts=Range(), nargs=2, metavar="ELO0 ELO1")
    clock: tuple[int, int, int] = setting(
        (0, 0, 0),
        accepts=Range(0, whole=True),
        flags=["--time"],
        nargs=3,
        shown="no clock",
        metavar="MAIN BYO STONES",
        heading="Limits",
    )
    timeout: float = setting(300.0, accepts=SECONDS, what="time", metavar="SECONDS")
    visits: int = setting(NETWORK_VISITS, 1)
    concurrency: int | None = setting(
        None, accepts=COUNT, shown=f"1; {NETWORK_CONCURRENCY} with networks", heading="Machine"
    )
    threads: int | None = like(EngineSettings, "threads", default=None, accepts=THREADS)
    device: str = like(EngineSettings, "device")
    precision: str = like(EngineSettings, "precision")
    cluster: str | None = like(ClusterOptions, "cluster")
    sgf_dir: Path | None = setting(None, accepts=FOLDER, shown="a new folder", heading="Output")
    json_file: Path | None = setting(None, accepts=FILE, flags=["--json"])
    force: bool = setting(False)


@command(common=("network", "games", "board-size", "sgf-dir"), groups={"options": MatchOptions})
def match(options: MatchOptions) -> None:
    """Play two GTP engines, given by their command lines, or two networks against each other.

    Each opening is played twice, with either side as black. An engine that crashes, stops answering, plays an illegal
    move or exceeds its time loses the game. Networks play many games at the same time in one process, or on a cluster,
    which takes minutes instead of hours. Ctrl-C stops the match and keeps the finished games; the same command with the
    same --sgf-dir resumes it.

    After two passes, a stone is dead if its own side's engine considers it dead. A stone that only the opponent
    considers dead counts as alive unless it is captured: under area rules both sides play on once to settle that, if
    both know kgs-genmove_cleanup. If an engine cannot name dead stones, its opponent decides about them.
    A game of three moves a point is broken off and counts as a draw, unless all stones stand, as under Tromp-Taylor
    rules: then it is counted.

    Between networks the ownership that both predict decides: if one of them has hardly been trained, use --rules
    tromp-taylor. A game ends early once one side's win rate has been 97% or more in six consecutive positions.

    \b
    Examples:
      gtp_engine match "gtp_engine gtp --seconds 1" "gnugo --mode gtp --chinese-rules --level 10" \\
          --board-size 9 --games 20
      gtp_engine match "gtp_engine gtp --rank 9k" "gtp_engine gtp --rank 5k" --board-size 13
      gtp_engine match "gtp_engine gtp --visits 400" "gtp_engine gtp --visits 400 --set c_puct=1.5" \\
          --board-size 9 --games 1000 --sprt 0 30 --concurrency 4 --sgf-dir cpuct
      gtp_engine match "gtp_engine gtp --rank 13k" "gtp_engine gtp --rank 9k" --handicap 4
      gtp_engine match A.sh B.sh --time 300 10 5 --json result.json
      gtp_engine match --network new.bin.gz --network old.bin.gz --board-size 9 --games 200 --visits 100
      gtp_engine match --network new.bin.gz --network new.bin.gz --set-b value_bias=0 --sprt 0 20 --games 1000
    """
    _check_players(options)
    if options.json_file:
        _check_output(options.json_file, options)
    _run(options)


def _check_players(options: MatchOptions) -> None:
    """Raises UsageError unless there are two players of one kind and no options of the other kind."""
    engines, networks = options.engines, options.networks
    if engines and networks:
        raise click.UsageError("give two engines or --network twice, not both")
    if len(networks or engines) != 2:
        given = f"{len(networks)} of --network" if networks else plural(len(engines), "engine")
        raise click.UsageError(f"a match needs two engines, or --network twice; given: {given}")
    kind, wrong = ("GTP engines", FOR_ENGINES) if networks else ("networks", FOR_NETWORKS)
    refuse_given(wrong, f"{{}} is only for matches between {kind}")
    if options.cluster and options.threads:
        raise click.UsageError("each CPU of a cluster plays with one thread: omit --threads")


def _check_output(file: Path, options: MatchOptions) -> None:
    """Checks the file for the result as `check_outputs` does; a match that resumes may replace its own."""
    from ...arena.results import RESULTS_FILE, SETTINGS_FILE, is_result_of

    if options.sgf_dir is not None and file.resolve() in [
        (options.sgf_dir / name).resolve() for name in (SETTINGS_FILE, RESULTS_FILE)
    ]:
        raise UserError(f"{file} is a file of the match itself; choose another name for --json")
    replaces = options.force or (options.sgf_dir is not None and is_result_of(file, options.sgf_dir))
    check_outputs([file], [options.openings] if options.openings else [], force=replaces)


def _run(options: MatchOptions) -> None:
    """Plays the match and shows it; its folder is removed again if it does not come to its first game."""
    from ...arena.results import write_json
    from ...engine.compile_ahead import compile_ahead
    from .match_display import MatchDisplay

    check_folder(options.sgf_dir or games_dir())
    if options.networks:
        compile_ahead()  # before Ctrl-C is only noted, because nothing interrupts the compiler
    signal.signal(signal.SIGTERM, interrupts.note())
    folder = options.sgf_dir or new_folder(games_dir(), "match")
    display = MatchDisplay(folder)
    try:
        with display:
            display.on_game(_play(replace(options, sgf_dir=folder), display))
        display.show_end()
    except (UserError, OSError):
        if display.result:
            display.show_summary()
            click.echo(f"resume with --sgf-dir {folder}")
        elif not options.sgf_dir:
            _remove_unused(folder)
        raise
    except KeyboardInterrupt:
        display.show_summary()
        click.echo(f"stopped; resume with --sgf-dir {folder}")
        raise
    finally:
        if display.result and options.json_file:
            write_json(options.json_file, display.result)


def _play(options: MatchOptions, display: "MatchDisplay") -> "MatchResult":
    """Plays the match of engines, or of networks."""
    common: dict[str, Any] = {name: getattr(options, name) for name in _COMMON}
    common |= {"folder": options.sgf_dir, "on_game": display.on_game}
    if options.engines:
        from ...arena.match import play_match

        common |= {"time": options.clock, "patience": options.timeout, "handicap": options.handicap}
        return play_match(*options.engines, concurrency=options.concurrency or 1, **common)
    from ...arena.network_match import NetworkPlayer, play_networks
    from ...base.cluster import cluster_at

    common |= {name: getattr(options, name) for name in ("visits", "device", "precision")}
    common |= {
        "concurrency": options.concurrency or NETWORK_CONCURRENCY,
        "threads": options.threads or available_cpus(),
    }
    players = [
        NetworkPlayer(network, default_parameters(network).with_values(values) if values else None)
        for network, values in zip(options.networks, (options.set_a, options.set_b), strict=True)
    ]
    with cluster_at(options.cluster) as pool:
        if pool:
            pool.prepare(with_gpus=options.device != "cpu")
        return play_networks(*players, on_progress=display.on_progress, pool=pool, **common)


def _remove_unused(folder: Path) -> None:
    """Removes the new folder of a match that did not come to its first game."""
    from ...arena.results import SETTINGS_FILE

    if {file.name for file in folder.iterdir()} <= {SETTINGS_FILE, LOCK}:
        shutil.rmtree(folder)
