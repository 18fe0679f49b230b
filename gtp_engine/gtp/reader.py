"""The reader threads: lines from standard input into the inbox.

They are daemon threads, because the program ends while they wait. A daemon thread inside `sys.stdin.buffer` makes the
interpreter abort at exit, so `read_pipe` reads the descriptor itself; `select` would not work with pipes on Windows.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable

from . import protocol
from .inbox import Event, Inbox
from .output import make_blocking

_CHUNK = 65536


def start_reader(inbox: Inbox) -> None:
    """Delivers every line of standard input, then Event.END."""
    target = read_terminal if is_terminal() else read_pipe
    threading.Thread(target=target, args=(inbox,), name="gtp-reader", daemon=True).start()


def is_terminal() -> bool:
    """Whether a person types the commands and sees what is typed."""
    return os.isatty(0) and os.isatty(2) and sys.stdin is not None


def read_pipe(inbox: Inbox) -> None:
    """Reads descriptor 0 to its end; a last line without a line feed counts."""
    make_blocking(0)
    unfinished = bytearray()
    while chunk := _read():
        first, *rest = chunk.split(b"\n")
        unfinished += first
        for part in rest:
            inbox.post(protocol.clean(bytes(unfinished)))
            unfinished = bytearray(part)
    if unfinished:
        inbox.post(protocol.clean(bytes(unfinished)))
    inbox.post(Event.END)


def _read() -> bytes:
    try:
        return os.read(0, _CHUNK)
    except OSError:  # a closed standard input has no more lines
        return b""


def read_terminal(inbox: Inbox) -> None:
    """Reads with line editing, up to `quit` or the end of input: a further prompt would hold the terminal at exit."""
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
    """A function that gives the terminal back as it is now: `input()` in another thread may have changed it at exit."""
    try:
        import termios
    except ImportError:
        return lambda: None
    state = termios.tcgetattr(0)
    return lambda: termios.tcsetattr(0, termios.TCSADRAIN, state)
