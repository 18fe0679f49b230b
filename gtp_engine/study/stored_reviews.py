"""Reviews in the user's database: all that pages and files show of them, and the user's own mistakes.

The values of all points, such as the policy and the owners, are left out: nothing is searched again with them.
"""

import datetime
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from ..base.languages.texts import Phrase, texts
from ..base.plain import as_json, form_of, from_json
from ..go.sgf import GameRecord, read_sgf
from ..search.report import MoveReport, SearchReport
from ..table.database import Change, Database
from ..table.game_index import as_text, facts_of
from .game_review import GameReview, Reason
from .kept_problems import Missed
from .move_review import Mistake

_DIGITS = 5  # after the decimal point, of the values of moves: at most a tenth is shown
# What mistakes are about, by the names of their first reasons without "reason.".
_KINDS = {
    "capture": ("atari", "catches", "caught", "escapes", "runs", "nets", "lost", "taken"),
    "life": ("race", "eyes", "eye", "dies", "lives", "unsaved", "kills"),
    "safety": ("weaker", "stronger"),
    "cut": ("cut", "connected"),
    "ko": ("koTaken", "koEnded", "koThreatMade", "koTakenInstead", "koEndedInstead", "koIgnored", "koThreat"),
    "size": ("bigger", "smaller", "region", "point", "sente"),
    "wasted": ("own", "others", "dame", "passed"),
}
_LIFE_AND_DEATH = ("dies", "unsaved", "lives", "kills", "eyes", "eye", "lost", "taken", "nets")  # of a group
_IS_PACKED = "typeof(content) = 'blob'"  # other tools may write values of other types
KIND_OF = {f"reason.{name}": kind for kind, names in _KINDS.items() for name in names}


class Stored(NamedTuple):
    """A review that was kept."""

    review: GameReview
    is_lesson: bool  # whether it is the lesson at the end of a game


# Keeping and finding.


def keep_review(database: Database, review: GameReview, *, is_lesson: bool) -> None:
    """Keeps a complete review instead of the one before; a lesson takes the place of none that can be read."""
    today = datetime.date.today().isoformat()
    facts = facts_of(review.record, today)
    key = facts.key
    if is_lesson and (kept := find_review(database, key)) is not None and not kept.is_lesson:
        return
    values = key, time.time(), is_lesson, as_text(facts), review.record.to_sgf(), _packed(review)
    changes = [
        Change("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?, ?, ?)", values),
        Change("DELETE FROM mistakes WHERE key = ?", (key,)),
    ]
    for mistake in review.mistakes:
        if (worst := mistake.worst).move.colour == facts.own:
            missed = missed_of(review, mistake)
            phase = worst.phase.name if worst.phase else ""
            reasons = review.reasons.get(worst.number)
            kind = KIND_OF.get(reasons[0].sentence.name, "") if reasons else ""
            row = key, worst.number, phase, kind, missed.points, as_json(missed)
            changes.append(Change("INSERT INTO mistakes VALUES (?, ?, ?, ?, ?, ?)", row))
    database.change(*changes)


def find_review(database: Database, key: str) -> Stored | None:
    """Returns the review of a game by its `game_key`; None if there is none, or another version has kept it."""
    query = f"SELECT is_lesson, sgf, content FROM reviews WHERE key = ? AND {_IS_PACKED}"
    for is_lesson, sgf, content in database.rows(query, key):
        with suppress(ValueError, zlib.error):
            return Stored(_unpacked(content, read_sgf(sgf.encode())), bool(is_lesson))
    return None


def kept_reviews(database: Database) -> dict[str, str]:
    """Returns the reviews that `find_review` finds, by the keys of their games: "review" or "lesson".

    To read one takes a while: those that another version has kept are read here once, and each is marked at once, so
    that nothing is read again if the program ends meanwhile.
    """
    mark = f"substr(content, 1, {len(_READABLE)})"
    unknown = f"SELECT key, content FROM reviews WHERE {mark} NOT IN (?, ?) AND {_IS_PACKED}"
    for key, content in database.rows(unknown, *_MARKS):
        now = (_UNREADABLE if find_review(database, key) is None else _READABLE) + _unmarked(content)
        database.change(Change("UPDATE reviews SET content = ? WHERE key = ? AND content = ?", (now, key, content)))
    rows = database.rows(f"SELECT key, is_lesson FROM reviews WHERE {mark} = ?", _READABLE)
    return {key: "lesson" if is_lesson else "review" for key, is_lesson in rows}


def group_in(reasons: Iterable[Reason]) -> str:
    """Returns a stone of the first group that reasons say to live or to die; "" if there is none."""
    sentences = (reason.sentence for reason in reasons)
    about = (each.values["stones"] for each in sentences if each.name.removeprefix("reason.") in _LIFE_AND_DEATH)
    return next((str(stones.values["place"]) for stones in about if isinstance(stones, Phrase)), "")


def missed_of(review: GameReview, mistake: Mistake) -> Missed:
    """Returns a mistake as what a problem is made of."""
    worst = mistake.worst
    line, group = tuple(map(worst.vertex, worst.better_line)), group_in(review.reasons.get(worst.number, ()))
    day = review.record.date[:10]
    return Missed(worst.vertex(worst.move.point), worst.points_loss, line, group, worst.number, day)


# The form of a review.


_PARTS = ("conditions", "searched", "player", "reasons", "ranks", "praised")
_FORM: Any = tuple[tuple(get_type_hints(GameReview)[name] for name in _PARTS)]  # type: ignore[misc]
# What precedes a packed review: the form of a version that has kept or read it, and whether that version can read it.
_MARKS = _READABLE, _UNREADABLE = f"{form_of(_FORM)}+".encode(), f"{form_of(_FORM)}-".encode()


def _packed(review: GameReview) -> bytes:
    """Returns a review without its record."""
    moves = tuple(replace(move, before=_light(move.before), after=_light(move.after)) for move in review.moves)
    form = [getattr(replace(review, searched=moves), name) for name in _PARTS]
    return _READABLE + zlib.compress(as_json(form).encode())


def _unmarked(content: bytes) -> bytes:
    """Returns a packed review alone; all that zlib packs begins with an x, and versions before the marks had none."""
    return content if content.startswith(b"x") else content[len(_READABLE) :]


def _light(report: SearchReport) -> SearchReport:
    """Returns a report without the values of all points."""
    moves = tuple(MoveReport._make(map(_rounded, move._replace(ownership=None))) for move in report.moves)
    light = replace(report, moves=moves, priors=np.zeros_like(report.priors), ownership=None)
    return replace(light, improved_policy=None, root_evaluation=None)


def _rounded(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


def _unpacked(content: bytes, record: GameRecord) -> GameReview:
    """Returns a review of a record, without reasons that only another version knows.

    Raises:
        ValueError: A version has packed it whose reviews have another form.
    """
    parts = from_json(_FORM, zlib.decompress(_unmarked(content)))
    review = GameReview(record, **dict(zip(_PARTS, parts, strict=True)), is_checked=True)
    names = texts().names
    reasons = {at: tuple(each for each in told if each.sentence.name in names) for at, told in review.reasons.items()}
    return replace(review, reasons=reasons)
