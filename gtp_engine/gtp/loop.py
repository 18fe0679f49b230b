"""The command loop: one line after the other is answered, whatever happens."""

import os
from typing import TYPE_CHECKING

from ..log import log
from ..wording import reason
from . import protocol
from .commands import COMMANDS
from .inbox import Inbox
from .output import ClientGoneError, take_standard_output
from .protocol import Command, GtpError
from .reader import is_terminal, start_reader, terminal_keeper
from .session import Session

if TYPE_CHECKING:
    from ..engine import Engine

INTERRUPTED = 130  # the exit status that shells give for SIGINT


def run(engine: "Engine", *, live_graphics: bool = False) -> int:
    """Speaks GTP on standard input and output until `quit`, the end of input or SIGINT; the exit status.

    It closes the engine. `live_graphics` draws on GoGui's board while the engine thinks.
    """
    output = take_standard_output()
    inbox = Inbox()
    inbox.heed_sigint()
    restore_terminal = terminal_keeper() if is_terminal() else (lambda: None)
    if is_terminal():
        log("GTP commands, one a line: try list_commands, boardsize 9, genmove b, showboard; quit ends")
    else:
        log("GTP ready, beginning main protocol loop")  # KataGo's words, which some scripts wait for
    session = Session(engine, inbox, output, live_graphics=live_graphics)
    start_reader(inbox)
    try:
        status = converse(session)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except ClientGoneError:
        status = 0
    restore_terminal()
    if not session.close():
        # The interpreter would wait for, or crash, a thread that compiles.
        os._exit(status)
    return status


def converse(session: Session) -> int:
    """Answers lines in order; the exit status."""
    while not session.quitting:
        line = session.inbox.next_line()
        if line is None:
            return INTERRUPTED if session.inbox.signalled else 0
        session.engine.stop()
        command = protocol.parse(line)
        if command is not None:
            answer(session, command)
            session.watch_engine()  # the board's size may have changed the network
    return 0


def answer(session: Session, command: Command) -> None:
    """Sends one response."""
    session.begin_response(command.id)
    try:
        handler = COMMANDS.get(command.name)
        if handler is None:
            raise GtpError("unknown command")
        session.end_response(handler(session, command.arguments) or "")
    except GtpError as error:
        if error.detail:
            log(f"{command.name}: {error.detail}")
        session.end_response(str(error), failed=True)
    except ClientGoneError:
        raise
    except (ValueError, OSError) as error:
        session.end_response(reason(error), failed=True)
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {reason(error)}"
        log(f"{command.name}: {text} ({_place(error)})")
        session.end_response(text, failed=True)


def _place(error: Exception) -> str:
    """Where an error came from, in one line: a traceback's end without a traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "unknown place"
