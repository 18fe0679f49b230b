"""Random games from a position to the end, and what they are worth.

Two policies. The uniform one plays anywhere but into its own eyes. The other answers the last move first (takes a chain
that stands in atari, saves one that was put there, plays MoGo's shapes beside it) and only then plays anywhere.
"""

import numpy as np

from ..compiled import inline, njit
from ..game.board import (
    BUTTON_BLACK,
    BUTTON_WHITE,
    RECENT,
    TERRITORY_SCORING,
    atari_liberty,
    in_atari,
    is_suicide,
    play,
)
from ..game.coords import BLACK, EMPTY, PASS, WALL, WHITE
from .patterns import is_urgent_shape
from .tactics import is_eye, liberties_after

# A cycle that only superko would forbid (triple ko) ends here: playouts take about 1.4 moves a point of the board.
MOVE_CAP_PER_POINT = 4
MAX_CANDIDATES = 64


@inline
def next_random(state: np.ndarray) -> np.uint64:
    """The next 64 random bits of `state` (uint64, shape [1]; any value is a good start).

    splitmix64: Guy Steele, Doug Lea, Christine Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inline
def random_below(state: np.ndarray, limit: int) -> int:
    """A random integer from 0 to `limit` - 1 (Daniel Lemire's multiplication instead of a division, 2019)."""
    return int(((next_random(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit
def _captures_and_escapes(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the moves that answer an atari at the last move; how many there are.

    Taking the chain that just moved, and for each own chain that was put in atari: running out to two liberties or
    taking one of the chains that hold it.
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
def _shapes_beside(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the urgent shapes among the eight points round the last move; how many there are."""
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
    """One of the candidates, or PASS where there is none or it is the forbidden ko."""
    if count == 0:
        return PASS
    point = candidates[random_below(state, count)]
    return PASS if point == board["ko_point"] else point


@njit
def _answer(board: np.ndarray, state: np.ndarray, candidates: np.ndarray) -> int:
    """A move that answers the last one, or PASS where nothing there calls for one."""
    last = board["recent_points"][(board["move_count"] - 1) % RECENT] if board["move_count"] > 0 else PASS
    if last == PASS:
        return PASS
    point = _pick(board, candidates, _captures_and_escapes(board, last, candidates), state)
    if point == PASS:
        point = _pick(board, candidates, _shapes_beside(board, last, candidates), state)
    return point


@njit
def anywhere(board: np.ndarray, state: np.ndarray) -> int:
    """A random move that is legal and fills no eye of its own; PASS where there is none."""
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
def play_out(
    board: np.ndarray, state: np.ndarray, heavy: bool, candidates: np.ndarray, first_player: np.ndarray
) -> int:
    """Plays random moves on `board` until both sides pass in turn; the number of moves.

    Ko is the simple one, suicide is never played, a side passes only when it has no move left. `heavy` chooses the
    policy; `candidates` is scratch, int16 of MAX_CANDIDATES. `first_player` (int8 [MAX_POINTS]) gets the colour that
    was the first to play at each point, 0 where nobody did.
    """
    limit = MOVE_CAP_PER_POINT * board["width"] * board["height"]
    first_player[: (board["width"] + 1) * (board["height"] + 1)] = EMPTY
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        point = _answer(board, state, candidates) if heavy else PASS
        if point == PASS:
            point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        if first_player[point] == EMPTY:
            first_player[point] = board["to_move"]
        play(board, point)
        moves += 1
    return moves


@njit
def play_recorded(board: np.ndarray, state: np.ndarray, points: np.ndarray) -> int:
    """Plays uniform random moves until two passes or until `points` (int16) is full of them; their number.

    As in `play_out` ko is the simple one, and a side passes only when it has no move left.
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
    """Black's points minus white's at the end of a playout, which leaves single empty points; no komi.

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
    """What black's final margin has beside the area of playouts: komi, button, and under territory rules the stones.

    With P stones of a colour ever put on the board, territory + prisoners = area - P, whatever is captured. So black's
    margin is that of the area less the difference of the stones put down so far. The moves to come are taken to
    alternate: the side to move puts down the last one half of the time. What playouts add themselves does not count,
    they go on after a player would pass.
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
