"""Problems that come again until they are known: the reader's boxes, in one file.

The scheme is Leitner's (S. Leitner, So lernt man lernen, 1972): a problem that was solved when it was due goes on to
the next of five boxes and comes again later, one that was not solved goes back to the first. That the days double from
box to box is chosen by judgement.
"""

import contextlib
import datetime
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.files import folder_lock, write_text
from ..base.nesting import parse_json

DAYS = (1, 2, 4, 8, 16)  # after which the problems of each box come again
_VERSION = 1
_LOCK_SECONDS = 0.5  # another program holds the file for milliseconds


@dataclass(frozen=True)
class Missed:
    """A mistake that the reader made in a game.

    Attributes:
        played: The move, as a vertex.
        points: The points that it lost.
        line: The better moves, as vertices.
        group: A stone of the group whose life it was about; "" if it was about something else.
    """

    played: str
    points: float
    line: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True)
class Card:
    """What is kept of a problem.

    Attributes:
        name: What it is called.
        sgf: The game or problem; that of a mistake ends with the position. "" for what does not come again.
        box: From 1 for the first box; 0 for what does not come again: known, or solved at once.
        due: The day from which it comes again, in ISO form; "" for never.
        right: How often it was solved.
        wrong: How often it was not.
        missed: The mistake; None for a problem from a collection.
    """

    name: str
    sgf: str = ""
    box: int = 0
    due: str = ""
    right: int = 0
    wrong: int = 0
    missed: Missed | None = None

    def is_due(self, today: datetime.date) -> bool:
        """Whether it comes again today, or should have come before."""
        return self.due != "" and self.due <= today.isoformat()

    def answered(self, is_right: bool, today: datetime.date) -> "Card":
        """Returns the card after an answer; a right one before the problem is due only counts."""
        counted = replace(self, right=self.right + is_right, wrong=self.wrong + (not is_right))
        if is_right and not self.is_due(today):
            return counted
        box = self.box + 1 if is_right else 1
        if box > len(DAYS):
            return replace(counted, box=0, due="")
        return replace(counted, box=box, due=(today + datetime.timedelta(DAYS[box - 1])).isoformat())


class Boxes:
    """All cards, by the key of their problems.

    Several programs may use the file: each change is made to what is in the file by then, under a lock. A change that
    cannot be written stays here, and is written with the next one. A damaged file is kept aside before it is replaced.

    Args:
        path: The file, which need not exist.

    Attributes:
        notice: What is damaged in the file, or where the damaged one is kept, in one line; "" for nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notice = ""
        self._damage = ""
        self._stamp: tuple[int, ...] | None = None  # of the file as it was read
        self._cards: dict[str, Card] = {}
        self._changes: dict[str, Card | None] = {}

    @property
    def cards(self) -> dict[str, Card]:
        """The cards, with the changes that could not be written; nobody may change it.

        Raises:
            UserError: Another version of the program has written the file.
            OSError: The file cannot be read.
        """
        try:
            found = self.path.stat()
            stamp = found.st_ino, found.st_mtime_ns, found.st_size
            if stamp != self._stamp:
                self._read(self.path.read_bytes())
        except FileNotFoundError:
            stamp, self._cards, self._damage = None, {}, ""
        self._stamp = stamp
        cards = self._cards | self._changes if self._changes else self._cards
        return {key: card for key, card in cards.items() if card is not None} if self._changes else self._cards

    def _read(self, data: bytes) -> None:
        try:
            document = parse_json(data)
            version, entries = document["version"], dict(document["problems"])
        except (ValueError, KeyError, TypeError):
            version, entries = _VERSION, {"": None}
        if version != _VERSION:
            raise UserError(
                f"{self.path} was written by another version of gtp_engine ({version!r}, this one reads {_VERSION}): "
                "no results are saved; update gtp_engine, or move the file away"
            )
        before, self._cards = self._cards, {}
        for key, entry in entries.items():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._cards[key] = _card(entry)
        lost = len(entries) - len(self._cards)
        share = f"{len(self._cards)} of {len(entries)} problems" if self._cards else "nothing"
        self._damage = f"{self.path} is damaged: {share} in it can be read" if lost else ""
        if lost:  # what was read before the file was damaged stays
            self._cards = before | self._cards
        self.notice = self._damage or self.notice

    def change(self, key: str, card: Card | None) -> None:
        """Keeps a card, or forgets it, and writes the file.

        Raises:
            UserError: Another version has written the file, or another program holds it.
            OSError: It cannot be read or written. The change stays here in all three cases.
        """
        self._changes[key] = card
        self.save()

    def save(self) -> None:
        """Writes the changes that are not in the file; raises what `change` does."""
        if not self._changes:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with folder_lock(self.path.parent, f".{self.path.stem}.lock", _LOCK_SECONDS):
            cards = self.cards
            content = {"version": _VERSION, "problems": {key: asdict(card) for key, card in cards.items()}}
            if self._damage:
                aside = self.path.with_stem(f"{self.path.stem}-damaged-{time.strftime('%Y-%m-%d-%H%M%S')}")
                os.replace(self.path, aside)
                self.notice = f"{self._damage}; it is kept as {aside.name}"
            write_text(self.path, json.dumps(content, ensure_ascii=False, indent=0))
        self._cards = cards
        self._changes.clear()


def _card(entry: dict[str, Any]) -> Card:
    """Returns a card as it was written; raises ValueError, KeyError or TypeError for anything else."""
    card = Card(**entry)
    if entry.get("missed") is not None:
        missed = Missed(**entry["missed"])
        card = replace(card, missed=replace(missed, points=float(missed.points), line=tuple(map(str, missed.line))))
    if card.due:
        datetime.date.fromisoformat(card.due)
    texts, numbers = (card.name, card.sgf, card.due), (card.box, card.right, card.wrong)
    if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
        raise TypeError
    return card
