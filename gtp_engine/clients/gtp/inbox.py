"""What the main thread waits for: commands, which a thread of their own reads, the end of input, signals, and news.

The reader is a daemon thread, because the program ends while it waits. A daemon thread inside `sys.stdin.buffer` makes
the interpreter abort at exit, so it reads the descriptor of a pipe itself.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum
from types import FrameType
from typing import NamedTuple

from ...base.lines import read_lines
from ...base.system import WAIT_SECONDS
from . import protocol
from .output import make_blocking
from .protocol import Command


class Line(NamedTuple):
    """A line of input: its command, None without one, and whether it makes a running search answer at once."""

    command: Command | None
    is_urgent: bool


class _Event(Enum):
    END = "the end of input"
    NEWS = "something else to look at"


class Inbox:
    """A queue of events, and the lines that have not been answered yet.

    `post_line`, `post_end` and `post_news` may be called by any thread, the last one by signal handlers too; everything
    else belongs to the main thread.

    Attributes:
        ended: Whether the input has ended.
        signalled: Whether SIGINT has come.
        signal_ends: Whether SIGINT ends the program. After `gogui-sigint` it stops only the running command.
    """

    def __init__(self) -> None:
        # SimpleQueue.put is reentrant, so that a signal handler may call it in the middle of a get.
        self._events: queue.SimpleQueue[Line | _Event] = queue.SimpleQueue()
        self._lines: deque[Line] = deque()
        self._urgent = 0  # number of waiting lines that are urgent
        self.ended = False
        self.signalled = False
        self.signal_ends = True

    def post_line(self, line: bytes) -> Line:
        """Adds a line, and returns what it is: `quit` and GoGui's interrupt are urgent."""
        text = protocol.clean(line)
        command = protocol.parse(text)
        parsed = Line(command, text == protocol.INTERRUPT or (command is not None and command.name == "quit"))
        self._events.put(parsed)
        return parsed

    def post_end(self) -> None:
        """Tells that the input has ended."""
        self._events.put(_Event.END)

    def post_news(self) -> None:
        """Wakes the main thread: a search has a report or is done."""
        self._events.put(_Event.NEWS)

    def heed_sigint(self) -> None:
        """Turns SIGINT into an event; a second one before the first has been handled raises KeyboardInterrupt."""

        def handler(number: int, frame: FrameType | None) -> None:
            if self.signalled and self.signal_ends:
                raise KeyboardInterrupt
            self.signalled = True
            self.post_news()

        signal.signal(signal.SIGINT, handler)

    def next_line(self) -> Line | None:
        """Waits for the next line and returns it; None at the end of input or after a SIGINT that ends the program."""
        while True:
            if self.signalled and self.signal_ends:
                return None
            self.signalled = False
            if self._lines:
                break
            if self.ended:
                return None
            self.receive()
        line = self._lines.popleft()
        self._urgent -= line.is_urgent
        return line

    def receive(self) -> None:
        """Handles the events that have been posted; waits a moment if there are none."""
        with contextlib.suppress(queue.Empty):
            event = self._events.get(timeout=WAIT_SECONDS)
            while True:
                if isinstance(event, Line):
                    self._lines.append(event)
                    self._urgent += event.is_urgent
                elif event is _Event.END:
                    self.ended = True
                event = self._events.get_nowait()

    @property
    def has_input(self) -> bool:
        """Whether there is input that ends an analysis: any line, the end of input, or SIGINT."""
        return bool(self._lines) or self.ended or self.signalled

    @property
    def is_in_a_hurry(self) -> bool:
        """Whether a running `genmove` must answer at once: after `quit`, GoGui's interrupt or SIGINT."""
        return self._urgent > 0 or self.signalled

    # The reader's thread.

    def start_reading(self) -> None:
        """Starts the thread that posts every line of standard input, and its end."""
        target = self._read_terminal if is_terminal() else self._read_pipe
        threading.Thread(target=target, name="gtp-reader", daemon=True).start()

    def _read_pipe(self) -> None:
        """Reads descriptor 0 to its end, including a last line without a line feed."""
        make_blocking(0)
        for line in read_lines(0):
            self.post_line(line)
        self.post_end()

    def _read_terminal(self) -> None:
        """Reads with line editing, until `quit` or the end of input: another prompt would hold the terminal at exit."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (input() edits lines once it is imported)
        with contextlib.suppress(EOFError, OSError, ValueError):
            while True:
                command = self.post_line(input().encode("utf-8", "surrogateescape")).command
                if command is not None and command.name == "quit":
                    return
        self.post_end()


def is_terminal() -> bool:
    """Returns whether the commands are typed at a terminal."""
    return os.isatty(0) and os.isatty(2) and sys.stdin is not None


def terminal_keeper() -> Callable[[], None]:
    """Returns a function that restores the terminal's present state, which `input()` in another thread may change."""
    try:
        import termios
    except ImportError:
        return lambda: None
    state = termios.tcgetattr(0)
    return lambda: termios.tcsetattr(0, termios.TCSADRAIN, state)
