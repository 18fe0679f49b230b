"""`gtp_engine doctor`: what is installed where, whether it works, and what to enter in other programs."""

import os
import platform
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

import click

from ...base import VERSION, folders
from ...base.errors import UserError, answer_text, error_text
from ...base.messages import plural, printable
from ...base.settings import like
from ...base.system import available_cpus, wait_for
from ...engine.settings import DEFAULT_SECONDS, EngineSettings
from ...go.coords import MIN_SIZE
from ...nets.library import JUDGE, RANK_PLAY, default_network, find_network, network_name
from ...nets.published import REFERENCE, estimated_rates, published_networks, strongest
from ...search.evaluate.choices import AUTO, LARGEST_BOARD, ROLLOUTS, names_file
from .command import command
from .common_options import ParameterOptions, network_file
from .defaults import COMMON_SETTINGS
from .options import variable

START_LIMIT = 180.0  # seconds; the first start compiles the core
NETWORK_VISITS = 32  # seconds even with a large network
# CGOS plays Tromp-Taylor rules without suicide; the parts that this JSON does not name are Tromp-Taylor's.
CGOS_RULES = '{"suicide":false}'

# KaTrain runs its line in a shell and ends only that: `exec` replaces the shell by the engine.
_REPLACE_SHELL = "" if sys.platform == "win32" else "exec "
LIBRARIES = ("numpy", "numba", "torch", "click", "sgfmill", "rich", "tomlkit")


@dataclass(frozen=True)
class DoctorOptions:
    """What is checked."""

    network: str = like(EngineSettings, "network")
    profile: str | None = like(ParameterOptions, "profile", heading="")


@command(groups={"options": DoctorOptions})
def doctor(options: DoctorOptions) -> None:
    """Check the installation and print the lines to enter in GUIs and servers.

    The report also names the file with your own defaults, the folder for downloaded networks, the networks that are the
    default for which boards, and whether this computer is fast enough for a stronger one.

    \b
    Examples:
      gtp_engine doctor                           self-test, lines to paste
      gtp_engine doctor --network kata1-b18c384   the same for a network
      gtp_engine doctor > doctor.txt              for a bug report

    The exit status is 1 if a check fails.
    """
    program, arguments = engine_command(), network_options(options.network, options.profile or "")
    _section("Program", _program())
    _section("Folders", _folders())
    click.echo("Self-test")
    passed = [run_check(name, check) for name, check in checks_of(program, arguments, options.profile or "")]
    if all(passed) and options.network == AUTO and (stronger := _stronger()):
        click.echo(f"  {'stronger':<12} {stronger}")
    click.echo(f"\nOther programs\n\n{client_lines(program, arguments)}")
    if not all(passed):
        sys.exit(1)


def _section(title: str, rows: list[tuple[str, str]]) -> None:
    lines = [f"  {name:<12} {printable(value)}" for name, value in rows]
    click.echo("\n".join([title, *lines, ""]))


def _program() -> list[tuple[str, str]]:
    return [
        ("gtp_engine", f"{VERSION} in {Path(__file__).resolve().parents[2]}"),
        ("Python", f"{platform.python_version()} at {sys.executable}"),
        ("libraries", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)),
        ("system", platform.platform()),
        ("CPU", f"{cpu()}, {plural(available_cpus(), 'thread')}"),
        ("kernels", network_kernels()),
        ("GPU", gpu()),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _folders() -> list[tuple[str, str]]:
    """Returns the user's folders and file of defaults, and the environment variables that override the latter."""
    rows = [("cache", folders.cache_dir()), ("data", folders.data_dir()), ("games", folders.games_dir())]
    networks, path, config = folders.networks_dir(), folders.configuration_file(), "none: this user has no home folder"
    others = "put downloaded networks here, or pass their paths; `gtp_engine network get` lists KataGo's"
    if path:
        config = f"{path}{'' if os.access(path, os.R_OK) else '  (none, or not readable: see `gtp_engine config`)'}"
    given = [variable(name) for name in COMMON_SETTINGS if os.environ.get(variable(name))]
    return [
        *((name, f"{folder}{_obstacle(folder)}") for name, folder in rows),
        ("networks", f"{networks}{_obstacle(networks)}: {others}"),
        ("config", config + (f"; {', '.join(given)} set" if given else "")),
    ]


def _defaults() -> dict[Path, tuple[int, str]]:
    """Returns the default networks, with the longest side of their boards, in points, and all of these in words."""
    found: dict[Path, tuple[int, str]] = {}
    for use, when in ((JUDGE, ""), (RANK_PLAY, " at ranks")):
        for path, run in groupby(range(MIN_SIZE, LARGEST_BOARD + 1), lambda side: default_network(side, side, use)):  # noqa: B023
            sides = [*run]
            if path is not None:
                _, before = found.get(path, (0, ""))
                found[path] = sides[-1], f"{before}, {sides[0]} to {sides[-1]}{when}"
    return found


def _stronger() -> str:
    """Returns which network would pay on this computer; empty if none is known to be stronger than the one in use."""
    from .speed import ENOUGH, ENOUGH_VISITS, network_rate

    default = default_network(LARGEST_BOARD, LARGEST_BOARD)
    used = next(
        (network for network in published_networks().values() if default and default.name in network.files), None
    )
    best = strongest(estimated_rates(network_rate(find_network(REFERENCE))[1]), ENOUGH)
    if used is None or not 0 < used.rating < best.rating:
        return ""
    gain = f"{best.rating - used.rating} Elo above {used.name} at equal visits"
    speed = f"{ENOUGH_VISITS} visits in {DEFAULT_SECONDS:g} s here"
    return f"{best.name}, {gain}, makes {speed}: `gtp_engine network get {best.name} --default`"


def network_options(network: str, profile: str = "") -> list[str]:
    """Returns the options of `gtp` that choose the network, with its absolute path.

    Raises UserError if it is not found, or there is a profile but no network for it, which `gtp` refuses too.
    """
    file = EngineSettings(network_file(network), parameters={"profile": profile}).network
    if file == AUTO:
        return []
    if not names_file(file):
        return ["--network", file]
    return ["--network", str(Path(file).absolute()), *(["--profile", profile] if profile else [])]


def _obstacle(path: Path) -> str:
    """Returns a remark if the folder can be neither written nor created; otherwise an empty text."""
    existing = next(folder for folder in (path, *path.parents) if os.path.exists(folder))
    return "" if existing.is_dir() and os.access(existing, os.W_OK) else "  (not writable)"


# The self-test: searches, and a GTP conversation.


def checks_of(command: list[str], options: list[str], profile: str) -> list[tuple[str, Callable[[], str]]]:
    """Returns the names and functions of the checks; without options that choose one, of all default networks."""
    checks = [("search", _check_search)]
    if not options:
        checks += [("network", partial(_check_network, str(path), "", *boards)) for path, boards in _defaults().items()]
    elif names_file(options[1]):
        checks.append(("network", partial(_check_network, options[1], profile, LARGEST_BOARD)))
    return [*checks, ("GTP", lambda: _check_gtp([*command, "gtp", *options]))]


def run_check(name: str, check: Callable[[], str]) -> bool:
    """Runs a check and prints one line: its result, or why it failed. Returns whether it passed."""
    try:
        found, sound = f"ok, {check()}", True
    except Exception as error:  # any failure is a finding
        found, sound = f"FAILED: {answer_text(error)}", False
    click.echo(f"  {name:<12} {found}")
    return sound


def _check_search() -> str:
    """Searches a position with two rows of seven stones in atari, one of each colour; the best move captures one."""
    from ...engine.engine import Engine

    start = time.perf_counter()
    black, white = "A5 B5 C5 D5 E5 F5 A3 B3 C3 D3 E3 F3 G3", "A4 B4 C4 D4 E4 F4 G4 A2 B2 C2 D2 E2 F2"
    with Engine(EngineSettings(ROLLOUTS, visits=400, seed=1, threads=1), width=7) as engine:
        wait_for(engine.ready)
        prepared = time.perf_counter() - start
        engine.set_up(black, white)
        report = engine.evaluate()
    if report.best.vertex != "G5":
        raise UserError(f"chose {report.best.vertex}, but G5 captures seven stones")
    return f"ready in {prepared:.1f} s, {report.visits / report.seconds:,.0f} visits/s on one thread"


def _check_network(network: str, profile: str, size: int, boards: str = "") -> str:
    """Searches the empty board with a network, which is the default on these boards."""
    from ...engine.engine import Engine

    settings = EngineSettings(network, visits=NETWORK_VISITS, parameters={"profile": profile})
    with Engine(settings, width=size) as engine:
        wait_for(engine.ready)
        report = engine.evaluate()
    default = f", the default on boards of {boards.removeprefix(', ')}" if boards else ""
    return f"{network_name(Path(network))}{default}, {report.visits / report.seconds:,.0f} visits/s on {size}x{size}"


def _check_gtp(command: list[str]) -> str:
    """Starts the program as a GUI does, from another folder; it plays a move and writes the game record."""
    done = subprocess.run(
        [*command, "--visits", "20", "--name", "gtp_engine"],  # whatever the user's own defaults are
        input="1 name\n2 boardsize 9\n3 genmove b\n4 printsgf\n5 quit\n",
        capture_output=True,
        text=True,
        timeout=START_LIMIT,
        cwd=Path(sys.executable).anchor,
    )
    starts = ["=1 gtp_engine", "=2", "=3 ", "=4 (;", "=5"]
    replies = done.stdout.split("\n\n")
    if done.returncode or not all(reply.startswith(start) for reply, start in zip(replies, starts, strict=False)):
        last_words = done.stderr.strip().rpartition("\n")[2] or done.stdout
        raise UserError(f"{' '.join(command)}: exit status {done.returncode}, {last_words}")
    return f"played {replies[2][3:]}"


# The lines that other programs need to start this one.


def engine_command() -> list[str]:
    """Returns the command line that starts this program from any folder."""
    script = Path(sysconfig.get_path("scripts")) / ("gtp_engine.exe" if sys.platform == "win32" else "gtp_engine")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "gtp_engine"]


def client_lines(command: list[str], options: Sequence[str] = ()) -> str:
    """Returns the lines to paste into GUIs and servers, each with a heading; options are those of `gtp`."""
    program, *first = command
    arguments = _in_quotes([*first, "gtp", *options])
    line = _in_quotes([*command, "gtp", *options])
    limit = "" if {"--seconds", "--visits"} & set(options) else " --seconds 30"  # a move on OGS may have a day
    cgos = f"CommandLine = {' '.join([*command, 'gtp', *options])} --rules {CGOS_RULES}"
    if any(" " in word for word in (*command, *options)):
        cgos = f"the CGOS client cannot start a line with spaces in a path: {line}"
    clients = [
        ("Sabaki: File > Preferences > Engines > Add: the path, then the arguments", f"{program}\n    {arguments}"),
        ("GoGui: Program > New Program: the command", line),
        ("Lizzie, LizzieYzy: Settings > Engine: the engine command", f"{line} --name KataGo"),
        ("CGOS: in the client's configuration, under GTPEngine", cgos),
        (
            "KaTrain: Settings > Engine: instead of its own engine's command",
            f"{_REPLACE_SHELL}{_in_quotes([*command, 'analysis', *options])}",
        ),
        (
            "OGS (gtp2ogs): on the command line, with the bot account's key",
            f"gtp2ogs --apikey YOUR_KEY -- {line}{limit}",
        ),
    ]
    return "\n".join(f"{where}\n    {entry}" for where, entry in clients)


def _in_quotes(words: Iterable[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def cpu() -> str:
    """Returns the name of the CPU, as far as the system reports it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def gpu() -> str:
    """Returns the devices other than the CPU that PyTorch can use; imports torch."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"unknown, PyTorch cannot be loaded: {error_text(error)}"
    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    if torch.backends.mps.is_available():
        return "Apple mps"
    return "none that PyTorch can use"


def network_kernels() -> str:
    """Returns which instructions of this CPU compute networks, and in which precisions; compiles some products."""
    try:
        from ...nets.kernels.llvm import HAS_TILES, KNOWS_TILES, VECTORS
        from ...nets.kernels.network import bfloat16_is_faster, has_bfloat16, has_float32, has_int8
    except (ImportError, OSError) as error:
        return f"unknown, numba cannot be loaded: {error_text(error)}"
    if not has_float32():
        return "none for this CPU: PyTorch computes networks"
    tiles = " and AMX tiles" if HAS_TILES else ""
    half = ", bfloat16" if has_bfloat16() and bfloat16_is_faster() else ""
    integers = ", int8 (networks with rounded weights)" if has_int8() else ""
    missing = "; its AMX tiles, which are faster, only where Linux permits it" if KNOWS_TILES and not HAS_TILES else ""
    return f"compiled code for {VECTORS}{tiles}: float32{half}{integers}{missing}"
