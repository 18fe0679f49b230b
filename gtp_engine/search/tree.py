"""The search tree: nodes in arrays, no objects.

Nodes hold no positions: a leaf's is the root's copy with the path replayed. All values of a node are for the side to
move there. Node 0 is the tree's origin; the root of a search may lie below it, so that an undo finds its tree again.

A node's row of `priors` holds the evaluator's policy as uint16: 0 for what is illegal or already a child, at least 1
for the rest. Moves without visits share one first-play value, so only the largest prior left can be the best of them.
"""

import functools
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from .value_bias import fill_biases, new_biases

UNEVALUATED, EXPANDED, TERMINAL = 0, 1, 2
NOBODY = -1  # no node, no move
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
        ("visited_prior", np.float32),  # sum over the children
        ("own_utility", np.float32),  # the evaluator's, before any child's; so are the next five
        ("own_value", np.float32),
        ("own_lead", np.float32),
        ("own_score", np.float32),
        ("own_score_square", np.float32),
        ("own_weight", np.float32),
        ("move", np.int16),  # move index that leads here
        ("unvisited", np.int16),  # move with the largest prior left, or NOBODY
        ("in_flight", np.int16),  # visits selected and not yet backed up
        ("state", np.int8),
        ("bias_key", np.uint64),  # of its entry in `biases`, 0 for none
        ("bias_weight", np.float32),  # what it has added there
        ("bias_gap", np.float32),
        ("counted", np.float32),  # how much of its weight its parent's averages count
        ("children_weight", np.float64),  # sum of the children's weights
        ("weight", np.float64),  # of all evaluations averaged here: the visits, where each weighs one
        ("value_sum", np.float64),  # of win - loss, by weight; so are the rest
        ("utility_sum", np.float64),
        ("utility_squares", np.float64),
        ("lead_sum", np.float64),
        ("score_sum", np.float64),
        ("score_squares", np.float64),
    ],
    align=True,
)


class Parts(NamedTuple):
    """What a tree keeps for its search, beside nodes and priors: see `Tree`."""

    rave: bool = False
    ladders: bool = False
    biases: bool = False


class Tree(NamedTuple):
    """The arena: `size[0]` nodes are in use.

    ownership: int8 [capacity, area], or [0, area] where it is not kept.
    first_plays: float32 [capacity, area, 2] (`rave`): playouts in which the player to move was the first to play at a
        point, and the sum of win minus loss over them; [0, area, 2] without RAVE.
    ladders: uint8 [capacity, (area+7)//8], a bit for each stone that a ladder catches, so that the nodes below need not
        read this board again; [0, ...] where the evaluator does not read them.
    biases: `value_bias.BIAS`, shared by nodes after the same local moves; none where evaluations are not corrected.
    """

    nodes: np.ndarray
    priors: np.ndarray
    ownership: np.ndarray
    first_plays: np.ndarray
    ladders: np.ndarray
    biases: np.ndarray
    size: np.ndarray


def new_tree(capacity: int, area: int, parts: Parts, *, ownership: bool = False) -> Tree:
    """An arena with room for `capacity` nodes and one unevaluated node, the origin."""
    tree = Tree(
        np.empty(capacity, NODE),
        np.empty((capacity, area + 1), np.uint16),
        np.empty((capacity if ownership else 0, area), np.int8),
        np.empty((capacity if parts.rave else 0, area, 2), np.float32),
        np.empty((capacity if parts.ladders else 0, (area + 7) // 8), np.uint8),
        new_biases(capacity if parts.biases else 0),
        np.zeros(1, np.int32),
    )
    empty(tree)
    return tree


def empty(tree: Tree) -> None:
    """Leaves one unevaluated node, the origin."""
    tree.size[0] = 0
    tree.biases[:] = 0
    add_node(tree, NOBODY, NOBODY, 1.0)


def holds(tree: Tree, area: int, parts: Parts, *, ownership: bool) -> bool:
    """Whether the arrays are those of `new_tree` with these arguments."""
    kept = Parts(len(tree.first_plays) > 0, len(tree.ladders) > 0, len(tree.biases) > 0)
    return tree.priors.shape[1] == area + 1 and kept == parts and (len(tree.ownership) > 0) == ownership


@functools.cache
def bytes_per_node(area: int, parts: Parts) -> int:
    """What a node takes in a tree that keeps ownership."""
    return sum(array.nbytes for array in new_tree(1, area, parts, ownership=True)[:-1])


@njit
def add_node(tree: Tree, parent: int, move: int, prior: float | np.float32) -> int:
    """Appends an unevaluated node and makes it its parent's child."""
    index = tree.size[0]
    tree.size[0] += 1
    node = tree.nodes[index]
    node["visits"] = 0
    node["parent"] = parent
    node["first_child"] = NOBODY
    node["next_sibling"] = NOBODY
    node["prior"] = prior
    node["visited_prior"] = 0.0
    node["own_utility"] = 0.0
    node["move"] = move
    node["unvisited"] = NOBODY
    node["in_flight"] = 0
    node["state"] = UNEVALUATED
    node["bias_key"] = 0
    node["bias_weight"] = 0.0
    node["bias_gap"] = 0.0
    node["counted"] = 0.0
    node["children_weight"] = 0.0
    node["weight"] = 0.0
    node["value_sum"] = 0.0
    node["utility_sum"] = 0.0
    node["utility_squares"] = 0.0
    node["lead_sum"] = 0.0
    node["score_sum"] = 0.0
    node["score_squares"] = 0.0
    if len(tree.ownership):
        tree.ownership[index, 0] = OWNERSHIP_UNKNOWN
    if len(tree.first_plays):
        tree.first_plays[index] = 0.0
    if parent != NOBODY:
        _append_child(tree.nodes, parent, index)
    return index


@inline
def _append_child(nodes: np.ndarray, parent: int, child: int) -> None:
    """Children stand in the order in which they were made: by their priors, the largest first, but where a root's
    noise, RAVE or forbidden moves chose otherwise."""
    last = nodes[parent]["first_child"]
    if last == NOBODY:
        nodes[parent]["first_child"] = child
        return
    while nodes[last]["next_sibling"] != NOBODY:
        last = nodes[last]["next_sibling"]
    nodes[last]["next_sibling"] = child


@njit
def make_child(tree: Tree, node: int, move: int) -> int:
    """Turns a move without visits into a child."""
    row = tree.priors[node]
    prior = np.float32(row[move]) / PRIOR_ONE
    row[move] = 0
    tree.nodes[node]["visited_prior"] += prior
    tree.nodes[node]["unvisited"] = largest_prior(row, scan_start(node, len(row)))
    return add_node(tree, node, move, prior)


@njit
def largest_prior(row: np.ndarray, start: int) -> int:
    """The move with the largest prior left; among equals the first from `start` on, so that no corner is preferred."""
    largest = row[0]
    for move in range(1, len(row)):
        largest = max(largest, row[move])
    if largest == 0:
        return NOBODY
    for move in range(start, len(row)):
        if row[move] == largest:
            return move
    for move in range(start):
        if row[move] == largest:
            return move
    return NOBODY


@inline
def scan_start(node: int, moves: int) -> int:
    """Spreads equal priors over the board: a fixed pseudo-random start for each node (Knuth's multiplicative hash)."""
    return int((np.uint64(node + 1) * np.uint64(2654435761)) % np.uint64(moves))


@njit
def children_of(tree: Tree, node: int, children: np.ndarray) -> int:
    """Writes the children with visits into `children` (int32); their number."""
    count = 0
    child = tree.nodes[node]["first_child"]
    while child != NOBODY:
        if tree.nodes[child]["visits"] > 0:
            children[count] = child
            count += 1
        child = tree.nodes[child]["next_sibling"]
    return count


@njit
def child_by_move(tree: Tree, node: int, move: int) -> int:
    """The child that a move index leads to, or NOBODY."""
    child = tree.nodes[node]["first_child"]
    while child != NOBODY and tree.nodes[child]["move"] != move:
        child = tree.nodes[child]["next_sibling"]
    return child


@njit
def main_line(tree: Tree, node: int, moves: np.ndarray, visits: np.ndarray) -> int:
    """Writes the most visited moves from `node` on, its own move first, and their visits; the line's length."""
    length = 0
    while node != NOBODY and length < len(moves):
        moves[length] = tree.nodes[node]["move"]
        visits[length] = tree.nodes[node]["visits"]
        length += 1
        best, most = NOBODY, 0
        child = tree.nodes[node]["first_child"]
        while child != NOBODY:
            if tree.nodes[child]["visits"] > most:
                best, most = child, tree.nodes[child]["visits"]
            child = tree.nodes[child]["next_sibling"]
        node = best
    return length


@njit
def copy_subtree(tree: Tree, root: int, target: Tree) -> None:
    """Copies a subtree breadth-first into an empty arena, where its root becomes the origin."""
    source = np.empty(len(target.nodes), np.int32)  # the node that each new one was
    source[0] = root
    _copy_node(tree, root, target, 0)
    target.nodes[0]["parent"] = NOBODY
    target.nodes[0]["next_sibling"] = NOBODY
    size = 1
    index = 0
    while index < size:
        child = tree.nodes[source[index]]["first_child"]
        previous = NOBODY
        while child != NOBODY:
            source[size] = child
            _copy_node(tree, child, target, size)
            target.nodes[size]["parent"] = index
            if previous == NOBODY:
                target.nodes[index]["first_child"] = size
            else:
                target.nodes[previous]["next_sibling"] = size
            previous = size
            size += 1
            child = tree.nodes[child]["next_sibling"]
        index += 1
    target.size[0] = size
    if len(target.biases):
        fill_biases(target.biases, target.nodes[:size])


@njit
def _copy_node(tree: Tree, node: int, target: Tree, index: int) -> None:
    target.nodes[index] = tree.nodes[node]
    target.priors[index] = tree.priors[node]
    if len(target.ladders):
        target.ladders[index] = tree.ladders[node]
    if len(target.first_plays):
        target.first_plays[index] = tree.first_plays[node]
    if len(target.ownership):
        if len(tree.ownership):
            target.ownership[index] = tree.ownership[node]
        else:
            target.ownership[index, 0] = OWNERSHIP_UNKNOWN
