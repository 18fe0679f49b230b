"""Reviews of moves with chosen values, without any search: for tests of what is made of reviews."""

from dataclasses import replace

import numpy as np

from gtp_engine.base.languages.texts import Phrase
from gtp_engine.go.coords import BLACK, WHITE, parse_vertex
from gtp_engine.go.game import Move
from gtp_engine.go.sgf import GameRecord
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.search.request import Limits
from gtp_engine.study.game_review import Conditions, GameReview, Reason
from gtp_engine.study.move_review import MoveReview

D4, E5, F6, G7 = (parse_vertex(name, 9, 9) for name in ("D4", "E5", "F6", "G7"))


def move_report(point: int, winrate: float, lead: float, prior: float = 0.1, order: int = 0) -> MoveReport:
    return MoveReport(
        point, 10, winrate, lead, lead, 0, 0, 0, 0, prior, 1, order, (point, F6), (10, 5), width=9, height=9
    )


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


PLAYED = Phrase("reason.after", {"played": "E5"})
STONES = Phrase("reason.stones", {"count": 2, "colour": "Black", "place": "E5"})
CUT = Phrase(
    "reason.cut", {"otherwise": PLAYED, "opponent": "White", "first": STONES, "second": STONES, "better": "D4"}
)


def own_review(black: str = "human") -> GameReview:
    """A game of Black against the engine: E5 costs 4 points in the opening, F6 7 in the middle game."""
    stones = np.zeros((9, 9), np.int8)
    stones[3, 2] = BLACK
    moves = [loss(1, BLACK, E5, D4, 4.0), loss(2, WHITE, D4, G7, 9.0)]
    after = replace(moves[1].after, to_move=BLACK, lead=-moves[1].after.lead, stones=stones)
    moves = [moves[0], replace(moves[1], after=after), loss(3, BLACK, F6, G7, 7.0, 0.3)]
    moves = [replace(move, is_checked=True) for move in moves]
    found = game_of(moves, is_checked=True, reasons={1: (Reason(CUT, (E5, D4), frozenset({D4})),), 3: (reason((F6,)),)})
    record = found.record
    record.black, record.white, record.black_rank = black, "gtp_engine 12k", ""
    record.application, record.date, record.result = "gtp_engine:1", "2026-11-28", "W+2.5"
    return found
