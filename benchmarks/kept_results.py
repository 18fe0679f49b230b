"""Keeps results of benchmarks under the name of the code that they measure: they count while it is unchanged."""

import contextlib
import hashlib
import shlex
import shutil
from pathlib import Path

from gtp_engine.base.errors import UserError
from gtp_engine.nets.library import bundled_folder, find_network

PACKAGE = Path(__file__).resolve().parents[1] / "gtp_engine"
# What decides how well and how fast the engine plays.
PLAYING = ("base", "engine", "go", "nets", "search")
WORK = Path(__file__).resolve().parent / "work"


def digest_of(*commands: str) -> str:
    """Returns eight hexadecimal digits of command lines, of the files they name, and of the bundled networks.

    The files are programs and networks, under any name by which they are found.
    """
    digest = hashlib.sha256()
    for network in sorted(bundled_folder().glob("*.bin.gz")):  # an engine's default is one of them
        digest.update(network.read_bytes())
    for word in shlex.split(" ".join(commands)):
        digest.update(word.encode() + b"\0")
        for find in (shutil.which, find_network):
            with contextlib.suppress(UserError):
                if (found := find(word)) and Path(found).is_file():
                    digest.update(Path(found).read_bytes())
    return digest.hexdigest()[:8]


def digest_of_options(*values: object) -> str:
    """Returns `digest_of` the values of options, among them the names of networks, which may contain spaces."""
    return digest_of(shlex.join(map(str, values)))


def results_path(benchmark: str, kind: str, *commands: str) -> Path:
    """Returns the place of a benchmark's results in `work/`, by this state of the code and of the engines measured.

    Args:
        benchmark: The script's name.
        kind: What is measured, for people who look for it; may contain slashes.
        commands: The engines' command lines.
    """
    return WORK / f"{benchmark}-{fingerprint()} {kind.strip().replace('/', '_')} {digest_of(*commands)}"


def fingerprint(parts: tuple[str, ...] = PLAYING) -> str:
    """Returns ten hexadecimal digits of the sources in these files and folders of the package."""
    digest = hashlib.sha256()
    for part in parts:
        place = PACKAGE / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:10]


def whole_lines(path: Path) -> list[str]:
    """Returns the lines of a file to which a benchmark appends, without an incomplete last one, which it removes."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return whole.splitlines()
