"""A person types commands in a terminal."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from conversation import PATIENCE, environment

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
termios = pytest.importorskip("termios", reason="no POSIX terminals on this system")


class Terminal:
    """The program in a pseudo-terminal."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.attributes = termios.tcgetattr(self.slave)
        command = [sys.executable, "-m", "gtp_engine", "gtp", "--network", "none", "--visits", "10", "--threads", "1"]
        self.process = subprocess.Popen(
            command, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment() | {"TERM": "dumb"}
        )
        self.text = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, pattern: str) -> None:
        """Reads until the pattern has been shown, and drops what stands up to its end."""
        deadline = time.monotonic() + PATIENCE
        while not (match := re.search(pattern, self.text)):
            assert time.monotonic() < deadline, self.text
            if select.select([self.master], [], [], 0.2)[0]:
                self.text += os.read(self.master, 65536).decode().replace("\r\n", "\n")
        self.text = self.text[match.end() :]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.process.kill()
    terminal.process.wait()
    os.close(terminal.master)
    os.close(terminal.slave)


def test_by_hand(terminal: Terminal) -> None:
    terminal.wait_for("gtp_engine: .*list_commands.*\n")
    terminal.type("boardsize 5\n")
    terminal.wait_for("=\n\n")
    terminal.type("nama\x7fe\n")  # edited with the backspace key
    terminal.wait_for("= gtp_engine\n\n")
    terminal.type("play b c3\nshowboard\n")
    terminal.wait_for(r"=\n   A B C D E\n 5 . . . . . 5\n")
    terminal.wait_for(r"White \(O\) to move.*\n\n")
    terminal.type("kata-analyze 5\n")
    terminal.wait_for("info move [^\n]*\n")
    terminal.type("quit\n")
    terminal.wait_for("\n=\n\n")
    assert terminal.process.wait(20) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.attributes


@pytest.mark.parametrize(("key", "status"), [("\x04", 0), ("\x03", 130)])
def test_end_key_and_interrupt_key(terminal: Terminal, key: str, status: int) -> None:
    terminal.wait_for("gtp_engine: .*\n")
    terminal.type("name\n")
    terminal.wait_for("= gtp_engine\n\n")
    # A key that comes before the next line is being edited is the terminal's to deal with: press again, as users do.
    deadline = time.monotonic() + PATIENCE
    while terminal.process.poll() is None:
        time.sleep(0.5)
        assert time.monotonic() < deadline
        if key == "\x03":
            # The key reaches the terminal's own process group; this one is in the test's.
            terminal.process.send_signal(signal.SIGINT)
        else:
            terminal.type(key)
        time.sleep(1.5)
    assert terminal.process.returncode == status
    assert termios.tcgetattr(terminal.slave) == terminal.attributes
