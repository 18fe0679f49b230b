"""GTP commands about the program: the conversation, parameters, servers (GTP version 2, section 6.3.1), and GoGui.

Those about the conversation need no engine; `list_commands` and `known_command` are answered at once. The commands of
GoGui's ruler, `gogui-rules_*`, stay unlisted: GoGui would treat the engine as a referee.
"""

import json
import os
from typing import Any

from ...base import VERSION
from ...base.fields import Words
from ...base.messages import plural
from ...base.nesting import parse_json
from ...go.coords import colour_letter
from ...search.parameters import PARAMETERS
from .formats import grid
from .game_commands import expect_empty, play_all, set_up
from .session import COMMANDS, SYNTAX_ERROR, GtpError, Session, colour, coloured_points, command

# type/Label/command, with %m for the colour to move (GoGui's documentation, "Analyze Commands").
ANALYZE_COMMANDS = (
    "dboard/Ownership/gtp_engine-ownership",
    "hstring/Last Search/gtp_engine-last_search",
    "param/Search Parameters/gtp_engine-param",
    "string/Final Score/final_score",
    "plist/Dead Stones/final_status_list dead",
)
_SHOWN_MOVES = 10

# The conversation.


command("protocol_version")(lambda session, arguments: "2")
command("name")(lambda session, arguments: session.name)
command("version")(lambda session, arguments: session.version)
command("known_command", takes=1)(lambda session, arguments: "true" if arguments[0] in COMMANDS else "false")
command("list_commands")(
    # LizzieYzy recognises the list by `protocol_version` at its top.
    lambda session, arguments: "\n".join(sorted(COMMANDS, key=lambda name: (name != "protocol_version", name)))
)


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


command("kata-list-params")(lambda session, arguments: " ".join(session.engine.parameter_names()))
command("kata-get-param", takes=1)(lambda session, arguments: _text(session.engine.parameter(arguments[0])))


@command("kata-get-params")
def kata_get_params(session: Session, arguments: list[str]) -> str:
    """Returns all parameters as one JSON object; a limit that is not set is null."""
    names = session.engine.parameter_names()
    return json.dumps({name: session.engine.parameter(name) for name in names}, separators=(",", ":"))


command("kata-set-param", takes=2)(lambda session, arguments: session.engine.set_parameter(*arguments))


@command("kata-set-params")
def kata_set_params(session: Session, arguments: list[str]) -> None:
    """Sets the parameters of a JSON object, all of them or none."""
    try:
        values = parse_json(" ".join(arguments))
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise GtpError(SYNTAX_ERROR, "expected a JSON object of names and values")
    before = session.engine.settings
    try:
        for name, value in values.items():
            session.engine.set_parameter(name, _text(value))
    except ValueError:
        session.engine.settings = before
        raise


@command("kata-get-models")
def kata_get_models(session: Session, arguments: list[str]) -> str:
    """Returns a JSON list of the network that is used; an empty one if none is."""
    from ...engine.worker import as_katago

    evaluator: Any = session.wait(session.engine.prepare())
    if session.engine.network is None:
        return "[]"
    return json.dumps([as_katago(evaluator, evaluator.name)], separators=(",", ":"))


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
    variation = " ".join(report.vertex(point) for point in best.pv)
    visits = plural(report.visits, "visit")
    return f"win rate {report.winrate:.0%}, score {report.lead:+.1f}, {visits}, expecting {variation}"


@command("cgos-opponent_name", "cgos-opponent_rating", "cgos-gameover")
def cgos_news(session: Session, arguments: list[str]) -> None:
    """Accepts the players and the result that CGOS announces; nothing depends on them."""


# GoGui, and what its Analyze window shows: the owners of the points, the last search.


command("gogui-analyze_commands")(lambda session, arguments: "\n".join(ANALYZE_COMMANDS))


@command("gogui-interrupt")
def gogui_interrupt(session: Session, arguments: list[str]) -> None:
    """Does nothing: being listed, it promises that the comment line `# interrupt` stops the running command."""


@command("gogui-sigint")
def gogui_sigint(session: Session, arguments: list[str]) -> str:
    """Returns the process id; from now on SIGINT stops the running command instead of the program."""
    session.inbox.signal_ends = False
    session.inbox.heed_sigint()  # also if it was ignored until now
    return str(os.getpid())


command("gogui-play_sequence")(lambda session, arguments: play_all(session, coloured_points(session, arguments)))


@command("gogui-setup")
def gogui_setup(session: Session, arguments: list[str]) -> None:
    """Sets up stones of both colours on the empty board."""
    stones = coloured_points(session, arguments)
    expect_empty(session)
    set_up(session, stones)


command("gogui-setup_player", takes=1)(lambda session, arguments: session.engine.set_to_move(colour(arguments[0])))


@command("gtp_engine-ownership")
def ownership(session: Session, arguments: list[str]) -> str:
    """Returns the expected owner of each point row by row, from -1 (White) to 1 (Black)."""
    values = session.wait(session.engine.ownership())
    return "\n".join(grid(row) for row in values)


@command("gtp_engine-last_search")
def last_search(session: Session, arguments: list[str]) -> str:
    """Returns the last search in words, one line per move; a move chosen without a search has none."""
    report = session.last_report
    if report is None:
        raise GtpError("nothing searched yet")
    lines = [
        f"{colour_letter(report.to_move)} to move: win rate {report.winrate:.1%}, lead {report.lead:+.1f},"
        f" {plural(report.visits, 'visit')} ({report.new_visits} new) in {report.seconds:.2f} s"
    ]
    for move in report.searched[:_SHOWN_MOVES]:
        line = " ".join(report.vertex(point) for point in move.pv)
        values = f"win rate {move.winrate:.1%} lead {move.lead:+.1f} prior {move.prior:.1%}"
        lines.append(f"{plural(move.visits, 'visit'):>14} {values} line {line}")
    return "\n".join(lines)
