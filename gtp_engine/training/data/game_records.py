"""Game records as training data: which records to use, and the targets that their results provide.

The policy targets are the moves that were played. Value, score and ownership are targets only if the record determines
them (`_parse_result`).
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...go.coords import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, WHITE
from ...go.game import Move, count_handicap, handicap_bonus
from ...go.rules import RULESETS, default_komi
from ...go.sgf import GameRecord
from ...go.sgf.values import read_points
from .samples import DRAW, INDEX_BITS, MOST_MOVES, UNKNOWN, SampleGame, pack_moves

LARGEST_BOARD = 19  # KataGo's networks do not support larger ones
HASHED_MOVES = 100  # of a game, to identify it
VALIDATION_SHARE = 20  # one game in 20 is held back for validation
_LOWEST_PROFESSIONAL = 100
_YEAR = re.compile("[0-9]{4}")  # with which a date begins, in SGF
_RANK = re.compile(r"\s*(\d{1,2})\s*(k|d|p|kyu|dan|段|级|級)?", re.IGNORECASE)
_RESULT = re.compile(r"\s*([BW])\s*\+\s*([\d.]*)\s*(.*)", re.IGNORECASE)
_FRACTION = re.compile(r"\d+\s*/\s*\d+")  # after the points, as in 1 3/4
_DRAWS = ("0", "draw", "jigo")


class Unusable(UserError):
    """A record cannot be used. The message is a short reason, by which such records are counted."""


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which records to use; None for any.

    Attributes:
        board_sizes: Accepted sizes, as (width, height).
        rank: Minimum rank of both players, such as "4d". Professionals rank above all amateurs; records without ranks
            are not used.
        since: First year or day, such as "2000" or "2015-03-31"; records without a date are not used.
        until: Last year or day, likewise.
        moves: Minimum number of moves.
    """

    board_sizes: tuple[tuple[int, int], ...] | None = None
    rank: str | None = None
    since: str | None = None
    until: str | None = None
    moves: int = 20

    def __post_init__(self) -> None:
        if self.rank is not None and rank_of(self.rank) is None:
            raise UserError(f"unknown rank {self.rank!r}: expected one such as 5k, 3d, 1p")
        for bound in (self.since, self.until):
            if bound is not None and not re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", bound):
                raise UserError(f"unknown date {bound!r}: expected one such as 2015 or 2015-03-31")

    def to_data(self) -> dict[str, Any]:
        """Returns the filters as plain data, in the form that JSON restores."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return data

    def check(self, record: GameRecord) -> None:
        """Raises Unusable if a record does not pass."""
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
        is_dated = _YEAR.match(day) is not None
        if self.since is not None and not (is_dated and day[: len(self.since)] >= self.since):
            raise Unusable("date")
        if self.until is not None and not (is_dated and day[: len(self.until)] <= self.until):
            raise Unusable("date")


def rank_of(text: str) -> int | None:
    """Returns a rank as a number that increases with strength; None if it is not a rank. "P" is a professional's."""
    match = _RANK.match(text)
    if match is None:
        return _LOWEST_PROFESSIONAL if text.strip().lower() in ("p", "pro") else None
    number, kind = int(match[1]), (match[2] or "").lower()
    if kind in ("k", "kyu", "级", "級"):
        return -number
    if kind == "p":
        return _LOWEST_PROFESSIONAL + number
    return number if kind else None


def read_record(record: GameRecord) -> SampleGame:
    """Returns a record as a game to learn from; whether its moves are legal is not checked.

    Raises:
        Unusable: It has no moves, or sets up stones later than at the start.
    """
    setup: dict[int, int] = {}
    moves: list[Move] = []
    for node in record.main_line:
        if node.setup and moves:
            raise Unusable("stones set up after the first move")
        setup |= node.setup
        if node.move is not None:
            moves.append(node.move)
    if not moves:
        raise Unusable("too few moves")
    stones = [Move(colour, point) for point, colour in setup.items() if colour != EMPTY]
    width, height = record.width, record.height
    rules = record.game_rules() or RULESETS["chinese"]
    handicap = count_handicap(stones, moves)
    komi = record.komi
    winner, margin = _parse_result(record.result)
    if komi is None:
        komi = 0.5 if handicap else default_komi(width, height)
        winner, margin = UNKNOWN, float("nan")  # the result depends on the unknown komi
    packed_setup, packed = pack_moves(stones, width, height), pack_moves(moves, width, height)
    return SampleGame(
        width=width,
        height=height,
        rules=rules,
        komi=komi + handicap_bonus(rules, handicap),
        to_move=moves[0].colour,
        setup=packed_setup,
        moves=packed,
        winner=winner,
        margin=margin,
        number=game_number(width, height, packed_setup, packed, moves[0].colour),
    )


def is_held(numbers: np.ndarray) -> np.ndarray:
    """Returns bool [games]: whether games are held back for validation, by their numbers (uint64), in every run."""
    return (numbers & np.uint64(0xFFFFFFFF)) % np.uint64(VALIDATION_SHARE) == 0


def _parse_result(text: str) -> tuple[int, float]:
    """Returns winner and Black's margin from the property RE; unknown for games lost on time or by forfeit."""
    if text.strip().lower() in _DRAWS:
        return DRAW, 0.0
    match = _RESULT.fullmatch(text)
    if match is None:
        return UNKNOWN, float("nan")
    colour, points, how = BLACK if match[1].upper() == "B" else WHITE, match[2], match[3].lower()
    if how.startswith(("t", "f")):
        return UNKNOWN, float("nan")
    margin = read_points(points)
    if margin is None or _FRACTION.search(how):
        return colour, float("nan")
    if margin > MAX_SIZE * MAX_SIZE:
        return UNKNOWN, float("nan")
    return colour, margin if colour == BLACK else -margin


def game_number(width: int, height: int, setup: np.ndarray, moves: np.ndarray, first: int) -> int:
    """Returns a 64-bit hash of a game's first HASHED_MOVES moves, the same under all symmetries of the board.

    Args:
        width: Width of the board.
        height: Height of the board.
        setup: Packed stones at the start; only their numbers count.
        moves: Packed moves.
        first: Colour of the first move.
    """
    indices = (moves[:HASHED_MOVES] & INDEX_BITS).astype(np.int16)
    passes = indices == width * height
    x, y = indices % width, indices // width
    black = int(np.count_nonzero(setup < 0x8000))
    transformed = []
    for symmetry in range(8 if width == height else 4):
        a = width - 1 - x if symmetry & 1 else x
        b = height - 1 - y if symmetry & 2 else y
        if symmetry & 4:
            a, b = b, a
        # Big-endian, so that the bytes compare as the numbers do.
        transformed.append(np.where(passes, 0, b * width + a + 1).astype(">u2").tobytes())
    smallest = (np.frombuffer(min(transformed), ">u2").astype(np.int32) - 1).astype("<i2").tobytes()
    start = f"{width if width == height else f'{width}:{height}'}|{black}|{len(setup) - black}|{first}|".encode()
    return int(hashlib.sha256(start + smallest).hexdigest()[:16], 16)
