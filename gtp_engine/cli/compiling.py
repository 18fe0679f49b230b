"""Compiles the core ahead of time, for `make` and for packagers: `python -m gtp_engine.cli.compiling`."""

from typing import TYPE_CHECKING

from ..base import interrupts
from ..base.system import configure_process, wait_for

if TYPE_CHECKING:
    from ..play.engine import Engine


def wait_until_ready(engine: "Engine") -> None:
    """Waits until the engine is compiled and loaded; a long compilation is reported on stderr.

    Raises the error that kept the engine from starting.
    """
    wait_for(engine.ready)
    engine.ready.result()


def main() -> None:
    """Compiles the core into the cache."""
    configure_process()
    from ..play.engine import Engine

    with interrupts.end_at_once(), Engine() as engine:
        wait_until_ready(engine)


if __name__ == "__main__":
    main()
