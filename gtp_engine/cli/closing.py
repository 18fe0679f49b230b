"""Ending a program: one whose engine may still be compiling, and one that keeps what it has done."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..engine import Engine


def close_engine(engine: "Engine", status: int) -> None:
    """Closes the engine; where it is not ready yet the process ends here, with `status`.

    The first start compiles for up to a minute, which nothing can interrupt: somebody who pressed Ctrl-C would wait.
    """
    if not engine.ready.done():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    engine.close()


class Stoppable(Protocol):
    """What ends soon once it is stopped, and keeps all that is done."""

    stopped: bool


def end_on_signals(work: Stoppable) -> None:
    """The first Ctrl-C, or the wish of a system that shuts down, stops the work; a second Ctrl-C ends it at once."""

    def stop(number: int, frame: object) -> None:
        work.stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
