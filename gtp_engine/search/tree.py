"""The search tree: nodes in arrays, no objects.

Nodes do not store positions: the position of a leaf is a copy of the root's with the moves of the path replayed. All
values of a node are for the side to move there. Node 0 is the tree's origin; the root of a search may lie below it, so
that an undo finds its tree again.

A node's row of `priors` is the evaluator's policy as uint16: 0 for moves that are illegal or already have a child, at
least 1 for the others. Moves without visits share one first-play value, so only the one with the largest prior can be
the best of them, and `unvisited` names it: selection compares the children with this single move.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from ..base.jit import borrowing, inline, njit
from .evaluate.row import ownership_column
from .value_bias import fill_biases, new_biases

UNEVALUATED, EXPANDED, TERMINAL = 0, 1, 2
NO_NODE = NO_MOVE = -1
PRIOR_ONE = 65535
OWNERSHIP_ONE = 127
OWNERSHIP_UNKNOWN = -128

NODE = np.dtype(
    [
        ("visits", np.int32),
        ("parent", np.int32),
        ("first_child", np.int32),
        ("next_sibling", np.int32),
        ("prior", np.float32),  # of the move that leads here
        ("visited_prior", np.float32),  # sum of the children's priors
        ("own_utility", np.float32),  # from the evaluator alone, without the children; so are the next five
        ("own_value", np.float32),
        ("own_lead", np.float32),
        ("own_score", np.float32),
        ("own_score_square", np.float32),
        ("own_weight", np.float32),
        ("move", np.int16),  # move index that leads here
        ("unvisited", np.int16),  # move without a child that has the largest prior, or NO_MOVE
        ("in_flight", np.int16),  # visits selected and not yet backed up
        ("state", np.int8),
        ("bias_key", np.uint64),  # key of its entry in `biases`, 0 for none
        ("bias_weight", np.float32),  # what it has added to that entry, to be replaced at its next visit
        ("bias_gap", np.float32),
        ("counted", np.float32),  # the part of its weight that its parent's averages count
        ("children_weight", np.float64),  # sum of the children's weights
        ("weight", np.float64),  # sum of the weights of the evaluations averaged here; the visits if each weighs one
        ("value_sum", np.float64),  # weighted sum of win - loss; the rest are weighted sums too
        ("utility_sum", np.float64),
        ("utility_squares", np.float64),
        ("lead_sum", np.float64),
        ("score_sum", np.float64),
        ("score_squares", np.float64),
    ],
    align=True,
)


_NEW_NODE = np.zeros(1, NODE)
_NEW_NODE["first_child"] = _NEW_NODE["next_sibling"] = NO_NODE
_NEW_NODE["unvisited"] = NO_MOVE
_NEW_NODE["state"] = UNEVALUATED


class TreeLayout(NamedTuple):
    """Which optional arrays of a `Tree` a search needs: `amaf`, `ladders`, `biases` and `ownership`."""

    rave: bool = False
    ladders: bool = False
    biases: bool = False
    ownership: bool = False


class Tree(NamedTuple):
    """The arena of nodes. Arrays that the search does not need have a first dimension of 0."""

    nodes: np.ndarray  # NODE [capacity]
    priors: np.ndarray  # uint16 [capacity, area+1], probabilities in units of 1/PRIOR_ONE
    # int8 [capacity, area], in units of 1/OWNERSHIP_ONE for the side to move; OWNERSHIP_UNKNOWN at the first point of a
    # node without it.
    ownership: np.ndarray
    # float32 [capacity, area, 2] (RAVE): the number of rollouts in which the player to move was the first to play at a
    # point, and the sum of win minus loss over these.
    amaf: np.ndarray
    # uint8 [capacity, (area+7)//8], one bit per stone that a ladder catches: the evaluator's inputs show these of
    # earlier positions too, and reading ladders is slow.
    ladders: np.ndarray
    biases: np.ndarray  # `value_bias.BIAS` [a power of two], shared by nodes after the same local moves
    size: np.ndarray  # int32 [1], the number of nodes in use


def new_tree(capacity: int, area: int, layout: TreeLayout) -> Tree:
    """Returns an arena for `capacity` nodes that has one unevaluated node, the origin."""
    tree = Tree(
        np.empty(capacity, NODE),
        np.empty((capacity, area + 1), np.uint16),
        np.empty((capacity if layout.ownership else 0, area), np.int8),
        np.empty((capacity if layout.rave else 0, area, 2), np.float32),
        np.empty((capacity if layout.ladders else 0, (area + 7) // 8), np.uint8),
        new_biases(capacity if layout.biases else 0),
        np.zeros(1, np.int32),
    )
    empty(tree)
    return tree


def empty(tree: Tree) -> None:
    """Resets the tree to a single unevaluated node, the origin."""
    tree.size[0] = 0
    tree.biases[:] = 0
    add_node(tree, NO_NODE, NO_MOVE, 1.0)


def matches(tree: Tree, area: int, layout: TreeLayout) -> bool:
    """Returns whether the tree has the arrays of `new_tree` with these arguments, of any capacity."""
    kept = TreeLayout(*(len(array) > 0 for array in (tree.amaf, tree.ladders, tree.biases, tree.ownership)))
    return tree.priors.shape[1] == area + 1 and kept == layout


@functools.cache
def bytes_per_node(area: int, layout: TreeLayout) -> int:
    """Returns the bytes of memory per node."""
    tree = new_tree(1, area, layout)
    return sum(array.nbytes for array in tree[:-1]) + tree.biases.nbytes  # two entries; in a larger tree up to four


@borrowing
def add_node(tree: Tree, parent: int, move: int, prior: float | np.float32) -> int:
    """Appends an unevaluated node as the last child of its parent; returns its index."""
    index = tree.size[0]
    tree.size[0] += 1
    tree.nodes[index] = _NEW_NODE[0]
    node = tree.nodes[index]
    node["parent"] = parent
    node["prior"] = prior
    node["move"] = move
    if len(tree.ownership):
        tree.ownership[index, 0] = OWNERSHIP_UNKNOWN
    if len(tree.amaf):
        tree.amaf[index] = 0.0
    if parent != NO_NODE:
        _append_child(tree.nodes, parent, index)
    return index


@inline
def _append_child(nodes: np.ndarray, parent: int, child: int) -> None:
    """Appends a node to its parent's list of children.

    The list is in the order in which the children were made: by descending prior, except if a root's noise, RAVE or
    forbidden moves chose otherwise. `averaging` relies on it.
    """
    last = nodes[parent]["first_child"]
    if last == NO_NODE:
        nodes[parent]["first_child"] = child
        return
    while nodes[last]["next_sibling"] != NO_NODE:
        last = nodes[last]["next_sibling"]
    nodes[last]["next_sibling"] = child


@borrowing
def make_child(tree: Tree, node: int, move: int) -> int:
    """Makes a child for a move without visits; returns the new node."""
    row = tree.priors[node]
    prior = np.float32(row[move]) / PRIOR_ONE
    row[move] = 0
    tree.nodes[node]["visited_prior"] += prior
    tree.nodes[node]["unvisited"] = largest_prior(row, scan_start(node, len(row)))
    return add_node(tree, node, move, prior)


@borrowing
def largest_prior(row: np.ndarray, start: int) -> int:
    """Returns the move with the largest prior of a row, or NO_MOVE if all are 0.

    Of equal priors it is the first from `start` on: without this the search would prefer the top left corner whenever
    priors are equal, as all are with the uniform evaluator.
    """
    largest = row[0]
    for move in range(1, len(row)):
        largest = max(largest, row[move])
    if largest == 0:
        return NO_MOVE
    for move in range(start, len(row)):
        if row[move] == largest:
            return move
    for move in range(start):
        if row[move] == largest:
            return move
    return NO_MOVE


@inline
def scan_start(node: int, moves: int) -> int:
    """Returns a pseudo-random move at which to start the scan of a node's row, always the same for the node.

    Knuth's multiplicative hash (The Art of Computer Programming, volume 3, section 6.4): 2654435761 is 2^32 divided by
    the golden ratio.
    """
    return int((np.uint64(node + 1) * np.uint64(2654435761)) % np.uint64(moves))


@njit
def children_of(tree: Tree, node: int, children: np.ndarray) -> int:
    """Writes the children with visits into `children` (int32) and returns their number."""
    count = 0
    child = tree.nodes[node]["first_child"]
    while child != NO_NODE:
        if tree.nodes[child]["visits"] > 0:
            children[count] = child
            count += 1
        child = tree.nodes[child]["next_sibling"]
    return count


@njit
def child_by_move(tree: Tree, node: int, move: int) -> int:
    """Returns the child that a move index leads to, or NO_NODE."""
    child = tree.nodes[node]["first_child"]
    while child != NO_NODE and tree.nodes[child]["move"] != move:
        child = tree.nodes[child]["next_sibling"]
    return child


@njit
def main_line(tree: Tree, node: int, moves: np.ndarray, visits: np.ndarray) -> int:
    """Writes the most visited moves from `node` on, its own first, and their visits; returns the number of moves."""
    length = 0
    while node != NO_NODE and length < len(moves):
        moves[length] = tree.nodes[node]["move"]
        visits[length] = tree.nodes[node]["visits"]
        length += 1
        best, most = NO_NODE, 0
        child = tree.nodes[node]["first_child"]
        while child != NO_NODE:
            if tree.nodes[child]["visits"] > most:
                best, most = child, tree.nodes[child]["visits"]
            child = tree.nodes[child]["next_sibling"]
        node = best
    return length


@njit
def keep_subtree(tree: Tree, root: int) -> None:
    """Drops all nodes but a subtree, whose root becomes the origin.

    The nodes move up in place, since a copy would need as much memory again. Their order stays, and with it parents
    before their children, on which `add_ownership`, `visits.rescore_tree` and the averages above a batch rely.
    """
    nodes, size = tree.nodes, tree.size[0]
    moved = np.full(size, NO_NODE, np.int32)  # the new index of each node that stays
    kept = 0
    for node in range(root, size):
        if node == root or moved[nodes[node]["parent"]] != NO_NODE:
            moved[node] = kept
            kept += 1
    for node in range(root, size):
        if moved[node] != NO_NODE:
            _move_node(tree, node, moved)
    nodes[0]["parent"] = NO_NODE
    nodes[0]["next_sibling"] = NO_NODE
    tree.size[0] = kept
    # Entries of the table also hold shares of nodes that were dropped, so it is filled anew.
    if len(tree.biases):
        fill_biases(tree.biases, nodes[:kept])


@inline
def _move_node(tree: Tree, node: int, moved: np.ndarray) -> None:
    """Moves a node to its new index, which is not larger; the nodes before it have been moved or dropped."""
    index = moved[node]
    tree.nodes[index] = tree.nodes[node]
    record = tree.nodes[index]
    record["parent"] = moved[record["parent"]]
    if record["first_child"] != NO_NODE:
        record["first_child"] = moved[record["first_child"]]
    if record["next_sibling"] != NO_NODE:
        record["next_sibling"] = moved[record["next_sibling"]]
    copy_row(tree.priors[index], tree.priors[node])
    if len(tree.ladders):
        copy_row(tree.ladders[index], tree.ladders[node])
    if len(tree.amaf):
        copy_row(tree.amaf[index].reshape(-1), tree.amaf[node].reshape(-1))
    if len(tree.ownership):
        copy_row(tree.ownership[index], tree.ownership[node])


@inline
def copy_row(target: np.ndarray, source: np.ndarray) -> None:
    """Copies as much of `source` as `target` holds.

    With slices numba would also compile the message of an error that cannot occur, which takes a second.
    """
    for column in range(len(target)):
        target[column] = source[column]


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
    """Stores the ownership of leaves (int32 [n], their nodes) by their evaluation rows, float32 [n, columns]."""
    area = tree.ownership.shape[1]
    for index in range(len(leaves)):
        stored, ownership = tree.ownership[leaves[index]], rows[index, ownership_column(area) :]
        for point in range(area):
            stored[point] = np.int8(ownership[point] * OWNERSHIP_ONE + math.copysign(0.5, ownership[point]))


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
    """Returns the means of rows of `OwnershipSums`, or of their sum, float32 [*counts.shape, *shape] in -1..1."""
    means = totals / (np.maximum(counts, 1)[..., None] * OWNERSHIP_ONE)
    return means.astype(np.float32).reshape(*counts.shape, *shape)
