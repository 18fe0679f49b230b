"""Game records as games to learn from: which ones, and what their results teach.

A record's policy targets are the moves that were played. Value, score and ownership are targets only where the record
is clear about them (`_result`).
"""

import hashlib
import re
from dataclasses import dataclass

import numpy as np

from ..game.coords import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, WHITE
from ..game.game import Move, bonus_of, count_handicap
from ..game.rules import RULESETS, default_komi
from ..sgf import GameRecord
from .samples import DRAW, INDEX_BITS, MOST_MOVES, UNKNOWN, SampleGame, pack_moves

LARGEST_BOARD = 19  # of KataGo's networks
HASHED_MOVES = 100
_LOWEST_PROFESSIONAL = 100
_RANK = re.compile(r"\s*(\d{1,2})\s*(k|d|p|kyu|dan|段|级|級)?", re.IGNORECASE)
_RESULT = re.compile(r"\s*([BW])\s*\+\s*([\d.]*)\s*(.*)", re.IGNORECASE)
_DRAWS = ("0", "draw", "jigo")


class Unusable(ValueError):
    """A record that is not to be learned from; the text is a short reason, the same for all such records."""


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which records to learn from; None: any.

    board_sizes: width and height. rank: both players' lowest, "4d"; a professional's is above every amateur's, and
    players without a rank are left out. since, until: the date's bounds, years or days, both included; records without
    a date are left out then. moves: the least number of them.
    """

    board_sizes: tuple[tuple[int, int], ...] | None = None
    rank: str | None = None
    since: str | None = None
    until: str | None = None
    moves: int = 20

    def __post_init__(self) -> None:
        if self.rank is not None and rank_of(self.rank) is None:
            raise ValueError(f"unknown rank {self.rank!r}: expected one such as 5k, 3d, 1p")
        for bound in (self.since, self.until):
            if bound is not None and not re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", bound):
                raise ValueError(f"unknown date {bound!r}: expected one such as 2015 or 2015-03-31")

    def check(self, record: GameRecord) -> None:
        """Raises Unusable for a record that does not pass."""
        sizes = self.board_sizes
        if not min(record.width, record.height) >= MIN_SIZE or max(record.width, record.height) > LARGEST_BOARD:
            raise Unusable("board size")
        if sizes is not None and (record.width, record.height) not in sizes:
            raise Unusable("board size")
        if not self.moves <= len(record.moves) <= MOST_MOVES:
            raise Unusable("too few moves")
        lowest = rank_of(self.rank) if self.rank else None
        if lowest is not None:
            ranks = rank_of(record.black_rank), rank_of(record.white_rank)
            if any(rank is None or rank < lowest for rank in ranks):
                raise Unusable("rank")
        day = record.date.strip()
        if self.since is not None and day[: len(self.since)] < self.since:  # an unknown date is empty: below all
            raise Unusable("date")
        if self.until is not None and not "0" < day[: len(self.until)] <= self.until:
            raise Unusable("date")


def rank_of(text: str) -> int | None:
    """A rank as a number that grows with strength; None for what is none. A bare "P" is a professional's."""
    match = _RANK.match(text)
    if match is None:
        return _LOWEST_PROFESSIONAL if text.strip().lower() in ("p", "pro") else None
    number, kind = int(match[1]), (match[2] or "").lower()
    if kind in ("k", "kyu", "级", "級"):
        return -number
    if kind == "p":
        return _LOWEST_PROFESSIONAL + number
    return number if kind else None


def read_record(record: GameRecord, source: str = "") -> SampleGame:
    """A record as a game to learn from. Raises Unusable; whether its moves are legal is not looked at."""
    setup: dict[int, int] = {}
    moves: list[Move] = []
    for node in record.nodes:
        if node.has_setup and moves:
            raise Unusable("stones set up after the first move")
        setup |= dict.fromkeys(node.black, BLACK) | dict.fromkeys(node.white, WHITE) | dict.fromkeys(node.empty, EMPTY)
        if node.move is not None:
            moves.append(node.move)
    if not moves:
        raise Unusable("too few moves")
    stones = [Move(colour, point) for point, colour in setup.items() if colour != EMPTY]
    width, height = record.width, record.height
    rules = record.game_rules() or RULESETS["chinese"]
    handicap = count_handicap(stones, moves)
    komi = record.komi
    winner, margin = _result(record.result)
    if komi is None:
        komi = 0.5 if handicap else default_komi(width, height)
        winner, margin = UNKNOWN, float("nan")  # who would have won with this komi?
    packed_setup, packed = pack_moves(stones, width, height), pack_moves(moves, width, height)
    return SampleGame(
        width=width,
        height=height,
        rules=rules,
        komi=komi + bonus_of(rules, handicap),
        to_move=moves[0].colour,
        setup=packed_setup,
        moves=packed,
        winner=winner,
        margin=margin,
        number=number_of(width, height, packed_setup, packed, moves[0].colour),
        source=source,
    )


def _result(text: str) -> tuple[int, float]:
    """Winner and black's margin as RE says them. A game lost on time or forfeited says nothing about its positions."""
    if text.strip().lower() in _DRAWS:
        return DRAW, 0.0
    match = _RESULT.fullmatch(text)
    if match is None:
        return UNKNOWN, float("nan")
    colour, points, way = BLACK if match[1].upper() == "B" else WHITE, match[2], match[3].lower()
    if way.startswith(("t", "f")):
        return UNKNOWN, float("nan")
    try:
        margin = float(points)
    except ValueError:
        return colour, float("nan")
    if margin > MAX_SIZE * MAX_SIZE:
        return UNKNOWN, float("nan")
    return colour, margin if colour == BLACK else -margin


def number_of(width: int, height: int, setup: np.ndarray, moves: np.ndarray, first: int) -> int:
    """64 bits that tell a game from others by its first moves, and know it again turned or continued."""
    indices = (moves[:HASHED_MOVES] & INDEX_BITS).astype(np.int16)
    passes = indices == width * height
    x, y = indices % width, indices // width
    black = int(np.count_nonzero(setup < 0x8000))
    turned = []
    for symmetry in range(8 if width == height else 4):
        a = width - 1 - x if symmetry & 1 else x
        b = height - 1 - y if symmetry & 2 else y
        if symmetry & 4:
            a, b = b, a
        turned.append(np.where(passes, 0, b * width + a + 1).astype(">u2").tobytes())  # bytes in the numbers' order
    smallest = (np.frombuffer(min(turned), ">u2").astype(np.int32) - 1).astype("<i2").tobytes()
    start = f"{width if width == height else f'{width}:{height}'}|{black}|{len(setup) - black}|{first}|".encode()
    return int(hashlib.sha256(start + smallest).hexdigest()[:16], 16)
