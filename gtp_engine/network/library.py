"""Names of networks to files, and files to networks.

A network is looked up among those shipped with the program, in a checkout's `weights/` and in the user's folder
(`paths.networks_dir`), in this order. Which of the shipped ones is for which boards says `networks.toml` beside them.
Only `load_network` imports torch.
"""

import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .. import paths

if TYPE_CHECKING:
    from .model import Model

SUFFIXES = (".bin.gz", ".bin", ".txt.gz", ".txt", ".pt")
ZIP_MAGIC = b"PK"  # what torch saves begins so
BOARDS_FILE = "networks.toml"  # of the shipped ones: which is for which boards


def shipped_folders() -> list[Path]:
    """Where the networks lie that come with the program."""
    package = find_spec("gtp_engine.weights")
    root = paths.checkout()
    folders = [Path(package.origin).parent] if package and package.origin else []
    return list(dict.fromkeys([*folders, *([root / "weights"] if root else [])]))


def network_folders() -> list[Path]:
    """Where networks are looked up."""
    return [*shipped_folders(), paths.networks_dir()]


def default_networks() -> dict[Path, tuple[int, int]]:
    """The shipped networks that are taken where none is named, and their boards: the longer side's least and most
    points. ValueError where their table is wrong."""
    found = {}
    for folder in shipped_folders():
        table = folder / BOARDS_FILE
        for name, boards in _read_boards(table).items() if table.is_file() else ():
            if (path := folder / f"{name}.bin.gz").is_file():
                found[path] = boards
    return found


def _read_boards(table: Path) -> dict[str, tuple[int, int]]:
    try:
        entries = tomllib.loads(table.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from error
    for name, entry in entries.items():
        if not (isinstance(entry, list) and [type(size) for size in entry] == [int, int] and entry[0] <= entry[1]):
            raise ValueError(f"{table}: {name} = {entry!r}: expected the least and the most points, as in [7, 9]")
    return {name: (least, most) for name, (least, most) in entries.items()}


def default_network(width: int, height: int) -> Path | None:
    """The shipped network for a board, if there is one."""
    boards = default_networks().items()
    return next((path for path, (least, most) in boards if least <= max(width, height) <= most), None)


def card_of(path: Path) -> Path | None:
    """What is said of a network, in Markdown beside its file, if there is anything."""
    card = path.with_name(f"{network_name(path)}.md")
    return card if card.is_file() else None


def list_networks() -> list[Path]:
    """Files in the folders; of two with one name the one that is found first."""
    found: dict[str, Path] = {}
    for folder in network_folders():
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name.endswith(SUFFIXES) and not path.name.startswith(".") and path.is_file():
                found.setdefault(path.name, path)
    return list(found.values())


def find_network(name: str) -> Path:
    """The file that a user means: a path; a file's name in one of the folders, with or without its suffix; or the
    beginning of just one such name. Raises ValueError that says where was looked."""
    if Path(name).is_file():
        return Path(name)
    known = list_networks()
    for path in known:
        if name in (path.name, network_name(path)):
            return path
    beginning = [path for path in known if name and path.name.startswith(name)]
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        raise ValueError(f"which network is {name!r}? It could be {', '.join(path.name for path in beginning)}")
    raise ValueError(f"no network {name!r}: no such file, and none in {', '.join(map(str, network_folders()))}")


def network_name(path: Path) -> str:
    """A file's name without the suffix that tells its kind."""
    suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), "")
    return path.name.removesuffix(suffix)


def load_network(path: Path) -> "Model":
    """The network of a file of any kind (its content tells which), in evaluation mode.

    Raises NetworkFileError for what is no network, OSError where the file cannot be read.
    """
    from .checkpoint import read_checkpoint
    from .katago_file import NetworkFileError, read_katago_file

    with open(path, "rb") as file:
        start = file.read(2)
    if not start:
        raise NetworkFileError(f"{path}: the file is empty")
    return read_checkpoint(path).model if start == ZIP_MAGIC else read_katago_file(path)
