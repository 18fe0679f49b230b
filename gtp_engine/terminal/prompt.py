"""The player's lines: typed with line editing on a terminal, or read from a pipe."""

import contextlib
import io
import sys
from collections.abc import Iterator

try:
    import termios
except ImportError:  # on Windows the console itself edits lines
    termios = None  # type: ignore[assignment]

from ..base.messages import is_printable


def is_interactive() -> bool:
    """Returns whether both standard input and output are a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def prepare() -> None:
    """Enables line editing if the system has it; undecodable bytes become replacement characters, not errors."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if is_interactive():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  input() uses it from then on


@contextlib.contextmanager
def without_echo() -> Iterator[None]:
    """Within a `with` block the terminal does not show what is typed, but keeps it, and Ctrl-D, for the next prompt."""
    if termios is None or not is_interactive():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    silent = [*before]
    silent[3] &= ~(termios.ECHO | termios.ICANON)  # Ctrl-C still interrupts, and with NOFLSH it discards nothing
    silent[3] |= termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def read_line(prompt: str) -> str | None:
    """Returns the next line, stripped; None at the end of input. A line from a pipe is printed after the prompt."""
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
    words = "".join(character if is_printable(character) else " " for character in line).strip()
    print(f"{prompt}{words[:200]}", flush=True)
    return words
