"""Correction of evaluations by the errors that the search has found after the same local moves.

KataGo's subtree value bias correction (its docs/KataGoMethods.md): positions with the same last two moves and the same
stones around the last one share an entry, the mean difference of their children's value from their own evaluation. An
evaluator that misjudges a local sequence misjudges it wherever in the tree it is played, so what deeper search found
wrong in one place corrects the others.
"""

import numpy as np

from ..base.jit import inline, njit
from ..go.board import MAX_POINTS, RECENT, Board, in_atari
from ..go.coords import EMPTY, PASS

BIAS = np.dtype(
    [
        ("key", np.uint64),  # 0: free
        ("weight", np.float64),
        ("gap", np.float64),  # sum of the children's utility minus the evaluation's, by weight
    ],
    align=True,
)
# KataGo's subtreeValueBiasWeightExponent: a subtree of n visits counts n^0.85.
WEIGHT_EXPONENT = 0.85
_LEAST_WEIGHT = 0.001  # subtracting shares leaves rounding errors in an entry that nobody uses any more
_REACH = 2  # rows and columns around the last move whose stones belong to the key: 5x5
_WIDTH = 2 * _REACH + 1
_STONES = 6  # kinds of points: empty, black, white, the last two also in atari

# Random numbers for each part of a key (Zobrist): last point, the one before, ko, colour, nearby stones.
_RANDOM = np.random.default_rng(20261120)
_LAST, _BEFORE, _KO = _RANDOM.integers(1, 2**64, (3, MAX_POINTS), np.uint64)
_COLOUR = _RANDOM.integers(1, 2**64, 3, np.uint64)
_NEAR = _RANDOM.integers(1, 2**64, (_WIDTH * _WIDTH, _STONES), np.uint64)


def table_length(nodes: int) -> int:
    """Returns the length of a hash table for at most one entry per node; 0 for no nodes.

    It is a power of two, for fast indexing, and at least half of the table stays free, for short probes.
    """
    return 1 << (2 * nodes - 1).bit_length() if nodes else 0


def new_biases(nodes: int) -> np.ndarray:
    """Returns an empty hash table, BIAS [`table_length`]."""
    return np.zeros(table_length(nodes), BIAS)


@njit
def key_of(board: Board, point: int) -> np.uint64:
    """Returns the key of the entry for the position after a move at `point` of this board.

    It is 0, for no entry, after a pass or a first move.
    """
    if point == PASS or board["move_count"] == 0:
        return np.uint64(0)
    before = board["recent_points"][(board["move_count"] - 1) % RECENT]
    key = _LAST[point] ^ _BEFORE[before] ^ _KO[board["ko_point"]] ^ _COLOUR[board["to_move"]]
    stones, stride = board["stones"], board["width"] + 1
    row, column = point // stride, point % stride
    for y in range(max(row - _REACH, 1), min(row + _REACH, board["height"]) + 1):
        for x in range(max(column - _REACH, 1), min(column + _REACH, board["width"]) + 1):
            near = y * stride + x
            kind = stones[near]
            if kind != EMPTY and in_atari(board, board["chain"][near]):
                kind += _STONES // 2
            key ^= _NEAR[(y - row + _REACH) * _WIDTH + x - column + _REACH, kind]
    return key


@njit
def entry_of(biases: np.ndarray, key: np.uint64) -> np.uint64:
    """Returns the index of a key's entry, by linear probing; a new key gets a free entry."""
    mask = np.uint64(len(biases) - 1)
    index = key & mask
    while biases[index]["key"] != key:
        if biases[index]["key"] == 0:
            biases[index]["key"] = key
            break
        index = (index + np.uint64(1)) & mask
    return index


@inline
def mean_gap(entry: np.ndarray) -> float:
    """Returns by how much the entry's positions turned out better than their evaluations, for the side to move."""
    return entry["gap"] / entry["weight"] if entry["weight"] > _LEAST_WEIGHT else 0.0


@njit
def fill_biases(biases: np.ndarray, nodes: np.ndarray) -> None:
    """Fills a table with the shares of all nodes; drops what it held."""
    for place in range(len(biases)):
        biases[place]["key"] = 0
        biases[place]["weight"] = 0.0
        biases[place]["gap"] = 0.0
    for node in range(len(nodes)):
        record = nodes[node]
        if record["bias_key"] != 0:
            entry = biases[entry_of(biases, record["bias_key"])]
            entry["weight"] += record["bias_weight"]
            entry["gap"] += record["bias_gap"]
