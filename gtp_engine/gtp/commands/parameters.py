"""The limits of a move and the search's parameters, by our names and KataGo's."""

import json
from typing import Any

from ..arguments import SYNTAX_ERROR, expect
from ..protocol import GtpError
from ..registry import command
from ..session import Session


@command("kata-list-params")
def kata_list_params(session: Session, arguments: list[str]) -> str:
    return " ".join(session.engine.parameter_names())


@command("kata-get-param")
def kata_get_param(session: Session, arguments: list[str]) -> str:
    expect(arguments, 1)
    return _text(session.engine.parameter(arguments[0]))


@command("kata-get-params")
def kata_get_params(session: Session, arguments: list[str]) -> str:
    """All of them as one JSON object; a limit that is not set is null."""
    names = session.engine.parameter_names()
    return json.dumps({name: session.engine.parameter(name) for name in names}, separators=(",", ":"))


@command("kata-set-param")
def kata_set_param(session: Session, arguments: list[str]) -> None:
    expect(arguments, 2)
    session.engine.set_parameter(arguments[0], arguments[1])


@command("kata-set-params")
def kata_set_params(session: Session, arguments: list[str]) -> None:
    """A JSON object of names and values: all of them are set, or none."""
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
    """A value as `kata-set-param` takes it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


@command("gtp_engine-param")
def param(session: Session, arguments: list[str]) -> str | None:
    """GoGui's parameter window: all of them with their types, or one to set. A field that somebody has emptied comes as
    a name alone: it takes a limit away, and is no value of anything else."""
    expect(arguments, 0, 2)
    if arguments:
        session.engine.set_parameter(arguments[0], "".join(arguments[1:]))
        return None
    engine = session.engine
    return "\n".join(_param_line(name, engine.parameter(name)) for name in engine.parameter_names())


def _param_line(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"[bool] {name} {int(value)}"
    return f"[string] {name} {_text(value)}"
