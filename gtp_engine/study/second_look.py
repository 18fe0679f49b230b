"""A second, longer look at the moves that seem to have cost the most.

The most costly mistakes are the largest of many inexact numbers, so chance puts moves on the list that were not bad at
all. Before a mistake is listed, the positions before and after it are therefore searched anew, both with the same
longer limits. The new values replace the old ones, which were chosen for being large.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..search.report import SearchReport
from .mistakes import LISTED, Unit, cost, drop, find_mistakes, least_cost
from .record_searches import RecordSearches
from .review import MoveReview

SECOND_LOOK_FACTOR = 4  # times the limits of the first look
# The positions that may be looked at again: the work is then about that of the first look. If only a few moves are
# reviewed it may be more, as many positions as make ten moves.
_SHARE, _FEWEST = 1 / SECOND_LOOK_FACTOR, 2 * LISTED


def look_again(
    searches: RecordSearches, moves: Sequence[MoveReview], by: Unit = "points", player: int | None = None
) -> Iterator[tuple[MoveReview, ...]]:
    """Searches the positions of the most costly moves again, until all mistakes that will be listed have been checked.

    A move with which the value falls is a candidate even if the search prefers it: a longer one may find a better move.

    Args:
        searches: The record, and how its moves were reviewed.
        moves: The reviewed moves in order.
        by: What the cost of a mistake is measured in.
        player: Only this player's moves are judged; None for both players' moves.

    Yields:
        All moves with what is known so far, after each position.
    """
    seed = None if searches.seed is None else searches.seed + 1  # other symmetries than those of the first look
    longer = replace(searches, limits=searches.limits.times(SECOND_LOOK_FACTOR), seed=seed)
    reports = {number: report for move in moves for number, report in _ends(move)}
    most = max(_FEWEST, int(_SHARE * len(reports)))
    checked: set[int] = set()
    known = tuple(moves)
    while positions := _next_positions(_candidates(known, by, player), checked, most):
        found = 0
        for number, report in zip(positions, longer.reports(positions), strict=False):
            reports[number] = report
            checked.add(number)
            found += 1
            known = tuple(_updated(move, reports, checked) for move in known)
            yield known
        if found < len(positions):  # the review was stopped
            return


def _ends(move: MoveReview) -> list[tuple[int, SearchReport]]:
    return [(move.number - 1, move.before), (move.number, move.after)]


def _updated(move: MoveReview, reports: dict[int, SearchReport], checked: set[int]) -> MoveReview:
    """Returns a move with the present reports of the positions before and after it."""
    ends = (move.number - 1, move.number)
    before, after = (reports[number] for number in ends)
    return replace(move, before=before, after=after, is_checked=checked.issuperset(ends))


def _candidates(moves: Sequence[MoveReview], by: Unit, player: int | None) -> list[MoveReview]:
    """Returns the moves that would be listed but have not been checked, the most costly first."""
    listed = find_mistakes([move for move in moves if move.is_checked], by, player)[:LISTED]
    least = cost(listed[-1].worst, by) if len(listed) == LISTED else least_cost(by)
    judged = (move for move in moves if not move.is_checked and player in (None, move.move.colour))
    doubtful = [move for move in judged if drop(move, by) >= least]
    return sorted(doubtful, key=lambda move: -drop(move, by))[:LISTED]


def _next_positions(candidates: Sequence[MoveReview], checked: set[int], most: int) -> list[int]:
    """Returns the positions of these moves that have not been checked, in order; not more than `most` in all."""
    positions: set[int] = set()
    for move in candidates:
        both = positions | ({move.number - 1, move.number} - checked)
        if len(checked) + len(both) > most:
            break
        positions = both
    return sorted(positions)
