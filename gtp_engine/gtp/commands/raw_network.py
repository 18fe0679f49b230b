"""What a network says of the position without any search, in KataGo's form."""

import math
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...game.coords import BLACK
from ...game.symmetry import COUNT
from ..arguments import SYNTAX_ERROR, colour, integer, is_colour, number
from ..protocol import GtpError
from ..registry import command
from ..session import Session

if TYPE_CHECKING:
    from ...search.thinker import RawEvaluation

_NONE = -1.0  # KataGo's value for what a network does not say


@command("kata-raw-nn")
def kata_raw_nn(session: Session, arguments: list[str]) -> str:
    """`[COLOUR] SYMMETRY|all [OPTIMISM]`: with another colour than the one to move the history is forgotten."""
    words = deque(arguments)
    player = colour(words.popleft()) if words and is_colour(words[0]) else None
    if not words:
        raise GtpError(SYNTAX_ERROR, f"expected a symmetry: 0 to {COUNT - 1}, or all")
    symmetry = words.popleft()
    symmetries = range(COUNT) if symmetry.lower() == "all" else [integer(symmetry, 0, COUNT - 1)]
    optimism = _share(words.popleft()) if words else None
    if words:
        raise GtpError(SYNTAX_ERROR, f"unexpected {words[0]!r}: expected [COLOUR] SYMMETRY|all [OPTIMISM]")
    found = session.wait(session.engine.raw_evaluations(player, symmetries=symmetries, optimism=optimism))
    return "\n".join(raw_text(evaluation) for evaluation in found)


def _share(word: str) -> float:
    share = number(word)
    if not 0 <= share <= 1:
        raise GtpError(SYNTAX_ERROR, f"expected an optimism from 0 to 1, got {word!r}")
    return share


def raw_text(evaluation: "RawEvaluation") -> str:
    """All of it from white's side, whoever is to move; an illegal move's policy is NAN."""
    win, loss, neither = evaluation.value
    sign = 1
    if evaluation.to_move == BLACK:
        win, loss, sign = loss, win, -1
    has_errors = evaluation.value_error is not None and evaluation.score_error is not None
    numbers = {
        "whiteWin": win,
        "whiteLoss": loss,
        "noResult": neither,
        "whiteLead": sign * evaluation.lead,
        "whiteScoreSelfplay": sign * evaluation.score_mean,
        "whiteScoreSelfplaySq": evaluation.score_mean_square,
        # Networks of version 8 say something of it, which KataGo does not show either.
        "varTimeLeft": evaluation.variance_time if has_errors else _NONE,
        "shorttermWinlossError": _NONE if evaluation.value_error is None else evaluation.value_error,
        "shorttermScoreError": _NONE if evaluation.score_error is None else evaluation.score_error,
    }
    width = evaluation.ownership.shape[1]
    moves = [_cell(prior, 6) for prior in evaluation.policy.tolist()]
    owners = [_cell(sign * value, 7) for value in evaluation.ownership.ravel().tolist()]
    lines = [
        f"symmetry {evaluation.symmetry}",
        *(f"{name} {value:.6f}" for name, value in numbers.items()),
        "policy",
        *_rows(moves[:-1], width),
        f"policyPass {moves[-1].strip()}",
        "whiteOwnership",
        *_rows(owners, width),
    ]
    return "\n".join(lines)


def _cell(value: float, digits: int) -> str:
    """Of one width in a column."""
    return ("NAN" if math.isnan(value) else f"{value:.{digits}f}").rjust(digits + 3)


def _rows(cells: list[str], width: int) -> Iterable[str]:
    """The board's rows, the top one first."""
    return (" ".join(cells[start : start + width]) for start in range(0, len(cells), width))
