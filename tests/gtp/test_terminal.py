"""A person types commands in a terminal."""

import sys
import time
from collections.abc import Iterator

import pytest
from pseudo_terminal import Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """The program in a terminal whose line editing writes no escape sequences."""
    command = (sys.executable, "-m", "gtp_engine", "gtp", "--network", "none", "--visits", "10", "--threads", "1")
    program = Terminal(*command, term="dumb")
    yield program
    program.close()


def test_by_hand(terminal: Terminal) -> None:
    terminal.expect("gtp_engine: .*list_commands.*\n")
    terminal.send("boardsize 5\n")
    terminal.expect("=\r\n\r\n")
    terminal.send("nama\x7fe\n")  # edited with the backspace key
    terminal.expect("= gtp_engine\r\n\r\n")
    terminal.send("play b c3\nshowboard\n")
    terminal.expect(r"=\r\n   A B C D E\r\n 5 . . . . . 5\r\n")
    terminal.expect(r"White \(O\) to move.*\r\n\r\n")
    terminal.send("kata-analyze 5\n")
    terminal.expect("info move [^\n]*\n")
    terminal.send("quit\n")
    terminal.expect("\n=\r\n\r\n")
    assert terminal.wait() == 0
    assert terminal.is_restored


@pytest.mark.parametrize(("key", "status"), [("\x04", 0), ("\x03", 130)])
def test_end_key_and_interrupt_key(terminal: Terminal, key: str, status: int) -> None:
    terminal.expect("gtp_engine: .*\n")
    terminal.send("name\n")
    terminal.expect("= gtp_engine\r\n\r\n")
    # A key that comes before the next line is being edited is the terminal's to deal with: press again, as users do.
    while not terminal.has_ended:
        terminal.send(key)
        time.sleep(2)
    assert terminal.wait() == status
    assert terminal.is_restored
