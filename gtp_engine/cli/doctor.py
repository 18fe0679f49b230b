"""`gtp_engine doctor`: what is installed where, whether it works, and what to enter in other programs."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from ..base import VERSION, folders
from ..base.messages import plural, printable
from ..evaluate.choices import AUTO, WITHOUT_NETWORK
from ..network.library import default_networks, list_networks
from . import shared_options as shared
from .clients import client_lines, engine_command
from .command import command, options
from .configuration import COMMON_SETTINGS, variable
from .engine_settings import network_file
from .machine import cpu, gpu, network_kernels
from .self_test import checks_of, run_check

_NOT_READABLE = "  (not readable)"
LIBRARIES = ("numpy", "numba", "torch", "click", "sgfmill", "rich", "matplotlib", "tomlkit")


@command()
@options(shared.NETWORK, shared.PROFILE)
def doctor(network: str, profile: str | None) -> None:
    """Check the installation and print the lines to enter in GUIs and servers.

    The report also names the file with your own defaults, and lists the folder for downloaded networks, the networks
    that are found, and which of them are the default for which boards.

    \b
    Examples:
      gtp_engine doctor                           self-test, lines to paste
      gtp_engine doctor --network kata1-b18c384   the same for a network
      gtp_engine doctor > doctor.txt              for a bug report

    The exit status is 1 if a check fails.
    """
    program, arguments = engine_command(), network_options(network, profile or "")
    _section("Program", _program())
    _section("Folders", _folders())
    _section("Networks", _networks())
    click.echo("Self-test")
    passed = [run_check(name, check) for name, check in checks_of(program, arguments, profile or "")]
    click.echo()
    click.echo("Other programs\n")
    click.echo(client_lines(program, arguments))
    if not all(passed):
        sys.exit(1)


def _section(title: str, rows: list[tuple[str, str]]) -> None:
    click.echo(title)
    for name, value in rows:
        click.echo(f"  {name:<12} {printable(value)}")
    click.echo()


def _program() -> list[tuple[str, str]]:
    from ..base.system import available_cpus

    return [
        ("gtp_engine", f"{VERSION} in {Path(__file__).resolve().parents[1]}"),
        ("Python", f"{platform.python_version()} at {sys.executable}"),
        ("libraries", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)),
        ("system", platform.platform()),
        ("CPU", f"{cpu()}, {plural(available_cpus(), 'thread')}"),
        *network_kernels(),
        ("GPU", gpu()),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _folders() -> list[tuple[str, str]]:
    rows = [("cache", folders.cache_dir()), ("data", folders.data_dir()), ("games", folders.games_dir())]
    found = [(name, f"{path}{_obstacle(path)}") for name, path in rows]
    return [*found, ("config", _configuration())]


def _configuration() -> str:
    """Returns the name of the file with the user's defaults, and the environment variables that override it."""
    path = folders.configuration_file()
    state = "" if path is None else _state(path)
    given = [variable(name) for name in COMMON_SETTINGS if os.environ.get(variable(name))]
    return f"{path or 'none: this user has no home folder'}{state}" + (f"; {', '.join(given)} set" if given else "")


def _state(configuration: Path) -> str:
    """Returns a remark if the file does not exist or cannot be read, otherwise an empty text."""
    if not os.path.exists(configuration):
        missing = "  (does not exist; create it with `gtp_engine config --create`)"
        return _obstacle(configuration.parent) or missing
    return "" if os.access(configuration, os.R_OK) else _NOT_READABLE


def _networks() -> list[tuple[str, str]]:
    """Returns the user's folder, where to download networks, and the networks that are found by name."""
    folder = folders.networks_dir()
    rows = [
        ("folder", f"{folder}{_obstacle(folder)}: put downloaded networks here, or pass their paths"),
        ("download", "KataGo's networks, .bin.gz: https://katagotraining.org/networks/"),
    ]
    defaults = default_networks()
    for path in list_networks():
        boards = "; the default on boards of {} to {}".format(*defaults[path]) if path in defaults else ""
        rows.append(("found", f"{path}, {path.stat().st_size / 1e6:.1f} MB{boards}"))
    return [*rows, ("otherwise" if defaults else "default", "random rollouts")]


def network_options(network: str, profile: str = "") -> list[str]:
    """Returns the options of `gtp` that choose the network, with its absolute path.

    Raises:
        UserError: The network is not found, or there is a profile but no network for it, which `gtp` refuses too.
    """
    from ..play.settings import EngineSettings

    file = EngineSettings(network_file(network), parameters={"profile": profile}).network
    if file == AUTO:
        return []
    if file in WITHOUT_NETWORK:
        return ["--network", file]
    return ["--network", str(Path(file).absolute()), *(["--profile", profile] if profile else [])]


def _obstacle(path: Path) -> str:
    """Returns a remark if the folder cannot be read, or can be neither written nor created; otherwise an empty text."""
    existing = next(folder for folder in (path, *path.parents) if os.path.exists(folder))
    if existing.is_dir() and not os.access(existing, os.X_OK):  # another user's home, for example
        return _NOT_READABLE
    return "" if existing.is_dir() and os.access(existing, os.W_OK) else "  (not writable)"
