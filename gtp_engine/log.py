"""Lines on stderr, for a person to read; no client mistakes one for a response."""

import contextlib
import sys

_LONGEST = 1000


def log(text: str) -> None:
    """Writes `gtp_engine: text` on one line.

    Lizzie merges stderr into stdout, and gtp2ogs takes ` -> ` for Leela Zero's form of a search report. A closed or
    full stderr ends no game.
    """
    text = " ".join(text[:_LONGEST].split()).replace(" -> ", " to ")
    line = "".join(letter if letter.isprintable() else "?" for letter in text)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"gtp_engine: {line}", file=sys.stderr, flush=True)
