"""Commands about the conversation itself (GTP version 2, section 6.3.1). None of them needs the engine."""

from ... import __version__
from ..arguments import expect
from ..registry import COMMANDS, command
from ..session import Session


@command("protocol_version")
def protocol_version(session: Session, arguments: list[str]) -> str:
    return "2"


@command("name")
def name(session: Session, arguments: list[str]) -> str:
    return "gtp_engine"


@command("version")
def version(session: Session, arguments: list[str]) -> str:
    return __version__


@command("known_command")
def known_command(session: Session, arguments: list[str]) -> str:
    expect(arguments, 1)
    return "true" if arguments[0] in COMMANDS else "false"


@command("list_commands")
def list_commands(session: Session, arguments: list[str]) -> str:
    return "\n".join(COMMANDS)


@command("quit")
def quit_program(session: Session, arguments: list[str]) -> None:
    session.quitting = True


@command("stop")
def stop(session: Session, arguments: list[str]) -> None:
    """Every line ends pondering and analysis, this one too."""


@command("cputime")
def cputime(session: Session, arguments: list[str]) -> str:
    """Wall seconds spent choosing moves so far, as KataGo counts."""
    return f"{session.searching_seconds:.3f}"
