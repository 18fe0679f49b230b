"""Standard output, kept for GTP alone: whatever else writes to file descriptor 1 ends up on stderr."""

import contextlib
import os


class ClientGoneError(Exception):
    """Nobody takes the responses any more."""


class Output:
    """Where responses go. Every write is complete and reaches the client before the next command is read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        make_blocking(descriptor)

    def write(self, text: str) -> None:
        """Raises ClientGoneError where that is not possible."""
        data = memoryview(text.encode("utf-8", "replace"))
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise ClientGoneError from error


def make_blocking(descriptor: int) -> None:
    """Some clients hand over descriptors that do not block: a full pipe would be an error."""
    with contextlib.suppress(AttributeError, OSError):  # Windows before Python 3.12; closed
        os.set_blocking(descriptor, True)


def take_standard_output() -> Output:
    """Moves GTP to a duplicate of file descriptor 1, which then points to stderr (to the null device without one)."""
    output = Output(os.dup(1))
    try:
        os.dup2(2, 1)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    return output
