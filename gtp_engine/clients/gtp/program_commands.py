"""GTP commands about the program: the conversation, parameters, servers (GTP version 2, section 6.3.1), and GoGui.

Those about the conversation need no engine; `list_commands` and `known_command` are answered at once. The commands of
GoGui's ruler, `gogui-rules_*`, stay unlisted: GoGui would treat the engine as a referee.
"""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...base import VERSION
from ...base.fields import Words
from ...base.messages import plural
from ...base.nesting import parse_json
from ...go.coords import BLACK, WHITE, colour_letter, point_of_index
from ...search.parameters import PARAMETERS
from ...search.request import Limits
from .formats import grid, influence, main_line, visit_map, win_rate_map
from .game_commands import expect_empty, play_all, set_up
from .session import COMMANDS, SYNTAX_ERROR, GtpError, Session, colour, coloured_points, command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...search.report import SearchReport

# type/Label/command, with %m for the colour to move (GoGui's documentation, "Analyze Commands").
ANALYZE_COMMANDS = (
    "gfx/Priors/gtp_engine-priors",
    "gfx/Visits/gtp_engine-visits",
    "gfx/Win Rates/gtp_engine-win_rates",
    "dboard/Ownership/gtp_engine-ownership",
    "gfx/Principal Variation/gtp_engine-principal_variation",
    "gfx/Pass-Alive/gtp_engine-pass_alive",
    "gfx/Ladders/gtp_engine-ladders",
    "hstring/Last Search/gtp_engine-last_search",
    "param/Search Parameters/gtp_engine-param",
    "string/Final Score/final_score",
    "plist/Dead Stones/final_status_list dead",
)
_SMALLEST_PRIOR = 0.005  # smaller ones get no label
_SHOWN_MOVES = 10
# What a map needs if the position has hardly been searched; visits of earlier searches count.
_MAP_LIMITS = Limits(visits=100, seconds=1.0)

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


# GoGui, and what its Analyze window shows: maps of the board, variations, the last search.


command("gogui-analyze_commands")(lambda session, arguments: "\n".join(ANALYZE_COMMANDS))


@command("gogui-interrupt")
def gogui_interrupt(session: Session, arguments: list[str]) -> None:
    """Does nothing: being listed, it promises that the comment line `# interrupt` stops the running command."""


@command("gogui-sigint")
def gogui_sigint(session: Session, arguments: list[str]) -> str:
    """Returns the process id; from now on SIGINT stops the running command instead of the program."""
    session.inbox.signal_ends = False
    return str(os.getpid())


command("gogui-play_sequence")(lambda session, arguments: play_all(session, coloured_points(session, arguments)))


@command("gogui-setup")
def gogui_setup(session: Session, arguments: list[str]) -> None:
    """Sets up stones of both colours on the empty board."""
    stones = coloured_points(session, arguments)
    expect_empty(session)
    set_up(session, stones)


command("gogui-setup_player", takes=1)(lambda session, arguments: session.engine.set_to_move(colour(arguments[0])))


def present_report(session: Session) -> "SearchReport":
    """Searches the position on the board a little and returns all that is known; raises GtpError if that is nothing."""
    report = session.wait(session.engine.analyze(session.engine.request(limits=_MAP_LIMITS)))
    if not report.moves:
        raise GtpError("the search ended before it had tried a move")
    return report


@command("gtp_engine-priors")
def priors(session: Session, arguments: list[str]) -> str:
    """Returns the evaluator's policy in the current position, in per cent."""
    report = session.wait(session.engine.analyze(session.engine.request(limits=Limits(visits=1))))
    highest = float(report.priors.max()) or 1.0
    points = [point_of_index(index, report.width, report.height) for index in range(len(report.priors))]
    cells = [
        (report.vertex(point), float(prior) / highest, f"{prior:.0%}".removesuffix("%"))
        for point, prior in zip(points, report.priors, strict=True)
        if prior >= _SMALLEST_PRIOR
    ]
    return influence(cells)


@command("gtp_engine-visits")
def visits(session: Session, arguments: list[str]) -> str:
    """Returns the visits of the moves in the current position."""
    return visit_map(present_report(session))


@command("gtp_engine-win_rates")
def win_rates(session: Session, arguments: list[str]) -> str:
    """Returns the win rates of the moves in the current position, for the player to move."""
    return win_rate_map(present_report(session))


@command("gtp_engine-ownership")
def ownership(session: Session, arguments: list[str]) -> str:
    """Returns the expected owner of each point row by row, from -1 (White) to 1 (Black)."""
    values = session.wait(session.engine.ownership())
    return "\n".join(grid(row) for row in values)


@command("gtp_engine-principal_variation")
def principal_variation(session: Session, arguments: list[str]) -> str:
    """Returns the main line from the current position."""
    return main_line(present_report(session))


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
    for move in report.moves[:_SHOWN_MOVES]:
        line = " ".join(report.vertex(point) for point in move.pv)
        values = f"win rate {move.winrate:.1%} lead {move.lead:+.1f} prior {move.prior:.1%}"
        lines.append(f"{plural(move.visits, 'visit'):>14} {values} line {line}")
    return "\n".join(lines)


@command("gtp_engine-pass_alive")
def pass_alive(session: Session, arguments: list[str]) -> str:
    """Returns the points that are pass-alive for each colour (Benson)."""
    import numpy as np

    from ...go.benson import find_pass_alive

    game = session.game
    owner = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, owner)
    return _marks(session, {"BLACK": owner == BLACK, "WHITE": owner == WHITE})


@command("gtp_engine-ladders")
def ladders(session: Session, arguments: list[str]) -> str:
    """Returns the stones that are caught in a ladder (marked) and the moves that start a ladder (circles)."""
    import numpy as np

    from ...go.ladders import find_ladders, new_workspace

    game = session.game
    caught, working = np.zeros(game.area, np.bool_), np.zeros(game.area, np.bool_)
    find_ladders(game.board[0], new_workspace(), caught, working)
    return _marks(session, {"MARK": caught, "CIRCLE": working})


def _marks(session: Session, marks: Mapping[str, "NDArray[np.bool_]"]) -> str:
    """Returns GoGui's graphics for each keyword's points, given in move-index order."""
    lines = []
    for keyword, marked in marks.items():
        width, height = session.engine.width, session.engine.height
        names = [session.vertex(point_of_index(int(index), width, height)) for index in marked.nonzero()[0]]
        if names:
            lines.append(f"{keyword} {' '.join(names)}")
    return "\n".join(lines) or "CLEAR"
