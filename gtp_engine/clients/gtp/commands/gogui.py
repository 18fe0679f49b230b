"""GoGui's own commands, and what its Analyze window shows: maps of the board, variations, the last search.

The commands of its ruler, `gogui-rules_*`, stay unlisted: GoGui would treat the engine as a referee.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....base.messages import plural
from ....go.coords import BLACK, WHITE, colour_letter, point_of_index
from ....search.request import Limits
from ..formats import grid, influence, main_line, visit_map, win_rate_map
from ..session import GtpError, Session, colour, coloured_points, command
from .game import expect_empty, play_all, set_up

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ....search.report import SearchReport

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


@command("gogui-analyze_commands")
def gogui_analyze_commands(session: Session, arguments: list[str]) -> str:
    return "\n".join(ANALYZE_COMMANDS)


@command("gogui-interrupt")
def gogui_interrupt(session: Session, arguments: list[str]) -> None:
    """Does nothing: being listed, it promises that the comment line `# interrupt` stops the running command."""


@command("gogui-sigint")
def gogui_sigint(session: Session, arguments: list[str]) -> str:
    """Returns the process id; from now on SIGINT stops the running command instead of the program."""
    session.inbox.signal_ends = False
    return str(os.getpid())


@command("gogui-play_sequence")
def gogui_play_sequence(session: Session, arguments: list[str]) -> None:
    play_all(session, coloured_points(session, arguments))


@command("gogui-setup")
def gogui_setup(session: Session, arguments: list[str]) -> None:
    """Sets up stones of both colours on the empty board."""
    stones = coloured_points(session, arguments)
    expect_empty(session)
    set_up(session, stones)


@command("gogui-setup_player", takes=1)
def gogui_setup_player(session: Session, arguments: list[str]) -> None:
    session.engine.set_to_move(colour(arguments[0]))


# What GoGui's Analyze window shows.


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

    from ....go.benson import find_pass_alive

    game = session.game
    owner = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, owner)
    return _marks(session, {"BLACK": owner == BLACK, "WHITE": owner == WHITE})


@command("gtp_engine-ladders")
def ladders(session: Session, arguments: list[str]) -> str:
    """Returns the stones that are caught in a ladder (marked) and the moves that start a ladder (circles)."""
    import numpy as np

    from ....go.ladders import find_ladders, new_workspace

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
