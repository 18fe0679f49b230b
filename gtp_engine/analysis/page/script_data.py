"""A reviewed game as the data that the page's script steps through: positions, moves and playable lines.

Win rates (in percent) and leads (in points) are Black's and have one digit after the decimal point. Points are two
letters as in SGF, a pass is "..".
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...game.coords import BLACK, PASS, WHITE, xy
from ...languages.texts import DEFAULT
from ...search.report import SearchReport
from ..game_review import GameReview
from ..review import MoveReview, black_lead, black_winrate
from ..review_sgf import LONGEST_VARIATION

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Of a position, and moves of the lines that are not the best one: the others have hardly any visits, and the page of a
# long game should stay below 500 kB.
_MOST_CANDIDATES, _OTHERS_MOVES = 6, 6


def script_data(review: GameReview, language: str = DEFAULT) -> dict[str, Any]:
    """Returns a game as plain data for `review.js`, which explains the fields; the reasons are in the language."""
    first = review.moves[0]
    reports = [first.before, *(move.after for move in review.moves)]
    judged = {move.number for move in review.judged()}
    missed = {mistake.worst.number for mistake in review.mistakes}
    moves = []
    for move in review.moves:
        fields = _move(move, is_judged=move.number in judged) | ({"mistake": 1} if move.number in missed else {})
        if reasons := review.reasons.get(move.number):
            lines = (_names(reason.line, first.before.width) for reason in reasons)
            fields["reasons"] = [[reason.text_in(language), line] for reason, line in zip(reasons, lines, strict=True)]
        moves.append(fields)
    before = first.number - 1
    return {
        "width": review.record.width,
        "height": review.record.height,
        "before": before,
        "worst": review.mistakes[0].worst.number - before if review.mistakes else 0,
        "stones": _stones(first.before),
        "positions": [_position(report) for report in reports],
        "moves": moves,
        "comments": {place: text for place, text in _comments(review, before).items() if 0 <= place <= len(moves)},
    }


def stones_of(report: SearchReport) -> np.ndarray:
    """Returns the stones at the root, int8 [height, width]."""
    empty = np.zeros((report.height, report.width), np.int8)
    return empty if report.stones is None else report.stones


def _stones(report: SearchReport) -> list[str]:
    """Returns the points of Black's stones, and those of White's."""
    masks = (stones_of(report) == colour for colour in (BLACK, WHITE))
    return ["".join(_LETTERS[column] + _LETTERS[row] for row, column in np.argwhere(mask).tolist()) for mask in masks]


def _names(line: Iterable[int], width: int) -> str:
    """Returns the points of a line as text."""
    places = (None if point == PASS else xy(point, width) for point in line)
    return "".join(".." if place is None else _LETTERS[place[0]] + _LETTERS[place[1]] for place in places)


def _comments(review: GameReview, before: int) -> dict[int, str]:
    """Returns the record's own comments by position; the nodes of one position may have several, which are joined.

    Args:
        review: The review.
        before: The number of moves before the first position.
    """
    comments: dict[int, str] = {}
    place = -before
    for node in review.record.nodes:
        place += node.move is not None
        if node.comment:
            comments[place] = f"{comments[place]}\n{node.comment}" if place in comments else node.comment
    return comments


def _move(review: MoveReview, *, is_judged: bool) -> dict[str, Any]:
    """Returns a move: who played where, the stones if the record sets up some, and what it cost if it is judged."""
    point = review.move.point
    fields: dict[str, Any] = {"colour": review.move.colour, "point": _names([point], review.before.width)}
    if review.has_setup:
        fields["stones"] = _stones(review.after)
    if is_judged:
        best = "" if review.best == point else review.vertex(review.best)
        fields |= {"points": _rounded(review.points_loss), "winrate": _rounded(100 * review.winrate_loss), "best": best}
    return fields


def _position(report: SearchReport) -> list[Any]:
    """Returns Black's lead and win rate, whose turn it is, and the moves to consider with their lines."""
    moves = {move.point: move for move in report.moves}
    candidates = []
    for number, drawn in enumerate(report.candidates()[:_MOST_CANDIDATES]):
        move = moves[int(drawn.point)]
        lead = move.lead if report.to_move == BLACK else -move.lead
        line = _names(move.pv[: _OTHERS_MOVES if number else LONGEST_VARIATION], report.width)
        candidates.append([_rounded(lead), drawn.colour, *drawn.text, line])
    return [_rounded(black_lead(report)), _rounded(100 * black_winrate(report)), report.to_move, candidates]


def _rounded(value: float) -> float:
    return round(float(value), 1) + 0.0  # without a minus in front of a zero
