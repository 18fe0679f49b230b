"""Standard output, reserved for GTP: whatever else writes to file descriptor 1 ends up on stderr."""

import contextlib
import os
import select


class ClientGoneError(Exception):
    """The client no longer reads the responses."""


class Output:
    """The stream of responses. Every write is complete and reaches the client before the next command is read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        make_blocking(descriptor)

    def write(self, text: str) -> None:
        """Writes all of the text; raises ClientGoneError if the client has closed the stream."""
        data = memoryview(text.encode("utf-8", "replace"))
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise ClientGoneError from error

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
