"""Rollouts: random games from a position to the end, and their scores.

There are two policies. The uniform one plays anywhere but in its own eyes. The heavy one first answers the last move
(captures a chain in atari, saves one that was put in atari, plays MoGo's shapes next to it) and else plays anywhere.
"""

import numpy as np

from ....base.jit import inline, njit
from ....base.random_numbers import random_below
from ....go.board import (
    BUTTON_BLACK,
    BUTTON_WHITE,
    RECENT,
    TERRITORY_SCORING,
    atari_liberty,
    in_atari,
    is_suicide,
    play,
)
from ....go.coords import BLACK, EMPTY, PASS, WALL, WHITE
from .patterns import is_urgent_shape
from .tactics import is_eye, liberties_after

# A cycle that only superko would forbid (triple ko) ends here: rollouts have about 1.4 moves a point of the board.
MOVE_CAP_PER_POINT = 4
MAX_CANDIDATES = 64


@njit
def _captures_and_escapes(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the moves that answer an atari at the last move; returns their number.

    These capture the chain that just moved, and for each own chain that was put in atari extend it to two liberties or
    capture one of the chains around it.
    """
    stones = board["stones"]
    stride = int(board["width"]) + 1
    colour = int(board["to_move"])
    count = 0
    head = board["chain"][last]
    if stones[last] == 3 - colour and in_atari(board, head):
        candidates[count] = atari_liberty(board, head)
        count += 1
    for neighbour in (last - stride, last - 1, last + 1, last + stride):
        if stones[neighbour] != colour or not in_atari(board, board["chain"][neighbour]):
            continue
        liberty = atari_liberty(board, board["chain"][neighbour])
        if count < MAX_CANDIDATES and liberties_after(board, liberty, colour) >= 2:
            candidates[count] = liberty
            count += 1
        stone = neighbour
        while True:
            for enemy in (stone - stride, stone - 1, stone + 1, stone + stride):
                if stones[enemy] == 3 - colour and in_atari(board, board["chain"][enemy]) and count < MAX_CANDIDATES:
                    candidates[count] = atari_liberty(board, board["chain"][enemy])
                    count += 1
            stone = board["next_stone"][stone]
            if stone == neighbour:
                break
    return count


@njit
def _adjacent_shapes(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the urgent shapes among the eight points around the last move; returns their number."""
    stride = int(board["width"]) + 1
    colour = int(board["to_move"])
    count = 0
    for point in (
        last - stride - 1,
        last - stride,
        last - stride + 1,
        last - 1,
        last + 1,
        last + stride - 1,
        last + stride,
        last + stride + 1,
    ):
        if (
            board["stones"][point] == EMPTY
            and is_urgent_shape(board, point)
            and liberties_after(board, point, colour) >= 2
        ):
            candidates[count] = point
            count += 1
    return count


@inline
def _pick(board: np.ndarray, candidates: np.ndarray, count: int, state: np.ndarray) -> int:
    """Returns a random candidate, or PASS if there is none or it is the forbidden ko."""
    if count == 0:
        return PASS
    point = candidates[random_below(state, count)]
    return PASS if point == board["ko_point"] else point


@njit
def _answer(board: np.ndarray, state: np.ndarray, candidates: np.ndarray) -> int:
    """Returns a move that answers the last one, or PASS if none is urgent."""
    last = board["recent_points"][(board["move_count"] - 1) % RECENT] if board["move_count"] > 0 else PASS
    if last == PASS:
        return PASS
    point = _pick(board, candidates, _captures_and_escapes(board, last, candidates), state)
    if point == PASS:
        point = _pick(board, candidates, _adjacent_shapes(board, last, candidates), state)
    return point


@njit
def anywhere(board: np.ndarray, state: np.ndarray) -> int:
    """Returns a random move that is legal and fills no eye of its own; PASS if there is none."""
    colour = int(board["to_move"])
    count = int(board["empty_count"])
    if count == 0:
        return PASS
    start = random_below(state, count)
    for offset in range(count):
        slot = start + offset
        if slot >= count:
            slot -= count
        point = int(board["empties"][slot])
        if point != board["ko_point"] and not is_eye(board, point, colour) and not is_suicide(board, point):
            return point
    return PASS


@njit
def play_rollout(
    board: np.ndarray, state: np.ndarray, heavy: bool, candidates: np.ndarray, amaf_colours: np.ndarray
) -> int:
    """Plays random moves on `board` until both sides pass one after the other; returns the number of moves.

    Ko is the simple one, suicide is never played, and a side passes only when it has no move left.

    Args:
        board: a BOARD record.
        state: see `random_numbers.next_random`.
        heavy: which policy to play by.
        candidates: scratch memory, int16 [MAX_CANDIDATES].
        amaf_colours: int8 [MAX_POINTS], written: the colour that was the first to play at each point, or EMPTY.
    """
    limit = MOVE_CAP_PER_POINT * board["width"] * board["height"]
    amaf_colours[: (board["width"] + 1) * (board["height"] + 1)] = EMPTY
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        point = _answer(board, state, candidates) if heavy else PASS
        if point == PASS:
            point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        if amaf_colours[point] == EMPTY:
            amaf_colours[point] = board["to_move"]
        play(board, point)
        moves += 1
    return moves


@njit
def play_recorded(board: np.ndarray, state: np.ndarray, points: np.ndarray) -> int:
    """Plays uniform random moves until two passes or until `points` (int16) is full of them; returns their number.

    As in `play_rollout`, ko is the simple one, and a side passes only when it has no move left.
    """
    passes = moves = 0
    while passes < 2 and moves < len(points):
        point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        points[moves] = point
        play(board, point)
        moves += 1
    return moves


@njit
def count_area(board: np.ndarray, ownership: np.ndarray) -> int:
    """Returns black's points minus white's, without komi, at the end of a rollout, which leaves single empty points.

    Adds 1 (black) or -1 (white) for each point to `ownership` (int32 [area], move-index order).
    """
    width = board["width"]
    stride = width + 1
    stones = board["stones"]
    margin = 0
    move = 0
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            colours = stones[point]
            if colours == EMPTY:
                for neighbour in (point - stride, point - 1, point + 1, point + stride):
                    if stones[neighbour] != WALL:
                        colours |= stones[neighbour]
            owner = 1 if colours == BLACK else (-1 if colours == WHITE else 0)
            margin += owner
            ownership[move] += owner
            move += 1
    return margin


@njit
def score_offset(board: np.ndarray) -> float:
    """Returns the difference of black's final margin from its area margin in a rollout.

    It consists of komi, the button, and under territory rules the stones: with P stones of a colour ever played,
    territory + prisoners = area - P, whatever is captured. So black's margin is that of the area minus the difference
    of the stones played so far. The moves to come are assumed to alternate: the side to move plays the last one half of
    the time. The stones of the rollout itself do not count, since it continues after a player would pass.
    """
    offset = -float(board["komi"])
    if board["button"] == BUTTON_BLACK:
        offset += 0.5
    elif board["button"] == BUTTON_WHITE:
        offset -= 0.5
    if board["scoring"] == TERRITORY_SCORING:
        put_down = board["captures"][WHITE] - board["captures"][BLACK]
        for y in range(board["height"]):
            for point in range((y + 1) * (board["width"] + 1) + 1, (y + 2) * (board["width"] + 1)):
                stone = board["stones"][point]
                put_down += stone == BLACK
                put_down -= stone == WHITE
        offset -= put_down
        if board["passes"] == 0:
            offset += 0.5 if board["to_move"] == BLACK else -0.5
    return offset
