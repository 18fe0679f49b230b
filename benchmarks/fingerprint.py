"""Names the state of the code that a benchmark measures: a figure counts as long as that code is unchanged."""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "gtp_engine"
# What decides how well and how fast the engine plays.
PLAYING = ("base", "evaluate", "game", "kernels", "network", "play", "search")
WORK = Path(__file__).resolve().parent / "work"


def fingerprint(parts: tuple[str, ...] = PLAYING) -> str:
    """Returns ten hexadecimal digits of the sources in these files and folders of the package."""
    digest = hashlib.sha256()
    for part in parts:
        place = PACKAGE / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:10]
