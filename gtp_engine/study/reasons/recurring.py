"""The points that a player misses several times in a game."""

from collections.abc import Iterator

from ...base.languages.texts import Phrase, Value
from ...go.coords import PASS, colour_name
from ..game_review import GameReview, Reason
from ..move_review import MoveReview
from .variation import LEAST_TOLD


def find_recurring(review: GameReview) -> Iterator[tuple[int, Reason]]:
    """Yields the numbers of the mistakes that miss one point several times, with the sentences that say so."""
    for mistake in review.mistakes:
        worst = mistake.worst
        costly = (miss for miss in mistake.misses if miss.cost.lead >= LEAST_TOLD)  # few are checked by a second look
        same = [miss for miss in costly if miss.best == worst.best != PASS]  # one ladder may have several
        if len(same) > 1:
            values: dict[str, Value] = {"first": _name(same[0]), "last": _name(same[-1]), "number": len(same)}
            values |= {"player": Phrase(colour_name(worst.move.colour)), "better": worst.vertex(worst.best)}
            yield worst.number, Reason(Phrase("reason.missed", values))


def _name(move: MoveReview) -> Phrase:
    point = Phrase("script.pass") if move.move.point == PASS else move.vertex(move.move.point)
    return Phrase("reason.move", {"number": move.number, "move": point})
