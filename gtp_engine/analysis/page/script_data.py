"""A reviewed game as the data that the page's script steps through: positions, moves and playable lines.

The script knows no rules: captures are worked out here. Win rates (in percent) and leads (in points) are Black's and
have one digit after the decimal point. Points are two letters as in SGF, a pass is "..". A step is a move and, in
parentheses, the points whose stones leave the board; a line is a text of steps, such as "pdqd(qcrd)..dp".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...game.coords import BLACK, EMPTY, PASS, WHITE, point_of_index, xy
from ...game.game import Game
from ...languages.texts import DEFAULT
from ...search.report import SearchReport
from ..game_review import GameReview
from ..review import MoveReview, black_lead, black_winrate
from ..review_sgf import LONGEST_VARIATION

_PASS = ".."
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Of a position, and moves of the lines that are not the best one: the others have hardly any visits, and the page of a
# long game should stay below 500 kB.
_MOST_CANDIDATES, _OTHERS_MOVES = 6, 6


def script_data(review: GameReview, language: str = DEFAULT) -> dict[str, Any]:
    """Returns a game as plain data for `review.js`, which explains the fields; the reasons are in the language."""
    reports = [review.moves[0].before, *(move.after for move in review.moves)]
    judged = {move.number for move in review.judged()}
    missed = {mistake.worst.number for mistake in review.mistakes}
    moves = [_move(move, is_judged=move.number in judged) for move in review.moves]
    for fields, move in zip(moves, review.moves, strict=True):
        fields |= {"mistake": 1} if move.number in missed else {}
        if reasons := review.reasons.get(move.number):
            game = _game_at(move.before)
            fields["reasons"] = [[reason.text_in(language), _line(game, reason.line)] for reason in reasons]
    before = review.moves[0].number - 1
    return {
        "width": review.record.width,
        "height": review.record.height,
        "before": before,
        "worst": review.mistakes[0].worst.number - before if review.mistakes else 0,
        "black": _names(stones_of(reports[0]) == BLACK),
        "white": _names(stones_of(reports[0]) == WHITE),
        "positions": [_position(report) for report in reports],
        "moves": moves,
        "comments": {place: text for place, text in _comments(review, before).items() if 0 <= place <= len(moves)},
    }


def stones_of(report: SearchReport) -> np.ndarray:
    """Returns the stones at the root, int8 [height, width]."""
    empty = np.zeros((report.height, report.width), np.int8)
    return empty if report.stones is None else report.stones


def _name(column: int, row: int) -> str:
    return _LETTERS[column] + _LETTERS[row]


def _names(mask: np.ndarray) -> str:
    """Returns the points at which a bool array [height, width] is True."""
    return "".join(_name(column, row) for row, column in np.argwhere(mask).tolist())


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
    """Returns a move: who played where, what it captured and, if it is judged, what it cost."""
    before, after = stones_of(review.before), stones_of(review.after)
    point, colour = review.move.point, review.move.colour
    fields: dict[str, Any] = {"colour": colour, "step": _step(point, before, after)}
    expected = np.where(after == EMPTY, after, before)
    if point != PASS and after[xy(point, review.before.width)[::-1]]:
        expected[xy(point, review.before.width)[::-1]] = colour
    if np.any(expected != after):  # a record may set up stones between two moves
        fields["setup"] = [_names((expected != after) & (after == stone)) for stone in (BLACK, WHITE)]
    if is_judged:
        best = "" if review.best == review.move.point else review.vertex(review.best)
        fields |= {"points": _rounded(review.points_loss), "winrate": _rounded(100 * review.winrate_loss), "best": best}
    return fields


def _step(point: int, before: np.ndarray, after: np.ndarray) -> str:
    """Returns a move and the points that it empties, its own too if it is suicide."""
    taken = _names((before != EMPTY) & (after == EMPTY))
    name = _PASS
    if point != PASS:
        column, row = xy(point, before.shape[1])
        name = _name(column, row)
        taken += "" if after[row, column] else name
    return f"{name}({taken})" if taken else name


def _position(report: SearchReport) -> list[Any]:
    """Returns Black's lead and win rate, whose turn it is, and the moves to consider with their lines."""
    moves = {move.point: move for move in report.moves}
    game = _game_at(report)
    candidates = []
    for number, drawn in enumerate(report.candidates()[:_MOST_CANDIDATES]):
        move = moves[int(drawn.point)]
        lead = move.lead if report.to_move == BLACK else -move.lead
        line = _line(game, move.pv[: _OTHERS_MOVES if number else LONGEST_VARIATION])
        if line:
            candidates.append([_rounded(lead), drawn.colour, *drawn.text, line])
    return [_rounded(black_lead(report)), _rounded(100 * black_winrate(report)), report.to_move, candidates]


def _game_at(report: SearchReport) -> Game:
    """Returns a game that begins at the root.

    What was searched is legal. Without its history, under rules that allow suicide, only superko can refuse a move.
    """
    game = Game(report.width, report.height, rules="tromp-taylor")
    black, white = (
        [
            point_of_index(int(index), report.width, report.height)
            for index in np.flatnonzero(stones_of(report) == colour)
        ]
        for colour in (BLACK, WHITE)
    )
    game.set_up(black, white, report.to_move)
    return game


def _line(game: Game, line: Sequence[int]) -> str:
    """Returns a line as text, played with the colours in turn; the game is left as it is."""
    game = game.copy()
    before = game.stones()
    steps: list[str] = []
    for point in line:
        try:
            game.play(game.to_move, point)
        except UserError:  # by superko: the rules of the search allow the position to be repeated
            break
        after = game.stones()
        steps.append(_step(point, before, after))
        before = after
    return "".join(steps)


def _rounded(value: float) -> float:
    return round(float(value), 1) + 0.0  # without a minus in front of a zero
