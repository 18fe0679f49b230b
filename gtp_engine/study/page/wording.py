"""How the page writes values in its language: points and colours, leads, results, lines.

Digits are Latin and decimals have a point in every language, as on the board, in the record and in its result.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from ...base.languages.texts import DEFAULT, texts
from ...go.coords import BLACK, PASS, colour_name
from ...go.sgf import read_result
from ...search.report import SearchReport
from ..review import MoveReview, Phase, black_lead, black_winrate

_PHASES = {
    Phase.OPENING: "phase.opening",
    Phase.MIDDLE_GAME: "phase.middleGame",
    Phase.ENDGAME: "phase.endgame",
}


class Wording:
    """The values of the page in one language; `wording` returns the one of a language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self.text = texts(language)

    def vertex(self, point: int, move: MoveReview) -> str:
        """Returns the name of a point on the board of a move, or the word for a pass."""
        return self.text("script.pass") if point == PASS else move.vertex(point)

    def colour(self, move: MoveReview) -> str:
        """Returns the name of the player who made a move."""
        return self.text(colour_name(move.move.colour))

    def value(self, report: SearchReport) -> str:
        """Returns what a position is worth: "B+3.5, Black's win rate 60%"."""
        winrate = percent(black_winrate(report))
        return self.text("script.value", lead=self.text.lead(black_lead(report)), winrate=winrate)

    def verdict(self, move: MoveReview) -> str:
        """Returns what a move has cost."""
        if move.best == move.move.point:
            return self.text("script.firstChoice")
        if not move.has_cost:
            return self.text("script.noCost")
        cost = {"points": points(move.points_loss), "winrate": percent(move.winrate_loss, 1)}
        return self.text("script.cost", best=self.vertex(move.best, move), **cost)

    def tick(self, points: int) -> str:
        """Returns a lead of whole points, as at the lines of the graph."""
        name = "black" if points > 0 else "white"
        return self.text(f"ahead.{name}", points=str(abs(points))) if points else "0"

    def result(self, result: str) -> str:
        """Returns the result of a record, "B+2.5" in SGF; one that cannot be read stays as it is.

        In English results are written as in SGF.
        """
        found = read_result(result)
        if found is None:
            return result
        if found.winner is None:
            return result if self._language == DEFAULT else self.text(f"result.{found.by}")
        is_black = found.winner == BLACK
        if not found.by:
            return self.text("result.blackWins" if is_black else "result.whiteWins")
        if found.by == "points":
            one = found.points == "1"
            how = self.text("result.onePoint") if one else self.text("result.points", points=found.points)
        else:
            how = self.text(f"result.{found.by}")
        return self.text("result.black" if is_black else "result.white", how=how)

    def rules(self, name: str) -> str:
        """Returns the name of a ruleset; rules without a name stay as they are."""
        return self.text(f"rules-{name}") if f"rules-{name}" in self.text.names else name

    def phase(self, phase: Phase) -> str:
        """Returns the name of a phase."""
        return self.text(_PHASES[phase])

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns all of these as filters of templates."""
        own = ("vertex", "colour", "tick", "result", "rules", "phase")
        return {name: getattr(self, name) for name in own} | {
            "line": lambda names: "  ".join(f"{number} {name}" for number, name in enumerate(names, start=1)),
            "points": points,
            "percent": percent,
            "plain": "{:g}".format,
        }


wording = cache(Wording)  # one for each language


def points(value: float) -> str:
    """Returns points with one digit after the decimal point."""
    return f"{value:.1f}"


def percent(share: float, digits: int = 0) -> str:
    """Returns a share of 0 to 1 in percent."""
    return f"{100 * share:.{digits}f}%"
