"""Lines and responses as GTP version 2 has them."""

import pytest

from gtp_engine.clients.gtp import protocol
from gtp_engine.clients.gtp.protocol import Command


def parsed(line: bytes) -> Command | None:
    return protocol.parse(protocol.clean(line))


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
    ],
)
def test_line(line: bytes, expected: Command | None) -> None:
    assert parsed(line) == expected


def test_digits_of_other_scripts_are_no_id() -> None:
    assert parsed("٣ name".encode()) == Command(None, "٣", ["name"])


def test_bytes_that_are_not_utf8_survive() -> None:
    command = parsed(b"loadsgf \xff\xfe.sgf")
    assert command is not None
    assert command.arguments[0].encode("utf-8", "surrogateescape") == b"\xff\xfe.sgf"


def test_endless_digits_are_no_id() -> None:
    assert protocol.parse_id("9" * 100_000) is None
    assert protocol.parse_id("0" * 100_000 + "12") == 12


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
    assert protocol.response(number, text, failed=failed) == expected
