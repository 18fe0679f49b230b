"""Commands about the conversation, the engine's parameters, and the servers (GTP version 2, section 6.3.1).

Those about the conversation need no engine; `list_commands` and `known_command` are answered at once.
"""

import json
from typing import Any

from ....base import VERSION
from ....base.fields import Words
from ....base.messages import plural
from ....search.parameters import PARAMETERS
from ..session import COMMANDS, SYNTAX_ERROR, GtpError, Session, command

# The conversation.


@command("protocol_version")
def protocol_version(session: Session, arguments: list[str]) -> str:
    return "2"


@command("name")
def name(session: Session, arguments: list[str]) -> str:
    return session.name


@command("version")
def version(session: Session, arguments: list[str]) -> str:
    return session.version


@command("known_command", takes=1)
def known_command(session: Session, arguments: list[str]) -> str:
    return "true" if arguments[0] in COMMANDS else "false"


@command("list_commands")
def list_commands(session: Session, arguments: list[str]) -> str:
    # LizzieYzy recognises the list by `protocol_version` at its top.
    return "\n".join(sorted(COMMANDS, key=lambda name: (name != "protocol_version", name)))


@command("quit")
def quit_program(session: Session, arguments: list[str]) -> None:
    session.quitting = True


@command("stop")
def stop(session: Session, arguments: list[str]) -> None:
    """Does nothing itself: every line ends pondering and analysis."""


@command("cputime")
def cputime(session: Session, arguments: list[str]) -> str:
    """Returns the wall seconds spent on choosing moves so far, as in KataGo."""
    return f"{session.searching_seconds:.3f}"


# The limits of a move and the search's parameters, by our names and KataGo's.


@command("kata-list-params")
def kata_list_params(session: Session, arguments: list[str]) -> str:
    return " ".join(session.engine.parameter_names())


@command("kata-get-param", takes=1)
def kata_get_param(session: Session, arguments: list[str]) -> str:
    return _text(session.engine.parameter(arguments[0]))


@command("kata-get-params")
def kata_get_params(session: Session, arguments: list[str]) -> str:
    """Returns all parameters as one JSON object; a limit that is not set is null."""
    names = session.engine.parameter_names()
    return json.dumps({name: session.engine.parameter(name) for name in names}, separators=(",", ":"))


@command("kata-set-param", takes=2)
def kata_set_param(session: Session, arguments: list[str]) -> None:
    session.engine.set_parameter(arguments[0], arguments[1])


@command("kata-set-params")
def kata_set_params(session: Session, arguments: list[str]) -> None:
    """Sets the parameters of a JSON object, all of them or none."""
    before = session.engine.settings
    try:
        for name, value in _json_object(" ".join(arguments)).items():
            session.engine.set_parameter(name, value)
    except ValueError:
        session.engine.settings = before
        raise


def _json_object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise GtpError(SYNTAX_ERROR, "expected a JSON object of names and values")
    return {name: _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    """Returns a value as `kata-set-param` accepts it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


@command("gtp_engine-param", takes=(0, 2))
def param(session: Session, arguments: list[str]) -> str | None:
    """Serves GoGui's parameter window: lists all parameters with their types, or sets one.

    GoGui sends only the name for an empty field: that removes a limit and is an invalid value for other parameters.
    """
    if arguments:
        session.engine.set_parameter(arguments[0], "".join(arguments[1:]))
        return None
    engine = session.engine
    return "\n".join(_param_line(name, engine.parameter(name)) for name in engine.parameter_names())


def _param_line(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"[bool] {name} {int(value)}"
    if name in PARAMETERS and isinstance(accepts := PARAMETERS[name].metadata["accepts"], Words):
        return f"[list/{'/'.join(accepts.words)}] {name} {value}"
    return f"[string] {name} {_text(value)}"


# What KGS and CGOS send about the opponent.


@command("kgs-chat")
def kgs_chat(session: Session, arguments: list[str]) -> str:
    """Answers `game|private NAME MESSAGE...` with a summary of the last search."""
    report = session.last_report
    if report is None or not report.moves:
        return f"I am gtp_engine {VERSION}"
    best = report.moves[0]
    variation = " ".join(session.vertex(point) for point in best.pv)
    visits = plural(report.visits, "visit")
    return f"win rate {report.winrate:.0%}, score {report.lead:+.1f}, {visits}, expecting {variation}"


@command("cgos-opponent_name", "cgos-opponent_rating", "cgos-gameover")
def cgos_news(session: Session, arguments: list[str]) -> None:
    """Accepts the players and the result that CGOS announces; nothing depends on them."""
