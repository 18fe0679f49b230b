"""Lines of a pipe, read by a daemon thread."""

import os
import sys
import threading
from collections.abc import Iterator
from queue import Queue

_CHUNK = 65536


def read_lines(descriptor: int, longest: int = sys.maxsize) -> Iterator[bytes]:
    """Yields the lines of a file descriptor without their line feeds, to its end; a last one without line feed counts.

    It reads the descriptor itself, which has no more lines once it is closed: a daemon thread inside a buffered reader
    makes the interpreter abort at exit, and `select` does not work with pipes on Windows.

    Of a line with more than `longest` bytes the first `longest` + 1 are yielded as soon as they are there, and the rest
    is dropped, so that a line without end takes no more memory.
    """
    line = bytearray()
    while chunk := _read(descriptor):
        for number, part in enumerate(chunk.split(b"\n")):
            if number:
                if len(line) <= longest:
                    yield bytes(line)
                line = bytearray()
            if len(line) <= longest:
                line += part[: longest + 1 - len(line)]
                if len(line) > longest:
                    yield bytes(line)
    if line and len(line) <= longest:
        yield bytes(line)


def lines_ahead(descriptor: int, longest: int, most: int) -> "Queue[bytes | None]":
    """Returns a queue of the lines of a file descriptor, as `read_lines` yields them, and None after the last one.

    A daemon thread reads them ahead, as the program may end while it waits: up to `most` that nobody has taken.
    """
    lines: Queue[bytes | None] = Queue(most)

    def read() -> None:
        for line in read_lines(descriptor, longest):
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, name="reader", daemon=True).start()
    return lines


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
