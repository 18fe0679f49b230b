"""The ownership of points over a tree: kept for each node, summed up leaf by leaf.

Summing over all nodes for a report takes longer than the time between two reports once there are 100,000 of them.
"""

from typing import NamedTuple

import numpy as np

from ..base.jit import njit
from .evaluate.row import ownership_column
from .tree import OWNERSHIP_ONE, OWNERSHIP_UNKNOWN, Tree


class OwnershipSums(NamedTuple):
    """The ownership of a root's subtree, for the side to move at the root, summed by the root's moves.

    totals: float64 [area + 2, area], in units of 1/OWNERSHIP_ONE: rows in move-index order, the last one for the root's
        own evaluation.
    counts: int64 [area + 2], the number of nodes in each row.
    """

    totals: np.ndarray
    counts: np.ndarray


@njit
def write_ownership(tree: Tree, leaves: np.ndarray, rows: np.ndarray) -> None:
    """Stores the ownership of leaves in the tree.

    Args:
        tree: The tree.
        leaves: int32 [n], their nodes.
        rows: float32 [n, columns], their evaluation rows.
    """
    area = tree.ownership.shape[1]
    for index in range(len(leaves)):
        stored, ownership = tree.ownership[leaves[index]], rows[index, ownership_column(area) :]
        for point in range(area):
            stored[point] = np.int8(round(ownership[point] * OWNERSHIP_ONE))


def no_ownership(area: int) -> OwnershipSums:
    """Returns sums of zero."""
    return OwnershipSums(np.zeros((area + 2, area)), np.zeros(area + 2, np.int64))


@njit
def add_ownership(tree: Tree, root: int, nodes: np.ndarray, sums: OwnershipSums) -> None:
    """Adds the known ownership of those of `nodes` that are the root or lie below it.

    In a tree that is kept for an undo, nodes after the root need not lie below it.
    """
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
    """Returns the means of `OwnershipSums`, or of some of their rows, float32 [..., height, width] in -1..1.

    Args:
        totals: Rows of `OwnershipSums.totals`, or their sum.
        counts: The same rows of `OwnershipSums.counts`, or their sum.
        shape: Height and width.
    """
    means = totals / (np.maximum(counts, 1)[..., None] * OWNERSHIP_ONE)
    return means.astype(np.float32).reshape(*counts.shape, *shape)
