"""GoGui's graphics (its documentation, "Analyze Commands", type gfx): shaded points, labels, variations."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..game.coords import BLACK, colour_letter, opponent, vertex
from ..wording import counted
from .formats import decimal

if TYPE_CHECKING:
    from ..search.report import SearchReport


def influence(values: Iterable[tuple[str, float, str]]) -> str:
    """Shaded and labelled points of (vertex, shade in -1..1, label); a pass cannot be drawn."""
    drawn = [value for value in values if value[0] != "pass"]
    shades = " ".join(f"{name} {decimal(shade, 3)}" for name, shade, _ in drawn)
    labels = " ".join(f"{name} {label}" for name, _, label in drawn)
    return f"INFLUENCE {shades}\nLABEL {labels}" if drawn else "CLEAR"


def main_line(report: "SearchReport") -> str:
    """The main line as stones with numbers."""
    players = (report.to_move, opponent(report.to_move))
    moves = enumerate(report.moves[0].pv)
    stones = (f"{colour_letter(players[n % 2])} {vertex(point, report.width, report.height)}" for n, point in moves)
    return "VAR " + " ".join(stones)


def visit_map(report: "SearchReport") -> str:
    """The visits of each move, the most visited the darkest."""
    most = max(move.visits for move in report.moves) or 1
    names = [vertex(move.point, report.width, report.height) for move in report.moves]
    visits = [move.visits for move in report.moves]
    return influence((name, count / most, str(count)) for name, count in zip(names, visits, strict=True))


def win_rate_map(report: "SearchReport") -> str:
    """The win rate of each visited move in per cent for the side to move; good for black is dark."""
    sign = 1 if report.to_move == BLACK else -1
    moves = [move for move in report.moves if move.visits > 0]
    return influence(
        (
            vertex(move.point, report.width, report.height),
            sign * (2 * move.winrate - 1),
            f"{100 * move.winrate:.0f}",
        )
        for move in moves
    )


def show_live(report: "SearchReport") -> None:
    """Sends the visits, the main line and a status text to GoGui's live graphics, on stderr."""
    if not report.moves:
        return
    text = f"TEXT {counted(report.visits, 'visit')}, win rate {report.winrate:.1%}, lead {report.lead:+.1f}"
    sys.stderr.write(f"gogui-gfx:\n{visit_map(report)}\n{main_line(report)}\n{text}\n\n")
    sys.stderr.flush()
