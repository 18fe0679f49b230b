"""`gtp_engine doctor`: what is installed where, whether it works, and what to enter in other programs."""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from .. import __version__, paths
from ..evaluate.choices import AUTO, LARGEST_BOARD, ROLLOUTS
from ..network.library import default_networks, list_networks, network_name
from ..search.parameters import WITHOUT_NETWORK
from ..wording import counted, reason
from .clients import client_lines, engine_command
from .compiling import wait_until_ready
from .machine import bfloat16_gain, gpu, processor
from .options import PROFILE_HELP, Profile, network_file

LIBRARIES = ("numpy", "numba", "torch", "click", "sgfmill", "rich", "matplotlib", "tomlkit")
START_LIMIT = 180.0  # seconds; the first start compiles the core
NETWORK_VISITS = 32  # seconds even with a large network


@click.command()
@click.option("--network", metavar="NAME", help="Check and enter this network.  [default: the shipped ones]")
@click.option("--profile", type=Profile(), default="", metavar="NAME", help=PROFILE_HELP)
def doctor(network: str | None, profile: str) -> None:
    """Check the installation and print the lines that GUIs and servers need.

    It says where a downloaded network belongs, which ones are found, and which the engine takes on which boards.

    \b
    Examples:
      gtp_engine doctor                           versions, folders, a self-test, lines to paste
      gtp_engine doctor --network kata1-b18c384   the same with a network, by the beginning of its name
      gtp_engine doctor > doctor.txt              for a bug report

    The exit status is 1 if a check fails.
    """
    command, options = engine_command(), network_options(network or AUTO, profile)
    _section("Program", _program())
    _section("Folders", _folders())
    _section("Networks", _networks())
    click.echo("Self-test")
    sound = [_check(name, check) for name, check in _checks(command, options, profile)]
    click.echo()
    click.echo("Other programs\n")
    click.echo(client_lines(command, options))
    if not all(sound):
        sys.exit(1)


def _section(title: str, rows: list[tuple[str, str]]) -> None:
    click.echo(title)
    for name, value in rows:
        click.echo(f"  {name:<12} {value}")
    click.echo()


def _program() -> list[tuple[str, str]]:
    from ..engine import processor_threads

    return [
        ("gtp_engine", f"{__version__} in {Path(__file__).resolve().parents[1]}"),
        ("Python", f"{platform.python_version()} at {sys.executable}"),
        ("libraries", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)),
        ("system", platform.platform()),
        ("processor", f"{processor()}, {counted(processor_threads(), 'thread')}"),
        ("bfloat16", bfloat16_gain()),
        ("GPU", gpu()),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _folders() -> list[tuple[str, str]]:
    folders = [("cache", paths.cache_dir()), ("data", paths.data_dir()), ("games", paths.games_dir())]
    return [(name, f"{path}{_writable(path)}") for name, path in folders]


def _networks() -> list[tuple[str, str]]:
    """The user's folder, where to find networks, and those that are found by name."""
    folder = paths.networks_dir()
    rows = [
        ("folder", f"{folder}{_writable(folder)}: put downloaded networks here, or name their files"),
        ("download", "KataGo's networks, .bin.gz: https://katagotraining.org/networks/"),
    ]
    defaults = default_networks()
    for path in list_networks():
        boards = "; the default on boards of {} to {}".format(*defaults[path]) if path in defaults else ""
        rows.append(("found", f"{path}, {path.stat().st_size / 1e6:.1f} MB{boards}"))
    return [*rows, ("otherwise" if defaults else "default", "random playouts")]


def network_options(network: str, profile: str = "") -> list[str]:
    """The options of `gtp` that choose it, with the file's absolute path; ValueError where there is none."""
    file = network_file(network)
    if file == AUTO:
        return []
    if file in WITHOUT_NETWORK:
        return ["--network", file]
    return ["--network", str(Path(file).absolute()), *(["--profile", profile] if profile else [])]


def _writable(path: Path) -> str:
    """A remark on a folder that can neither be written nor made."""
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    return "" if existing.is_dir() and os.access(existing, os.W_OK) else "  (not writable)"


def _checks(command: list[str], options: list[str], profile: str) -> list[tuple[str, Callable[[], str]]]:
    checks = [
        ("compiled", _check_compiled),
        ("search", _check_search),
        ("SGF", _check_sgf),
    ]
    if not options:
        checks += [
            ("network", partial(_check_network, str(path), "", most)) for path, (_, most) in default_networks().items()
        ]
    elif options[1] not in WITHOUT_NETWORK:
        checks.append(("network", partial(_check_network, options[1], profile, LARGEST_BOARD)))
    return [*checks, ("GTP", lambda: _check_gtp([*command, "gtp", *options]))]


def _check(name: str, check: Callable[[], str]) -> bool:
    """Runs a check and prints its line: what it found, or why it failed."""
    try:
        found, sound = f"ok, {check()}", True
    except Exception as error:  # whatever fails is what the doctor is asked about
        found, sound = f"FAILED: {type(error).__name__}: {reason(error)}", False
    click.echo(f"  {name:<12} {found}")
    return sound


def _check_compiled() -> str:
    from ..engine import Engine, EngineSettings

    start = time.perf_counter()
    with Engine(EngineSettings(ROLLOUTS, threads=1)) as engine:
        wait_until_ready(engine)
    return f"ready in {time.perf_counter() - start:.1f} s"


def _check_search() -> str:
    """Two rows of seven stones are in atari, one of each colour: who moves captures."""
    from ..engine import Engine, EngineSettings
    from ..game.coords import parse_vertex, vertex

    rows = {
        "black": ("A5 B5 C5 D5 E5 F5", "A3 B3 C3 D3 E3 F3 G3"),
        "white": ("A4 B4 C4 D4 E4 F4 G4", "A2 B2 C2 D2 E2 F2"),
    }
    stones = {colour: [parse_vertex(name, 7, 7) for name in " ".join(rows[colour]).split()] for colour in rows}
    with Engine(EngineSettings(ROLLOUTS, visits=400, seed=1, threads=1), width=7) as engine:
        engine.set_up(stones["black"], stones["white"])
        report = engine.evaluate()
    best = vertex(report.moves[0].point, 7, 7)
    if best != "G5":
        raise ValueError(f"chose {best} where G5 captures seven stones")
    return f"{report.visits / report.seconds:,.0f} visits/s on one thread"


def _check_network(network: str, profile: str, size: int) -> str:
    """A search on the empty board."""
    from ..engine import Engine, EngineSettings

    settings = EngineSettings(network, visits=NETWORK_VISITS, parameters={"profile": profile})
    with Engine(settings, width=size) as engine:
        wait_until_ready(engine)
        report = engine.evaluate()
    return f"{network_name(Path(network))}, {report.visits / report.seconds:,.0f} visits/s on {size}x{size}"


def _check_sgf() -> str:
    """Writes a record in the folder of games and reads it again."""
    from ..game.coords import BLACK, parse_vertex
    from ..game.game import Game
    from ..sgf import GameRecord, read_sgf, write_sgf

    game = Game(9)
    game.play(BLACK, parse_vertex("D4", 9, 9))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "doctor.sgf"
        write_sgf(GameRecord.from_game(game), file)
        if read_sgf(file).to_game().moves != game.moves:
            raise ValueError(f"a record came back changed: {file.read_text()}")
    return "written and read"


def _check_gtp(command: list[str]) -> str:
    """Starts the program as a GUI does, from another folder."""
    done = subprocess.run(
        [*command, "--visits", "20"],
        input="1 name\n2 boardsize 9\n3 genmove b\n4 quit\n",
        capture_output=True,
        text=True,
        timeout=START_LIMIT,
        cwd=tempfile.gettempdir(),
    )
    starts = ["=1 gtp_engine", "=2", "=3 ", "=4"]
    replies = done.stdout.split("\n\n")
    if done.returncode or not all(reply.startswith(start) for reply, start in zip(replies, starts, strict=False)):
        last_words = done.stderr.strip().rpartition("\n")[2] or done.stdout
        raise ValueError(f"{' '.join(command)}: exit status {done.returncode}, {last_words}")
    return f"played {replies[2][3:]}"
