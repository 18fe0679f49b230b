"""Problems that come again: after a day, and after each right answer in twice as many days as before."""

import datetime
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..base.plain import as_json, from_json
from ..table.database import Change, Database


@dataclass(frozen=True)
class Missed:
    """A mistake that the reader made in a game.

    Attributes:
        played: The move, as a vertex.
        points: The points that it lost.
        line: The better moves, as vertices.
        group: A stone of the group whose life it was about; "" if it was about something else.
        number: The number of the move in the game; 0 if that is not known.
        day: The day of the game, in ISO form; "" if that is not known.
    """

    played: str
    points: float
    line: tuple[str, ...]
    group: str = ""
    number: int = 0
    day: str = ""

    @classmethod
    def from_json(cls, text: str) -> "Missed | None":
        """Returns it from its text; None for any other text."""
        with suppress(ValueError):
            found: Missed = from_json(cls, text)
            return found
        return None


@dataclass(frozen=True)
class Card:
    """What is kept of a problem.

    Attributes:
        name: What it is called; "" for a mistake in a game of the reader's own.
        sgf: The game or problem; that of a mistake ends with the position. "" for what does not come again.
        missed: The mistake; None for a problem from a collection.
        days: The interval after which it comes again; 0 for what was solved at once.
        due: The day from which it comes again, in ISO form; "" for never.
        solved, failed: How often it was solved, and how often it was not.
    """

    name: str
    sgf: str = ""
    missed: Missed | None = None
    days: int = 0
    due: str = ""
    solved: int = 0
    failed: int = 0

    def answered(self, is_right: bool, today: datetime.date) -> "Card":
        """Returns the card after an answer; a right one before the problem is due only counts."""
        counted = replace(self, solved=self.solved + is_right, failed=self.failed + (not is_right))
        if is_right and not (self.due and self.due <= today.isoformat()):
            return counted
        days = 2 * self.days if is_right else 1
        return replace(counted, days=days, due=(today + datetime.timedelta(days)).isoformat())


class KeptProblems:
    """The cards by the keys of their problems, in the user's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def card(self, key: str) -> Card | None:
        """Returns the card of a problem; None if there is none."""
        return next(iter(self._cards("WHERE key = ?", key)), None)

    def due(self, today: datetime.date) -> list[Card]:
        """Returns what is to come again by a day, the longest waiting first."""
        return self._cards("WHERE due != '' AND due <= ? ORDER BY due", today.isoformat())

    def coming(self) -> list[Card]:
        """Returns all that comes again, in the order of their days."""
        return self._cards("WHERE due != '' ORDER BY due")

    def keep(self, key: str, card: Card) -> None:
        """Keeps a card."""
        missed = "" if card.missed is None else as_json(card.missed)
        values = key, card.name, card.sgf, missed, card.days, card.due, card.solved, card.failed
        self._database.change(Change("INSERT OR REPLACE INTO problems VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values))

    def forget(self, key: str) -> None:
        """Forgets a card."""
        self._database.change(Change("DELETE FROM problems WHERE key = ?", (key,)))

    def _cards(self, which: str, *values: Any) -> list[Card]:
        columns = "name, sgf, missed, days, due, solved, failed"
        rows = self._database.rows(f"SELECT {columns} FROM problems {which}", *values)
        return [Card(name, sgf, Missed.from_json(missed), *others) for name, sgf, missed, *others in rows]
