"""How the programs of this package write Python's `logging` to stderr: a line for each record.

Modules log to `logging.getLogger(__name__)`. A program calls `log_to_stderr` once (`system.configure_process`); in
another program the records go to its own handlers.
"""

import contextlib
import logging
import sys

from .errors import error_place
from .messages import printable

LOGGER = "gtp_engine"  # the parent of the loggers of all modules
_LONGEST = 1000


class OneLineFormatter(logging.Formatter):
    """Formats a record as `gtp_engine: message`, with the place in parentheses that its exception came from."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns one line of printable characters that no GTP client mistakes for a response.

        Lizzie merges stderr into stdout, and gtp2ogs reads ` -> ` as Leela Zero's form of a search report.
        """
        text = record.getMessage()[:_LONGEST]
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({error_place(record.exc_info[1])})"
        text = " ".join(text.split()).replace(" -> ", " to ")
        return f"gtp_engine: {printable(text)}"


class StderrHandler(logging.Handler):
    """Writes to the `sys.stderr` of the moment; a closed or full one ends no game."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                print(self.format(record), file=sys.stderr, flush=True)


def log_to_stderr() -> None:
    """Writes what this package logs to stderr, from level INFO on. Further calls change nothing."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, StderrHandler) for handler in logger.handlers):
        handler = StderrHandler()
        handler.setFormatter(OneLineFormatter())
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
