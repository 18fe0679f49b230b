"""Ending a program whose engine may still be compiling."""

import os
import sys
from typing import TYPE_CHECKING

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
