"""The search tree: nodes in arrays, no objects.

Nodes do not store positions: the position of a leaf is a copy of the root's with the moves of the path replayed. All
values of a node are for the side to move there. The root of a search may lie below the tree's origin, so that an undo
finds its tree again.

With graph search a position that several orders of moves lead to is one node (`transpositions`). The moves to it are
then links (KataGo's edges): records without children of their own, but with a target. A link counts the visits that
were made through it, and holds its share of the target's averages, by its share of the target's visits. So whatever
reads the children of a node need not know whether they are links, and a tree is a graph without any.

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
from .transpositions import fill_table, new_table
from .value_bias import fill_biases, new_biases

UNEVALUATED, EXPANDED, TERMINAL = 0, 1, 2
NO_NODE = NO_MOVE = -1
NOT_REACHED = -2
PRIOR_ONE = 65535
OWNERSHIP_ONE = 127
OWNERSHIP_UNKNOWN = -128
MAX_DEPTH = 1024  # moves below the root; only endless repetition under rules without superko gets that deep

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
        ("to_move", np.int8),  # once it is evaluated
        ("bias_key", np.uint64),  # key of its entry in `biases`, 0 for none
        ("bias_weight", np.float32),  # what it has added to that entry, to be replaced at its next visit
        ("bias_gap", np.float32),
        ("counted", np.float32),  # the part of its weight that its parent's averages count
        ("target", np.int32),  # of a link, the node that it leads to, or NO_NODE
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
# The path of a visit: the root, and for each move the record that it leads to, a link or a node.
PATH = np.dtype([("length", np.int32), ("records", np.int32, (MAX_DEPTH + 1,))], align=True)


_NEW_NODE = np.zeros(1, NODE)
_NEW_NODE["first_child"] = _NEW_NODE["next_sibling"] = _NEW_NODE["target"] = NO_NODE
_NEW_NODE["unvisited"] = NO_MOVE
_NEW_NODE["state"] = UNEVALUATED


class TreeLayout(NamedTuple):
    """Which optional arrays of a `Tree` a search needs: `amaf`, `ladders`, `biases`, `ownership` and, for a graph,
    `keys` and `table`.
    """

    rave: bool = False
    ladders: bool = False
    biases: bool = False
    ownership: bool = False
    graph: bool = False


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
    keys: np.ndarray  # uint64 [capacity], the position keys of nodes that links may lead to, or 0
    table: np.ndarray  # int32 [a power of two], these nodes by their keys (`transpositions`)
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
        np.zeros(capacity if layout.graph else 0, np.uint64),
        new_table(capacity if layout.graph else 0),
        np.zeros(1, np.int32),
    )
    empty(tree)
    return tree


def empty(tree: Tree) -> None:
    """Resets the tree to a single unevaluated node, the origin."""
    tree.size[0] = 0
    tree.biases[:] = 0
    tree.table[:] = NO_NODE
    add_node(tree, NO_NODE, NO_MOVE, 1.0)


def matches(tree: Tree, area: int, layout: TreeLayout) -> bool:
    """Returns whether the tree has the arrays of `new_tree` with these arguments, of any capacity."""
    optional = tree.amaf, tree.ladders, tree.biases, tree.ownership, tree.keys
    kept = TreeLayout(*(len(array) > 0 for array in optional))
    return tree.priors.shape[1] == area + 1 and kept == layout


@functools.cache
def bytes_per_node(area: int, layout: TreeLayout) -> int:
    """Returns the bytes of memory per node."""
    tree = new_tree(1, area, layout)
    # Of the hash tables two entries; in a larger tree up to four.
    return sum(array.nbytes for array in tree[:-1]) + tree.biases.nbytes + tree.table.nbytes


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
    if len(tree.keys):
        tree.keys[index] = 0
    if parent != NO_NODE:
        _append_child(tree.nodes, parent, index)
    return index


@inline
def _append_child(nodes: np.ndarray, parent: int, child: int) -> None:
    """Appends a node to its parent's list of children.

    The list is in the order in which the children were made: by descending prior, except if a root's noise, RAVE or
    forbidden moves chose otherwise, or a root was evaluated again. `averaging` relies on it.
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
    child = add_node(tree, node, move, 0.0)
    take_prior(tree, node, child)
    row = tree.priors[node]
    tree.nodes[node]["unvisited"] = largest_prior(row, scan_start(node, len(row)))
    return child


@inline
def take_prior(tree: Tree, node: int, child: int) -> None:
    """Moves the prior of a child's move from the node's row to the child."""
    row, move = tree.priors[node], tree.nodes[child]["move"]
    prior = np.float32(row[move]) / PRIOR_ONE
    row[move] = 0
    tree.nodes[child]["prior"] = prior
    tree.nodes[node]["visited_prior"] += prior


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
        child = tree.nodes[node_of(tree.nodes, node)]["first_child"]
        while child != NO_NODE:
            if tree.nodes[child]["visits"] > most:
                best, most = child, tree.nodes[child]["visits"]
            child = tree.nodes[child]["next_sibling"]
        node = best
    return length


@inline
def node_of(nodes: np.ndarray, record: int) -> int:
    """Returns the node that a record leads to: the target of a link, or itself."""
    target = nodes[record]["target"]
    return record if target == NO_NODE else target


@inline
def node_above(nodes: np.ndarray, path: np.ndarray, depth: int, node: int) -> int:
    """Returns the node from which a visit came to the node at this depth of its path, or NO_NODE above the origin.

    Above the root (depth 0 or less) it is the parent.
    """
    return node_of(nodes, path["records"][depth - 1]) if depth > 0 else nodes[node]["parent"]


@borrowing
def link(tree: Tree, record: int, target: int) -> None:
    """Turns a new record into a link to a node, if the arena has room.

    The first link to a node needs another one in the node's own place among its parent's children. From then on all
    visits reach the node through links, and each link counts those that came through it.
    """
    nodes = tree.nodes
    if nodes[target]["parent"] != NO_NODE:
        if tree.size[0] == len(nodes):
            return
        first = tree.size[0]
        tree.size[0] += 1
        nodes[first] = nodes[target]
        nodes[first]["first_child"] = NO_NODE
        nodes[first]["bias_key"] = 0
        nodes[first]["target"] = target
        tree.keys[first] = 0
        if len(tree.ownership):
            tree.ownership[first, 0] = OWNERSHIP_UNKNOWN
        _replace_child(nodes, target, first)
        nodes[target]["parent"] = nodes[target]["next_sibling"] = NO_NODE
    nodes[record]["bias_key"] = 0
    nodes[record]["target"] = target


@inline
def record_at(nodes: np.ndarray, path: np.ndarray, depth: int) -> int:
    """Returns the record by which a visit came to the node at this depth of its path.

    If the node was not shared yet when the visit came by, that is the link that has taken the place of the node since.
    """
    record = path["records"][depth]
    if depth > 0 and nodes[record]["parent"] == NO_NODE:
        node = record
        record = nodes[node_of(nodes, path["records"][depth - 1])]["first_child"]
        while nodes[record]["target"] != node:
            record = nodes[record]["next_sibling"]
    return record


@inline
def _replace_child(nodes: np.ndarray, old: int, new: int) -> None:
    """Puts a record in the place of another among the children of the latter's parent."""
    parent = nodes[old]["parent"]
    before = nodes[parent]["first_child"]
    if before == old:
        nodes[parent]["first_child"] = new
        return
    while nodes[before]["next_sibling"] != old:
        before = nodes[before]["next_sibling"]
    nodes[before]["next_sibling"] = new


@inline
def refresh_link(nodes: np.ndarray, index: int) -> None:
    """Writes a link's share of its target's averages."""
    record, target = nodes[index], nodes[nodes[index]["target"]]
    if target["visits"] == 0:
        return
    share = record["visits"] / target["visits"]
    record["weight"] = share * target["weight"]
    record["value_sum"] = share * target["value_sum"]
    record["utility_sum"] = share * target["utility_sum"]
    record["utility_squares"] = share * target["utility_squares"]
    record["lead_sum"] = share * target["lead_sum"]
    record["score_sum"] = share * target["score_sum"]
    record["score_squares"] = share * target["score_squares"]


@njit
def reached_from(tree: Tree, root: int) -> np.ndarray:
    """Returns for each record the move at a node by which it is first reached from there, int16 [size].

    That is NO_MOVE for the node itself, and NOT_REACHED for what does not lie below it.
    """
    nodes = tree.nodes
    moves = np.full(tree.size[0], NOT_REACHED, np.int16)
    queue = np.empty(tree.size[0], np.int32)
    queue[0], moves[root] = root, NO_MOVE
    count, looked = 1, 0
    while looked < count:
        node = queue[looked]
        looked += 1
        child = nodes[node]["first_child"]
        while child != NO_NODE:
            move = nodes[child]["move"] if node == root else moves[node]
            below = node_of(nodes, child)
            if moves[below] == NOT_REACHED:
                moves[below] = move
                queue[count] = below
                count += 1
            if below != child:
                moves[child] = move
            child = nodes[child]["next_sibling"]
    return moves


@njit
def keep_subtree(tree: Tree, root: int) -> int:
    """Drops all that cannot be reached from a node; returns the new index of the node, which becomes the origin.

    The nodes move up in place, since a copy would need as much memory again. Their order stays, and with it parents
    before their children, on which `visits.rescore_tree` and the averages above a batch rely.
    """
    nodes, size = tree.nodes, tree.size[0]
    reached = reached_from(tree, root)
    moved = np.full(size, NO_NODE, np.int32)  # the new index of each record that stays
    kept = 0
    for index in range(size):
        if reached[index] != NOT_REACHED:
            moved[index] = kept
            kept += 1
    for index in range(size):
        if moved[index] != NO_NODE:
            _move_node(tree, index, moved)
    tree.size[0] = kept
    # Entries of the table also hold shares of nodes that were dropped, so it is filled anew.
    if len(tree.biases):
        fill_biases(tree.biases, nodes[:kept])
    if len(tree.keys):
        fill_table(tree.table, tree.keys[:kept])
    return int(moved[root])


@inline
def _move_node(tree: Tree, node: int, moved: np.ndarray) -> None:
    """Moves a node to its new index, which is not larger; the nodes before it have been moved or dropped."""
    index = moved[node]
    tree.nodes[index] = tree.nodes[node]
    record = tree.nodes[index]
    if record["parent"] != NO_NODE:
        record["parent"] = moved[record["parent"]]
    if record["first_child"] != NO_NODE:
        record["first_child"] = moved[record["first_child"]]
    if record["next_sibling"] != NO_NODE:
        record["next_sibling"] = moved[record["next_sibling"]]
    if record["target"] != NO_NODE:
        record["target"] = moved[record["target"]]
    copy_row(tree.priors[index], tree.priors[node])
    if len(tree.keys):
        tree.keys[index] = tree.keys[node]
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

    In a graph a node counts for one of the root's moves only, though several may lead to it.

    totals: float64 [area + 2, area], in units of 1/OWNERSHIP_ONE: rows in move-index order, the last one for the root's
        own evaluation.
    counts: int64 [area + 2], the number of nodes in each row.
    """

    totals: np.ndarray
    counts: np.ndarray


@njit
def write_ownership(tree: Tree, leaf: int, row: np.ndarray) -> None:
    """Stores the ownership of a leaf by its evaluation row, float32 [columns]."""
    area = tree.ownership.shape[1]
    stored, ownership = tree.ownership[leaf], row[ownership_column(area) :]
    for point in range(area):
        stored[point] = np.int8(ownership[point] * OWNERSHIP_ONE + math.copysign(0.5, ownership[point]))


def no_ownership(area: int) -> OwnershipSums:
    """Returns sums of zero."""
    return OwnershipSums(np.zeros((area + 2, area)), np.zeros(area + 2, np.int64))


@njit
def add_ownership(tree: Tree, root: int, node: int, move: int, sums: OwnershipSums) -> None:
    """Adds the ownership of a node below a move at the root, or of the root if that is NO_MOVE, if it is known."""
    if tree.ownership[node, 0] == OWNERSHIP_UNKNOWN:
        return
    sign = 1.0 if tree.nodes[node]["to_move"] == tree.nodes[root]["to_move"] else -1.0
    group = move if move != NO_MOVE else len(sums.counts) - 1
    sums.counts[group] += 1
    for point in range(sums.totals.shape[1]):
        sums.totals[group, point] += sign * tree.ownership[node, point]


@njit
def sum_ownership(tree: Tree, root: int, sums: OwnershipSums) -> None:
    """Adds the known ownership of the root and of all nodes below it."""
    moves = reached_from(tree, root)
    for node in range(len(moves)):
        if moves[node] != NOT_REACHED:
            add_ownership(tree, root, node, moves[node], sums)


def mean_ownership(totals: np.ndarray, counts: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Returns the means of rows of `OwnershipSums`, or of their sum, float32 [*counts.shape, *shape] in -1..1."""
    means = totals / (np.maximum(counts, 1)[..., None] * OWNERSHIP_ONE)
    return means.astype(np.float32).reshape(*counts.shape, *shape)
