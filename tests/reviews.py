"""Reviews of moves with chosen values, without any search: for tests of what is made of reviews."""

import numpy as np

from gtp_engine.base.languages.texts import Phrase
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Move
from gtp_engine.go.sgf import GameRecord
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.search.request import Limits
from gtp_engine.study.game_review import Conditions, GameReview, Reason
from gtp_engine.study.move_review import MoveReview

D4, E5, F6, G7 = (parse_vertex(name, 9, 9) for name in ("D4", "E5", "F6", "G7"))


def move_report(point: int, winrate: float, lead: float, prior: float = 0.1, order: int = 0) -> MoveReport:
    return MoveReport(point, 10, winrate, lead, lead, 0, 0, 0, 0, prior, 1, order, (point, F6), (10, 5))


def report(
    to_move: int,
    best: int,
    winrate: float,
    lead: float,
    others: tuple[tuple[int, float, float], ...] = (),
    prior: float = 0.1,
) -> SearchReport:
    """A search whose preferred move seems to be worth more than the position.

    others: further moves with their priors and the points that they lose.
    """
    moves = (move_report(best, winrate + 0.1, lead + 1, prior),)
    for order, (point, chance, loss) in enumerate(others, 1):
        moves += (move_report(point, winrate, lead + 1 - loss, chance, order),)
    return SearchReport(9, 9, to_move, 20, 20, winrate, lead, lead, 0, 0, moves, np.zeros(82, np.float32), None, 0.1)


def review(
    colour: int,
    played: int,
    best: int,
    winrates: tuple[float, float],
    leads: tuple[float, float],
    *,
    number: int = 1,
    others: tuple[tuple[int, float, float], ...] = (),
    prior: float = 0.1,
) -> MoveReview:
    """A move of `colour`; values before and after it are for the side to move of each position."""
    before = report(colour, best, winrates[0], leads[0], others, prior)
    after = report(3 - colour, F6, winrates[1], leads[1])
    return MoveReview(number, Move(colour, played), before, after)


def loss(number: int, colour: int, played: int, best: int, points: float, winrate: float = 0.0) -> MoveReview:
    """A move that costs so many points and so much win rate; nothing if it is the best one."""
    return review(colour, played, best, (0.5, 0.5 + winrate), (0.0, points), number=number)


def reason(line: tuple[int, ...] = (), played: str = "D4") -> Reason:
    """A reason for a mistake: "D4 is a neutral point: it gains no territory."."""
    return Reason(Phrase("reason.dame", {"played": played}), line)


def game_of(moves: list[MoveReview], **options: object) -> GameReview:
    """A game of these moves on 9x9, numbered from 1."""
    record = GameRecord(9, 9, source="game.sgf", komi=7, black="Ann", white="Bob", black_rank="3d", result="B+2")
    node = record.root
    node.comment = "start"
    for move in moves:
        node = record.add(node, move=move.move)
    conditions = Conditions("net", "float32", Limits(visits=20), 1, "chinese", 7.0)
    return GameReview(record, conditions, tuple(moves), **options)  # type: ignore[arg-type]
