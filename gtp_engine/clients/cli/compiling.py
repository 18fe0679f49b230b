"""Compiles the core and the solver ahead, for `make` and packagers: `python -m gtp_engine.clients.cli.compiling`."""

from ...base import interrupts
from ...base.system import configure_process, wait_for


def main() -> None:
    """Compiles the core and the solver into the cache."""
    configure_process()
    from ...engine.engine import Engine
    from ...solver.ahead import prepare

    with interrupts.end_at_once(), Engine() as engine:
        wait_for(engine.ready)
        prepare()


if __name__ == "__main__":
    main()
