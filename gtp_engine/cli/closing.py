"""Ways to end a program: while its engine may still be compiling, and with its finished work kept."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol

from ..base import interrupts

if TYPE_CHECKING:
    from ..play.engine import Engine


def close_engine(engine: "Engine", status: int) -> None:
    """Closes the engine; if it is not ready yet, ends the process with `status`.

    The first start compiles for up to a minute, which nothing can interrupt: the user would wait after Ctrl-C.
    """
    if not engine.ready.done():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    engine.close()


class Stoppable(Protocol):
    """Work that ends soon after `stopped` is set, and keeps what is finished."""

    stopped: bool


def end_on_signals(work: Stoppable) -> None:
    """Stops the work at the first Ctrl-C or SIGTERM; a second Ctrl-C ends it at once."""

    def stop() -> None:
        work.stopped = True

    interrupts.note(stop)
    signal.signal(signal.SIGTERM, lambda number, frame: stop())
