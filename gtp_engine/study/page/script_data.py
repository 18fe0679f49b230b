"""A reviewed game as the data that the page's script steps through: positions, moves and playable lines.

What is said of them is text already. Points are two letters as in SGF, a pass is "..".
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base.languages.texts import DEFAULT
from ...go.coords import BLACK, PASS, WHITE, xy
from ...search.report import SearchReport
from ..game_review import GameReview
from ..review import LONGEST_VARIATION
from .wording import Wording, wording

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Of a position, and moves of the lines that are not the best one: the others have hardly any visits, and the page of a
# long game should stay below 500 kB.
_MOST_CANDIDATES, _OTHERS_MOVES = 6, 6


def script_data(review: GameReview, language: str = DEFAULT) -> dict[str, Any]:
    """Returns a game as plain data for `review.js`, which explains the fields; its texts are in the language."""
    words = wording(language)
    first = review.moves[0]
    reports = [first.before, *(move.after for move in review.moves)]
    judged = {move.number for move in review.judged()}
    missed = {mistake.worst.number for mistake in review.mistakes}
    moves = []
    for move in review.moves:
        fields: dict[str, Any] = {"colour": move.move.colour, "point": _names([move.move.point], first.before.width)}
        if move.has_setup:
            fields["stones"] = _stones(move.after)
        if move.number in judged:
            fields["verdict"] = words.verdict(move)
        if move.number in missed:
            fields["mistake"] = 1
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
        "positions": [_position(report, words) for report in reports],
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
    for node in review.record.main_line:
        place += node.move is not None
        if node.comment:
            comments[place] = f"{comments[place]}\n{node.comment}" if place in comments else node.comment
    return comments


def _position(report: SearchReport, words: Wording) -> list[Any]:
    """Returns what a position is worth, whose turn it is, and the moves to consider with their lines."""
    moves = {move.point: move for move in report.moves}
    candidates = []
    for number, drawn in enumerate(report.candidates()[:_MOST_CANDIDATES]):
        move = moves[int(drawn.point)]
        lead = move.lead if report.to_move == BLACK else -move.lead
        line = _names(move.pv[: _OTHERS_MOVES if number else LONGEST_VARIATION], report.width)
        candidates.append([words.text.lead(lead), drawn.colour, *drawn.text, line])
    return [words.value(report), report.to_move, candidates]
