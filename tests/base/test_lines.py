"""Lines of a pipe, however they are cut."""

import os
import threading
from collections.abc import Iterator

import pytest

from gtp_engine.base.lines import read_lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def lines_of(pipe: tuple[int, int], *parts: bytes, longest: int | None = None) -> list[bytes]:
    """What is read of parts that are written one after the other."""
    reading, writing = pipe

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as file:
            for part in parts:
                file.write(part)

    thread = threading.Thread(target=write)
    thread.start()
    found = list(read_lines(reading) if longest is None else read_lines(reading, longest))
    thread.join()
    return found


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ((), []),
        ((b"",), []),
        ((b"\n",), [b""]),
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a\n\nb",), [b"a", b"", b"b"]),
        ((b"a", b"b\nc", b"d\n"), [b"ab", b"cd"]),
        ((b"x" * 200_000 + b"\n", b"y" * 70_000), [b"x" * 200_000, b"y" * 70_000]),
    ],
)
def test_lines_without_their_feeds(pipe: tuple[int, int], parts: tuple[bytes, ...], lines: list[bytes]) -> None:
    assert lines_of(pipe, *parts) == lines


def test_a_line_that_is_too_long_is_cut_and_its_rest_dropped(pipe: tuple[int, int]) -> None:
    parts = (b"abc\nabcd\n", b"x" * 200_000, b"yz\nab\n", b"endless" * 5)
    assert lines_of(pipe, *parts, longest=3) == [b"abc", b"abcd", b"xxxx", b"ab", b"endl"]


def test_a_line_without_end_is_given_before_it_ends(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"x" * 100)
    assert next(read_lines(reading, 10)) == b"x" * 11
    os.close(writing)


def test_a_closed_descriptor_has_no_lines(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    assert list(read_lines(10**6)) == []
