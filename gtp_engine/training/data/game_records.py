"""Game records as training data: which records to use, and the targets that their results provide.

The policy targets are the moves that were played. Value, score and ownership are targets only if the record determines
them (`_parse_result`).
"""

import hashlib
import re

import numpy as np

from ...base.errors import UserError
from ...go.coords import BLACK, EMPTY, MIN_SIZE, parse_colour
from ...go.game import Move, count_handicap, handicap_bonus
from ...go.rules import RULESETS, default_komi
from ...go.sgf import GameRecord, read_result
from ...go.sgf.values import read_points
from ...go.symmetry import COUNT, permutation
from ...search.evaluate.choices import LARGEST_BOARD
from ..run_settings import RecordSettings, parse_size, rank_of
from .samples import DRAW, INDEX_BITS, MOST_MOVES, UNKNOWN, SampleGame, pack_moves

HASHED_MOVES = 100  # of a game, to identify it
VALIDATION_SHARE = 20  # one game in 20 is held back for validation
_YEAR = re.compile("[0-9]{4}")  # with which a date begins, in SGF
_WON = re.compile(r"([BW])\+(?!\d{4})")  # whatever follows, but no more points than any board has


class Unusable(UserError):
    """A record cannot be used. The message is a short reason, by which such records are counted."""


def check_filters(record: GameRecord, wanted: RecordSettings) -> None:
    """Raises Unusable unless a record is one of those that the settings want."""
    size, moves = (record.width, record.height), len(record.moves)
    sizes = list(map(parse_size, wanted.board_sizes))
    if min(size) < MIN_SIZE or max(size) > LARGEST_BOARD or (sizes and size not in sizes):
        raise Unusable("board size")
    if not wanted.least_moves <= moves <= MOST_MOVES:
        raise Unusable("too few moves")
    lowest = rank_of(wanted.rank)
    if lowest is not None:
        ranks = rank_of(record.black_rank), rank_of(record.white_rank)
        if any(rank is None or rank < lowest for rank in ranks):
            raise Unusable("rank")
    day, since, until = record.date.strip(), wanted.since, wanted.until
    is_unknown = (since or until) and not _YEAR.match(day)
    if is_unknown or (since and day[: len(since)] < since) or (until and day[: len(until)] > until):
        raise Unusable("date")


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
    text = text.upper().replace(" ", "")
    found = read_result(text)
    if found is None:
        won = _WON.match(text)
        return (parse_colour(won[1]) if won else UNKNOWN), float("nan")
    if found.winner is None:
        return (DRAW, 0.0) if found.by == "draw" else (UNKNOWN, float("nan"))
    if found.by in ("time", "forfeit"):
        return UNKNOWN, float("nan")
    margin = read_points(found.points)
    if margin is None:
        return found.winner, float("nan")
    return found.winner, margin if found.winner == BLACK else -margin


def game_number(width: int, height: int, setup: np.ndarray, moves: np.ndarray, first: int) -> int:
    """Returns a 64-bit hash of a game's first HASHED_MOVES moves, the same under all symmetries of the board.

    Stones at the start and moves are packed; of the stones only their numbers count. `first` is the colour to move.
    """
    indices = (moves[:HASHED_MOVES] & INDEX_BITS).astype(np.int16)
    passes = indices == width * height
    black = int(np.count_nonzero(setup < 0x8000))
    transformed = []
    for symmetry in range(COUNT if width == height else COUNT // 2):
        moved = permutation(symmetry, width, height)[indices] + 1
        # Big-endian, so that the bytes compare as the numbers do.
        transformed.append(np.where(passes, 0, moved).astype(">u2").tobytes())
    smallest = (np.frombuffer(min(transformed), ">u2").astype(np.int32) - 1).astype("<i2").tobytes()
    start = f"{width if width == height else f'{width}:{height}'}|{black}|{len(setup) - black}|{first}|".encode()
    return int(hashlib.sha256(start + smallest).hexdigest()[:16], 16)
