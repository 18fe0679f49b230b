"""Lines in and out, in the form of GTP version 2 (sections 2.1 to 2.6).

Commands come on standard input, which a thread of its own reads; responses leave on standard output, which is reserved
for them. `Inbox` has all that the main thread waits for: commands, the end of input, signals, and news of a search.
"""

import codecs
import contextlib
import errno
import logging
import os
import queue
import re
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum
from types import FrameType
from typing import NamedTuple

from ...base.errors import error_text
from ...base.lines import read_lines
from ...base.messages import printable
from ...base.system import WAIT_SECONDS

logger = logging.getLogger(__name__)

_MAX_ID = 2**31 - 1  # section 2.3: an unsigned integer that fits 31 bits
_ID = re.compile(r"0*(\d{1,10})", re.ASCII)
_INTERRUPT = "# interrupt"  # GoGui's comment line that stops the running command
# Bytes of a line, and lines that wait: far more than any client sends, so that one that never stops fills no memory.
_LONGEST_LINE, _MOST_WAITING = 1 << 20, 100_000
_CONTROL = bytes(code for code in [*range(32), 127] if code not in b"\t\n")


class Command(NamedTuple):
    """A command as sent; `name` is empty if the line contains only an id."""

    id: int | None
    name: str
    arguments: list[str]


class Line(NamedTuple):
    """A line of input: its command, None without one, and whether it makes a running search answer at once."""

    command: Command | None
    is_urgent: bool


def parse_line(line: bytes) -> Line:
    """Returns what a line is: `quit` and GoGui's interrupt are urgent.

    Control characters count for nothing, TAB is a space, and what follows # is a comment. Bytes that are not UTF-8 are
    kept (surrogateescape), because a file name may contain them. The byte order mark with which Windows begins files
    and pipes is removed.
    """
    cleaned = line.removeprefix(codecs.BOM_UTF8).translate(None, _CONTROL).replace(b"\t", b" ")
    text = cleaned.decode("utf-8", "surrogateescape").strip(" ")
    words = [word for word in text.partition("#")[0].split(" ") if word]
    if not words:
        return Line(None, text == _INTERRUPT)
    id_word = _ID.fullmatch(words[0])
    number = int(id_word[1]) if id_word and int(id_word[1]) <= _MAX_ID else None
    name, *arguments = words if number is None else words[1:] or [""]
    return Line(Command(number, name, arguments), name == "quit")


def response(number: int | None, text: str = "", *, failed: bool = False) -> str:
    """Returns a whole response to the command with this id, including the empty line that ends it.

    Empty lines of the text are left out, because the first of them would end the response. Text that begins with a line
    feed (a board) starts on the line below the sign.
    """
    first, *rest = text.split("\n")
    lines = [opening(number, failed=failed) + (f" {first.rstrip()}" if first.strip() else "")]
    lines += [line.rstrip() for line in rest if line.strip()]
    return printable("\n".join(lines)) + "\n\n"


def opening(number: int | None, *, failed: bool = False) -> str:
    """Returns what a response begins with: the sign, "?" for a failure, and the id."""
    return ("?" if failed else "=") + ("" if number is None else str(number))


class Output:
    """The stream of responses. Every write is complete and reaches the client before the next command is read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        make_blocking(descriptor)

    def write(self, text: str) -> None:
        """Writes all of the text.

        Raises SystemExit, with the program's exit status, if the client no longer reads the responses, or they cannot
        be written, to a full disk for example.
        """
        data = memoryview(text.encode("utf-8", "replace"))
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            # On Windows, writing to a pipe that has been closed is an invalid argument.
            has_left = isinstance(error, ConnectionError) or error.errno == errno.EINVAL
            if not has_left:
                logger.error(f"cannot write the response: {error_text(error)}")
            raise SystemExit(0 if has_left else 1) from error

    @property
    def is_closed(self) -> bool:
        """Whether the client has closed the stream; on Windows that shows only when something is written."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._descriptor, 0)  # errors and the other end's closing are reported unasked
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def make_blocking(descriptor: int) -> None:
    """Makes a descriptor block: some clients pass non-blocking ones, for which a full pipe would be an error."""
    with contextlib.suppress(AttributeError, OSError):  # Windows before Python 3.12; closed
        os.set_blocking(descriptor, True)


def take_standard_output() -> Output:
    """Returns a duplicate of file descriptor 1, which from then on points to stderr (or else to the null device)."""
    output = Output(os.dup(1))
    try:
        os.dup2(2, 1)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    return output


class _Event(Enum):
    END = "the end of input"
    NEWS = "something else to look at"


class Inbox:
    """A queue of events, and the lines that have not been answered yet.

    `post_line` and `post_news` may be called by any thread, the latter by signal handlers too; everything else belongs
    to the main thread. The reader is a daemon thread, because the program ends while it waits. A daemon thread inside
    `sys.stdin.buffer` makes the interpreter abort at exit, so it reads the descriptor of a pipe itself.
    """

    def __init__(self) -> None:
        # SimpleQueue.put is reentrant, so that a signal handler may call it in the middle of a get.
        self._events: queue.SimpleQueue[Line | _Event] = queue.SimpleQueue()
        self._lines: deque[Line] = deque()
        self._places = threading.Semaphore(_MOST_WAITING)  # for lines that wait
        self._urgent = 0  # number of waiting lines that are urgent; of a script many thousands may wait
        self.ended = False  # whether the input has ended
        self.signalled = False  # whether SIGINT has come
        self.signal_ends = True  # SIGINT ends the program; after `gogui-sigint` only the running command

    def post_line(self, line: bytes) -> Line:
        """Adds a line, and returns what it is; waits while too many have not been answered yet."""
        self._places.acquire()
        parsed = parse_line(line)
        self._events.put(parsed)
        return parsed

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
        self._places.release()
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

    def start_reading(self) -> None:
        """Starts the thread that posts every line of standard input, and its end."""
        target = self._read_terminal if is_terminal() else self._read_pipe
        threading.Thread(target=target, name="gtp-reader", daemon=True).start()

    def _read_pipe(self) -> None:
        """Reads descriptor 0 to its end, including a last line without a line feed."""
        make_blocking(0)
        for line in read_lines(0, _LONGEST_LINE):
            self.post_line(line if len(line) <= _LONGEST_LINE else b"line-too-long")  # an unknown command
        self._events.put(_Event.END)

    def _read_terminal(self) -> None:
        """Reads with line editing, until `quit` or the end of input: another prompt would hold the terminal at exit."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (input() edits lines once it is imported)
        with contextlib.suppress(EOFError, OSError, ValueError):
            while True:
                command = self.post_line(input().encode("utf-8", "surrogateescape")).command
                if command is not None and command.name == "quit":
                    return
        self._events.put(_Event.END)


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
