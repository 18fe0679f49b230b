"""Comments on moves: the result of a search in words."""

from collections.abc import Sequence

from ...base.languages.texts import texts
from ..coords import WHITE, vertex


def analysis_comment(
    to_move: int, winrate: float, lead: float, visits: int, line: Sequence[int], width: int, height: int
) -> str:
    """Formats the result of a search as a comment, from Black's side.

    Args:
        to_move: The player to move.
        winrate: The win rate of the player to move, 0 to 1.
        lead: The lead of the player to move, in points.
        visits: The number of visits.
        line: The points of the principal variation.
        width: The number of columns.
        height: The number of rows.
    """
    if to_move == WHITE:
        winrate, lead = 1 - winrate, -lead
    moves = " ".join(vertex(point, width, height) for point in line)
    text = f"Black's win rate: {100 * winrate:.1f}%\nLead: {texts().lead(lead)}\nVisits: {visits}"
    return f"{text}\nMain line: {moves}" if moves else text
