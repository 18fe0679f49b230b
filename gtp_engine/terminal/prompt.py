"""Lines from whoever plays: typed with line editing on a terminal, or read from a pipe."""

import contextlib
import difflib
import io
import sys
from collections.abc import Iterable


def is_interactive() -> bool:
    """Whether somebody sits there: both ends are a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def prepare() -> None:
    """Line editing where the system has it; bytes that are no text become marks instead of errors."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if is_interactive():
        with contextlib.suppress(ImportError):  # Windows: the console edits lines itself
            import readline  # noqa: F401  input() uses it from then on


def read_line(prompt: str) -> str | None:
    """The next line, stripped; None at the end of input. What comes from a pipe is shown behind the prompt."""
    if sys.stdin is None:
        return None
    if is_interactive():
        try:
            return input(prompt).strip()
        except EOFError:
            print()
            return None
    line = sys.stdin.readline()
    if not line:
        return None
    words = "".join(character if character.isprintable() else " " for character in line).strip()
    print(f"{prompt}{words[:200]}", flush=True)
    return words


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` for a mistyped word, or nothing where none is near."""
    matches = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.5)
    return f"; did you mean {matches[0]!r}?" if matches else ""
