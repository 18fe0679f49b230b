"""Compiles the core ahead of time, for `make` and for packagers: `python -m gtp_engine.clients.cli.compiling`."""

from ...base import interrupts
from ...base.system import configure_process, wait_for


def main() -> None:
    """Compiles the core into the cache."""
    configure_process()
    from ...engine.engine import Engine

    with interrupts.end_at_once(), Engine() as engine:
        wait_for(engine.ready)


if __name__ == "__main__":
    main()
