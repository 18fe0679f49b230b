"""A program on a pseudo-terminal."""

import codecs
import contextlib
import os
import re
import select
import signal
import sys
import time

import pytest
from rich.text import Text

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
termios = pytest.importorskip("termios", reason="no POSIX terminals on this system")
LIMIT = 180  # seconds; the first start may compile the core
HOME = "\x1b[H"  # the cursor to the top left corner of the window


class Terminal:
    """A program on a pseudo-terminal of 80 columns.

    Attributes:
        said: What it has written since the last `expect`.
        written: All that it has written.
    """

    def __init__(self, *command: str, rows: int = 40, term: str = "xterm-256color") -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM=term)
            for name in ("COLUMNS", "LINES", "NO_COLOR"):
                os.environ.pop(name, None)
            termios.tcsetwinsize(0, (rows, 80))
            os.execv(sys.executable, command)
        self._before = termios.tcgetattr(self._master)
        self.said = ""
        self.written = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def window(self) -> list[str]:
        """Returns the lines that were written since the board was last drawn, without colours."""
        drawn = self.written.rpartition(HOME)[2].replace("\r", "")
        return Text.from_ansi(drawn).plain.splitlines()

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def expect(self, pattern: str) -> None:
        """Reads on until the pattern appears in what was said since the last time."""
        end = time.monotonic() + LIMIT
        while not (match := re.search(pattern, self.said)):
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {pattern!r} within {LIMIT} s: {self.said}"
            try:
                self._read()
            except OSError as error:  # Linux says EIO when the program has ended
                raise AssertionError(f"ended without {pattern!r}: {self.said}") from error
        self.said = self.said[match.end() :]

    def answer(self, line: str, *answers: str) -> None:
        """Types a line at the next prompt of a game, and waits for each of the answers in turn."""
        self.expect("(black|white|game over)> ")
        self.send(f"{line}\r")
        for pattern in answers:
            self.expect(pattern)

    def unread(self) -> str:
        """Returns what has been said by now."""
        while select.select([self._master], [], [], 0)[0]:
            self._read()
        return self.said

    def _read(self) -> int:
        chunk = os.read(self._master, 65536)
        text = self._decoder.decode(chunk)
        self.said += text
        self.written += text
        return len(chunk)

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is in the state in which the program found it."""
        return termios.tcgetattr(self._master) == self._before

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self) -> int:
        """The exit status, after reading what is left."""
        with contextlib.suppress(OSError):  # Linux says EIO when the program has ended
            while select.select([self._master], [], [], LIMIT)[0] and self._read():
                pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def end_input(self) -> None:
        """Presses Ctrl-D at the prompt."""
        self.expect("(black|white|over)> ")
        self.send("\x04")

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)
