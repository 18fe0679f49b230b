"""What GoGui's Analyze window shows: maps of the board, variations, the last search, the parameters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...game.coords import BLACK, WHITE, colour_letter, point_of_index, vertex
from ...wording import counted
from ..formats import grid
from ..graphics import influence, main_line, visit_map, win_rate_map
from ..protocol import GtpError
from ..registry import command
from ..session import Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...search.report import SearchReport

_SMALLEST_PRIOR = 0.005  # below it a label would only be noise
_SHOWN_MOVES = 10


def last_report(session: Session) -> "SearchReport":
    """The last search that found anything; GtpError where there is none."""
    if session.last_report is None or not session.last_report.moves:
        raise GtpError("nothing searched yet")
    return session.last_report


@command("gtp_engine-priors")
def priors(session: Session, arguments: list[str]) -> str:
    """The evaluator's policy in the present position, in per cent."""
    from ...search.search import Limits

    report = session.wait(session.engine.analyze(limits=Limits(visits=1)))
    highest = float(report.priors.max()) or 1.0
    points = [point_of_index(index, report.width, report.height) for index in range(len(report.priors))]
    cells = [
        (vertex(point, report.width, report.height), float(prior) / highest, f"{prior:.0%}".removesuffix("%"))
        for point, prior in zip(points, report.priors, strict=True)
        if prior >= _SMALLEST_PRIOR
    ]
    return influence(cells)


@command("gtp_engine-visits")
def visits(session: Session, arguments: list[str]) -> str:
    """The visits of the last search's moves."""
    return visit_map(last_report(session))


@command("gtp_engine-win_rates")
def win_rates(session: Session, arguments: list[str]) -> str:
    """The win rates of the last search's moves."""
    return win_rate_map(last_report(session))


@command("gtp_engine-ownership")
def ownership(session: Session, arguments: list[str]) -> str:
    """Who will own each point, 1 for black, row by row."""
    values = session.wait(session.engine.ownership())
    return "\n".join(grid(row) for row in values)


@command("gtp_engine-principal_variation")
def principal_variation(session: Session, arguments: list[str]) -> str:
    return main_line(last_report(session))


@command("gtp_engine-last_search")
def last_search(session: Session, arguments: list[str]) -> str:
    """The last search in words, a line a move."""
    report = last_report(session)
    lines = [
        f"{colour_letter(report.to_move)} to move: win rate {report.winrate:.1%}, lead {report.lead:+.1f},"
        f" {counted(report.visits, 'visit')} ({report.playouts} new) in {report.seconds:.2f} s"
    ]
    for move in report.moves[:_SHOWN_MOVES]:
        line = " ".join(vertex(point, report.width, report.height) for point in move.pv)
        values = f"win rate {move.winrate:.1%} lead {move.lead:+.1f} prior {move.prior:.1%}"
        lines.append(f"{counted(move.visits, 'visit'):>14} {values} line {line}")
    return "\n".join(lines)


@command("gtp_engine-pass_alive")
def pass_alive(session: Session, arguments: list[str]) -> str:
    """What each colour keeps even if it always passes (Benson)."""
    import numpy as np

    from ...game.life import find_pass_alive

    game = session.game
    owner = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, owner)
    return _marks(session, {"BLACK": owner == BLACK, "WHITE": owner == WHITE})


@command("gtp_engine-ladders")
def ladders(session: Session, arguments: list[str]) -> str:
    """Stones that a ladder catches (marked), and the moves that catch now (in circles)."""
    import numpy as np

    from ...game.ladders import find_ladders, new_workspace

    game = session.game
    caught, working = np.zeros(game.area, np.bool_), np.zeros(game.area, np.bool_)
    find_ladders(game.board[0], new_workspace(), caught, working)
    return _marks(session, {"MARK": caught, "CIRCLE": working})


def _marks(session: Session, marks: Mapping[str, "NDArray[np.bool_]"]) -> str:
    """GoGui's graphics for points in move-index order under each keyword."""
    lines = []
    for keyword, marked in marks.items():
        width, height = session.engine.width, session.engine.height
        names = [session.vertex(point_of_index(int(index), width, height)) for index in marked.nonzero()[0]]
        if names:
            lines.append(f"{keyword} {' '.join(names)}")
    return "\n".join(lines) or "CLEAR"
