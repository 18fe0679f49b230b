"""Finds network files by name, and loads them.

A network is searched for among the bundled ones, in `weights/`, and then in the user's folder
(`folders.networks_dir`). `networks.toml`, next to the bundled networks, assigns them to uses and board sizes; the
table `[networks]` of the user's configuration assigns others, which judge in their place. `rules.toml`, next to any
network, names the rules that it learned with if they are few.
Nothing here imports torch, except for reading a checkpoint (`.pt`).
"""

import functools
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import folders
from ..base.errors import UserError
from ..base.fields import invalid
from ..base.files import files_with, read_text
from ..base.nesting import parse_toml

if TYPE_CHECKING:
    from .stored import StoredNetwork

SUFFIXES = (".bin.gz", ".bin", ".txt.gz", ".txt", ".pt")
ZIP_MAGIC = b"PK\x03\x04"  # the start of files that torch saves
USES_FILE = "networks.toml"  # the uses and the board sizes of the bundled networks
OWN_TABLE = "networks"  # the boards of the networks that the user has chosen, in the user's configuration
RULES_FILE = "rules.toml"  # the rules that networks learned with
JUDGE, RANK_PLAY = "judge", "ranks"  # the uses: everything, and play at a rank


@functools.cache
def bundled_folder() -> Path:
    """Returns the folder of the networks that come with the program."""
    return Path(__file__).resolve().parents[1] / "weights"


def network_folders() -> list[Path]:
    """Returns the folders that are searched for networks, in order: the user's own is the last, if there is a home."""
    try:
        return [bundled_folder(), folders.networks_dir()]
    except UserError:
        return [bundled_folder()]


def default_networks(use: str = JUDGE) -> dict[Path, tuple[int, int]]:
    """Returns the bundled networks that serve a use by default.

    Args:
        use: JUDGE for everything but RANK_PLAY, play at a rank.

    Returns:
        The smallest and the largest longer side of the boards for each file.

    Raises:
        UserError: `networks.toml` is invalid.
    """
    folder = bundled_folder()
    table = folder / USES_FILE
    files = {folder / f"{name}.bin.gz": boards for name, boards in _boards(table, use).items()}
    return {path: boards for path, boards in files.items() if path.is_file()}


def own_networks() -> dict[str, tuple[int, int]]:
    """Returns the boards, as `default_networks` does, of the networks that the user's configuration names.

    Raises:
        UserError: The table is invalid.
    """
    table = folders.configuration_file()
    return {} if table is None else _boards(table, OWN_TABLE)


def _boards(table: Path, section: str) -> dict[str, tuple[int, int]]:
    """Returns the longer side's least and most points for each network of a section of a file."""
    entries = _read_table(table).get(section, {})
    if not isinstance(entries, dict):
        raise UserError(f"{table}: {section!r} is not a table; write [{section}]")
    for name, entry in entries.items():
        if not (isinstance(entry, list) and [type(size) for size in entry] == [int, int] and entry[0] <= entry[1]):
            raise UserError(
                f"{table}: {name} = {entry!r}: expected the least and the most points of the longer side, as in [7, 9]"
            )
    return {name: (least, most) for name, (least, most) in entries.items()}


def mean_errors(network: str) -> tuple[float, float] | None:
    """Returns how far a bundled network is from a strong one on 19x19, by its name; None for any other network.

    Returns:
        The mean differences of the lead, in points, and of the win rate, in percentage points.
    """
    errors = _read_table(bundled_folder() / USES_FILE).get("errors", {})
    return tuple(errors[network]) if network in errors else None


def learned_rules(path: Path) -> tuple[str, ...]:
    """Returns the names of the rulesets that a network learned with; empty if it knows all, or nobody has noted them.

    Raises:
        UserError: `rules.toml` next to the network is invalid.
    """
    table = path.with_name(RULES_FILE)
    entry = _read_table(table).get(network_name(path), [])
    if not (isinstance(entry, list) and all(isinstance(name, str) for name in entry)):
        raise UserError(f'{table}: {network_name(path)} = {entry!r}: expected names of rules, as in ["chinese"]')
    return tuple(entry)


def _read_table(table: Path) -> dict[str, Any]:
    """Returns what is in a file of settings; nothing if there is no such file."""
    if not os.path.isfile(table):  # unlike Path's, False in another user's home
        return {}
    try:
        return parse_toml(read_text(table))
    except ValueError as error:
        raise UserError(f"{table}: {error}") from error


def default_network(width: int, height: int, use: str = JUDGE) -> Path | None:
    """Returns the network for a use on a board, or None: the judge that the user has chosen, or a bundled one.

    Of several that the user has chosen it is the one for the fewest sizes; the name of its file may start from the
    configuration's folder. Raises UserError, which names the configuration, if it is not found.
    """
    side = max(width, height)
    chosen = own_networks().items() if use == JUDGE else ()
    sizes = {name: most - least for name, (least, most) in chosen if least <= side <= most}
    if sizes and (table := folders.configuration_file()):
        name = min(sizes, key=lambda name: sizes[name])
        beside = table.parent / os.path.expanduser(name)
        try:
            return beside if beside.is_file() else find_network(name)
        except UserError as error:
            raise UserError(f"{table}: [{OWN_TABLE}]: {error}") from None
    boards = default_networks(use).items()
    return next((path for path, (least, most) in boards if least <= side <= most), None)


def find_card(path: Path) -> Path | None:
    """Returns the Markdown file that describes a network, next to the network's own, or None."""
    card = path.with_name(f"{network_name(path)}.md")
    return card if card.is_file() else None


def list_networks() -> list[Path]:
    """Returns the network files of all folders that can be read; the first found if several have the same name."""
    found: dict[str, Path] = {}
    for folder in network_folders():
        with suppress(PermissionError):  # of another user's home
            for path in files_with(SUFFIXES, folder):
                found.setdefault(path.name, path)
    return list(found.values())


class FileOrName:
    """The type of a field that takes a network's file or name, and is a text from then on."""

    if TYPE_CHECKING:

        def __get__(self, section: object, kind: type | None = None) -> str: ...
        def __set__(self, section: object, value: str | os.PathLike[str]) -> None: ...


def file_or_name(network: object) -> str:
    """Returns a network's file or name as a text; raises UserError if it is neither."""
    if not isinstance(network, str | os.PathLike):
        raise invalid("network", network, "a name or a file")
    return os.fspath(network)


def find_network(network: str | os.PathLike[str]) -> Path:
    """Finds the network file that a user names.

    Args:
        network: A path; the name of a file in one of the folders, with or without its suffix; or the beginning of
            exactly one such name.

    Raises:
        UserError: No network has this name, or several have; the message lists the networks and the folders searched,
            or the candidates.
    """
    name = file_or_name(network)
    if Path(name).is_file():
        return Path(name)
    known = list_networks()
    for path in known:
        if name in (path.name, network_name(path)):
            return path
    candidates = [path for path in known if name and path.name.startswith(name)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise UserError(f"the name {name!r} is ambiguous: it fits {', '.join(path.name for path in candidates)}")
    folders, names = map(str, network_folders()), sorted({network_name(path) for path in known})
    installed = f"; installed: {', '.join(names)}" if names else ""
    raise UserError(f"no network {name!r}: no such file, and none in {', '.join(folders)}{installed}")


def network_name(path: Path) -> str:
    """Returns a file's name without the suffix of its format."""
    suffix = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), "")
    return path.name[: len(path.name) - len(suffix)]


def load_network(path: Path) -> "StoredNetwork":
    """Loads a network, whose content tells its format; NetworkFileError if it cannot be used, or OSError."""
    from .katago_file import NetworkFileError, read_katago_file

    with open(path, "rb") as file:
        start = file.read(len(ZIP_MAGIC))
    if not start:
        raise NetworkFileError(f"{path}: the file is empty")
    if start != ZIP_MAGIC:
        return read_katago_file(path)
    from .checkpoint import read_checkpoint  # imports torch

    return read_checkpoint(path).model.stored()
