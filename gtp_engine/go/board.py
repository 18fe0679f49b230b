"""The compiled board: one structured record per position, and the functions that play on it.

A record holds all that the rules need to continue from a position except superko's history, which belongs to the game
and to the search path (see `is_legal`). It has room for the largest board; its arrays are indexed by *points*
(`go.coords`), and a smaller board uses their first part. Inside compiled code `board = boards[i]` is a pointer, and
fields are accessed as `board["stones"][point]`.

A chain is identified by its head point. A liberty is counted once for every stone of the chain that touches it (a
pseudo-liberty), and the board keeps the number n of these, the sum of their points and the sum of the squares. A chain
is in atari if all n are the same point, which is the case if and only if n * squares = sum^2. So atari is detected
without walking along the chain (as in Lukasz Lew's libego).
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import borrowing, inline, njit
from .coords import BLACK, EMPTY, MAX_SIZE, PASS, WALL, WHITE
from .points import point_at

MAX_AREA = MAX_SIZE * MAX_SIZE
MAX_POINTS = (MAX_SIZE + 2) * (MAX_SIZE + 1) + 1
RECENT = 8  # length of the ring of last moves: a power of two, and at least the five that networks' planes show

SIMPLE_KO, POSITIONAL_SUPERKO, SITUATIONAL_SUPERKO = 0, 1, 2
AREA_SCORING, TERRITORY_SCORING = 0, 1
NO_TAX, SEKI_TAX, ALL_TAX = 0, 1, 2
# Bits of `captured_at`: a stone was once taken from here, so that a play may repeat a position; see `mark_superko`.
WAS_CAPTURED, SUPERKO_FORBIDS = 1, 2
# Bits of `ladders`: a ladder caught the stone one move ago, two moves ago.
CAUGHT_BEFORE, CAUGHT_TWO_BEFORE = 1, 2
NO_BUTTON, BUTTON_LEFT, BUTTON_BLACK, BUTTON_WHITE = 0, 1, 2, 3

# Some fields play no part in the rules. Evaluators see a few moves of history, and a leaf of the search has no other
# place to keep it: `recent_points` and `recent_colours` are the last moves; `moves_shown`, `ladders` and the bit
# SUPERKO_FORBIDS serve the networks' input planes (`evaluate.features`).
BOARD = np.dtype(
    [
        ("hash", np.uint64),  # Zobrist hash of the stones alone
        ("komi", np.float32),  # points for white: komi and handicap bonus
        ("doublings", np.float32),  # for scalars: the playout doubling advantage of Black (`SearchParameters`)
        ("move_count", np.int32),  # moves since the history began, passes included
        ("moves_shown", np.int32),  # for planes: the moves they may show, since the history began or the game ended
        ("plays", np.int32, (3,)),  # stones played by each colour since the start of the game
        ("captures", np.int32, (3,)),  # prisoners taken by each colour
        ("width", np.int16),
        ("height", np.int16),
        ("ko_point", np.int16),  # the point that the player to move may not retake, or PASS
        ("empty_count", np.int16),
        ("recent_points", np.int16, (RECENT,)),  # of move m, in slot m % RECENT
        ("recent_colours", np.int8, (RECENT,)),
        ("to_move", np.int8),
        ("passes", np.int32),  # in a row at the end of the history, not counting the one that takes the button
        ("ko_rule", np.int8),
        ("suicide", np.bool_),
        ("scoring", np.int8),
        ("tax", np.int8),
        ("button", np.int8),
        ("friendly_pass", np.bool_),
        ("stones", np.int8, (MAX_POINTS,)),
        ("captured_at", np.uint8, (MAX_POINTS,)),  # bits: WAS_CAPTURED, SUPERKO_FORBIDS
        ("ladders", np.uint8, (MAX_POINTS,)),  # for planes: the bits CAUGHT_BEFORE, CAUGHT_TWO_BEFORE
        ("chain", np.int16, (MAX_POINTS,)),  # head of the chain that a stone belongs to
        ("next_stone", np.int16, (MAX_POINTS,)),  # the chain's stones as a circular linked list
        # Of chains, valid at their heads alone:
        ("chain_size", np.int16, (MAX_POINTS,)),
        ("liberties", np.int64, (MAX_POINTS,)),  # the pseudo-liberties: the sum of their `packed_liberty`
        # A set of the empty points with insertion and removal in constant time; random moves pick from it.
        ("empties", np.int16, (MAX_AREA,)),  # the empty points, in no order
        ("empty_slot", np.int16, (MAX_POINTS,)),  # the index in `empties` of an empty point
    ],
    align=True,
)

Board: TypeAlias = Any
"""One record of a BOARD array; mypy knows no type that fits what numba makes of it."""

# Number, sum and sum of squares of a chain's pseudo-liberties are packed into one integer, so that one addition changes
# them all: there are at most 1,248, their sum is below 2^20, and that of their squares below 2^30.
_SUM_SHIFT, LIBERTIES_SHIFT = 31, 52
_SQUARES_MASK, _SUM_MASK = (1 << 31) - 1, (1 << 21) - 1

# A board with a journal of what its fields held, so that moves can be taken back: a copy of a board takes some thousand
# writes, a move a few dozen. The journal notes whole words of the board's memory, whatever fields lie in them.
_WORDS = BOARD.itemsize // 8
MOST_NOTES = 1 << 16
NOTES_OF_A_MOVE = 8 * MAX_AREA  # at most: each stone taken updates four neighbours, and chains are joined
_NOTE = np.dtype([("word", np.int64), ("value", np.uint64)])
JOURNAL = np.dtype(
    {
        "names": ["board", "words", "list", "notes"],  # the words are the board; `notes` is the length of the list
        "formats": [BOARD, (np.uint64, _WORDS), (_NOTE, MOST_NOTES), np.int64],
        "offsets": [0, 0, 8 * _WORDS, 8 * _WORDS + _NOTE.itemsize * MOST_NOTES],
    }
)
_FIELDS: Any = BOARD.fields
_STONES, _CHAIN, _NEXT, _SIZE, _LIBERTIES, _KO = (
    int(_FIELDS[name][1])  # in bytes
    for name in ("stones", "chain", "next_stone", "chain_size", "liberties", "ko_point")
)

# A fixed seed: hashes are kept in files and compared between processes.
ZOBRIST = np.random.default_rng(20260101).integers(1, 2**64, (MAX_POINTS, 3), np.uint64)
# For superko keys: any two odd constants. These are from splitmix64; the first is the golden ratio's.
WHITE_TO_MOVE = np.uint64(0x9E3779B97F4A7C15)
BUTTON_IS_LEFT = np.uint64(0xBF58476D1CE4E5B9)


def new_board(width: int, height: int) -> np.ndarray:
    """Returns an empty board with Black to move: a BOARD array of shape (1,).

    Its rules are simple ko, no suicide and area scoring, with komi 0.
    """
    boards = np.zeros(1, BOARD)
    clear(boards[0], width, height)
    return boards


@njit
def clear(board: Board, width: int, height: int) -> None:
    """Empties the board and sets its size; the rules and komi stay."""
    begin_history(board, BLACK)
    board["hash"] = 0
    board["doublings"] = 0.0
    board["width"] = width
    board["height"] = height
    board["plays"][:] = 0
    board["captures"][:] = 0
    board["stones"][:] = WALL
    board["ladders"][:] = 0
    count = 0
    for y in range(height):
        for x in range(width):
            point = point_at(x, y, width)
            board["stones"][point] = EMPTY
            board["empties"][count] = point
            board["empty_slot"][point] = count
            count += 1
    board["empty_count"] = count


@njit
def begin_history(board: Board, to_move: int) -> None:
    """Makes the position a starting one, with `to_move` to move.

    Ko, superko, passes and the moves that networks see are forgotten; the prisoners stay.
    """
    board["to_move"] = to_move
    board["ko_point"] = PASS
    board["passes"] = 0
    board["move_count"] = 0
    board["moves_shown"] = 0
    board["captured_at"][:] = 0


@njit
def copy_board(target: Board, source: Board) -> None:
    """Makes `target` the same position, except for `ladders`, which belongs to the one position it was read for.

    Field by field, and only the part of the arrays that the board's size uses: that takes 62 ns on 9x9, and assigning
    the whole record 7,900 ns (numba copies a large record byte by byte). A test checks that no field is forgotten.
    """
    target["hash"] = source["hash"]
    target["komi"] = source["komi"]
    target["doublings"] = source["doublings"]
    target["move_count"] = source["move_count"]
    target["moves_shown"] = source["moves_shown"]
    target["width"] = source["width"]
    target["height"] = source["height"]
    target["ko_point"] = source["ko_point"]
    target["empty_count"] = source["empty_count"]
    target["to_move"] = source["to_move"]
    target["passes"] = source["passes"]
    target["ko_rule"] = source["ko_rule"]
    target["suicide"] = source["suicide"]
    target["scoring"] = source["scoring"]
    target["tax"] = source["tax"]
    target["button"] = source["button"]
    target["friendly_pass"] = source["friendly_pass"]
    _copy(target["plays"], source["plays"], 3)
    _copy(target["captures"], source["captures"], 3)
    _copy(target["recent_points"], source["recent_points"], RECENT)
    _copy(target["recent_colours"], source["recent_colours"], RECENT)
    points = (source["height"] + 2) * (source["width"] + 1) + 1
    _copy(target["stones"], source["stones"], points)
    _copy(target["captured_at"], source["captured_at"], points)
    _copy(target["chain"], source["chain"], points)
    _copy(target["next_stone"], source["next_stone"], points)
    _copy(target["chain_size"], source["chain_size"], points)
    _copy(target["liberties"], source["liberties"], points)
    _copy(target["empty_slot"], source["empty_slot"], points)
    _copy(target["empties"], source["empties"], source["empty_count"])


@inline
def _copy(target: np.ndarray, source: np.ndarray, count: int) -> None:
    """Copies the first elements of an array, by a loop that LLVM turns into a block copy."""
    for index in range(count):
        target[index] = source[index]


@inline
def points_beside(board: Board, point: int) -> tuple[int, int, int, int]:
    """Returns the four neighbours of a point, those beyond the edge of the board included."""
    stride = board["width"] + 1
    return point - stride, point - 1, point + 1, point + stride


@inline
def packed_liberty(point: int) -> int:
    """Returns one pseudo-liberty in the packed form."""
    wide = int(point)  # without the JIT it may be an int16
    return (1 << LIBERTIES_SHIFT) + (wide << _SUM_SHIFT) + wide * wide


@inline
def are_one_point(packed: int) -> bool:
    """Whether all of these packed liberties, of which there is at least one, are the same point."""
    # Cauchy-Schwarz: n * (sum of squares) >= sum^2, with equality if and only if all are one point.
    total = (packed >> _SUM_SHIFT) & _SUM_MASK
    return (packed >> LIBERTIES_SHIFT) * (packed & _SQUARES_MASK) == total * total


@inline
def point_of(packed: int) -> int:
    """Returns the point of packed liberties that are all the same."""
    return ((packed >> _SUM_SHIFT) & _SUM_MASK) // (packed >> LIBERTIES_SHIFT)


@inline
def only_liberty_is(board: Board, head: int, point: int) -> bool:
    """Whether `point`, a liberty of the chain, is its last one."""
    packed = board["liberties"][head]
    return packed == (packed >> LIBERTIES_SHIFT) * packed_liberty(point)


@inline
def in_atari(board: Board, head: int) -> bool:
    """Whether the chain has exactly one liberty."""
    return are_one_point(board["liberties"][head])


@inline
def atari_liberty(board: Board, head: int) -> int:
    """Returns the liberty of a chain that has exactly one."""
    return point_of(board["liberties"][head])


@njit
def find_liberties(board: Board, point: int, limit: int) -> tuple[int, int, int]:
    """Returns how many liberties the chain at a point has, counted to `limit` (3 or 4), and two of them, else PASS."""
    first = second = third = PASS
    count = 0
    stone = point
    while True:
        for near in points_beside(board, stone):
            if board["stones"][near] != EMPTY or near in (first, second, third):
                continue
            count += 1
            if count == 1:
                first = near
            elif count == 2:
                second = near
            elif count == limit:
                return count, first, second
            else:
                third = near
        stone = board["next_stone"][stone]
        if stone == point:
            return count, first, second


@inline
def _note(journal: Any, place: int) -> None:
    """Notes what the board's memory holds at a byte that is about to be written; does nothing without a journal."""
    if journal is not None:
        note = journal["list"][journal["notes"]]
        note["word"], note["value"] = place >> 3, journal["words"][place >> 3]
        journal["notes"] += 1


@njit
def take_back(journal: Any, notes: int) -> None:
    """Undoes what was written after so many notes."""
    # Backwards: a word that was noted twice ends with its oldest value.
    words, noted = journal["words"], journal["list"]
    for index in range(journal["notes"] - 1, notes - 1, -1):
        words[noted[index]["word"]] = noted[index]["value"]
    journal["notes"] = notes


@inline
def _change_liberties(board: Board, head: int, change: int, journal: Any) -> None:
    _note(journal, _LIBERTIES + 8 * head)
    board["liberties"][head] += change


@njit
def _merge(board: Board, first: int, second: int, journal: Any) -> None:
    """Joins two chains under the larger one's head, so that fewer stones are relabelled."""
    if board["chain_size"][first] < board["chain_size"][second]:
        first, second = second, first
    _note(journal, _SIZE + 2 * first)
    board["chain_size"][first] += board["chain_size"][second]
    _change_liberties(board, first, board["liberties"][second], journal)
    stone = second
    while True:
        _note(journal, _CHAIN + 2 * stone)
        board["chain"][stone] = first
        stone = board["next_stone"][stone]
        if stone == second:
            break
    # Exchanging the successors of one stone each splices two circular lists into one.
    _note(journal, _NEXT + 2 * first)
    _note(journal, _NEXT + 2 * second)
    after = board["next_stone"][first]
    board["next_stone"][first] = board["next_stone"][second]
    board["next_stone"][second] = after


@njit
def _remove_chain(board: Board, head: int, journal: Any) -> None:
    """Takes a chain without liberties off the board."""
    stones = board["stones"]
    colour = stones[head]
    stone = head
    while True:
        _note(journal, _STONES + stone)
        stones[stone] = EMPTY
        if journal is None:
            board["captured_at"][stone] = WAS_CAPTURED
            board["hash"] ^= ZOBRIST[stone, colour]
            board["empties"][board["empty_count"]] = stone
            board["empty_slot"][stone] = board["empty_count"]
            board["empty_count"] += 1
        for neighbour in points_beside(board, stone):
            # Stones of this chain that still stand get a liberty too; it is never read, and a test would cost more.
            if stones[neighbour] == BLACK or stones[neighbour] == WHITE:
                _change_liberties(board, board["chain"][neighbour], packed_liberty(stone), journal)
        stone = board["next_stone"][stone]
        if stone == head:
            return


@njit
def place(board: Board, point: int, colour: int, journal: Any) -> int:
    """Puts a stone on an empty point and removes opposing chains without liberties; returns the number of prisoners.

    With the journal of the board (a JOURNAL record, otherwise None) the move can be taken back. Then only the stones,
    their chains and the liberties are kept up, and neither the hash, the list of empty points nor `captured_at`.
    """
    stones = board["stones"]
    if journal is None:
        # The last empty point takes the freed slot, so that `empties` stays dense.
        slot = board["empty_slot"][point]
        board["empty_count"] -= 1
        last = board["empties"][board["empty_count"]]
        board["empties"][slot] = last
        board["empty_slot"][last] = slot
        board["hash"] ^= ZOBRIST[point, colour]
    _note(journal, _STONES + point)
    _note(journal, _CHAIN + 2 * point)
    _note(journal, _NEXT + 2 * point)
    _note(journal, _SIZE + 2 * point)
    _note(journal, _LIBERTIES + 8 * point)
    stones[point] = colour
    board["chain"][point] = point
    board["next_stone"][point] = point
    board["chain_size"][point] = 1
    liberties = 0
    for neighbour in points_beside(board, point):
        stone = stones[neighbour]
        if stone == EMPTY:
            liberties += packed_liberty(neighbour)
        elif stone != WALL:
            _change_liberties(board, board["chain"][neighbour], -packed_liberty(point), journal)
    board["liberties"][point] = liberties
    # A second pass: chains are merged and taken only once every neighbour's liberties are right.
    prisoners = 0
    for neighbour in points_beside(board, point):
        stone = stones[neighbour]
        if stone == colour:
            if board["chain"][neighbour] != board["chain"][point]:
                _merge(board, board["chain"][point], board["chain"][neighbour], journal)
        elif stone == 3 - colour and board["liberties"][board["chain"][neighbour]] == 0:
            prisoners += board["chain_size"][board["chain"][neighbour]]
            _remove_chain(board, board["chain"][neighbour], journal)
    return prisoners


@inline
def set_ko(board: Board, point: int, prisoners: int, journal: Any) -> None:
    """Forbids to retake at once a lone stone that took one and has that one's point as its only liberty."""
    head = board["chain"][point]
    is_ko = prisoners == 1 and board["chain_size"][head] == 1 and board["liberties"][head] >> LIBERTIES_SHIFT == 1
    ko_point = atari_liberty(board, head) if is_ko else PASS
    if board["ko_point"] != ko_point:
        _note(journal, _KO)
        board["ko_point"] = ko_point


@njit
def play(board: Board, point: int) -> None:
    """Plays a legal move, or a pass, for the player to move."""
    colour = board["to_move"]
    slot = board["move_count"] % RECENT
    board["recent_points"][slot] = point
    board["recent_colours"][slot] = colour
    board["move_count"] += 1
    board["moves_shown"] += 1
    board["to_move"] = 3 - colour
    if point == PASS:
        board["ko_point"] = PASS
        board["passes"] += 1
        if board["button"] == BUTTON_LEFT:
            board["button"] = BUTTON_BLACK if colour == BLACK else BUTTON_WHITE
            board["passes"] = 0
        # Play that resumes after the end of the game shows networks no move from before the last pass.
        if board["passes"] >= 2:
            board["moves_shown"] = 1
        return
    board["passes"] = 0
    board["plays"][colour] += 1
    prisoners = place(board, point, colour, None)
    board["captures"][colour] += prisoners
    set_ko(board, point, prisoners, None)
    head = board["chain"][point]
    if board["liberties"][head] == 0:
        board["captures"][3 - colour] += board["chain_size"][head]
        _remove_chain(board, head, None)


@inline
def button_points(board: Board) -> float:
    """Returns what the button adds to Black's margin: half a point for the player who took it."""
    if board["button"] == BUTTON_BLACK:
        return 0.5
    return -0.5 if board["button"] == BUTTON_WHITE else 0.0


@njit
def played_more(board: Board) -> int:
    """Returns how many stones Black has put down more than White: those that stand, and those that were taken."""
    more = int(board["captures"][WHITE]) - int(board["captures"][BLACK])
    for point in range((board["height"] + 2) * (board["width"] + 1) + 1):
        more += int(board["stones"][point] == BLACK) - int(board["stones"][point] == WHITE)
    return more


@njit
def is_suicide(board: Board, point: int) -> bool:
    """Whether a stone of the player to move on this empty point would have no liberty after captures."""
    stones = board["stones"]
    colour = board["to_move"]
    for neighbour in points_beside(board, point):
        stone = stones[neighbour]
        if stone == EMPTY:
            return False
        # An own chain with another liberty, or an opposing one that this move takes.
        if stone != WALL and (stone == colour) != only_liberty_is(board, board["chain"][neighbour], point):
            return False
    return True


@njit
def _touches_own(board: Board, point: int) -> bool:
    for neighbour in points_beside(board, point):
        if board["stones"][neighbour] == board["to_move"]:
            return True
    return False


@njit
def is_legal_but_superko(board: Board, point: int) -> bool:
    """Whether the player to move may play here (or pass) under all rules except superko."""
    if point == PASS:
        return True
    if board["stones"][point] != EMPTY or point == board["ko_point"]:
        return False
    return not is_suicide(board, point) or (board["suicide"] and _touches_own(board, point))


@njit
def hash_after(board: Board, point: int) -> np.uint64:
    """Returns the hash of the stones after a play that `is_legal_but_superko` allows, without playing it."""
    colour = board["to_move"]
    suicide = is_suicide(board, point)
    taken_colour = colour if suicide else 3 - colour
    result = board["hash"]
    if not suicide:
        result ^= ZOBRIST[point, colour]
    first = second = third = -1  # heads of the chains already removed from the hash: at most three before the fourth
    for neighbour in points_beside(board, point):
        if board["stones"][neighbour] != taken_colour:
            continue
        head = board["chain"][neighbour]
        if head in (first, second, third) or not only_liberty_is(board, head, point):
            continue
        third, second, first = second, first, head
        stone = head
        while True:
            result ^= ZOBRIST[stone, taken_colour]
            stone = board["next_stone"][stone]
            if stone == head:
                break
    return result


@inline
def superko_key(board: Board, stones_hash: np.uint64, to_move: int) -> np.uint64:
    """Returns what superko compares, for a position of this board's game in which the button is as it is on it.

    It is the stones, whether the button is left, and under situational superko also the player to move. So no position
    from before the pass that takes the button is forbidden after it, as in KataGo.
    """
    key = stones_hash
    if board["button"] == BUTTON_LEFT:
        key ^= BUTTON_IS_LEFT
    if board["ko_rule"] == SITUATIONAL_SUPERKO and to_move == WHITE:
        key ^= WHITE_TO_MOVE
    return key


@njit
def write_superko_keys(board: Board, to_move: np.ndarray, keys: np.ndarray) -> None:
    """Replaces hashes of stones, uint64 [n] in `keys`, by the `superko_key` with to_move[i], int8 [n], to move."""
    for index in range(len(keys)):
        keys[index] = superko_key(board, keys[index], to_move[index])


@njit
def repeats(board: Board, point: int, history: np.ndarray, history_length: int) -> bool:
    """Whether superko forbids a play that is otherwise legal.

    Args:
        point: The point to play, or PASS, which superko never forbids.
        history: uint64, the `superko_key` of every position since the start, including the present one. A board that
            `mark_superko` has marked needs none.
        history_length: How many elements of `history` are in use.
    """
    if board["ko_rule"] == SIMPLE_KO or point == PASS:
        return False
    # Only a stone where one was taken before, or a suicide, can bring back a position. That decides nearly all moves
    # without a search through the history.
    if not board["captured_at"][point] and not (board["suicide"] and is_suicide(board, point)):
        return False
    key = superko_key(board, hash_after(board, point), 3 - board["to_move"])
    for index in range(history_length):
        if history[index] == key:
            return True
    return (board["captured_at"][point] & SUPERKO_FORBIDS) != 0


@njit
def mark_superko(board: Board, history: np.ndarray, history_length: int) -> None:
    """Sets SUPERKO_FORBIDS in `captured_at` at the points that superko forbids; `history` as in `repeats`.

    Only for records that are about to be evaluated: a play would carry the marks to a position where they are wrong.
    """
    if board["ko_rule"] == SIMPLE_KO:
        return
    for slot in range(board["empty_count"]):
        point = board["empties"][slot]
        if board["captured_at"][point] or board["suicide"]:
            board["captured_at"][point] &= WAS_CAPTURED
            if is_legal_but_superko(board, point) and repeats(board, point, history, history_length):
                board["captured_at"][point] |= SUPERKO_FORBIDS


@njit
def is_legal(board: Board, point: int, history: np.ndarray, history_length: int) -> bool:
    """Whether the player to move may play here (or pass), superko included; `history` as in `repeats`."""
    return is_legal_but_superko(board, point) and not repeats(board, point, history, history_length)


@borrowing
def write_legal_moves(board: Board, history: np.ndarray, history_length: int, legal: np.ndarray) -> None:
    """Writes into `legal`, [area + 1] in move-index order, which moves the player to move may play: 1 or 0.

    `history` and `history_length` are as in `repeats`.
    """
    stones, stride = board["stones"], board["width"] + 1
    legal[:] = False
    move = 0
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if stones[point] == EMPTY:
                free = (
                    stones[point - stride] == EMPTY
                    or stones[point - 1] == EMPTY
                    or stones[point + 1] == EMPTY
                    or stones[point + stride] == EMPTY
                )
                # This is nearly always enough: a move next to an empty point is not suicide, and a move can only
                # repeat a position if a stone has been captured on its point before.
                easy = free and not board["captured_at"][point] and point != board["ko_point"]
                if easy or is_legal(board, point, history, history_length):
                    legal[move] = True
            move += 1
    legal[move] = True
