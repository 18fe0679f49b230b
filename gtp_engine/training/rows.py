"""From games to rows of a batch, compiled: a game is replayed to a position, whose inputs and targets are written.

Replaying to one position of a game of 200 moves takes about as long as writing its inputs, so that positions can be
drawn one by one from all games, in any order, and none need be prepared beforehand.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from ..evaluate.inputs import PLANES, SCALARS, Workspace, mark_caught, turned_steps, write_inputs
from ..evaluate.inputs import new_workspace as new_inputs_workspace
from ..game.board import (
    BOARD,
    BUTTON_LEFT,
    CAUGHT_BEFORE,
    CAUGHT_TWO_BEFORE,
    NO_BUTTON,
    SIMPLE_KO,
    Board,
    clear,
    is_legal_but_superko,
    mark_superko,
    play,
    set_up_stone,
    superko_key,
)
from ..game.coords import BLACK, EMPTY, PASS, WHITE
from .samples import DRAW, FULL_SHARE, INDEX_BITS, MOST_MOVES, NO_RESULT, UNKNOWN, WHITE_BIT, GameSet

# Columns of `Rows.weights`.
POLICY, OPPONENT, VALUE, SCORE, LEAD, OWNERSHIP = range(6)
WIN, LOSS, THIRD = 0, 1, 2  # of the value's target
LEGAL, ILLEGAL_SETUP = -1, -2  # for a move's number


class Columns(NamedTuple):
    """A `GameSet` for compiled code: a column that it lacks is empty here, and it is known where each game begins."""

    games: np.ndarray  # GAME [games]
    positions_start: np.ndarray  # int64 [games + 1]
    setup_start: np.ndarray  # int64 [games]
    ownership_start: np.ndarray  # int64 [games]
    targets_start: np.ndarray  # int64 [positions + 1], or empty
    setup: np.ndarray
    moves: np.ndarray
    ownership: np.ndarray
    weights: np.ndarray  # float32 [positions], or empty
    target_moves: np.ndarray
    target_shares: np.ndarray
    values: np.ndarray  # float32 [positions or 0, 2]


class Rows(NamedTuple):
    """Inputs and targets of n positions on tensors of h rows and w columns, a = h * w, from the mover's side.

    planes: uint8 [n, h, w, 22]. scalars: float32 [n, 19]. The rest is float32:
    policy, opponent: [n, a + 1] shares of the moves, the pass last; the opponent's are those of the next position.
    value: [n, 3] win, loss, no result. score: [n] the final margin. lead: [n] points.
    ownership: [n, a], 1 the mover's, -1 the opponent's.
    weights: [n, 6] of each target, 0 where it is not known: POLICY, OPPONENT, ...
    """

    planes: np.ndarray
    scalars: np.ndarray
    policy: np.ndarray
    opponent: np.ndarray
    value: np.ndarray
    score: np.ndarray
    lead: np.ndarray
    ownership: np.ndarray
    weights: np.ndarray


class ReplayWorkspace(NamedTuple):
    """Memory for replaying, one for each thread: `new_workspace`."""

    inputs: Workspace
    boards: np.ndarray  # BOARD [1]
    history: np.ndarray  # uint64 [MOST_MOVES + 1], superko's memory


def new_workspace() -> ReplayWorkspace:
    """Memory for one thread."""
    return ReplayWorkspace(new_inputs_workspace(), np.zeros(1, BOARD), np.zeros(MOST_MOVES + 1, np.uint64))


def columns_of(games: GameSet) -> Columns:
    """A set of games made ready to be replayed."""
    records = games.games
    lengths = games.areas * records["has_ownership"]
    counts = games.target_counts
    return Columns(
        games=records,
        positions_start=_starts(records["move_count"]),
        setup_start=_starts(records["setup_count"])[:-1].copy(),
        ownership_start=_starts(lengths)[:-1].copy(),
        targets_start=np.zeros(0, np.int64) if counts is None else _starts(counts),
        setup=games.setup,
        moves=games.moves,
        ownership=games.ownership,
        weights=np.zeros(0, np.float32) if games.weights is None else games.weights.astype(np.float32),
        target_moves=games.target_moves,
        target_shares=games.target_shares,
        values=np.zeros((0, 2), np.float32) if games.values is None else games.values.astype(np.float32),
    )


def _starts(counts: np.ndarray) -> np.ndarray:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def new_rows(count: int, width: int, height: int) -> Rows:
    """Memory for a batch, not yet written."""
    area = width * height
    return Rows(
        planes=np.empty((count, height, width, PLANES), np.uint8),
        scalars=np.empty((count, SCALARS), np.float32),
        policy=np.empty((count, area + 1), np.float32),
        opponent=np.empty((count, area + 1), np.float32),
        value=np.empty((count, 3), np.float32),
        score=np.empty(count, np.float32),
        lead=np.empty(count, np.float32),
        ownership=np.empty((count, area), np.float32),
        weights=np.empty((count, 6), np.float32),
    )


@njit
def _begin(board: Board, columns: Columns, number: int) -> None:
    """Makes the board the start of a game."""
    game = columns.games[number]
    width = int(game["width"])
    clear(board, width, int(game["height"]))
    start = columns.setup_start[number]
    for slot in range(start, start + game["setup_count"]):
        packed = int(columns.setup[slot])
        index = packed & INDEX_BITS
        point = (index // width + 1) * (width + 1) + index % width + 1
        set_up_stone(board, point, WHITE if packed & WHITE_BIT else BLACK)
    board["komi"] = game["komi"]
    board["ko_rule"] = game["ko_rule"]
    board["suicide"] = game["suicide"] != 0
    board["scoring"] = game["scoring"]
    board["tax"] = game["tax"]
    board["friendly_pass"] = game["friendly_pass"] != 0
    board["button"] = BUTTON_LEFT if game["has_button"] else NO_BUTTON
    board["to_move"] = game["to_move"]


@njit
def _give_turn(board: Board, colour: int) -> bool:
    """Makes it `colour`'s turn; whether that begins a new history, as `Game.play` does for a move out of turn."""
    if board["to_move"] == colour:
        return False
    board["to_move"] = colour
    board["ko_point"] = PASS
    board["passes"] = 0
    board["move_count"] = 0
    board["moves_shown"] = 0
    board["captured_at"][:] = 0
    return True


@inline
def _point_of(packed: int, width: int, height: int) -> int:
    index = packed & INDEX_BITS
    if index == width * height:
        return PASS
    return (index // width + 1) * (width + 1) + index % width + 1


@njit
def _replay(columns: Columns, number: int, ahead: int, w: ReplayWorkspace) -> None:
    """Makes the board the one before move `ahead` of a game, with what `write_inputs` wants marked on it."""
    board = w.boards[0]
    _begin(board, columns, number)
    width, height = int(board["width"]), int(board["height"])
    start = columns.positions_start[number]
    length = 0
    for move in range(ahead + 1):
        packed = int(columns.moves[start + move])
        if _give_turn(board, WHITE if packed & WHITE_BIT else BLACK):
            length = 0
        if board["ko_rule"] != SIMPLE_KO:
            w.history[length] = superko_key(board["hash"], board["to_move"], board["ko_rule"])
            length += 1
        if move == ahead:
            break
        if ahead - move <= 2:
            mark_caught(board, CAUGHT_TWO_BEFORE if ahead - move == 2 else CAUGHT_BEFORE, w.inputs, board)
        play(board, _point_of(packed, width, height))
    mark_superko(board, w.history, length)


@njit
def find_illegal(columns: Columns, number: int, w: ReplayWorkspace) -> int:
    """The first move of a game, from 0, that its board refuses (superko is not looked at); LEGAL where there is none.

    ILLEGAL_SETUP: a chain of the starting position has no liberty, or two stones stand on one point.
    """
    board = w.boards[0]
    start = columns.setup_start[number]
    stones = columns.setup[start : start + columns.games[number]["setup_count"]]
    width, height = int(columns.games[number]["width"]), int(columns.games[number]["height"])
    seen = np.zeros(width * height, np.bool_)
    for packed in stones:
        if seen[packed & INDEX_BITS]:
            return ILLEGAL_SETUP
        seen[packed & INDEX_BITS] = True
    _begin(board, columns, number)
    for packed in stones:
        point = _point_of(packed, width, height)
        if board["stones"][point] == EMPTY or board["liberties"][board["chain"][point]] == 0:
            return ILLEGAL_SETUP
    start = columns.positions_start[number]
    for move in range(columns.games[number]["move_count"]):
        packed = int(columns.moves[start + move])
        point = _point_of(packed, width, height)
        _give_turn(board, WHITE if packed & WHITE_BIT else BLACK)
        if not is_legal_but_superko(board, point):
            return move
        play(board, point)
    return LEGAL


@njit
def replay_to_end(columns: Columns, number: int, w: ReplayWorkspace) -> None:
    """Makes the workspace's board the one after the last move of a legal game."""
    board = w.boards[0]
    _begin(board, columns, number)
    width, height = int(board["width"]), int(board["height"])
    start = columns.positions_start[number]
    for move in range(columns.games[number]["move_count"]):
        packed = int(columns.moves[start + move])
        _give_turn(board, WHITE if packed & WHITE_BIT else BLACK)
        play(board, _point_of(packed, width, height))


@inline
def _cell(index: int, width: int, area: int, columns: int, symmetry: int, rows: int) -> int:
    """Where a move index of the board lies in turned tensors; the pass comes last."""
    if index == area:
        return rows * columns
    first, down, right = turned_steps(symmetry, rows, columns)
    return first + index // width * down + index % width * right


@njit
def _write_policy(
    columns: Columns, position: int, width: int, height: int, symmetry: int, shape: tuple[int, int], policy: np.ndarray
) -> None:
    """Writes the policy target of a position, turned, on tensors of `shape` (rows, columns)."""
    area = width * height
    policy[:] = 0
    if len(columns.targets_start) and columns.targets_start[position + 1] > columns.targets_start[position]:
        for slot in range(columns.targets_start[position], columns.targets_start[position + 1]):
            cell = _cell(int(columns.target_moves[slot]), width, area, shape[1], symmetry, shape[0])
            policy[cell] += columns.target_shares[slot] / FULL_SHARE
    else:
        policy[_cell(int(columns.moves[position]) & INDEX_BITS, width, area, shape[1], symmetry, shape[0])] = 1


@njit
def _write_result(
    columns: Columns, number: int, position: int, colour: int, searched_share: float, row: int, rows: Rows
) -> None:
    """Writes value, score and lead of a position for `colour`, and their weights (1 or 0)."""
    game = columns.games[number]
    sign = 1.0 if colour == BLACK else -1.0
    rows.value[row] = 0
    winner = game["winner"]
    known = winner != UNKNOWN
    if winner == DRAW:
        rows.value[row, WIN] = rows.value[row, LOSS] = 0.5
    elif winner == NO_RESULT:
        rows.value[row, THIRD] = 1
    elif known:
        rows.value[row, WIN if winner == colour else LOSS] = 1
    margin = np.float32(sign) * game["margin"]
    is_counted = not math.isnan(margin)
    lead = margin
    if len(columns.values):
        searched, searched_lead = columns.values[position]
        if not math.isnan(searched) and searched_share > 0 and known:
            rows.value[row] *= 1 - searched_share
            rows.value[row, WIN] += searched_share * (1 + searched) / 2
            rows.value[row, LOSS] += searched_share * (1 - searched) / 2
        if not math.isnan(searched_lead):
            lead = searched_lead
    rows.score[row] = margin if is_counted else 0
    rows.lead[row] = 0 if math.isnan(lead) else lead
    rows.weights[row, VALUE] = known
    rows.weights[row, SCORE] = is_counted
    rows.weights[row, LEAD] = not math.isnan(lead)


@njit
def _write_ownership(
    columns: Columns, number: int, colour: int, symmetry: int, shape: tuple[int, int], ownership: np.ndarray
) -> bool:
    """Writes whose the points are in the end; whether that is known."""
    game = columns.games[number]
    ownership[:] = 0
    if not game["has_ownership"]:
        return False
    sign = 1 if colour == BLACK else -1
    width, area = int(game["width"]), int(game["width"]) * int(game["height"])
    start = columns.ownership_start[number]
    for index in range(area):
        ownership[_cell(index, width, area, shape[1], symmetry, shape[0])] = sign * columns.ownership[start + index]
    return True


@njit
def write_rows(
    columns: Columns,
    positions: np.ndarray,
    symmetries: np.ndarray,
    searched_share: float,
    suicide_areas: bool,
    w: ReplayWorkspace,
    rows: Rows,
) -> None:
    """Writes row i for the position positions[i] (uint32), all turned by symmetries[i].

    Planes that are not square are never transposed. searched_share: how much of a value target is what the position's
    search said, the rest is how the game ended. suicide_areas: as the network's file says, see `write_inputs`.
    """
    shape = rows.planes.shape[1], rows.planes.shape[2]
    for row in range(len(positions)):
        position, symmetry = int(positions[row]), int(symmetries[row])
        number = int(np.searchsorted(columns.positions_start, position, side="right") - 1)
        start, end = columns.positions_start[number], columns.positions_start[number + 1]
        _replay(columns, number, position - start, w)
        board = w.boards[0]
        colour, width, height = int(board["to_move"]), int(board["width"]), int(board["height"])
        write_inputs(board, symmetry, suicide_areas, w.inputs, rows.planes[row], rows.scalars[row])
        _write_policy(columns, position, width, height, symmetry, shape, rows.policy[row])
        has_reply = position + 1 < end
        if has_reply:
            _write_policy(columns, position + 1, width, height, symmetry, shape, rows.opponent[row])
        else:
            rows.opponent[row] = 0
        _write_result(columns, number, position, colour, searched_share, row, rows)
        is_owned = _write_ownership(columns, number, colour, symmetry, shape, rows.ownership[row])
        rows.weights[row, POLICY] = 1
        rows.weights[row, OPPONENT] = has_reply
        rows.weights[row, OWNERSHIP] = is_owned
        if len(columns.weights):
            rows.weights[row] *= columns.weights[position]
