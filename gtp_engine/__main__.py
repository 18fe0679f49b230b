"""The program `gtp_engine`, which `python -m gtp_engine` starts as well."""

import signal


def run() -> None:
    """Runs the program; Ctrl-C ends it while it is imported, without the traceback of an import."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as that of a script's background job is
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gtp_engine.clients.cli import main

    main(prog_name="gtp_engine")


if __name__ == "__main__":
    run()
