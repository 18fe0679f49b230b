"""The events that the main thread waits for: lines, the end of input, signals, and news from the search thread."""

import queue
import signal
from collections import deque
from enum import Enum
from types import FrameType

from ..base.system import WAIT_SECONDS
from . import protocol


class Event(Enum):
    """An event other than a line."""

    END = "the end of input"
    SIGNAL = "SIGINT"
    NEWS = "a search has a report or is done"


class Inbox:
    """A queue of events, and the lines that have not been answered yet.

    `post` may be called by any thread and by signal handlers; everything else belongs to the main thread.
    """

    def __init__(self) -> None:
        # SimpleQueue.put is reentrant, so that a signal handler may call it in the middle of a get.
        self._events: queue.SimpleQueue[str | Event] = queue.SimpleQueue()
        self._lines: deque[str] = deque()
        self._enders = 0  # number of waiting lines that stop a running search
        self.ended = False
        self.signalled = False
        # Whether SIGINT ends the program. After `gogui-sigint` it stops only the running command.
        self.signal_ends = True

    def post(self, event: str | Event) -> None:
        """Adds a line (as `protocol.clean` leaves it) or an event."""
        self._events.put(event)

    def heed_sigint(self) -> None:
        """Turns SIGINT into an event; a second one before the first has been handled raises KeyboardInterrupt."""

        def handler(number: int, frame: FrameType | None) -> None:
            if self.signalled and self.signal_ends:
                raise KeyboardInterrupt
            self.signalled = True
            self.post(Event.SIGNAL)

        signal.signal(signal.SIGINT, handler)

    def next_line(self) -> str | None:
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
        self._enders -= _ends_search(line)
        return line

    def receive(self) -> None:
        """Handles the events that have been posted; waits a moment if there are none."""
        try:
            event = self._events.get(timeout=WAIT_SECONDS)
            while True:
                self._handle(event)
                event = self._events.get_nowait()
        except queue.Empty:
            pass

    def _handle(self, event: str | Event) -> None:
        if isinstance(event, str):
            self._lines.append(event)
            self._enders += _ends_search(event)
        elif event is Event.END:
            self.ended = True

    @property
    def has_input(self) -> bool:
        """Whether there is input that ends an analysis: any line, the end of input, or SIGINT."""
        return bool(self._lines) or self.ended or self.signalled

    @property
    def is_in_a_hurry(self) -> bool:
        """Whether a running `genmove` must answer at once: after `quit`, GoGui's interrupt or SIGINT."""
        return self._enders > 0 or self.signalled


def _ends_search(line: str) -> bool:
    if line == protocol.INTERRUPT:
        return True
    # Most lines are something else: a quick look saves parsing them.
    command = protocol.parse(line) if "quit" in line else None
    return command is not None and command.name == "quit"
