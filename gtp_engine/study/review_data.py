"""Reviewed games as data for other programs: JSON and CSV."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..base import VERSION
from ..base.languages.texts import texts
from ..go.coords import colour_name
from .game_review import GameReview, PlayerFigures, PlayStatistics
from .move_review import CLASSES, Mistake, MoveReview
from .rank_estimate import RankEstimate, rank_name

_DIGITS = 4  # after the decimal point

# What is known about each move, by the name of its field; the columns of a table, but for the better line.
_MOVE: dict[str, Callable[[MoveReview], Any]] = {
    "move": lambda move: move.number,
    "player": lambda move: colour_name(move.move.colour),
    "phase": lambda move: move.phase and move.phase.label,
    "played": lambda move: move.vertex(move.move.point),
    "best": lambda move: move.vertex(move.best),
    "place": lambda move: move.place,
    "better_line": lambda move: [move.vertex(point) for point in move.better_line],
    "black_winrate": lambda move: _rounded(move.winrate),
    "black_lead": lambda move: _rounded(move.lead),
    "winrate_lost": lambda move: _rounded(move.winrate_loss),
    "points_lost": lambda move: _rounded(move.points_loss),
    "repeats": lambda move: move.repeats,
    "checked": lambda move: move.is_checked,
}
COLUMNS = ("file", "black", "white", *(name for name in _MOVE if name != "better_line"))


def to_json(reviews: Sequence[GameReview]) -> str:
    """Returns the reviews as JSON text: {"program": ..., "classes": ..., "games": [...]}.

    Win rates are 0 to 1, leads and losses are in points, and both are Black's unless they are losses. `classes` has the
    losses from which the classes of mistakes begin; a player's `classes` and `class_losses`, how many moves they have
    and what these lost in all, begin with the losses below the first. A player's `rank` is an estimate with the ends of
    its interval or, below 9k, of its group (`rank_estimate`), or null. Moves and mistakes are those of the judged
    players; `checked` moves had a second look. A move costs nothing if stones are set up after it, or if it `repeats` a
    mistake that counts with another move, whose number that is; a player's `again` says how many do. So the losses of
    the moves add up to the player's.
    """
    table = {
        "program": f"gtp_engine {VERSION}",
        "classes": CLASSES,
        "games": [_game(review) for review in reviews],
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def to_csv(reviews: Sequence[GameReview]) -> str:
    """Returns the moves of the judged players as CSV text, with `COLUMNS` as its first line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for review in reviews:
        game = {"file": review.record.source, "black": review.record.black, "white": review.record.white}
        writer.writerows(game | _fields(move) for move in review.own_moves)
    return text.getvalue()


def _game(review: GameReview) -> dict[str, Any]:
    record, conditions = review.record, review.conditions
    return {
        "file": record.source,
        "black": {"name": record.black, "rank": record.black_rank},
        "white": {"name": record.white, "rank": record.white_rank},
        "date": record.date,
        "result": record.result,
        "width": record.width,
        "height": record.height,
        "rules": conditions.rules,
        "komi": conditions.komi,
        "notices": [texts().say(notice) for notice in conditions.notices],
        "network": conditions.network,
        "precision": conditions.precision,
        "visits": conditions.limits.visits,
        "seconds": conditions.limits.seconds,
        "visits_again": conditions.again,
        "took": conditions.took and _rounded(conditions.took),
        "seed": conditions.seed,
        "players": {colour_name(colour): _player(figures) for colour, figures in review.figures().items()},
        "mistakes": [_mistake(review, mistake) for mistake in review.mistakes],
        "moves": [_fields(move) for move in review.own_moves],
    }


def _player(figures: PlayerFigures) -> dict[str, Any]:
    return _numbers(figures.all) | {
        "rank": figures.rank and _rank(figures.rank),
        "phases": {phase.label: _numbers(part) for phase, part in figures.phases.items()},
    }


def _rank(found: RankEstimate) -> dict[str, str | None]:
    """Returns the rank and the ends of its interval; None for what is not told (`RankEstimate`)."""
    return {
        "rank": None if found.is_dan or found.group else rank_name(found.rank),
        "low": rank_name(found.low),
        "high": None if found.is_dan else rank_name(found.high),
    }


def _numbers(found: PlayStatistics) -> dict[str, Any]:
    return {name: _rounded(value) for name, value in vars(found).items()}


def _mistake(review: GameReview, mistake: Mistake) -> dict[str, Any]:
    worst = mistake.worst
    return {
        "best": worst.vertex(worst.best),
        "better_line": [worst.vertex(point) for point in worst.better_line],
        "worst": worst.number,
        "moves": [miss.number for miss in mistake.misses],
        "winrate_lost": _rounded(worst.winrate_loss),
        "points_lost": _rounded(worst.points_loss),
        "reasons": [
            {"text": reason.text, "line": [worst.vertex(point) for point in reason.line]}
            for reason in review.reasons.get(worst.number, ())
        ],
    }


def _fields(move: MoveReview) -> dict[str, Any]:
    return {name: found(move) for name, found in _MOVE.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(one) for one in value]
    return round(value, _DIGITS) if isinstance(value, float) else value
