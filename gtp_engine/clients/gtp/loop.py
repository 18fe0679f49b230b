"""The program that speaks GTP on standard input and output, from its first line to the end."""

import logging
import os
from typing import TYPE_CHECKING

from ...base import VERSION, interrupts
from ...base.log import NOTICE, log_to_stderr
from ...base.system import EXIT_INTERRUPTED
from . import program_commands  # noqa: F401  (which registers its commands, and those about the game)
from .lines import Inbox, is_terminal, take_standard_output, terminal_keeper
from .session import Session

if TYPE_CHECKING:
    from ...engine.engine import Engine

logger = logging.getLogger(__name__)


def run(engine: "Engine", *, name: str = "gtp_engine", version: str = VERSION) -> int:
    """Speaks GTP on standard input and output until `quit`, the end of input or SIGINT, and closes the engine.

    `name` and `version` are the responses to these commands. Returns the exit status.
    """
    log_to_stderr()  # a client that merges it into standard output must find no tracebacks there
    output = take_standard_output()
    inbox = Inbox()
    if not interrupts.is_ignored():
        inbox.heed_sigint()
    restore_terminal = terminal_keeper() if is_terminal() else (lambda: None)
    if is_terminal():
        logger.log(NOTICE, "GTP commands, one per line: list_commands, boardsize 9, genmove b, showboard; quit exits")
    else:
        logger.log(NOTICE, "GTP ready, beginning main protocol loop")  # KataGo's words, which some scripts wait for
    session = Session(engine, inbox, output, name=name, version=version)
    inbox.start_reading()
    try:
        status = session.converse()
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except SystemExit as gone:  # the client has gone
        status = int(gone.code or 0)
    has_closed = session.close()
    restore_terminal()  # last: until now the thread that reads lines may have prepared the terminal for another one
    if not has_closed:
        # The interpreter would wait for a thread that compiles, or crash it.
        os._exit(status)
    return status
