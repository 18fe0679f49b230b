"""The core compiled ahead, for `make` and whoever installs for others: `python -m gtp_engine.cli.compiling`."""

import os
import sys
from concurrent.futures import wait
from typing import TYPE_CHECKING

from . import INTERRUPTED

if TYPE_CHECKING:
    from ..engine import Engine

_STEP = 0.2  # seconds; Windows does not interrupt a wait without a time limit


def wait_until_ready(engine: "Engine") -> None:
    """Waits until the engine is compiled and loaded, which shows itself on stderr where it takes long.

    Ctrl-C ends the process: nothing interrupts the compiler. Raises what kept the engine from starting.
    """
    try:
        while not engine.ready.done():
            wait([engine.ready], timeout=_STEP)
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    engine.ready.result()


def main() -> None:
    from ..engine import Engine

    with Engine() as engine:
        wait_until_ready(engine)


if __name__ == "__main__":
    main()
