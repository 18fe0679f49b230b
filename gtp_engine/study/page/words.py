"""What the page says in its language: points and colours, leads, results, and each game as data for its script.

Digits are Latin and decimals have a point in every language, as on the board, in the record and in its result.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from ...base.languages.texts import DEFAULT, texts
from ...go.coords import BLACK, PASS, WHITE, colour_name, xy
from ...go.rules import rules_phrase
from ...go.sgf import read_result
from ...search.report import SearchReport
from ..game_review import GameReview
from ..move_review import LONGEST_VARIATION, MoveReview, Phase, class_label, worth

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
PHASES = {
    Phase.OPENING: "phase.opening",
    Phase.MIDDLE_GAME: "phase.middleGame",
    Phase.ENDGAME: "phase.endgame",
}
# Of a position, and moves of the lines that are not the best one: the others have hardly any visits, and the page of a
# long game should stay below 500 kB.
_MOST_CANDIDATES, _OTHERS_MOVES = 6, 6


class Wording:
    """The values of the page in one language; `wording` returns the one of a language."""

    def __init__(self, language: str) -> None:
        self.text = texts(language)

    def vertex(self, point: int, move: MoveReview) -> str:
        """Returns the name of a point on the board of a move, or the word for a pass."""
        return self.text("script.pass") if point == PASS else move.vertex(point)

    def value(self, report: SearchReport) -> str:
        """Returns what a position is worth: "B+3.5, Black's win rate 60%"."""
        value = worth(report)
        return self.text("script.value", lead=self.text.lead(value.lead), winrate=percent(value.winrate))

    def verdict(self, move: MoveReview) -> str:
        """Returns what a move has cost."""
        if move.best == move.move.point:
            return self.text("script.firstChoice")
        if move.repeats is not None:
            return self.text("script.again", number=move.repeats, best=self.vertex(move.best, move))
        if not move.has_cost:
            return self.text("script.noCost")
        cost = {"points": points(move.points_loss), "winrate": percent(move.winrate_loss, 1)}
        return self.text("script.cost", best=self.vertex(move.best, move), **cost)

    def result(self, result: str) -> str:
        """Returns the result of a record, "B+2.5" in SGF; one that cannot be read stays as it is."""
        found = read_result(result)
        if found is None:
            return result
        if found.winner is None:
            return self.text(f"result.{found.by}")
        is_black = found.winner == BLACK
        if not found.by:
            return self.text("result.blackWins" if is_black else "result.whiteWins")
        if found.by == "points":
            one = found.points == "1"
            how = self.text("result.onePoint") if one else self.text("result.points", points=found.points)
        else:
            how = self.text(f"result.{found.by}")
        return self.text("result.black" if is_black else "result.white", how=how)

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns what templates write values with."""
        return {
            "vertex": self.vertex,
            "result": self.result,
            "rules": rules_phrase,
            "colour": lambda move: self.text(colour_name(move.move.colour)),
            "phase": lambda phase: self.text(PHASES[phase]),
            "class_label": lambda number: class_label(number, self.text.language),
            "line": lambda names: "  ".join(f"{number} {name}" for number, name in enumerate(names, start=1)),
            "points": points,
            "percent": percent,
            "plain": "{:g}".format,
            "rank": lambda found: self.text.say(found.in_words),
        }


wording = cache(Wording)  # one for each language


def points(value: float) -> str:
    """Returns points with one digit after the decimal point."""
    return f"{value:.1f}"


def percent(share: float, digits: int = 0) -> str:
    """Returns a share of 0 to 1 in percent."""
    return f"{100 * share:.{digits}f}%"


def script_data(review: GameReview, language: str = DEFAULT) -> dict[str, Any]:
    """Returns a game as plain data for `review.js`, which explains the fields; its texts are in the language.

    Points are two letters as in SGF, a pass is "..".
    """
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
            fields["reasons"] = [
                [reason.text_in(language), _names(reason.line, first.before.width)] for reason in reasons
            ]
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
    """Returns the record's own comments by position, of which the first has `before` moves before it.

    The nodes of one position may have several comments, which are joined.
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
    searched = [drawn for drawn in report.candidates() if moves[int(drawn.point)].symmetry_of is None]
    for number, drawn in enumerate(searched[:_MOST_CANDIDATES]):
        move = moves[int(drawn.point)]
        lead = move.lead if report.to_move == BLACK else -move.lead
        line = _names(move.pv[: _OTHERS_MOVES if number else LONGEST_VARIATION], report.width)
        candidates.append([words.text.lead(lead), drawn.colour, *drawn.text, line])
    return [words.value(report), report.to_move, candidates]
