"""Lines of standard input, read by a thread of its own while searches run."""

import threading
from collections import deque

from ..base.lines import read_lines
from ..base.system import WAIT_SECONDS

# Bytes of lines that wait for their turn; above it reading pauses until some are done.
MOST_BYTES = 256 * 2**20
# Bytes. A longer line is not a query; the rest of it is dropped.
LONGEST_LINE = 16 * 2**20
# Bytes of memory per line in addition to its text.
_PER_LINE = 300


class Inbox:
    """The lines that wait to be taken, and a count of the memory that lines use until they are done.

    Attributes:
        has_ended: Whether the input has ended.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Makes an empty inbox that pauses reading above `most_bytes`."""
        self._most_bytes = most_bytes
        self._lines: deque[bytes] = deque()
        self._kept = 0
        self._changed = threading.Condition()
        self.has_ended = False

    def start(self, descriptor: int) -> None:
        """Reads lines to the end of the file, in a daemon thread: the program may end while it waits."""
        threading.Thread(target=self._read, args=(descriptor,), name="analysis-reader", daemon=True).start()

    def take(self) -> bytes | None:
        """Returns the next line, or None if there is none yet. Its memory counts until it is released by `release`."""
        with self._changed:
            return self._lines.popleft() if self._lines else None

    def keep(self, size: int) -> None:
        """Counts further bytes that belong to a line taken; a negative size frees them."""
        with self._changed:
            self._kept += size
            self._changed.notify_all()

    def release(self, line: bytes) -> None:
        """Frees the bytes of a line that is done."""
        self.keep(-_cost(line))

    def wait(self) -> None:
        """Waits a moment for a line or the end of the input."""
        with self._changed:
            if not self._lines and not self.has_ended:
                self._changed.wait(WAIT_SECONDS)

    @property
    def is_over(self) -> bool:
        """Whether no further line will come."""
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
        for line in read_lines(descriptor, LONGEST_LINE):
            self._put(line)
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()


def _cost(line: bytes) -> int:
    return len(line) + _PER_LINE
