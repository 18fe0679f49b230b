"""Who will own each point, over a tree: kept for each node, summed up leaf by leaf.

Adding up all nodes for a report takes longer than the time between two reports once there are 100,000 of them.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import njit
from .tree import OWNERSHIP_ONE, OWNERSHIP_UNKNOWN, Tree


class OwnershipSums(NamedTuple):
    """The ownership of a root's subtree, for the side to move at the root, summed up by the root's moves: rows in
    move-index order, the last one for the root's own.

    totals: float64 [area+2, area], in 1/OWNERSHIP_ONE. counts: int64 [area+2], the nodes in each row.
    """

    totals: np.ndarray
    counts: np.ndarray


@njit
def write_ownership(tree: Tree, leaves: np.ndarray, count: int, ownership: np.ndarray) -> None:
    """Keeps the leaves' ownership (float32 [count, area], for the side to move of each)."""
    for index in range(count):
        row = tree.ownership[leaves[index]]
        for point in range(ownership.shape[1]):
            row[point] = np.int8(round(ownership[index, point] * OWNERSHIP_ONE))


def no_ownership(area: int) -> OwnershipSums:
    """Sums of nothing yet."""
    return OwnershipSums(np.zeros((area + 2, area)), np.zeros(area + 2, np.int64))


@njit
def add_ownership(tree: Tree, root: int, nodes: np.ndarray, sums: OwnershipSums) -> None:
    """Adds the known ownership of those of `nodes` that the root or nodes below it are."""
    for leaf in nodes:
        if tree.ownership[leaf, 0] == OWNERSHIP_UNKNOWN:
            continue
        node, sign, group = leaf, 1.0, len(sums.counts) - 1
        while node > root:  # parents come before their children
            group = tree.nodes[node]["move"]
            node = tree.nodes[node]["parent"]
            sign = -sign
        if node != root:
            continue
        sums.counts[group] += 1
        for point in range(sums.totals.shape[1]):
            sums.totals[group, point] += sign * tree.ownership[leaf, point]


def mean_ownership(totals: np.ndarray, counts: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """float32 [..., height, width], of `OwnershipSums` or some rows of them."""
    means = totals / (np.maximum(counts, 1)[..., None] * OWNERSHIP_ONE)
    return means.astype(np.float32).reshape(*counts.shape, *shape)
