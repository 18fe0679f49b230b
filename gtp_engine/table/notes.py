"""What the program notes in the file of a game for itself: private properties of the root, which FF[4] allows.

FF[4] has properties for the time that is left (`game_clock`), but none for the time used in a game without a limit,
and none for a limit of one player alone.
"""

from dataclasses import dataclass, field

from ..base.fields import Range
from ..go.coords import BLACK, WHITE
from ..go.sgf import Properties, read_number, read_text

_USED = {BLACK: "GEBT", WHITE: "GEWT"}  # seconds
_SECONDS, _VISITS, _EDITED = "GESEC", "GEVIS", "GEDIT"
# Those of the options --seconds and --visits; of the time used, 0 is valid too.
_SECONDS_RANGE, _VISITS_RANGE, _USED_RANGE = Range(0, above=True), Range(1, whole=True), Range(0)


@dataclass(frozen=True)
class Notes:
    """The notes of a game.

    Attributes:
        used: The seconds that each player has used; empty in a game with time limits.
        seconds: The engine's longest time for a move; None if it is not known, or had no limit.
        visits: The largest number of visits for one; None as for `seconds`.
        is_edited: Whether it is somebody's record that is edited here.
    """

    used: dict[int, float] = field(default_factory=dict)
    seconds: float | None = None
    visits: int | None = None
    is_edited: bool = False

    def added_to(self, properties: Properties) -> Properties:
        """Returns the properties of a root with these notes instead of those that it has."""
        values = {name: f"{self.used.get(colour, 0.0):.1f}" for colour, name in _USED.items()}
        if not any(self.used.values()):
            values.clear()
        if self.seconds is not None:
            values[_SECONDS] = f"{self.seconds:g}"
        if self.visits is not None:
            values[_VISITS] = str(self.visits)
        if self.is_edited:
            values[_EDITED] = "1"
        others = {name: found for name, found in properties.items() if name not in _NAMES}
        return others | {name: [value.encode()] for name, value in values.items()}


_NAMES = {*_USED.values(), _SECONDS, _VISITS, _EDITED}


def read_notes(properties: Properties) -> Notes:
    """Returns the notes in the properties of a root; what is invalid is left out."""

    def number(name: str, accepted: Range) -> float | None:
        value = read_number(read_text(properties, name))
        return None if value is None or value not in accepted else value

    visits = number(_VISITS, _VISITS_RANGE)
    used = {colour: number(name, _USED_RANGE) or 0.0 for colour, name in _USED.items()}
    return Notes(used, number(_SECONDS, _SECONDS_RANGE), None if visits is None else int(visits), _EDITED in properties)
