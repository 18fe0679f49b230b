"""Positions that several orders of moves lead to: their keys, and the table that finds their node.

KataGo's docs/GraphSearch.md: positions share a node if they are alike in all that matters from then on: the stones, the
player to move, a ko, a pass, the button, prisoners if they count, and the moves that led there as long as superko could
soon forbid one of them to be repeated.
"""

import numpy as np

from ..base.jit import inline, njit
from ..go.board import MAX_POINTS, RECENT, TERRITORY_SCORING, Board, points_beside
from ..go.coords import BLACK, EMPTY, PASS, WHITE
from .value_bias import table_length

# KataGo's graphSearchRepBound: repetitions that would take more moves than this are ignored.
_REPETITION_BOUND = 11
_NO_NODE = -1  # `tree.NO_NODE`; the tree imports this module

# Random numbers for the parts of a key (Zobrist); of the prisoners only the difference counts, modulo a power of two.
_PRISONERS = 1024
_RANDOM = np.random.default_rng(20261128)
_KO = _RANDOM.integers(1, 2**64, MAX_POINTS, np.uint64)
_DIFFERENCE = _RANDOM.integers(1, 2**64, _PRISONERS, np.uint64)
_WHITE = _RANDOM.integers(1, 2**64, dtype=np.uint64)
_BUTTON, _PASSES = _RANDOM.integers(1, 2**64, (2, 4), np.uint64)


def new_table(nodes: int) -> np.ndarray:
    """Returns an empty hash table for this many nodes, int32 [`table_length`]."""
    return np.full(table_length(nodes), _NO_NODE, np.int32)


@njit
def position_key(board: Board, before: np.uint64) -> np.uint64:
    """Returns the key of the position after the last move; `before` is that of the position before it.

    It depends on the earlier moves only while the last one could soon be captured and the position before it be
    repeated (`_may_repeat`).
    """
    key = board["hash"] ^ _KO[board["ko_point"]] ^ _BUTTON[board["button"]] ^ _PASSES[min(board["passes"], 3)]
    if board["to_move"] == WHITE:
        key ^= _WHITE
    if board["scoring"] == TERRITORY_SCORING:
        key ^= _DIFFERENCE[(board["captures"][WHITE] - board["captures"][BLACK]) & (_PRISONERS - 1)]
    if _may_repeat(board):
        key ^= (before << np.uint64(23)) | (before >> np.uint64(41))
    return key


@njit
def _may_repeat(board: Board) -> bool:
    """Returns whether the position before the last move could come back within `_REPETITION_BOUND` moves.

    The stone just played would have to be captured with its chain, and the stones around it be played again. As in
    KataGo the number of moves is taken to be that of the chain's stones and of the empty points connected with it.
    """
    point = board["recent_points"][(board["move_count"] - 1) % RECENT]
    if point == PASS or board["stones"][point] == EMPTY:  # a pass, or suicide
        return True
    stones = board["stones"]
    empties = np.empty(_REPETITION_BOUND + 1, np.int16)
    size, found, looked, at, in_chain = board["chain_size"][board["chain"][point]], 0, 0, point, True
    while True:
        for neighbour in points_beside(board, at):
            if stones[neighbour] == EMPTY and not _holds(empties, found, neighbour):
                if size + found >= _REPETITION_BOUND:
                    return False
                empties[found] = neighbour
                found += 1
        in_chain = in_chain and board["next_stone"][at] != point
        if in_chain:
            at = board["next_stone"][at]
        elif looked == found:
            return True
        else:
            at = empties[looked]
            looked += 1


@inline
def _holds(points: np.ndarray, count: int, point: int) -> bool:
    """Returns whether the first `count` elements have the point."""
    for index in range(count):
        if points[index] == point:
            return True
    return False


@njit
def find_or_add(table: np.ndarray, keys: np.ndarray, key: np.uint64, node: int) -> int:
    """Returns the node that is known with a key, by linear probing; if there is none `node` is it from now on.

    keys: uint64, those of the nodes.
    """
    mask = np.uint64(len(table) - 1)
    index = key & mask
    while table[index] != _NO_NODE:
        if keys[table[index]] == key:
            return table[index]
        index = (index + np.uint64(1)) & mask
    table[index] = node
    return node


@njit
def fill_table(table: np.ndarray, keys: np.ndarray) -> None:
    """Fills a table with the nodes that have a key, other than 0; drops what it held."""
    for index in range(len(table)):
        table[index] = _NO_NODE
    for node in range(len(keys)):
        if keys[node] != 0:
            find_or_add(table, keys, keys[node], node)
