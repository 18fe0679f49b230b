"""What several benchmarks need: game records in archives, shares with intervals, networks by option."""

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gtp_engine.arena.elo import wilson_interval
from gtp_engine.base.errors import UserError
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.nets.library import JUDGE, default_network, network_name


def records_of(archive: Path, member: str = "") -> Iterator[tuple[str, GameRecord]]:
    """Yields the games of a ZIP archive whose members have one SGF a line, with their names; see `lines_of`."""
    return games_in(lines_of(archive, member))


def games_in(lines: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, GameRecord]]:
    """Yields the games of named lines, without those that cannot be read."""
    for name, line in lines:
        with suppress(SgfError):
            yield name, read_sgf(line)


def lines_of(archive: Path, member: str = "") -> Iterator[tuple[str, bytes]]:
    """Yields the lines of such an archive, which take much less memory than the games, with their names.

    Args:
        archive: The archive.
        member: Only members whose names begin so; all if it is empty.
    """
    with zipfile.ZipFile(archive) as members:
        for name in sorted(members.namelist()):
            if name.startswith(member) and name.endswith(".sgfs"):
                for number, line in enumerate(members.read(name).splitlines(), 1):
                    yield f"{name}:{number}", line


def share(count: int, number: int) -> str:
    """Returns a share in percent with its interval of 95 %."""
    if not number:
        return "none"
    low, high = wilson_interval(count / number, number)
    return f"{count} of {number} ({count / number:.1%}, {low:.1%} to {high:.1%})"


def network_or_default(network: str | None, size: int, use: str = JUDGE) -> str:
    """Returns the network that an option names, or without one that of the default network for a board and a use."""
    if network is not None:
        return network
    path = default_network(size, size, use)
    if path is None:
        raise UserError(f"no network comes with the program for {size}x{size}: choose one with --network")
    return network_name(path)
