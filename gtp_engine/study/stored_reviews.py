"""Reviews in the user's database: all that pages and files show of them, and the user's own mistakes.

The values of all points, such as the policy and the owners, are left out: nothing is searched again with them.
"""

import datetime
import json
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import UserError
from ..base.languages.texts import Phrase
from ..base.nesting import parse_json
from ..go.game import Move
from ..go.sgf import GameRecord, read_sgf
from ..search.report import MoveReport, SearchReport
from ..search.request import Limits
from ..table.database import Change, Database
from ..table.game_index import as_text, facts_of
from .game_review import Conditions, GameReview, Reason
from .kept_problems import Missed
from .level import Level
from .move_review import Mistake, MoveReview
from .rank_estimate import RankEstimate

_MOVE = [name for name in MoveReport._fields if name != "ownership"]
_ARRAYS = {"moves", "priors", "ownership", "improved_policy", "root_evaluation", "stones"}
_REPORT = [each.name for each in fields(SearchReport) if each.name not in _ARRAYS]
_OF_MOVE = ("number", "is_checked", "has_setup", "ends_game", "repeats")
_DIGITS = 5  # after the decimal point, of the values of moves: at most a tenth is shown
# What mistakes are about, by the names of their first reasons without "reason.".
_KINDS = {
    "capture": ("atari", "catches", "caught", "escapes", "runs", "nets", "lost", "taken"),
    "life": ("race", "eyes", "eye", "dies", "lives", "unsaved", "kills"),
    "safety": ("weaker", "stronger"),
    "cut": ("cut", "connected"),
    "ko": ("koTaken", "koEnded", "koThreatMade", "koTakenInstead", "koEndedInstead", "koIgnored", "koThreat"),
    "size": ("bigger", "smaller", "elsewhere", "region", "point", "sente"),
    "wasted": ("own", "others", "dame", "passed"),
}
_LIFE_AND_DEATH = ("dies", "unsaved", "lives", "kills", "eyes", "eye", "lost", "taken", "nets")  # of a group
KIND_OF = {f"reason.{name}": kind for kind, names in _KINDS.items() for name in names}


class Stored(NamedTuple):
    """A review that was kept."""

    review: GameReview
    is_lesson: bool  # whether it is the lesson at the end of a game


# Keeping and finding.


def keep_review(database: Database, review: GameReview, *, is_lesson: bool) -> None:
    """Keeps a complete review instead of the one before; a lesson never takes the place of a review."""
    today = datetime.date.today().isoformat()
    facts = facts_of(review.record, today)
    key = facts.key
    if is_lesson and database.rows("SELECT 1 FROM reviews WHERE key = ? AND NOT is_lesson", key):
        return
    values = key, time.time(), is_lesson, as_text(facts), review.record.to_sgf(), _packed(review)
    changes = [
        Change("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?, ?, ?)", values),
        Change("DELETE FROM mistakes WHERE key = ?", (key,)),
    ]
    for mistake in review.mistakes:
        if (worst := mistake.worst).move.colour == facts.own:
            missed = missed_of(review, mistake)
            row = key, worst.number, worst.phase.name, _kind(review, mistake), missed.points, missed.to_json()
            changes.append(Change("INSERT INTO mistakes VALUES (?, ?, ?, ?, ?, ?)", row))
    database.change(*changes)


def find_review(database: Database, key: str) -> Stored | None:
    """Returns the review of a game by its `game_key`; None if there is none, or another version has kept it."""
    for is_lesson, sgf, content in database.rows("SELECT is_lesson, sgf, content FROM reviews WHERE key = ?", key):
        with suppress(ValueError, KeyError, TypeError, zlib.error, UserError):
            return Stored(_unpacked(content, read_sgf(sgf.encode())), bool(is_lesson))
    return None


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


def _kind(review: GameReview, mistake: Mistake) -> str:
    reasons = review.reasons.get(mistake.worst.number, ())
    return KIND_OF.get(reasons[0].sentence.name, "") if reasons else ""


# The form of a review.


def _packed(review: GameReview) -> bytes:
    """Returns a review without its record."""
    reports = {id(report): report for move in review.moves for report in (move.before, move.after)}
    places = {identity: place for place, identity in enumerate(reports)}
    document = {
        "names": [_REPORT, _MOVE],
        "reports": [_report_values(report) for report in reports.values()],
        "moves": [
            [
                *attrgetter(*_OF_MOVE)(move),
                [*move.move],
                sorted(move.ladder),
                places[id(move.before)],
                places[id(move.after)],
            ]
            for move in review.moves
        ],
        "conditions": asdict(review.conditions),
        "player": review.player,
        "praised": review.praised,
        "level": asdict(review.moves[0].level),
        "reasons": {
            number: [[_phrase(each.sentence), each.line, sorted(each.points)] for each in reasons]
            for number, reasons in review.reasons.items()
        },
        "ranks": {colour: found.rank for colour, found in review.ranks.items()},
    }
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode())


def _report_values(report: SearchReport) -> list[Any]:
    stones = None if report.stones is None else "".join(map(str, report.stones.ravel().tolist()))
    moves = [[_rounded(getattr(move, name)) for name in _MOVE] for move in report.moves]
    return [[getattr(report, name) for name in _REPORT], stones, moves]


def _rounded(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


def _phrase(phrase: Phrase) -> list[Any]:
    values = {name: _phrase(value) if isinstance(value, Phrase) else value for name, value in phrase.values.items()}
    return [phrase.name, values]


def _unpacked(content: bytes, record: GameRecord) -> GameReview:
    """Returns a review of a record; ValueError, KeyError or TypeError if another version has packed it."""
    document = parse_json(zlib.decompress(content))
    if document["names"] != [_REPORT, _MOVE]:
        raise ValueError("another version's")
    reports = [_report(*values) for values in document["reports"]]
    level = Level(**document["level"])
    moves = tuple(_move(values, reports, level) for values in document["moves"])
    conditions = document["conditions"] | {"limits": Limits(**document["conditions"]["limits"])}
    return GameReview(
        record,
        Conditions(**conditions),
        moves,
        document["player"],
        {int(number): tuple(map(_reason, reasons)) for number, reasons in document["reasons"].items()},
        is_checked=True,
        ranks={int(colour): RankEstimate(rank) for colour, rank in document["ranks"].items()},
        praised=tuple(document["praised"]),
    )


def _report(values: list[Any], stones: str | None, moves: list[list[Any]]) -> SearchReport:
    known: Mapping[str, Any] = dict(zip(_REPORT, values, strict=True))
    width, height = known["width"], known["height"]
    board = None if stones is None else np.array([*map(int, stones)], np.int8).reshape(height, width)
    found = tuple(_move_report(each) for each in moves)
    priors = np.zeros(width * height + 1, np.float32)
    return SearchReport(**known, moves=found, priors=priors, ownership=None, stones=board)


_LINES = [_MOVE.index(name) for name in ("pv", "pv_visits")]
_OWNERSHIP = MoveReport._fields.index("ownership")


def _move_report(values: list[Any]) -> MoveReport:
    for place in _LINES:
        values[place] = tuple(values[place])
    return MoveReport._make([*values[:_OWNERSHIP], None, *values[_OWNERSHIP:]])


def _move(values: list[Any], reports: list[SearchReport], level: Level) -> MoveReview:
    *simple, move, ladder, before, after = values
    known = dict(zip(_OF_MOVE, simple, strict=True))
    ends = {"before": reports[before], "after": reports[after]}
    return MoveReview(move=Move(*move), ladder=frozenset(ladder), level=level, **ends, **known)


def _reason(values: list[Any]) -> Reason:
    sentence, line, points = values
    return Reason(_read_phrase(sentence), tuple(line), frozenset(points))


def _read_phrase(values: list[Any]) -> Phrase:
    name, filled = values
    return Phrase(
        name, {key: _read_phrase(value) if isinstance(value, list) else value for key, value in filled.items()}
    )
