"""The inputs of KataGo's networks: a position as 22 planes and 19 scalars (its inputs of version 7).

The meaning of each is KataGo's (`fillRowV7` in its sources; David Wu, "Accelerating Self-Play Learning in Go", 2019,
appendix A). Planes are 0 or 1 and from the side of the player to move:

=======  ===============================================================================================================
0        on the board
1, 2     own stones, the opponent's
3-5      stones of chains with exactly 1, 2, 3 liberties
6        where ko or superko forbids a play
7, 8     always 0 (7 belongs to KataGo's cleanup phase, which is not played here)
9-13     the last move, the one before, ... of those shown; passes are in scalars 0-4
14-16    stones caught in a ladder: now, one move ago, two moves ago
17       where a play catches an opponent's chain of two liberties in a ladder
18, 19   own area, the opponent's; empty under territory scoring
20, 21   always 0 (cleanup phase)
=======  ===============================================================================================================

Scalars: 0-4 the last moves that were passes; 5 komi / 20; 6, 7 ko rule; 8 suicide; 9 territory; 10, 11 tax; 12, 13
always 0 (cleanup phase); 14 a pass ends the game; 15 whether one side has a playout doubling advantage, 16 half of it;
17 the button is left; 18 a wave over komi, by the parity of the area.

A position is first read into one word of 22 bits a point. From these words come the planes, a byte each, and the key by
which equal inputs are recognized.

One of KataGo's rules is left out: under simple ko a second pass of a player in the same position ends the game too.
"""

from typing import NamedTuple

import numpy as np

from ...base.jit import inline, njit
from ...go.benson import AREA_WORKSPACE, read_area
from ...go.board import (
    ALL_TAX,
    AREA_SCORING,
    BUTTON_LEFT,
    CAUGHT_BEFORE,
    CAUGHT_TWO_BEFORE,
    LIBERTIES_SHIFT,
    MAX_AREA,
    MAX_POINTS,
    NO_TAX,
    POSITIONAL_SUPERKO,
    RECENT,
    SIMPLE_KO,
    SUPERKO_FORBIDS,
    TERRITORY_SCORING,
    Board,
    button_points,
    find_liberties,
    mark_superko,
    write_legal_moves,
)
from ...go.coords import BLACK, PASS, WHITE
from ...go.game import Game
from ...go.ladders import find_ladders
from ...go.ladders import new_workspace as new_ladder_workspace
from ...go.points import index_of_point, point_of_index
from ...go.symmetry import FLIP_COLUMNS, FLIP_ROWS, TRANSPOSE
from ...nets.constants import PLANES, SCALARS
from ...nets.schema import METADATA

MOVES_SHOWN = 5
LADDER_BYTES = (MAX_AREA + 7) // 8  # a bit for each point of the largest board
NO_LADDERS = np.zeros((0, LADDER_BYTES), np.uint8)
_OWN, _OPPONENT, _LIBERTIES, _KO, _FIRST_MOVE, _LADDERS, _WORKING, _AREA = 1, 2, 2, 6, 9, 14, 17, 18
_KOMI_MARGIN = 20  # komi is cut to the area plus this, as KataGo does
_KEY_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, as in Fibonacci hashing
# Two bits as two bytes, the lower one first in memory: half as many writes as single bytes need.
_TWO_PLANES = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.uint8).view(np.uint16).ravel()


class Workspace(NamedTuple):
    """Memory for reading positions, one for each thread: `new_workspace`.

    After `write_inputs`, `caught` holds that position's stones that a ladder catches.
    """

    ladders: np.ndarray
    areas: np.ndarray  # AREA_WORKSPACE [1]
    words: np.ndarray  # uint32 [MAX_AREA + 1], move-index order: bit p is plane p
    liberties: np.ndarray  # uint32 [MAX_POINTS], at the heads of chains: their bits of planes 3-5
    caught: np.ndarray  # bool [MAX_AREA], move-index order: stones that a ladder catches
    working: np.ndarray  # bool [MAX_AREA]: plays that catch a chain of two liberties


def new_workspace() -> Workspace:
    """Returns memory for one thread."""
    return Workspace(
        new_ladder_workspace(),
        np.zeros(1, AREA_WORKSPACE),
        np.zeros(MAX_AREA + 1, np.uint32),
        np.zeros(MAX_POINTS, np.uint32),
        np.zeros(MAX_AREA, np.bool_),
        np.zeros(MAX_AREA, np.bool_),
    )


@njit
def _read_liberties(board: Board, codes: np.ndarray) -> None:
    """Writes the bits of planes 3-5 at the head of each chain."""
    stride = board["width"] + 1
    for point in range(stride + 1, (board["height"] + 1) * stride):
        is_stone = (board["stones"][point] == BLACK) | (board["stones"][point] == WHITE)
        if is_stone & (board["chain"][point] == point):  # one branch, since the CPU cannot predict either
            count = board["liberties"][point] >> LIBERTIES_SHIFT
            # Pseudo-liberties: up to two stones count no liberty twice, more stones none more than four times.
            if board["chain_size"][point] > 2:
                count = find_liberties(board, point, 4)[0] if count <= 12 else 4
            codes[point] = 1 << (_LIBERTIES + count) if count <= 3 else 0


@njit
def _read_stones(board: Board, words: np.ndarray, liberties: np.ndarray) -> int:
    """Begins the words with board, stones and liberties; returns the number of black stones minus white ones."""
    width = board["width"]
    black, white = (_OWN, _OPPONENT) if board["to_move"] == BLACK else (_OPPONENT, _OWN)
    _read_liberties(board, liberties)
    index = difference = 0
    for y in range(board["height"]):
        start = (y + 1) * (width + 1) + 1
        for point in range(start, start + width):
            # No branch on the stone: the CPU would mispredict half of them.
            is_black, is_white = int(board["stones"][point] & 1), int(board["stones"][point] >> 1)
            counted = liberties[board["chain"][point]] * (is_black + is_white)
            words[index] = np.uint32(1 | is_black << black | is_white << white | counted)
            difference += is_black - is_white
            index += 1
    return difference


@njit
def _read_bans(board: Board, words: np.ndarray) -> None:
    """Adds the simple ko and the points that `mark_superko` marked."""
    width, height = board["width"], board["height"]
    if board["ko_point"] != PASS:
        words[index_of_point(board["ko_point"], width, height)] |= 1 << _KO
    if board["ko_rule"] != SIMPLE_KO:
        for slot in range(board["empty_count"]):
            point = board["empties"][slot]
            if board["captured_at"][point] & SUPERKO_FORBIDS:
                words[index_of_point(point, width, height)] |= 1 << _KO


@njit
def _read_ladders(board: Board, shown: int, w: Workspace) -> None:
    """Adds planes 14 to 17. `w.caught` then holds the stones caught in the present position."""
    find_ladders(board, w.ladders, w.caught, w.working)
    width = board["width"]
    # A table gives the planes of a stone from three marks: whether it was caught a move ago (CAUGHT_BEFORE, bit 0), two
    # moves ago (CAUGHT_TWO_BEFORE, bit 1), and is now (bit 2). If fewer moves are shown, a later position replaces the
    # earlier ones. Marks 5 = 1 + 4, a stone that is caught now and was a move ago, give planes 14 and 15 if two moves
    # are shown; if one is, its mark stands for the earlier position too: planes 14, 15 and 16.
    bits = np.empty(8, np.uint32)
    for marks in range(8):
        is_caught, was_caught, was_caught_earlier = marks >> 2, marks & 1, marks >> 1 & 1
        if shown < 1:
            was_caught = is_caught
        if shown < 2:
            was_caught_earlier = was_caught
        bits[marks] = (is_caught | was_caught << 1 | was_caught_earlier << 2) << _LADDERS
    for y in range(board["height"]):
        start = (y + 1) * (width + 1) + 1
        for x in range(width):
            index = y * width + x
            marks = board["ladders"][start + x] | np.uint8(w.caught[index]) << 2
            w.words[index] |= bits[marks] | np.uint32(w.working[index]) << _WORKING


@njit
def _read_areas(board: Board, suicide: bool, w: Workspace) -> None:
    """Adds each side's area."""
    areas = w.areas[0]
    read_area(board, suicide, areas)
    own, others = areas["area"][board["to_move"]], areas["area"][3 - board["to_move"]]
    index = 0
    for row in range(1, board["height"] + 1):
        for x in range(board["width"]):
            w.words[index] |= ((own[row] >> x & 1) | (others[row] >> x & 1) << 1) << _AREA
            index += 1


@njit
def _komi(board: Board, difference: int) -> float:
    """Returns komi for the player to move with all that the rules add, cut to what a game can decide.

    difference: the number of black stones on the board minus that of white ones. Under territory scoring each stone
    ever placed pays a point to the other side, so that the count is that of area scoring.
    """
    komi = float(board["komi"])
    if board["scoring"] == TERRITORY_SCORING:
        komi += difference + board["captures"][WHITE] - board["captures"][BLACK]
    komi -= button_points(board)
    if board["to_move"] == BLACK:
        komi = -komi
    limit = float(board["width"] * board["height"] + _KOMI_MARGIN)
    return min(limit, max(-limit, komi))


@njit
def _parity_wave(komi: float, area: int) -> float:
    """Returns a triangular wave over komi, of period 2, which rises around a komi that allows a draw."""
    distance = (komi - area) % 2.0
    if distance < 0.5:
        return distance
    return 1.0 - distance if distance < 1.5 else distance - 2.0


@njit
def _write_scalars(board: Board, komi: float, hidden: bool, scalars: np.ndarray) -> None:
    """Writes scalars 5 to 18."""
    scalars[5] = komi / 20
    if board["ko_rule"] != SIMPLE_KO:
        scalars[6] = 1
        scalars[7] = 0.5 if board["ko_rule"] == POSITIONAL_SUPERKO else -0.5
    scalars[8] = board["suicide"]
    scalars[9] = board["scoring"] == TERRITORY_SCORING
    scalars[10] = board["tax"] != NO_TAX
    scalars[11] = board["tax"] == ALL_TAX
    scalars[14] = board["passes"] >= 1 and not hidden
    if board["doublings"] != 0.0:
        scalars[15] = 1
        scalars[16] = 0.5 * (board["doublings"] if board["to_move"] == BLACK else -board["doublings"])
    scalars[17] = board["button"] == BUTTON_LEFT
    if board["scoring"] == AREA_SCORING:
        scalars[18] = _parity_wave(komi, board["width"] * board["height"])


@inline
def symmetry_steps(symmetry: int, rows: int, columns: int) -> tuple[int, int, int]:
    """Returns where a symmetry puts a board's cells: the first one's index, the steps to the next row and column."""
    down, right = columns, 1
    if symmetry & TRANSPOSE and rows == columns:
        down, right = right, down
    first = 0
    if symmetry & FLIP_ROWS:
        first += (rows - 1) * down
        down = -down
    if symmetry & FLIP_COLUMNS:
        first += (columns - 1) * right
        right = -right
    return first, down, right


@njit
def _write_planes(board: Board, words: np.ndarray, symmetry: int, planes: np.ndarray) -> None:
    """Spreads the words over the planes (uint8 [height, width, 22]), transformed by the symmetry."""
    rows, columns = planes.shape[0], planes.shape[1]
    width, height = board["width"], board["height"]
    if width != columns or height != rows:
        planes[:] = 0
    cells = planes.reshape(rows * columns * PLANES).view(np.uint16).reshape(rows * columns, PLANES // 2)
    first, down, right = symmetry_steps(symmetry, rows, columns)
    for y in range(height):
        for x in range(width):
            word = words[y * width + x]
            cell = cells[first + y * down + x * right]
            for pair in range(PLANES // 2):
                cell[pair] = _TWO_PLANES[word >> np.uint32(2 * pair) & np.uint32(3)]


@njit
def _key(board: Board, words: np.ndarray, scalars: np.ndarray) -> np.uint64:
    """Returns a hash of all that was written and of the board's size."""
    area = board["width"] * board["height"]
    words[area] = 0
    key = np.uint64(board["width"]) << np.uint64(8) | np.uint64(board["height"])
    bits = scalars.view(np.uint32)
    for index in range(SCALARS):
        key = (key ^ np.uint64(bits[index])) * _KEY_FACTOR
        key ^= key >> np.uint64(32)
    for index in range(0, area, 2):
        pair = np.uint64(words[index]) | np.uint64(words[index + 1]) << np.uint64(PLANES)
        key = (key ^ pair) * _KEY_FACTOR
        key ^= key >> np.uint64(32)
    return key


@njit
def write_inputs(
    board: Board, symmetry: int, suicide_legal: bool, w: Workspace, planes: np.ndarray, scalars: np.ndarray
) -> np.uint64:
    """Writes the inputs of a position and returns their key.

    Args:
        board: a record, only read, with what its own moves do not tell: CAUGHT_BEFORE and CAUGHT_TWO_BEFORE in
            `ladders` for the boards one and two moves ago (if that many moves are shown: `moves_shown`), and the marks
            of `mark_superko`.
        symmetry: by which the planes are transformed (`go.symmetry`), together with the part beyond the board. Planes
            that are not square are never transposed.
        suicide_legal: whether to find pass-alive chains as if suicide of several stones were legal whatever the rules;
            a network's file tells.
        w: its `caught` holds afterwards the stones that a ladder catches on this board.
        planes: uint8 [height, width, 22], all written. A board that is smaller than the planes lies top left before the
            symmetry. A batch [n, height, width, 22] is thus in the order that torch calls channels-last, and a view of
            it is [n, 22, height, width].
        scalars: float32 [19], all written.

    Returns:
        The key of the inputs without the symmetry: equal inputs have equal keys, and two different ones have the same
        key with probability 2^-64.

    Raises:
        ValueError: the board is larger than the planes.
    """
    if board["height"] > planes.shape[0] or board["width"] > planes.shape[1]:
        raise ValueError("the board is larger than the network's inputs")
    # Where a pass would end the game although the rules allow a friendly pass, no move is shown.
    hidden = board["friendly_pass"] and board["scoring"] == AREA_SCORING and board["passes"] == 1
    shown = 0 if hidden else min(MOVES_SHOWN, board["moves_shown"])
    difference = _read_stones(board, w.words, w.liberties)
    _read_bans(board, w.words)
    scalars[:] = 0
    width, height = board["width"], board["height"]
    for ago in range(shown):
        point = board["recent_points"][(board["move_count"] - 1 - ago) % RECENT]
        if point == PASS:
            scalars[ago] = 1
        else:
            w.words[index_of_point(point, width, height)] |= 1 << (_FIRST_MOVE + ago)
    _read_ladders(board, shown, w)
    if board["scoring"] == AREA_SCORING:
        _read_areas(board, suicide_legal or board["suicide"], w)
    _write_scalars(board, _komi(board, difference), hidden, scalars)
    _write_planes(board, w.words, symmetry, planes)
    return _key(board, w.words, scalars)


@njit
def write_batch(
    boards: np.ndarray,
    indices: np.ndarray,
    symmetries: np.ndarray,
    suicide_legal: bool,
    w: Workspace,
    planes: np.ndarray,
    scalars: np.ndarray,
    keys: np.ndarray,
    salt: int,
    ladders: np.ndarray,
) -> None:
    """Calls `write_inputs` for boards[indices[i]] and symmetries[i], with row i of planes, scalars, keys and ladders.

    keys: uint64 [n], written. salt: makes other keys of the same inputs. ladders: as in `Evaluator.submit`, or
    NO_LADDERS.
    """
    for row in range(len(indices)):
        board = boards[indices[row]]
        keys[row] = write_inputs(board, symmetries[row], suicide_legal, w, planes[row], scalars[row]) ^ np.uint64(salt)
        if len(ladders):
            area = board["width"] * board["height"]
            ladders[row, : (area + 7) >> 3] = 0
            for index in range(area):
                ladders[row, index >> 3] |= np.uint8(w.caught[index]) << np.uint8(index & 7)


@njit
def mark_caught(board: Board, mark: int, w: Workspace, target: Board) -> None:
    """Sets `mark` in target["ladders"] at the stones that a ladder catches on `board`, and clears it elsewhere."""
    find_ladders(board, w.ladders, w.caught, w.working)
    width, height = board["width"], board["height"]
    other = (CAUGHT_BEFORE | CAUGHT_TWO_BEFORE) ^ mark
    for index in range(width * height):
        point = point_of_index(index, width, height)
        target["ladders"][point] = (target["ladders"][point] & other) | (mark if w.caught[index] else 0)


def position_of(game: Game, w: Workspace, *, conservative_pass: bool = False) -> np.ndarray:
    """Returns the game's position complete with its marks, as `write_inputs` needs it.

    With a conservative pass it shows no moves and no pass when a pass would end the game under area scoring, so that a
    network does not consider the game over; KataGo does so at the root of a search.

    Returns:
        A copy of the board (BOARD [1]) with ladders and superko marked. It is to be evaluated, not to be played on: the
        marks hold for this position alone.
    """
    position = game.board.copy()
    history = game.superko_history()
    mark_superko(position[0], history, len(history))
    if conservative_pass and position["scoring"][0] == AREA_SCORING and position["passes"][0] > 0:
        position["moves_shown"] = position["passes"] = 0
    mark_earlier_ladders(game, w, position)
    return position


def root_position_of(game: Game, w: Workspace, *, conservative_pass: bool = True) -> np.ndarray:
    """Returns `position_of` as a search evaluates it at its root, where the game is assumed to continue.

    `conservative_pass` is False for evaluators without a network.
    """
    position = position_of(game, w, conservative_pass=conservative_pass)
    if game.is_over:
        position["passes"] = 0  # a move was requested after the end: play continues
    return position


def mark_earlier_ladders(game: Game, w: Workspace, position: np.ndarray) -> None:
    """Marks in a copy of the game's board (BOARD [1]) the stones that ladders caught one and two moves ago."""
    for ago, mark in ((1, CAUGHT_BEFORE), (2, CAUGHT_TWO_BEFORE)):
        if ago <= position["moves_shown"][0]:
            before = game.previous_board(ago)
            if len(game.moves) - ago == game.history_start:
                before = before.copy()
                before["ko_point"] = PASS  # forgotten with the rest of an earlier history
            mark_caught(before[0], mark, w, position[0])


@njit
def write_legal(boards: np.ndarray, indices: np.ndarray, legal: np.ndarray) -> None:
    """Writes the legal moves of boards[indices[i]] into legal[i], by the record and the superko marks in it.

    legal: bool [n, area + 1], move-index order.
    """
    no_history = np.zeros(0, np.uint64)
    for row in range(len(indices)):
        write_legal_moves(boards[indices[row]], no_history, 0, legal[row])


@njit
def add_legal_to_keys(legal: np.ndarray, keys: np.ndarray) -> None:
    """Adds the legal moves of positions to their keys, for inputs that do not show them.

    legal: bool [n or more, area + 1], of `write_legal`. keys: uint64 [n], overwritten.
    """
    for row in range(len(keys)):
        key, word = keys[row], np.uint64(0)
        for move in range(legal.shape[1]):
            word = word << np.uint64(1) | np.uint64(legal[row, move])
            if move & 63 == 63:
                key = (key ^ word) * _KEY_FACTOR
                key ^= key >> np.uint64(32)
                word = np.uint64(0)
        key = (key ^ word) * _KEY_FACTOR
        keys[row] = key ^ key >> np.uint64(32)


class Inputs:
    """Memory for the inputs of a batch of `size` positions; `legal` are the legal moves of the positions themselves."""

    def __init__(self, size: int, width: int, height: int, metadata: bool) -> None:
        self.size = size
        self.planes = np.empty((size, height, width, PLANES), np.uint8)
        self.scalars = np.empty((size, SCALARS), np.float32)
        self.metadata = np.empty((size, METADATA), np.float32) if metadata else None
        self.legal = np.empty((size, width * height + 1), np.bool_)


def as_slice(positions: np.ndarray) -> slice | np.ndarray:
    """Returns indices in ascending order as a slice if they are a range: a slice is not copied."""
    first, last = int(positions[0]), int(positions[-1])
    return slice(first, last + 1) if last - first == len(positions) - 1 else positions
