"""Mistakes that a player makes several times in a game: which one was the first."""

from collections.abc import Iterator, Sequence

from ...base.languages.texts import Phrase, Value
from ...go.coords import PASS
from ..game_review import GameReview, Reason
from ..move_review import Mistake, MoveReview
from .facts import REGIONS

# Sentences that say where points lie: two mistakes have no more in common by them.
_POINTS = {f"reason.{name}" for name in (*REGIONS, "point", "sente", "also")}

_MOST_NAMED = 5  # moves after the first one, by judgement: a point may be left open a hundred times


def find_recurring(review: GameReview) -> Iterator[tuple[int, Reason]]:
    """Yields the numbers of the mistakes that are one of several, with the sentences that name the first of them.

    They leave the same point open (`Mistake.misses`), or their first reasons are of one kind or about the same stones.
    """
    for mistake in review.mistakes:
        same = [each for each in review.mistakes if each is mistake or _are_alike(review, each, mistake)]
        moves = sorted((miss for each in same for miss in each.misses), key=lambda miss: miss.number)
        if len(moves) > 1:
            first, *others = map(_name, moves)
            if len(others) > _MOST_NAMED:
                others[_MOST_NAMED - 1 : -1] = ["…"]
            values: dict[str, Value] = {"number": len(moves), "first": first, "others": ", ".join(others)}
            yield mistake.worst.number, Reason(Phrase("reason.first", values))


def _are_alike(review: GameReview, one: Mistake, other: Mistake) -> bool:
    first, second = (_first_reason(review.reasons.get(each.worst.number, ())) for each in (one, other))
    if first is None or second is None or one.worst.move.colour != other.worst.move.colour:
        return False
    return first.sentence.name == second.sentence.name or not first.points.isdisjoint(second.points)


def _first_reason(reasons: Sequence[Reason]) -> Reason | None:
    return next((each for each in reasons[:1] if each.sentence.name not in _POINTS), None)


def _name(move: MoveReview) -> str:
    """Returns a move as it is read in every language: a pass by its number alone."""
    return f"{move.number}" if move.move.point == PASS else f"{move.number} {move.vertex(move.move.point)}"
