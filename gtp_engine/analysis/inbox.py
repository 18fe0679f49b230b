"""Lines of standard input, read by a thread of its own while searches run."""

import os
import threading
from collections import deque

_CHUNK = 65536
# What is kept of lines that wait for their turn; then reading stops until some are done.
MOST_BYTES = 256 * 2**20
# Longer lines are no queries: the rest is thrown away.
LONGEST_LINE = 16 * 2**20
# What a line takes in memory beside its text.
_PER_LINE = 300
_TICK = 0.2  # seconds; Windows does not interrupt a longer wait


class Inbox:
    """The lines that nobody has taken yet, and how much memory those take that are not done with."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lines: deque[bytes] = deque()
        self._kept = 0
        self._changed = threading.Condition()
        self.has_ended = False

    def start(self, descriptor: int) -> None:
        """Reads lines to the end of the file, in a daemon thread: the program may end while it waits."""
        threading.Thread(target=self._read, args=(descriptor,), name="analysis-reader", daemon=True).start()

    def take(self) -> bytes | None:
        """The next line, None where there is none now. `release` it when its memory is free again."""
        with self._changed:
            return self._lines.popleft() if self._lines else None

    def keep(self, size: int) -> None:
        """Counts further bytes that belong to a line taken, less where negative."""
        with self._changed:
            self._kept += size
            self._changed.notify_all()

    def release(self, line: bytes) -> None:
        """Says that a line is done with."""
        self.keep(-_cost(line))

    def wait(self) -> None:
        """Waits a moment for a line or the end."""
        with self._changed:
            if not self._lines and not self.has_ended:
                self._changed.wait(_TICK)

    @property
    def is_over(self) -> bool:
        """Whether no line will come any more."""
        with self._changed:
            return self.has_ended and not self._lines

    def _put(self, line: bytes) -> None:
        with self._changed:
            while self._kept > self._most_bytes:
                self._changed.wait()
            self._kept += _cost(line)
            self._lines.append(line)
            self._changed.notify_all()

    def _read(self, descriptor: int) -> None:
        """os.read: a daemon thread inside a buffered reader would make the interpreter abort at exit."""
        rest = bytearray()
        while chunk := _read_some(descriptor):
            first, *others = chunk.split(b"\n")
            rest += first[: LONGEST_LINE + 1 - len(rest)]
            for other in others:
                self._put(bytes(rest))
                rest = bytearray(other)
        if rest:
            self._put(bytes(rest))
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()


def _cost(line: bytes) -> int:
    return len(line) + _PER_LINE


def _read_some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # a closed standard input has no more lines
        return b""
