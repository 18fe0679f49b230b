"""The command loop: it answers every line in order, even if a command fails."""

import logging
import os
from typing import TYPE_CHECKING

from ...base import VERSION
from ...base.errors import EXPECTED, answer_text
from ...base.log import NOTICE, log_to_stderr
from ...base.system import EXIT_INTERRUPTED
from .commands import COMMANDS
from .inbox import Inbox, is_terminal, terminal_keeper
from .output import ClientGoneError, take_standard_output
from .protocol import Command, GtpError
from .session import Session

if TYPE_CHECKING:
    from ...engine.engine import Engine

logger = logging.getLogger(__name__)


def run(engine: "Engine", *, name: str = "gtp_engine", version: str = VERSION, live_graphics: bool = False) -> int:
    """Speaks GTP on standard input and output until `quit`, the end of input or SIGINT, and closes the engine.

    Args:
        engine: The engine.
        name: The response to the command `name`.
        version: The response to the command `version`.
        live_graphics: Draw on GoGui's board while the engine thinks.

    Returns:
        The exit status.
    """
    log_to_stderr()  # a client that merges it into standard output must find no tracebacks there
    output = take_standard_output()
    inbox = Inbox()
    inbox.heed_sigint()
    restore_terminal = terminal_keeper() if is_terminal() else (lambda: None)
    if is_terminal():
        logger.log(NOTICE, "GTP commands, one per line: list_commands, boardsize 9, genmove b, showboard; quit exits")
    else:
        logger.log(NOTICE, "GTP ready, beginning main protocol loop")  # KataGo's words, which some scripts wait for
    session = Session(engine, inbox, output, name=name, version=version, live_graphics=live_graphics)
    inbox.start_reading()
    try:
        status = converse(session)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except ClientGoneError:
        status = 0
    has_closed = session.close()
    restore_terminal()  # last: until now the thread that reads lines may have prepared the terminal for another one
    if not has_closed:
        # The interpreter would wait for a thread that compiles, or crash it.
        os._exit(status)
    return status


def converse(session: Session) -> int:
    """Answers lines in order until the session ends; returns the exit status."""
    while not session.quitting:
        line = session.inbox.next_line()
        if line is None:
            return EXIT_INTERRUPTED if session.inbox.signalled else 0
        session.engine.stop()
        if line.command is not None:
            answer(session, line.command)
            session.watch_engine()  # the board's size may have changed the network
    return 0


def answer(session: Session, command: Command) -> None:
    """Runs one command and sends its response."""
    session.begin_response(command.id)
    try:
        handler = COMMANDS.get(command.name)
        if handler is None:
            raise GtpError("unknown command")
        session.end_response(handler(session, command.arguments) or "")
    except GtpError as error:
        if error.detail:
            logger.log(NOTICE, f"{command.name}: {error.detail}")
        session.end_response(str(error), failed=True)
    except ClientGoneError:
        raise
    except Exception as error:
        if not isinstance(error, EXPECTED):  # a bug
            logger.error(f"{command.name}: {answer_text(error)}", exc_info=error)
        session.end_response(answer_text(error), failed=True)
