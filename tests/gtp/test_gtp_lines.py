"""Lines and responses as GTP version 2 has them."""

import threading
import time

import pytest

from gtp_engine.clients.gtp import lines
from gtp_engine.clients.gtp.lines import Command, Inbox, parse_line, response


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"name", Command(None, "name", [])),
        (b"7 play b D4", Command(7, "play", ["b", "D4"])),
        (b"0 name", Command(0, "name", [])),
        (b"007 name", Command(7, "name", [])),
        (b"2147483647 name", Command(2147483647, "name", [])),
        (b"2147483648 name", Command(None, "2147483648", ["name"])),
        (b"-1 name", Command(None, "-1", ["name"])),
        (b"5", Command(5, "", [])),
        (b"name\r", Command(None, "name", [])),
        (b"\xef\xbb\xbf1 name", Command(1, "name", [])),
        (b"play\tb\t\tD4\t", Command(None, "play", ["b", "D4"])),
        (b"na\x00me\x07 \x7f", Command(None, "name", [])),
        (b"play b D4 # good move", Command(None, "play", ["b", "D4"])),
        (b"name#comment", Command(None, "name", [])),
        (b"   name   ", Command(None, "name", [])),
        (b"", None),
        (b"  \t \r", None),
        (b"# name", None),
        (b"\x01\x02", None),
        ("٣ name".encode(), Command(None, "٣", ["name"])),  # digits of other scripts are no id
        (b"0" * 100_000 + b"12 name", Command(12, "name", [])),
        (b"9" * 100_000, Command(None, "9" * 100_000, [])),
        (b"loadsgf \xff\xfe.sgf", Command(None, "loadsgf", ["\udcff\udcfe.sgf"])),  # not UTF-8
    ],
)
def test_line(line: bytes, expected: Command | None) -> None:
    assert parse_line(line).command == expected


@pytest.mark.parametrize(("line", "is_urgent"), [(b"2 quit", True), (b"# interrupt", True), (b"# quit", False)])
def test_urgent_lines(line: bytes, is_urgent: bool) -> None:
    assert parse_line(line).is_urgent == is_urgent


def test_a_long_script_does_not_slow_down_its_commands() -> None:
    inbox = Inbox()
    for _ in range(lines._MOST_WAITING - 1):
        inbox.post_line(b"undo")
    inbox.receive()
    start = time.perf_counter()
    assert not any(inbox.is_in_a_hurry for _ in range(1000))
    assert time.perf_counter() - start < 1  # if each went through the lines that wait, 4 s
    inbox.post_line(b"quit")
    inbox.receive()
    assert inbox.is_in_a_hurry


def test_a_client_that_never_stops_waits_for_the_answers() -> None:
    inbox = Inbox()
    posted: list[int] = []

    def post() -> None:
        for number in range(lines._MOST_WAITING + 2):
            inbox.post_line(b"undo")
            posted.append(number)

    threading.Thread(target=post, daemon=True).start()
    while len(posted) < lines._MOST_WAITING:
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(posted) == lines._MOST_WAITING
    for more in (1, 2):
        assert inbox.next_line() is not None
        while len(posted) < lines._MOST_WAITING + more:
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "text", "failed", "expected"),
    [
        (None, "", False, "=\n\n"),
        (None, "D4", False, "= D4\n\n"),
        (12, "", False, "=12\n\n"),
        (0, "D4", False, "=0 D4\n\n"),
        (3, "illegal move", True, "?3 illegal move\n\n"),
        (None, "a\nb\n", False, "= a\nb\n\n"),
        (None, "a\n\n  \nb  \n\n", False, "= a\nb\n\n"),
        (None, "\nA B\n1 2", False, "=\nA B\n1 2\n\n"),
        (None, "one\x00\x85\u2028two", True, "? one???two\n\n"),
        (None, "caf\u00e9", False, "= caf\u00e9\n\n"),
        (None, "山田\u3000太郎", False, "= 山田\u3000太郎\n\n"),
    ],
)
def test_response(number: int | None, text: str, failed: bool, expected: str) -> None:
    assert response(number, text, failed=failed) == expected
