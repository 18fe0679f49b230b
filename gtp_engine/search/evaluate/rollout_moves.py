"""Moves without a network or reading ahead: MoGo's patterns, eyes and liberties for rollouts, and priors.

The patterns are 3x3, as a table over all neighbourhoods of a point: Sylvain Gelly, Yizao Wang, Remi Munos, Olivier
Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go" (INRIA report 6062, 2006), section 3.2: hane, cut and
moves at the edge. A move's prior strength is the product of one weight for each of its features, its probability that
strength over the sum of all: Rémi Coulom, "Computing Elo ratings of move patterns in the game of Go", ICGA Journal
30(4), 2007.
"""

from itertools import product

import numpy as np

from ...base.jit import inline, njit
from ...go.board import RECENT, are_one_point, in_atari, only_liberty_is, packed_liberty, point_of, points_beside
from ...go.coords import BLACK, EMPTY, PASS, WALL, WHITE
from ...go.points import index_of_point
from ...go.symmetry import COUNT, apply

# Three rows around the move "*". X and O: the two colours, either way; "." empty; "#" beyond the edge; "?" any of these
# but "#"; "x", "o": anything but X, anything but O.
_PATTERNS = (
    "XOX .*. ???",  # hane
    "XO. .*. ?.?",
    "XO? X*. ?.?",
    "XOO .*. ?.?",
    "?X? O*O xxx",  # cut
    "X.? O*? ###",  # at the edge
    "?X? o*O ###",
    "?XO ?*? ###",
    "?OX X*O ###",
)
_CUT = "XO? O*? ???"
_USELESS_CUTS = ("XO? O*O ?.?", "XO? O*. ?O?")  # the cutting stone would be captured at once

_MEANINGS = {
    "X": (BLACK,),
    "O": (WHITE,),
    ".": (EMPTY,),
    "#": (WALL,),
    "x": (EMPTY, WHITE, WALL),
    "o": (EMPTY, BLACK, WALL),
    "?": (EMPTY, BLACK, WHITE),
}
_SWAPPED = str.maketrans("XOxo", "OXox")


def _surroundings(pattern: str) -> set[int]:
    """Returns the codes (see `surroundings`) that a pattern covers, by all symmetries and with the colours swapped."""
    square = np.array([list(row) for row in pattern.split()])
    codes = set()
    for symmetry in range(COUNT):
        letters = "".join(apply(square, symmetry).ravel()).replace("*", "")
        for names in (letters, letters.translate(_SWAPPED)):
            for stones in product(*(_MEANINGS[name] for name in names)):
                codes.add(sum(int(stone) << (2 * index) for index, stone in enumerate(stones)))
    return codes


_CUTS = _surroundings(_CUT).difference(*map(_surroundings, _USELESS_CUTS))
_URGENT = np.zeros(1 << 16, np.bool_)
_URGENT[list(_CUTS.union(*map(_surroundings, _PATTERNS)))] = True


@inline
def surroundings(board: np.ndarray, point: int) -> int:
    """Returns the eight neighbours of a point in one number: two bits each, row by row from the top left."""
    stones = board["stones"]
    above = point - board["width"] - 1
    below = point + board["width"] + 1
    return (
        int(stones[above - 1])
        | int(stones[above]) << 2
        | int(stones[above + 1]) << 4
        | int(stones[point - 1]) << 6
        | int(stones[point + 1]) << 8
        | int(stones[below - 1]) << 10
        | int(stones[below]) << 12
        | int(stones[below + 1]) << 14
    )


@inline
def is_urgent_shape(board: np.ndarray, point: int) -> bool:
    """Whether one of MoGo's patterns lies around this empty point."""
    return _URGENT[surroundings(board, point)]


@inline
def is_eye(board: np.ndarray, point: int, colour: int) -> bool:
    """Whether `colour` surrounds this empty point and at most one diagonal (at the edge none) is the opponent's."""
    stones = board["stones"]
    stride = int(board["width"]) + 1
    for neighbour in points_beside(board, point):
        if stones[neighbour] != colour and stones[neighbour] != WALL:
            return False
    enemies = 0
    at_edge = 0
    for diagonal in (point - stride - 1, point - stride + 1, point + stride - 1, point + stride + 1):
        if stones[diagonal] == 3 - colour:
            enemies += 1
        elif stones[diagonal] == WALL:
            at_edge = 1
    return enemies + at_edge < 2


@inline
def _without(board: np.ndarray, head: int, point: int) -> int:
    """Returns a chain's pseudo-liberties other than `point`, packed as on the board."""
    packed = board["liberties"][head]
    for neighbour in points_beside(board, point):
        if board["stones"][neighbour] == board["stones"][head] and board["chain"][neighbour] == head:
            packed -= packed_liberty(point)
    return int(packed)


@njit
def liberties_after(board: np.ndarray, point: int, colour: int) -> int:
    """Returns the liberties of the chain that a stone of `colour` on this empty point would join: 0, 1 or 2.

    0 is suicide, 1 a self-atari, 2 stands for two or more. A move that captures counts as 2, whatever it leaves.
    """
    stones = board["stones"]
    liberty = -1  # the first one found
    for neighbour in points_beside(board, point):
        stone = stones[neighbour]
        if stone == EMPTY:
            if liberty >= 0 and liberty != neighbour:
                return 2
            liberty = neighbour
        elif stone == 3 - colour:
            if only_liberty_is(board, board["chain"][neighbour], point):
                return 2
        elif stone == colour:
            head = int(board["chain"][neighbour])
            others = _without(board, head, point)
            if others == 0:
                continue
            if not are_one_point(others) or liberty not in (-1, point_of(others)):
                return 2
            liberty = point_of(others)
    return 1 if liberty >= 0 else 0


@inline
def would_be_in_atari(board: np.ndarray, head: int, point: int) -> bool:
    """Whether a chain has exactly two liberties, this empty point next to it and another one."""
    others = _without(board, head, point)
    return others != 0 and are_one_point(others)


# Logarithms of the weights: maximum likelihood of the moves of professional games, 22,178 moves on 9x9; the lines of
# large boards from 17,474 moves on 19x19.
# First to fourth line, fifth and higher; the second row of each applies if no stone is near.
_LINE = np.array(
    [
        [[-0.92, 0.11, 0.45, 0.07, -0.16], [-2.89, -2.07, 0.88, 1.85, 3.23]],  # small boards
        [[-0.32, 0.50, 0.90, 0.62, 0.57], [-2.04, -1.33, 1.51, 1.27, -1.60]],  # large boards
    ]
)
_LARGE = 13  # points on the shorter side
# Distance to the last move and to the one before it: 2 (adjacent), 3 (diagonal), 4, ... 9 and more, no such move.
_TO_LAST = np.array([1.09, 0.36, 0.43, 0.02, -0.36, -0.30, -0.40, -0.81, 0.0])
_TO_ONE_BEFORE = np.array([0.34, 0.18, 0.19, 0.03, -0.22, -0.14, -0.23, -0.21, 0.0])
# Two liberties and more; self-atari of a stone alone; self-atari of a chain; fills an own eye.
_SAFETY = np.array([1.40, 0.31, -0.61, -1.09])
# Captures nothing; a stone; a chain; a chain next to an own one in atari; the chain that just moved.
_CAPTURE = np.array([-1.76, -0.72, -0.74, 1.97, 1.25])
# Saves nothing from atari; a stone; a chain.
_ESCAPE = np.array([-1.39, 0.35, 1.07])
# Puts nothing in atari; a stone; a chain.
_ATARI = np.array([-0.65, 0.42, 0.32])
# One of MoGo's patterns: no; yes; yes and touching the last move.
_SHAPE = np.array([-0.98, 0.71, 0.76])


@inline
def _last_move(board: np.ndarray, moves_ago: int) -> int:
    """Returns the point of the last move (1) or the one before it (2); PASS if there is none."""
    if board["move_count"] < moves_ago:
        return PASS
    return board["recent_points"][(board["move_count"] - moves_ago) % RECENT]


@inline
def _distance_level(point: int, other: int, stride: int) -> int:
    """Returns the index into `_TO_LAST`: dx + dy + max(dx, dy) - 2 (Coulom 2007, section 4.2)."""
    if other == PASS:
        return 8
    dx = abs(point % stride - other % stride)
    dy = abs(point // stride - other // stride)
    return min(dx + dy + max(dx, dy) - 2, 7)


@njit
def _line_weight(board: np.ndarray, point: int) -> float:
    width, height = int(board["width"]), int(board["height"])
    stride = width + 1
    x, y = point % stride, point // stride
    line = min(min(x, width + 1 - x), min(y, height + 1 - y), 5) - 1
    large = 1 if min(width, height) >= _LARGE else 0
    for row in range(max(1, y - 2), min(height, y + 2) + 1):
        for column in range(max(1, x - 2), min(width, x + 2) + 1):
            if abs(column - x) + abs(row - y) <= 3 and board["stones"][row * stride + column] != EMPTY:
                return _LINE[large, 0, line]
    return _LINE[large, 1, line]


@njit
def _rescues(board: np.ndarray, stone: int) -> bool:
    """Whether capturing the chain at `stone` saves a chain next to it from atari."""
    stones = board["stones"]
    colour = 3 - stones[stone]
    first = stone
    while True:
        for neighbour in points_beside(board, stone):
            if stones[neighbour] == colour and in_atari(board, board["chain"][neighbour]):
                return True
        stone = board["next_stone"][stone]
        if stone == first:
            return False


@njit
def _strength(board: np.ndarray, point: int, last: int, one_before: int) -> float:
    """Returns the strength of a move, 0 for suicide."""
    stones = board["stones"]
    stride = int(board["width"]) + 1
    colour = int(board["to_move"])
    liberties = liberties_after(board, point, colour)
    if liberties == 0:
        return 0.0
    capture = escape = atari = own_size = 0
    for neighbour in points_beside(board, point):
        stone = stones[neighbour]
        if stone in (EMPTY, WALL):
            continue
        head = board["chain"][neighbour]
        level = 1 if board["chain_size"][head] == 1 else 2
        if stone == colour:
            own_size += board["chain_size"][head]
            if in_atari(board, head):
                escape = max(escape, level)
        elif in_atari(board, head):
            if stones[last] == stone and head == board["chain"][last]:
                level = 4
            elif _rescues(board, int(neighbour)):
                level = 3
            capture = max(capture, level)
        elif would_be_in_atari(board, head, point):
            atari = max(atari, level)
    safety = 0
    if liberties == 1:
        safety = 1 if own_size == 0 else 2
        escape = atari = 0
    elif is_eye(board, point, colour):
        safety = 3
    to_last = _distance_level(point, last, stride)
    shape = 0
    if is_urgent_shape(board, point):
        shape = 2 if to_last <= 1 else 1
    return np.exp(
        _line_weight(board, point)
        + _TO_LAST[to_last]
        + _TO_ONE_BEFORE[_distance_level(point, one_before, stride)]
        + _SAFETY[safety]
        + _CAPTURE[capture]
        + _ESCAPE[escape]
        + _ATARI[atari]
        + _SHAPE[shape]
    )


@njit
def write_priors(board: np.ndarray, policy: np.ndarray) -> None:
    """Writes move probabilities (float32 [area+1], move-index order) for the player to move.

    Suicide and the retaking of a simple ko get 0; superko is not checked.
    """
    width, height = int(board["width"]), int(board["height"])
    area = width * height
    last, one_before = _last_move(board, 1), _last_move(board, 2)
    policy[: area + 1] = 0.0
    total = 0.0
    sensible = 0
    for slot in range(board["empty_count"]):
        point = board["empties"][slot]
        if point == board["ko_point"]:
            continue
        strength = _strength(board, point, last, one_before)
        policy[index_of_point(point, width, height)] = strength
        total += strength
        sensible += strength > 0.0 and not is_eye(board, point, int(board["to_move"]))
    # A pass gets what is left when there is nothing sensible to play, and more as the answer to a pass.
    share = 0.2 if board["passes"] > 0 else 0.5 / (sensible + 1)
    if total > 0.0:
        for move in range(area):
            policy[move] *= (1.0 - share) / total
    policy[area] = share if total > 0.0 else 1.0
