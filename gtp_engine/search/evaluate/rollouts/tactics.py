"""Tactics without reading ahead, for rollouts and priors: eyes and the liberties that a move leaves."""

import numpy as np

from ....base.jit import inline, njit
from ....go.board import only_liberty_is
from ....go.coords import EMPTY, WALL


@inline
def is_eye(board: np.ndarray, point: int, colour: int) -> bool:
    """Whether `colour` surrounds this empty point and at most one diagonal (at the edge none) is the opponent's."""
    stones = board["stones"]
    stride = int(board["width"]) + 1
    for neighbour in (point - 1, point + 1, point - stride, point + stride):
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
def _without(board: np.ndarray, head: int, point: int) -> tuple[int, int, int]:
    """Returns the number, sum and sum of squares of a chain's pseudo-liberties other than `point`."""
    stride = int(board["width"]) + 1
    count = np.int64(board["liberties"][head])
    total = np.int64(board["liberty_sum"][head])
    squares = np.int64(board["liberty_squares"][head])
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if board["stones"][neighbour] == board["stones"][head] and board["chain"][neighbour] == head:
            count -= 1
            total -= point
            squares -= np.int64(point) * np.int64(point)
    return int(count), int(total), int(squares)


@njit
def liberties_after(board: np.ndarray, point: int, colour: int) -> int:
    """Returns the liberties of the chain that a stone of `colour` on this empty point would join: 0, 1 or 2.

    0 is suicide, 1 a self-atari, 2 stands for two or more. A move that captures counts as 2, whatever it leaves.
    """
    stones = board["stones"]
    stride = int(board["width"]) + 1
    liberty = -1  # the first one found
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
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
            count, total, squares = _without(board, head, point)
            if count == 0:
                continue
            if count * squares != total * total:
                return 2
            if liberty >= 0 and liberty != total // count:
                return 2
            liberty = total // count
    return 1 if liberty >= 0 else 0


@inline
def would_be_in_atari(board: np.ndarray, head: int, point: int) -> bool:
    """Whether a chain has exactly two liberties, this empty point next to it and another one."""
    count, total, squares = _without(board, head, point)
    return count > 0 and count * squares == total * total
