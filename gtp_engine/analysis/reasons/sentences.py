"""Facts as sentences in no language yet: the name of a text and what is filled in, see `languages.texts`."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...game.coords import PASS, colour_name, opponent, vertex
from ...languages.texts import Phrase, Value
from ..game_review import Reason
from ..mistakes import least_cost
from .facts import (
    AtariMissed,
    Captured,
    Connected,
    Doubtful,
    Fact,
    Filled,
    GroupChanged,
    Ladder,
    PassedTooEarly,
    RegionChanged,
    Sente,
)
from .groups import ALIVE, DEAD
from .variation import Study, cell_of

# The nine parts of the board by row and column, as the texts name them.
_SIDES = (
    ("topLeft", "top", "topRight"),
    ("left", "centre", "right"),
    ("bottomLeft", "bottom", "bottomRight"),
)


@dataclass(frozen=True)
class _Writer:
    """Writes the sentences about one mistake.

    Attributes:
        study: The mistake.
    """

    study: Study

    def write(self, key: str, **values: Value) -> Phrase:
        """Returns a sentence; it knows both moves and both players."""
        study = self.study
        known = {
            "played": self._move(study.move),
            "better": self._move(study.best),
            "player": self.colour(study.colour),
            "opponent": self.colour(opponent(study.colour)),
        }
        return Phrase(f"reason.{key}", {**known, **values})

    def _move(self, point: int) -> Value:
        return Phrase("reason.pass") if point == PASS else self._vertex(point)

    def _vertex(self, point: int) -> str:
        return vertex(point, self.study.game.width, self.study.game.height)

    def colour(self, colour: int) -> Phrase:
        """Returns the name of a colour."""
        return Phrase(colour_name(colour))

    def stones(self, stones: Iterable[int], colour: int | None = None) -> Phrase:
        """Returns stones by their number and the one that is nearest to their middle: "Black's 5 stones at K10".

        Args:
            stones: Their points.
            colour: Whose they are; None if the sentence has said it.
        """
        points = sorted(stones)
        cells = np.array([cell_of(point, self.study.game.width) for point in points])
        nearest = points[int(np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1)))]
        found: dict[str, Value] = {"count": len(points), "place": self._vertex(nearest)}
        if colour is None:
            return Phrase("reason.stones", found)
        return Phrase("reason.stonesOf", {**found, "owner": self.colour(colour)})


def reason_of(study: Study, fact: Fact) -> Reason:
    """Returns a fact about a mistake as a sentence with its line."""
    return Reason(_sentence(_Writer(study), fact), fact.line)


def _sentence(writer: _Writer, fact: Fact) -> Phrase:
    player = writer.study.colour
    match fact:
        case Doubtful():
            if fact.lost < least_cost(fact.by):
                return writer.write("notBetter")
            if fact.by == "winrate":
                return writer.write("doubtfulWinrate", winrate=f"{fact.lost:.1%}")
            return writer.write("doubtful", points=f"{fact.lost:.1f}")
        case PassedTooEarly():
            return writer.write("passed", count=round(fact.lost))
        case AtariMissed():
            return writer.write("atari", stones=writer.stones(fact.points, player))
        case Ladder():
            return writer.write(fact.kind.value, stones=writer.stones(fact.points, fact.colour))
        case Connected():
            first, second = writer.stones(fact.first, fact.colour), writer.stones(fact.second)
            return writer.write("cut" if fact.colour == player else "connected", first=first, second=second)
        case Filled():
            return writer.write(fact.kind.value)
        case Sente():
            return writer.write("sente", count=round(fact.better), less=round(fact.played))
        case GroupChanged():
            return _group(writer, fact)
        case Captured():
            owner = opponent(fact.captor)
            return writer.write("lost" if fact.is_played else "taken", stones=writer.stones(fact.points, owner))
        case RegionChanged():
            side = Phrase(f"reason.{_SIDES[fact.side[0]][fact.side[1]]}")
            return writer.write("elsewhere" if fact.is_elsewhere else "region", side=side, count=round(fact.gain))
    raise TypeError(f"no template for {fact!r}")


def _group(writer: _Writer, fact: GroupChanged) -> Phrase:
    own = fact.colour == writer.study.colour
    if own:
        key = "dies" if fact.better >= ALIVE and fact.played <= DEAD else "weaker"
    else:
        key = "lives" if fact.better <= DEAD and fact.played >= ALIVE else "stronger"
    shares = {"after_better": f"{fact.better:.0%}", "after_played": f"{fact.played:.0%}"}
    stones = writer.stones(fact.points, fact.colour)
    return writer.write(key, owner=writer.colour(fact.colour), stones=stones, **shares)
