"""The count of a finished game, compiled for the search, which reaches the end of many games."""

import numpy as np

from ..base.jit import njit
from .board import BUTTON_BLACK, BUTTON_WHITE, Board
from .coords import BLACK, EMPTY, WALL, WHITE


@njit
def area_margin(board: Board) -> float:
    """Counts the board by area with every stone alive, as `scoring.final_score` does under plain area rules.

    Returns:
        Black's margin in points: stones, and empty regions that one colour alone surrounds, less komi, with the button.
    """
    stride = board["width"] + 1
    stones = board["stones"]
    # Allocated here: this runs once per finished game, not per leaf.
    seen = np.zeros(len(stones), np.uint8)
    stack = np.empty(board["empty_count"] + 1, np.int16)
    margin = 0
    for slot in range(board["empty_count"]):
        start = board["empties"][slot]
        if seen[start]:
            continue
        seen[start] = 1
        stack[0] = start
        top, size, border = 1, 0, 0
        while top:
            top -= 1
            point = stack[top]
            size += 1
            for neighbour in (point - stride, point - 1, point + 1, point + stride):
                if stones[neighbour] == EMPTY:
                    if not seen[neighbour]:
                        seen[neighbour] = 1
                        stack[top] = neighbour
                        top += 1
                elif stones[neighbour] != WALL:
                    border |= stones[neighbour]  # both colours make 3
        if border == BLACK:
            margin += size
        elif border == WHITE:
            margin -= size
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if stones[point] == BLACK:
                margin += 1
            elif stones[point] != EMPTY:
                margin -= 1
    button = 0.5 if board["button"] == BUTTON_BLACK else (-0.5 if board["button"] == BUTTON_WHITE else 0.0)
    return float(margin - board["komi"] + button)
