"""What costs the user most points in all reviewed games, and the problems made of it."""

from dataclasses import dataclass

from ..go.sgf import GameRecord, read_sgf
from ..table.database import Database
from .kept_problems import Card, Missed
from .page.words import PHASES
from .stored_reviews import KIND_OF

_MOST_DRILLED = 50  # an evening of problems


@dataclass(frozen=True)
class Losses:
    """What mistakes have cost in all.

    Attributes:
        games: In how many games there were mistakes.
        points: The points lost by all of them.
        phases: The phases (`move_review.Phase`), each with the name of its text and the points lost, the most costly
            first.
        kinds: What mistakes with a known reason were about (`stored_reviews.KIND_OF`), with the points lost and the
            number of mistakes, the most costly first.
    """

    games: int
    points: float
    phases: list[tuple[str, str, float]]
    kinds: list[tuple[str, float, int]]


def find_losses(database: Database) -> Losses:
    """Returns what the user's mistakes in all reviewed games have cost."""
    ((games, points),) = database.rows("SELECT count(DISTINCT key), total(points) FROM mistakes") or [(0, 0.0)]
    names, kinds = {phase.name: text for phase, text in PHASES.items()}, {*KIND_OF.values()}
    by = "SELECT {0}, sum(points) AS lost, count(*) FROM mistakes GROUP BY {0} ORDER BY lost DESC"
    phases = [(phase, names[phase], lost) for phase, lost, _ in database.rows(by.format("phase")) if phase in names]
    known = [row for row in database.rows(by.format("kind")) if row[0] in kinds]
    return Losses(games, points, phases, known)


def problems_of(database: Database, phase: str, kind: str) -> list[Card]:
    """Returns the user's most costly mistakes as problems: of a phase and about a kind of thing, "" for any."""
    rows = database.rows(
        "SELECT number, missed, sgf FROM mistakes JOIN reviews USING (key) WHERE (?1 = '' OR phase = ?1)"
        " AND (?2 = '' OR kind = ?2) ORDER BY points DESC LIMIT ?3",
        phase,
        kind,
        _MOST_DRILLED,
    )
    return [Card("", _before(sgf, number), Missed.from_json(missed)) for number, missed, sgf in rows]


def _before(sgf: str, number: int) -> str:
    """Returns the game of a record before a move, with its player to move, as SGF."""
    return GameRecord.from_game(read_sgf(sgf.encode()).to_game(number - 1)).to_sgf()
