"""What the main thread waits for: lines, the end of input, signals, and news from the search thread."""

import queue
import signal
from collections import deque
from enum import Enum
from types import FrameType

from . import protocol

# Windows does not interrupt a blocked wait for Ctrl-C: wait in steps.
_STEP_SECONDS = 0.2


class Event(Enum):
    """What can happen beside a line."""

    END = "the end of input"
    SIGNAL = "SIGINT"
    NEWS = "a search has a report or is done"


class Inbox:
    """A queue of events with the lines that wait for their answer.

    `post` may be called by any thread and by signal handlers; all else belongs to the main thread.
    """

    def __init__(self) -> None:
        # SimpleQueue.put is reentrant, so that a signal handler may call it in the middle of a get.
        self._events: queue.SimpleQueue[str | Event] = queue.SimpleQueue()
        self._lines: deque[str] = deque()
        self._enders = 0  # how many of the waiting lines stop a running search
        self.ended = False
        self.signalled = False
        # Whether SIGINT ends the program. Who has asked for the process id (`gogui-sigint`) means the running command.
        self.signal_ends = True

    def post(self, event: str | Event) -> None:
        """Adds a line (as `protocol.clean` leaves it) or an event."""
        self._events.put(event)

    def heed_sigint(self) -> None:
        """Turns SIGINT into an event; a second one before the first was dealt with raises KeyboardInterrupt."""

        def handler(number: int, frame: FrameType | None) -> None:
            if self.signalled and self.signal_ends:
                raise KeyboardInterrupt
            self.signalled = True
            self.post(Event.SIGNAL)

        signal.signal(signal.SIGINT, handler)

    def next_line(self) -> str | None:
        """The next line, waiting for it; None at the end of input or when SIGINT has ended the program."""
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
        """Takes in what has happened; waits a moment where nothing has."""
        try:
            event = self._events.get(timeout=_STEP_SECONDS)
            while True:
                self._take(event)
                event = self._events.get_nowait()
        except queue.Empty:
            pass

    def _take(self, event: str | Event) -> None:
        if isinstance(event, str):
            self._lines.append(event)
            self._enders += _ends_search(event)
        elif event is Event.END:
            self.ended = True

    @property
    def has_input(self) -> bool:
        """Whether anything has come that ends an analysis: any line at all, the end of input, SIGINT."""
        return bool(self._lines) or self.ended or self.signalled

    @property
    def is_in_a_hurry(self) -> bool:
        """Whether a running `genmove` has to answer at once: `quit` waits behind it, GoGui's interrupt has come, the
        input has ended, SIGINT."""
        return self._enders > 0 or self.ended or self.signalled


def _ends_search(line: str) -> bool:
    if line == protocol.INTERRUPT:
        return True
    # Most lines are something else: look before taking the line to pieces.
    command = protocol.parse(line) if "quit" in line else None
    return command is not None and command.name == "quit"
