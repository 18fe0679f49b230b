"""The reader thread: it delivers lines from standard input to the inbox.

It is a daemon thread, because the program ends while it waits. A daemon thread inside `sys.stdin.buffer` makes the
interpreter abort at exit, so `read_pipe` reads the descriptor itself; `select` does not work with pipes on Windows.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable

from ..base.lines import read_lines
from . import protocol
from .inbox import Event, Inbox
from .output import make_blocking


def start_reader(inbox: Inbox) -> None:
    """Starts the thread that delivers every line of standard input, then Event.END."""
    target = read_terminal if is_terminal() else read_pipe
    threading.Thread(target=target, args=(inbox,), name="gtp-reader", daemon=True).start()


def is_terminal() -> bool:
    """Returns whether the commands are typed at a terminal."""
    return os.isatty(0) and os.isatty(2) and sys.stdin is not None


def read_pipe(inbox: Inbox) -> None:
    """Reads descriptor 0 to its end, including a last line without a line feed."""
    make_blocking(0)
    for line in read_lines(0):
        inbox.post(protocol.clean(line))
    inbox.post(Event.END)


def read_terminal(inbox: Inbox) -> None:
    """Reads with line editing, until `quit` or the end of input: another prompt would hold the terminal at exit."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (input() edits lines once it is imported)
    with contextlib.suppress(EOFError, OSError, ValueError):
        while True:
            line = protocol.clean(input().encode("utf-8", "surrogateescape"))
            inbox.post(line)
            command = protocol.parse(line)
            if command is not None and command.name == "quit":
                return
    inbox.post(Event.END)


def terminal_keeper() -> Callable[[], None]:
    """Returns a function that restores the terminal's present state, which `input()` in another thread may change."""
    try:
        import termios
    except ImportError:
        return lambda: None
    state = termios.tcgetattr(0)
    return lambda: termios.tcsetattr(0, termios.TCSADRAIN, state)
