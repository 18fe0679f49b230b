"""How work is followed and how it ends early: by a time limit, a signal, or an error that is no bug."""

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ..base.errors import ProcessLostError


def resource_errors() -> tuple[type[Exception], ...]:
    """Returns the errors that a run may meet at any time, those of the system included; other errors of torch are bugs.

    Each is reported in one line, and everything saved before is kept. torch, which workers do without and which takes
    seconds to import, is asked only where it was imported before.
    """
    if "torch" not in sys.modules:
        return ProcessLostError, OSError, MemoryError
    from torch import OutOfMemoryError

    return ProcessLostError, OSError, MemoryError, OutOfMemoryError


class Stopped(Exception):
    """The work has to end now; what is finished is kept."""


class Limit:
    """Decides when work ends: `minutes` from now (None for no limit), or once it, or the `outer` limit, is stopped.

    Attributes:
        stopped: Setting it to True, also from a signal handler, ends the work soon.
    """

    def __init__(self, minutes: float | None = None, outer: "Limit | None" = None) -> None:
        self._minutes, self._outer = math.inf if minutes is None else minutes, outer
        self.stopped = False
        self.restart()

    def restart(self) -> None:
        """Counts the minutes from now on."""
        self._end = time.monotonic() + 60 * self._minutes

    @property
    def minutes_left(self) -> float:
        """The minutes until its end; infinite for no limit."""
        return max(0.0, self._end - time.monotonic()) / 60

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """Does not count the time of a `with` block."""
        start = time.monotonic()
        yield
        self._end += time.monotonic() - start

    def is_stopped(self) -> bool:
        """Returns whether the work was stopped, by whatever else than the time limit."""
        return self.stopped or (self._outer is not None and self._outer.stopped)

    def is_over(self) -> bool:
        """Returns whether the time limit is reached or the work was stopped."""
        return self.is_stopped() or time.monotonic() >= self._end

    def check(self) -> None:
        """Raises Stopped if the work has to end."""
        if self.is_over():
            raise Stopped


class Observer(Protocol):
    """Receives the progress; a class that overrides nothing ignores it."""

    def begin(self, title: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Called when a run starts or resumes, with its description and the lines of its log so far."""

    def message(self, text: str) -> None:
        """Called with a result of one step, such as the number of records that were read."""

    def skipped(self, text: str) -> None:
        """Called for each damaged record or file that is left out, and for each shard that is made again."""

    def progress(self, phase: str, done: int, total: int, facts: str = "") -> None:
        """Called about once a second, with what is being done, such as "reading games", and further facts, as speeds.

        `done` games, shards or samples are done of the `total` of this phase.
        """

    def line(self, line: Mapping[str, Any]) -> None:
        """Called with each new line of the log."""
