"""How the programs of this package write Python's `logging` to stderr: a line for each record.

Modules log to `logging.getLogger(__name__)`. A program calls `log_to_stderr` once (`system.configure_process`); in
another program the records go to its own handlers.
"""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from logging.handlers import BufferingHandler

from .errors import error_place
from .messages import printable

LOGGER = "gtp_engine"  # the parent of the loggers of all modules
NOTICE = 25  # the level of what users and clients wait for: more than INFO, no WARNING
_LEVEL_VARIABLE = "GTP_ENGINE_LOG_LEVEL"  # takes the level to the processes that this one starts
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
    """Writes to the current `sys.stderr`; if that is closed or full, the game goes on."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                print(self.format(record), file=sys.stderr, flush=True)


def log_to_stderr() -> None:
    """Writes what this package logs to stderr, from NOTICE on or as `log_level` says; further calls change nothing."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, StderrHandler) for handler in logger.handlers):
        handler = StderrHandler()
        handler.setFormatter(OneLineFormatter())
        logger.addHandler(handler)
        level = os.environ.get(_LEVEL_VARIABLE, "")
        logger.setLevel(int(level) if level.isdecimal() else NOTICE)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Within a `with` block log messages wait for its end: they would hide the prompt at which somebody is typing."""
    logger, waiting = logging.getLogger(LOGGER), BufferingHandler(sys.maxsize)
    handlers, logger.handlers = logger.handlers, [waiting]
    try:
        yield
    finally:
        logger.handlers = handlers
        for record in waiting.buffer:
            for handler in handlers:
                handler.handle(record)


@contextlib.contextmanager
def log_level(level: int) -> Iterator[None]:
    """Within a `with` block, logs from this level on, also in processes that are started in it."""
    logger = logging.getLogger(LOGGER)
    before, variable = logger.level, os.environ.get(_LEVEL_VARIABLE)
    logger.setLevel(level)
    os.environ[_LEVEL_VARIABLE] = str(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        if variable is None:
            del os.environ[_LEVEL_VARIABLE]
        else:
            os.environ[_LEVEL_VARIABLE] = variable
