"""Compiled code that makes batches: it replays a game to a position and writes the inputs and targets to a row.

Replaying a game of 200 moves takes about as long as writing the inputs, so that positions can be drawn from all games
in any order, and none have to be prepared in advance.
"""

import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from ...base.jit import inline, njit
from ...go.board import (
    BOARD,
    BUTTON_LEFT,
    CAUGHT_BEFORE,
    CAUGHT_TWO_BEFORE,
    NO_BUTTON,
    SIMPLE_KO,
    Board,
    begin_history,
    clear,
    is_legal_but_superko,
    mark_superko,
    place,
    play,
    superko_key,
)
from ...go.coords import BLACK, EMPTY, WHITE
from ...go.points import point_of_index
from ...nets.constants import PLANES, SCALARS
from ...search.evaluate.features import Workspace, mark_caught, symmetry_steps, write_inputs
from ...search.evaluate.features import new_workspace as new_inputs_workspace
from .samples import DRAW, FULL_SHARE, INDEX_BITS, MOST_MOVES, NO_RESULT, UNKNOWN, WHITE_BIT, GameSet

if TYPE_CHECKING:
    from torch import Tensor

# Columns of `Batch.weights`.
POLICY, OPPONENT, VALUE, SCORE, LEAD, OWNERSHIP, TD_VALUE = range(7)
WIN, LOSS, THIRD = 0, 1, 2  # columns of `Batch.value`; the third is no result
# Of each horizon of `Batch.td_value`: the share of the present position's search is 1 / (1 + this times the points of
# the board). On 19x19 the mean horizons are 64, 20 and 6 moves (KataGo's trainingwrite.cpp).
_TD_SCALES = (0.176, 0.056, 0.016)
LEGAL, ILLEGAL_SETUP = -1, -2  # returned by `find_illegal`


Array = TypeVar("Array", np.ndarray, "Tensor")


class Batch(NamedTuple, Generic[Array]):
    """Inputs and targets of n positions, for the side to move: arrays for compiled code, tensors for a network.

    The planes have h rows and w columns, the size of the largest board; a = h * w. All arrays but `planes` are float32.
    """

    planes: Array  # uint8 [n, h, w, 22]; as a tensor a view of the same memory, [n, 22, h, w]
    scalars: Array  # [n, 19]
    policy: Array  # [n, a + 1], shares of the moves, the pass last
    opponent: Array  # [n, a + 1], those of the next position
    value: Array  # [n, 3], probabilities of win, loss and no result
    score: Array  # [n], final margin in points
    stdev: Array  # [n], its standard deviation; 0 if the game was played to its end
    lead: Array  # [n], points
    ownership: Array  # [n, a], 1 for the side to move, -1 for the opponent
    td_value: Array  # [n, 3, 3], for each of three horizons what `value` is for the end of the game
    weights: Array  # [n, 7], weights of the targets by POLICY, OPPONENT, ...; 0 if a target is not known
    full_board: bool  # whether all boards fill the planes

    @property
    def size(self) -> int:
        """The number of positions; `len` returns that of the fields."""
        return len(self.planes)


class ReplayWorkspace(NamedTuple):
    """Scratch memory of a thread, made by `new_workspace`."""

    inputs: Workspace  # for `write_inputs`
    boards: np.ndarray  # BOARD [1], on which games are replayed
    history: np.ndarray  # uint64 [MOST_MOVES + 1], superko keys of the earlier positions


def new_workspace() -> ReplayWorkspace:
    """Returns scratch memory for one thread."""
    return ReplayWorkspace(new_inputs_workspace(), np.zeros(1, BOARD), np.zeros(MOST_MOVES + 1, np.uint64))


def new_batch(count: int, width: int, height: int, full_board: bool) -> Batch[np.ndarray]:
    """Returns an uninitialised batch, for boards of at most width x height points."""

    def numbers(*shape: int) -> np.ndarray:
        return np.empty((count, *shape), np.float32)

    area = width * height
    return Batch(
        planes=np.empty((count, height, width, PLANES), np.uint8),
        scalars=numbers(SCALARS),
        policy=numbers(area + 1),
        opponent=numbers(area + 1),
        value=numbers(3),
        score=numbers(),
        stdev=numbers(),
        lead=numbers(),
        ownership=numbers(area),
        td_value=numbers(len(_TD_SCALES), 3),
        weights=numbers(TD_VALUE + 1),
        full_board=full_board,
    )


@njit
def _begin(board: Board, games: GameSet, number: int) -> None:
    """Sets the board to the start of a game."""
    game = games.games[number]
    width, height = int(game["width"]), int(game["height"])
    clear(board, width, height)
    start = games.setup_starts[number]
    for slot in range(start, start + game["setup_count"]):
        packed = int(games.setup[slot])
        point = point_of_index(packed & INDEX_BITS, width, height)
        place(board, point, WHITE if packed & WHITE_BIT else BLACK, None)
    board["komi"] = game["komi"]
    board["ko_rule"] = game["ko_rule"]
    board["suicide"] = game["suicide"] != 0
    board["scoring"] = game["scoring"]
    board["tax"] = game["tax"]
    board["friendly_pass"] = game["friendly_pass"] != 0
    board["button"] = BUTTON_LEFT if game["has_button"] else NO_BUTTON
    board["to_move"] = game["to_move"]


@njit
def _set_turn(board: Board, colour: int) -> bool:
    """Makes `colour` the side to move; returns whether that starts a new history, as in `Game.play`."""
    if board["to_move"] == colour:
        return False
    begin_history(board, colour)
    return True


@njit
def replay(games: GameSet, number: int, ahead: int, w: ReplayWorkspace) -> None:
    """Sets the workspace's board to a legal game after `ahead` moves, with the marks that `write_inputs` requires."""
    board = w.boards[0]
    _begin(board, games, number)
    width, height = int(board["width"]), int(board["height"])
    start, count = games.move_starts[number], int(games.games[number]["move_count"])
    length = 0
    for move in range(ahead + 1):
        packed = int(games.moves[start + min(move, count - 1)])
        if move < count and _set_turn(board, WHITE if packed & WHITE_BIT else BLACK):
            length = 0
        if board["ko_rule"] != SIMPLE_KO:
            w.history[length] = superko_key(board, board["hash"], board["to_move"])
            length += 1
        if move == ahead:
            break
        if ahead - move <= 2:
            mark_caught(board, CAUGHT_TWO_BEFORE if ahead - move == 2 else CAUGHT_BEFORE, w.inputs, board)
        play(board, point_of_index(packed & INDEX_BITS, width, height))
    mark_superko(board, w.history, length)


@njit
def find_illegal(games: GameSet, number: int, w: ReplayWorkspace) -> int:
    """Returns the number of the first illegal move of a game, from 0, or LEGAL if all are; superko is not checked.

    It is ILLEGAL_SETUP if a chain of the starting position has no liberty, or if two stones are on one point.
    """
    board = w.boards[0]
    start = games.setup_starts[number]
    stones = games.setup[start : start + games.games[number]["setup_count"]]
    width, height = int(games.games[number]["width"]), int(games.games[number]["height"])
    seen = np.zeros(width * height, np.bool_)
    for packed in stones:
        if seen[packed & INDEX_BITS]:
            return ILLEGAL_SETUP
        seen[packed & INDEX_BITS] = True
    _begin(board, games, number)
    for packed in stones:
        point = point_of_index(packed & INDEX_BITS, width, height)
        if board["stones"][point] == EMPTY or board["liberties"][board["chain"][point]] == 0:
            return ILLEGAL_SETUP
    start = games.move_starts[number]
    for move in range(games.games[number]["move_count"]):
        packed = int(games.moves[start + move])
        point = point_of_index(packed & INDEX_BITS, width, height)
        _set_turn(board, WHITE if packed & WHITE_BIT else BLACK)
        if not is_legal_but_superko(board, point):
            return move
        play(board, point)
    return LEGAL


def illegal_text(found: int) -> str:
    """Says what is illegal, given what `find_illegal` has found."""
    return f"{'the setup' if found == ILLEGAL_SETUP else f'move {found + 1}'} is illegal"


@inline
def _cell(index: int, width: int, area: int, columns: int, symmetry: int, rows: int) -> int:
    """Returns the index of a move in tensors of rows x columns points under a symmetry; the pass is last."""
    if index == area:
        return rows * columns
    first, down, right = symmetry_steps(symmetry, rows, columns)
    return first + index // width * down + index % width * right


@njit
def _write_policy(
    games: GameSet, position: int, width: int, height: int, symmetry: int, shape: tuple[int, int], policy: np.ndarray
) -> None:
    """Writes the policy target of a position under a symmetry, for tensors of `shape` (rows, columns)."""
    area = width * height
    policy[:] = 0
    if len(games.target_starts) and games.target_starts[position + 1] > games.target_starts[position]:
        for slot in range(games.target_starts[position], games.target_starts[position + 1]):
            cell = _cell(int(games.target_moves[slot]), width, area, shape[1], symmetry, shape[0])
            policy[cell] += games.target_shares[slot] / FULL_SHARE
    else:
        policy[_cell(int(games.moves[position]) & INDEX_BITS, width, area, shape[1], symmetry, shape[0])] = 1


@njit
def _write_end(
    games: GameSet, number: int, position: int, colour: int, searched_share: float, row: int, batch: Batch
) -> None:
    """Writes value, score and lead for `colour`, and their weights (1 or 0), from the result of the game."""
    game = games.games[number]
    sign = 1.0 if colour == BLACK else -1.0
    batch.value[row] = 0
    winner = game["winner"]
    known = winner != UNKNOWN
    if winner == DRAW:
        batch.value[row, WIN] = batch.value[row, LOSS] = 0.5
    elif winner == NO_RESULT:
        batch.value[row, THIRD] = 1
    elif known:
        batch.value[row, WIN if winner == colour else LOSS] = 1
    margin = np.float32(sign) * game["margin"]
    is_counted = not math.isnan(margin)
    lead = margin
    if len(games.values):
        searched, searched_lead = games.values[position]
        if not math.isnan(searched) and searched_share > 0 and known:
            batch.value[row] *= 1 - searched_share
            batch.value[row, WIN] += searched_share * (1 + searched) / 2
            batch.value[row, LOSS] += searched_share * (1 - searched) / 2
        if not math.isnan(searched_lead):
            lead = searched_lead
    batch.score[row] = margin if is_counted else 0
    batch.stdev[row] = 0
    batch.lead[row] = 0 if math.isnan(lead) else lead
    batch.weights[row, VALUE] = known
    batch.weights[row, SCORE] = is_counted
    batch.weights[row, LEAD] = not math.isnan(lead)


@njit
def _write_td_value(games: GameSet, number: int, position: int, colour: int, row: int, batch: Batch) -> None:
    """Writes the values at three horizons for `colour`, and their weight: 1 if all positions to come were searched.

    They are means of the values that the searches found from this position on, with exponentially falling weights; the
    result has the weight that is left (KataGo's `fillValueTDTargets` in trainingwrite.cpp; docs/KataGoMethods.md,
    "Short-term Value and Score Targets").
    """
    game, end = games.games[number], games.move_starts[number + 1]
    winner = int(game["winner"])
    is_known = winner != UNKNOWN and len(games.values) > 0
    area = int(game["width"]) * int(game["height"])
    for horizon in range(len(_TD_SCALES)):
        share, left, mean = 1 / (1 + _TD_SCALES[horizon] * area), 1.0, 0.0  # `mean` of win rates minus loss rates
        for later in range(position, end if is_known else position):
            mover = WHITE if int(games.moves[later]) & WHITE_BIT else BLACK
            mean += left * share * games.values[later, 0] * (1 if mover == colour else -1)
            left *= 1 - share
        third = left if winner == NO_RESULT else 0.0
        if winner in (BLACK, WHITE):
            mean += left if winner == colour else -left
        is_known = is_known and not math.isnan(mean)
        mean = mean if is_known else 0.0
        batch.td_value[row, horizon, WIN] = (1 - third + mean) / 2
        batch.td_value[row, horizon, LOSS] = (1 - third - mean) / 2
        batch.td_value[row, horizon, THIRD] = third
    batch.weights[row, TD_VALUE] = is_known


@njit
def _write_judgement(judgement: np.ndarray, colour: int, row: int, batch: Batch) -> None:
    """Writes value, score, stdev and lead for `colour` from a teacher's outputs (`samples.JUDGEMENT`)."""
    black_wins, white_wins, no_result, score, stdev, lead = judgement
    is_black = colour == BLACK
    batch.value[row, WIN] = black_wins if is_black else white_wins
    batch.value[row, LOSS] = white_wins if is_black else black_wins
    batch.value[row, THIRD] = no_result
    batch.score[row] = score if is_black else -score
    batch.stdev[row] = stdev
    batch.lead[row] = lead if is_black else -lead
    batch.weights[row, VALUE] = batch.weights[row, SCORE] = batch.weights[row, LEAD] = 1


@njit
def _write_ownership(
    games: GameSet, number: int, colour: int, symmetry: int, shape: tuple[int, int], ownership: np.ndarray
) -> bool:
    """Writes the final ownership for `colour` under a symmetry; returns whether it is known."""
    game = games.games[number]
    ownership[:] = 0
    if not game["ownership_unit"]:
        return False
    share = np.float32((1.0 if colour == BLACK else -1.0) / game["ownership_unit"])
    width, area = int(game["width"]), int(game["width"]) * int(game["height"])
    start = games.ownership_starts[number]
    for index in range(area):
        ownership[_cell(index, width, area, shape[1], symmetry, shape[0])] = share * games.ownership[start + index]
    return True


@njit
def write_rows(
    games: GameSet,
    positions: np.ndarray,
    symmetries: np.ndarray,
    searched_share: float,
    suicide_areas: bool,
    w: ReplayWorkspace,
    batch: Batch,
) -> None:
    """Writes a batch.

    Args:
        positions: uint32 [n], the position of each row.
        symmetries: int64 [n], the symmetry of each row; planes that are not square are never transposed.
        searched_share: Share of the value target that comes from the position's search instead of the game's result.
        suicide_areas: A property of the network, as in `write_inputs`.
    """
    shape = batch.planes.shape[1], batch.planes.shape[2]
    for row in range(len(positions)):
        position, symmetry = int(positions[row]), int(symmetries[row])
        number = int(np.searchsorted(games.move_starts, position, side="right") - 1)
        start, end = games.move_starts[number], games.move_starts[number + 1]
        replay(games, number, position - start, w)
        board = w.boards[0]
        colour, width, height = int(board["to_move"]), int(board["width"]), int(board["height"])
        write_inputs(board, symmetry, suicide_areas, w.inputs, batch.planes[row], batch.scalars[row])
        _write_policy(games, position, width, height, symmetry, shape, batch.policy[row])
        # A player may move twice, as with handicap stones. A position of weight 0 has no shares of a search: its move
        # alone says little about the reply.
        has_reply = position + 1 < end and (games.moves[position] ^ games.moves[position + 1]) & WHITE_BIT != 0
        has_reply = has_reply and (not len(games.weights) or games.weights[position + 1] > 0)
        if has_reply:
            _write_policy(games, position + 1, width, height, symmetry, shape, batch.opponent[row])
        else:
            batch.opponent[row] = 0
        _write_td_value(games, number, position, colour, row, batch)
        if len(games.judgements) and not math.isnan(games.judgements[number, 0]):
            _write_judgement(games.judgements[number], colour, row, batch)
        else:
            _write_end(games, number, position, colour, searched_share, row, batch)
        is_owned = _write_ownership(games, number, colour, symmetry, shape, batch.ownership[row])
        batch.weights[row, POLICY] = 1
        batch.weights[row, OPPONENT] = has_reply
        batch.weights[row, OWNERSHIP] = is_owned
        if len(games.weights):
            batch.weights[row] *= games.weights[position]
