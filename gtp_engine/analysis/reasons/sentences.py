"""Facts as sentences, by the templates of the page's words."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...game.coords import PASS, colour_name, opponent, vertex
from ..game_review import Reason
from ..page.words import words
from .facts import (
    AtariMissed,
    Captured,
    Connected,
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

# The nine parts of the board by row and column, as the words name them.
_SIDES = (
    ("top_left", "top", "top_right"),
    ("left", "centre", "right"),
    ("bottom_left", "bottom", "bottom_right"),
)


@dataclass(frozen=True)
class _Writer:
    """Writes the sentences about one mistake.

    Attributes:
        study: The mistake.
        language: One of `words.LANGUAGES`.
    """

    study: Study
    language: str
    templates: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", words(self.language)["reason"])

    def write(self, key: str, **values: Any) -> str:
        """Fills a template in; it knows both moves and both players."""
        study = self.study
        known = {
            "played": self._move(study.move),
            "better": self._move(study.best),
            "player": self.colour(study.colour),
            "opponent": self.colour(opponent(study.colour)),
        }
        text = self.templates[key].format(**known, **values)
        return text[0].upper() + text[1:]  # it may begin with a pass

    def _move(self, point: int) -> str:
        return self.templates["pass"] if point == PASS else self._vertex(point)

    def _vertex(self, point: int) -> str:
        return vertex(point, self.study.game.width, self.study.game.height)

    def colour(self, colour: int) -> str:
        """Returns the name of a colour."""
        return str(words(self.language)["colour"][colour_name(colour)])

    def stones(self, stones: Iterable[int]) -> str:
        """Returns stones by their number and the one that is nearest to their middle: "5 stones at K10"."""
        points = sorted(stones)
        cells = np.array([cell_of(point, self.study.game.width) for point in points])
        nearest = points[int(np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1)))]
        key = "one_stone" if len(points) == 1 else "stones"
        return self.templates[key].format(count=len(points), place=self._vertex(nearest))


def reason_of(study: Study, fact: Fact, language: str = "en") -> Reason:
    """Returns a fact about a mistake as a sentence with its line.

    Args:
        study: The mistake.
        fact: What was found about it.
        language: One of `page.words.LANGUAGES`.
    """
    return Reason(_sentence(_Writer(study, language), fact), fact.line)


def _sentence(writer: _Writer, fact: Fact) -> str:
    match fact:
        case PassedTooEarly():
            return writer.write("passed", points=_points(fact.lost))
        case AtariMissed():
            return writer.write("atari", stones=writer.stones(fact.points))
        case Ladder():
            return writer.write(fact.kind.value, stones=writer.stones(fact.points))
        case Connected():
            first, second = writer.stones(fact.first), writer.stones(fact.second)
            key = "cut" if fact.colour == writer.study.colour else "connected"
            return writer.write(key, first=first, second=second)
        case Filled():
            return writer.write(fact.kind.value)
        case Sente():
            return writer.write("sente", gain=_points(fact.better), less=_points(fact.played))
        case GroupChanged():
            return _group(writer, fact)
        case Captured():
            key = "lost" if fact.is_played else "taken"
            return writer.write(key, stones=writer.stones(fact.points), number=fact.number)
        case RegionChanged():
            side = writer.templates[_SIDES[fact.side[0]][fact.side[1]]]
            return writer.write("elsewhere" if fact.is_elsewhere else "region", side=side, points=_points(fact.gain))
    raise TypeError(f"no template for {fact!r}")


def _group(writer: _Writer, fact: GroupChanged) -> str:
    own = fact.colour == writer.study.colour
    if own:
        key = "dies" if fact.better >= ALIVE and fact.played <= DEAD else "weaker"
    else:
        key = "lives" if fact.better <= DEAD and fact.played >= ALIVE else "stronger"
    shares = {"after_better": f"{fact.better:.0%}", "after_played": f"{fact.played:.0%}"}
    return writer.write(key, owner=writer.colour(fact.colour), stones=writer.stones(fact.points), **shares)


def _points(value: float) -> str:
    return f"{value:.0f}"
