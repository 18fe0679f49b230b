"""GoGui's graphics (its documentation, "Analyze Commands", type gfx): shaded points, labels, variations."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..base.messages import plural
from ..game.coords import BLACK, colour_letter, opponent
from .formats import decimal

if TYPE_CHECKING:
    from ..search.report import SearchReport

_LIVE_STONES = 10  # of the main line while the engine thinks: more would cover the counts


def influence(values: Iterable[tuple[str, float, str]]) -> str:
    """Returns graphics that shade and label points.

    Args:
        values: Vertex, shade in -1..1, and label of each point; passes are left out.
    """
    drawn = [value for value in values if value[0] != "pass"]
    shades = " ".join(f"{name} {decimal(shade, 3)}" for name, shade, _ in drawn)
    labels = " ".join(f"{name} {label}" for name, _, label in drawn)
    return f"INFLUENCE {shades}\nLABEL {labels}" if drawn else "CLEAR"


def main_line(report: "SearchReport", most: int | None = None) -> str:
    """Returns graphics that show the main line, or its first `most` moves, as numbered stones."""
    players = (report.to_move, opponent(report.to_move))
    moves = enumerate(report.moves[0].pv[:most])
    stones = (f"{colour_letter(players[n % 2])} {report.vertex(point)}" for n, point in moves)
    return "VAR " + " ".join(stones)


def visit_map(report: "SearchReport", least: int = 0) -> str:
    """Returns graphics with the visits of each move that has `least` or more; the most visited is the darkest."""
    most = max(move.visits for move in report.moves) or 1
    return influence(
        (report.vertex(move.point), move.visits / most, str(move.visits))
        for move in report.moves
        if move.visits >= min(least, most)
    )


def win_rate_map(report: "SearchReport") -> str:
    """Returns graphics with the win rate of each visited move, in per cent for the side to move; dark favours Black."""
    sign = 1 if report.to_move == BLACK else -1
    moves = [move for move in report.moves if move.visits > 0]
    return influence(
        (
            report.vertex(move.point),
            sign * (2 * move.winrate - 1),
            f"{100 * move.winrate:.0f}",
        )
        for move in moves
    )


def show_live(report: "SearchReport") -> None:
    """Writes the visits, the main line and a status text to stderr, where GoGui reads its live graphics.

    Moves with a single visit are left out: there are dozens of them.
    """
    if not report.moves:
        return
    text = f"TEXT {plural(report.visits, 'visit')}, win rate {report.winrate:.1%}, lead {report.lead:+.1f}"
    sys.stderr.write(f"gogui-gfx:\n{visit_map(report, 2)}\n{main_line(report, _LIVE_STONES)}\n{text}\n\n")
    sys.stderr.flush()
