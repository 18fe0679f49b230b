"""Results of records in parts: who has won, and how."""

import re
from dataclasses import dataclass

from ..coords import BLACK, WHITE

_POINTS = re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?")  # more than any board has, so that no number is too large
# SGF writes "B+Resign", "B+R" and so on; servers have longer words too.
_REASONS = {"R": "resignation", "T": "time", "F": "forfeit"}
_NOBODY = {"0": "draw", "draw": "draw", "void": "void"}


@dataclass(frozen=True)
class GameResult:
    """A result.

    Attributes:
        winner: The colour of the winner; None if nobody has won.
        by: "points", "resignation", "time", "forfeit", or "" if the record does not say how the winner won; without a
            winner "draw" or "void".
        points: The margin as the record writes it, such as "3.5"; "" if the game was not won by points.
    """

    winner: int | None
    by: str
    points: str = ""


def read_result(text: str) -> GameResult | None:
    """Returns the result that SGF's RE says, such as "B+3.5", "W+R", "B+", "0" or "Void"; None for any other text."""
    if (nobody := _NOBODY.get(text.lower())) is not None:
        return GameResult(None, nobody)
    found = re.fullmatch(r"([BW])\+([A-Za-z]*|[0-9.]+)", text)
    if found is None:
        return None
    winner, how = BLACK if found[1] == "B" else WHITE, found[2]
    if _POINTS.fullmatch(how):
        return GameResult(winner, "points", how)
    by = _REASONS.get(how[:1]) if how else ""
    return None if by is None else GameResult(winner, by)
