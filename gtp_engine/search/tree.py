"""The search tree: nodes in arrays, and the compiled steps of a visit: select, expand, back up.

Nodes hold no positions: a leaf's is the root's copy with the path replayed. All values of a node are for the side to
move there; they change sign in one place, `_back_up`. Node 0 is the tree's origin; the root of a search may lie below
it, so that an undo finds its tree again, and visits are backed up to the origin.

A node's row of `priors` holds the evaluator's policy as uint16: 0 for what is illegal or already a child, at least 1
for the rest. Moves without visits share one first-play value, so only the largest prior left can be the best of them.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from ..game.board import AREA_SCORING, NO_TAX, Board, copy_board, is_legal, play, superko_key
from ..game.coords import BLACK, EMPTY, PASS
from ..game.counting import area_margin
from . import rave

UNEVALUATED, EXPANDED, TERMINAL = 0, 1, 2
NOBODY = -1  # no node, no move
MAX_DEPTH = 1024  # moves below the root; only superko-free repetitions get that deep
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
        ("move", np.int16),  # move index that leads here
        ("unvisited", np.int16),  # move with the largest prior left, or NOBODY
        ("in_flight", np.int16),  # visits selected and not yet backed up
        ("state", np.int8),
        ("value_sum", np.float64),  # of win - loss
        ("utility_sum", np.float64),
        ("utility_squares", np.float64),
        ("lead_sum", np.float64),
        ("score_sum", np.float64),
        ("score_squares", np.float64),
    ],
    align=True,
)


class Tree(NamedTuple):
    """The arena: `size[0]` nodes are in use.

    ownership: int8 [capacity, area], or [0, area] where it is not kept.
    first_plays: float32 [capacity, area, 2] (`rave`): playouts in which the player to move was the first to play at a
        point, and the sum of win minus loss over them; [0, area, 2] without RAVE.
    """

    nodes: np.ndarray
    priors: np.ndarray
    ownership: np.ndarray
    first_plays: np.ndarray
    size: np.ndarray


class Root(NamedTuple):
    """Where a search starts.

    boards: BOARD [1]; history: uint64, superko keys up to the root in its first `length[0]` places, room for the path.
    priors: float32 [area+1], the root's policy, noise included; noisy: whether there is any.
    banned_until: int16 [3, area+1], at depths below it a colour may not make a move.
    """

    node: int
    boards: np.ndarray
    history: np.ndarray
    length: int
    priors: np.ndarray
    noisy: bool
    banned_until: np.ndarray


class Rule(NamedTuple):
    """The selection rule's numbers, `parameters.SearchParameters` in compiled form."""

    uct: bool
    c_puct: float
    c_uct: float
    fpu_reduction: float
    virtual_loss: float
    rave: float


def new_tree(capacity: int, area: int, *, ownership: bool = False, rave: bool = False) -> Tree:
    """An arena with room for `capacity` nodes and one unevaluated node, the origin."""
    tree = Tree(
        np.empty(capacity, NODE),
        np.empty((capacity, area + 1), np.uint16),
        np.empty((capacity if ownership else 0, area), np.int8),
        np.empty((capacity if rave else 0, area, 2), np.float32),
        np.zeros(1, np.int32),
    )
    empty(tree)
    return tree


def empty(tree: Tree) -> None:
    """Leaves one unevaluated node, the origin."""
    tree.size[0] = 0
    add_node(tree, NOBODY, NOBODY, 1.0)


def holds(tree: Tree, area: int, *, ownership: bool, rave: bool) -> bool:
    """Whether the arrays are those of `new_tree` with these arguments."""
    same_board = tree.priors.shape[1] == area + 1
    return same_board and (len(tree.ownership) > 0) == ownership and (len(tree.first_plays) > 0) == rave


def bytes_per_node(area: int, *, rave: bool) -> int:
    """What a node takes in a tree that keeps ownership."""
    tree = new_tree(1, area, ownership=True, rave=rave)
    return sum(array.nbytes for array in tree[:-1])


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
    node["move"] = move
    node["unvisited"] = NOBODY
    node["in_flight"] = 0
    node["state"] = UNEVALUATED
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
        node["next_sibling"] = tree.nodes[parent]["first_child"]
        tree.nodes[parent]["first_child"] = index
    return index


@njit
def _largest_prior(row: np.ndarray, start: int) -> int:
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
def _scan_start(node: int, moves: int) -> int:
    """Spreads equal priors over the board: a fixed pseudo-random start for each node (Knuth's multiplicative hash)."""
    return int((np.uint64(node + 1) * np.uint64(2654435761)) % np.uint64(moves))


@njit
def _best_unvisited_by_scan(tree: Tree, root: Root, colour: int, depth: int, node: int) -> int:
    """As `_largest_prior`, with the root's noise and without what is banned."""
    row = tree.priors[node]
    moves = len(row)
    best, best_prior = NOBODY, np.float32(-1.0)
    start = _scan_start(node, moves)
    for offset in range(moves):
        move = start + offset
        if move >= moves:
            move -= moves
        if row[move] == 0 or root.banned_until[colour, move] > depth:
            continue
        prior = root.priors[move] if root.noisy and node == root.node else np.float32(row[move]) / PRIOR_ONE
        if prior > best_prior:
            best, best_prior = move, prior
    return best


@njit
def _best_unvisited_by_rave(
    tree: Tree, root: Root, colour: int, depth: int, node: int, first_play: float, explore: float
) -> tuple[int, float]:
    """The move without visits that is best by priors and RAVE, and its urgency."""
    row = tree.priors[node]
    at_root = root.noisy and node == root.node
    best, best_urgency = NOBODY, -np.inf
    for move in range(len(row)):
        if row[move] == 0 or root.banned_until[colour, move] > depth:
            continue
        prior = float(root.priors[move]) if at_root else float(row[move]) / PRIOR_ONE
        urgency = float(rave.estimate(tree.first_plays[node], move, first_play)) + explore * prior
        if urgency > best_urgency:
            best, best_urgency = move, urgency
    return best, best_urgency


@njit
def _select(tree: Tree, root: Root, rule: Rule, node: int, colour: int, depth: int, banning: bool) -> tuple[int, int]:
    """The child to visit, or NOBODY and the move to make one of; NOBODY twice where nothing is allowed."""
    nodes = tree.nodes
    record = nodes[node]
    noisy = root.noisy and node == root.node
    scanning = noisy or banning
    unvisited = _best_unvisited_by_scan(tree, root, colour, depth, node) if scanning else record["unvisited"]
    if rule.uct and unvisited != NOBODY:
        return NOBODY, unvisited

    total = record["visits"] + (record["in_flight"] - 1) * rule.virtual_loss  # this visit itself is one in flight
    mean = record["utility_sum"] / record["visits"]
    first_play = mean - rule.fpu_reduction * math.sqrt(record["visited_prior"])
    # KataGo adds 0.01 so that priors decide before the first child has a visit.
    explore = rule.c_uct * math.sqrt(math.log(max(total, 1.0))) if rule.uct else rule.c_puct * math.sqrt(total - 0.99)
    raving = len(tree.first_plays) > 0
    best, best_urgency = NOBODY, -np.inf
    child = record["first_child"]
    while child != NOBODY:
        candidate = nodes[child]
        if banning and root.banned_until[colour, candidate["move"]] > depth:
            child = candidate["next_sibling"]
            continue
        lost = candidate["in_flight"] * rule.virtual_loss
        visits = candidate["visits"] + lost
        value = (-candidate["utility_sum"] - lost) / visits if visits > 0 else first_play
        if raving:
            estimated = rave.estimate(tree.first_plays[node], candidate["move"], first_play)
            value = rave.blended(value, visits, estimated, rule.rave)
        if rule.uct:
            urgency = value + explore / math.sqrt(max(visits, 0.5))
        else:
            prior = root.priors[candidate["move"]] if noisy else candidate["prior"]
            urgency = value + explore * prior / (1.0 + visits)
        if urgency > best_urgency:
            best, best_urgency = child, urgency
        child = candidate["next_sibling"]
    if unvisited == NOBODY or rule.uct:
        return best, NOBODY
    if raving:
        unvisited, urgency = _best_unvisited_by_rave(tree, root, colour, depth, node, first_play, explore)
        return (NOBODY, unvisited) if urgency > best_urgency else (best, NOBODY)
    prior = root.priors[unvisited] if noisy else np.float32(tree.priors[node, unvisited]) / PRIOR_ONE
    if first_play + explore * prior > best_urgency:
        return NOBODY, unvisited
    return best, NOBODY


@njit
def _make_child(tree: Tree, node: int, move: int) -> int:
    """Turns a move without visits into a child."""
    row = tree.priors[node]
    prior = np.float32(row[move]) / PRIOR_ONE
    row[move] = 0
    tree.nodes[node]["visited_prior"] += prior
    tree.nodes[node]["unvisited"] = _largest_prior(row, _scan_start(node, len(row)))
    return add_node(tree, node, move, prior)


@njit
def _mark_legal(tree: Tree, node: int, board: Board, history: np.ndarray, length: int) -> None:
    """Writes 1 for each legal move, superko included, into the leaf's row of priors; none after two passes."""
    row = tree.priors[node]
    row[:] = 0
    if board["passes"] >= 2:
        return  # territory rules or a tax: evaluated once, then terminal
    width, height = board["width"], board["height"]
    stride = width + 1
    stones = board["stones"]
    move = 0
    for y in range(height):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if stones[point] == EMPTY:
                free = (
                    stones[point - stride] == EMPTY
                    or stones[point - 1] == EMPTY
                    or stones[point + 1] == EMPTY
                    or stones[point + stride] == EMPTY
                )
                # Most points need no more: a liberty beside, and no stone ever taken there that could come back.
                easy = free and not board["captured_at"][point] and point != board["ko_point"]
                if easy or is_legal(board, point, history, length):
                    row[move] = 1
            move += 1
    row[width * height] = 1


@njit
def utility_of(value: float, score: float, area: int, score_utility: float) -> float:
    """Win minus loss, with a little of the score: 2/pi atan(score / (2 sqrt(area))) (KataGo, Wu 2019, appendix)."""
    return value + score_utility * 2.0 / math.pi * math.atan(score / (2.0 * math.sqrt(area)))


@njit
def _back_up(
    tree: Tree, root: int, leaf: int, value: float, utility: float, lead: float, mean: float, square: float
) -> None:
    """Adds a visit with its values, given for the side to move at the leaf, to the leaf and all above it."""
    below_root = True
    node = leaf
    while node != NOBODY:
        record = tree.nodes[node]
        record["visits"] += 1
        record["value_sum"] += value
        record["utility_sum"] += utility
        record["utility_squares"] += utility * utility
        record["lead_sum"] += lead
        record["score_sum"] += mean
        record["score_squares"] += square
        if below_root:
            record["in_flight"] -= 1
            below_root = node != root
        value, utility, lead, mean = -value, -utility, -lead, -mean
        node = record["parent"]


@njit
def _count_final_position(tree: Tree, root: int, leaf: int, board: Board, score_utility: float) -> None:
    """Makes a leaf after two passes terminal and backs the exact count up."""
    margin = area_margin(board)
    if board["to_move"] != BLACK:
        margin = -margin
    tree.nodes[leaf]["state"] = TERMINAL
    value = 1.0 if margin > 0 else (-1.0 if margin < 0 else 0.0)
    utility = utility_of(value, margin, board["width"] * board["height"], score_utility)
    _back_up(tree, root, leaf, value, utility, margin, margin, margin * margin)


@njit
def _visit_again(tree: Tree, root: int, leaf: int) -> None:
    """Backs the mean of a node up once more: of a finished game, or where there is no way on."""
    record = tree.nodes[leaf]
    visits = record["visits"]
    value, utility, lead = record["value_sum"] / visits, record["utility_sum"] / visits, record["lead_sum"] / visits
    _back_up(tree, root, leaf, value, utility, lead, record["score_sum"] / visits, record["score_squares"] / visits)


@njit
def _cancel(tree: Tree, root: int, leaf: int) -> None:
    """Takes the visit in flight back from a path."""
    node = leaf
    while True:
        tree.nodes[node]["in_flight"] -= 1
        if node == root:
            return
        node = tree.nodes[node]["parent"]


@njit
def select_leaves(
    tree: Tree,
    root: Root,
    rule: Rule,
    score_utility: float,
    wanted: int,
    boards: np.ndarray,
    leaves: np.ndarray,
) -> tuple[int, int]:
    """Walks down the tree until `wanted` visits are under way or done.

    The positions to evaluate come into `boards`, their nodes into `leaves`. The first result is their number, the
    second that of visits which ended at a finished game, or where nothing is allowed, and are backed up already. Both
    are 0 where the tree is full or nothing is allowed at the root.
    """
    count = done = collisions = 0
    banning = bool(root.banned_until.any())
    while count + done < wanted and collisions <= wanted:
        board = boards[count]
        copy_board(board, root.boards[0])
        width, height = board["width"], board["height"]
        area = width * height
        node, depth, length = root.node, 0, root.length
        tree.nodes[node]["in_flight"] += 1
        while True:
            state = tree.nodes[node]["state"]
            if state == TERMINAL:
                _visit_again(tree, root.node, node)
                done += 1
                break
            if state == UNEVALUATED:
                if tree.nodes[node]["in_flight"] > 1:
                    _cancel(tree, root.node, node)
                    collisions += 1
                    break
                if board["passes"] >= 2 and board["scoring"] == AREA_SCORING and board["tax"] == NO_TAX:
                    _count_final_position(tree, root.node, node, board, score_utility)
                    done += 1
                    break
                _mark_legal(tree, node, board, root.history, length)
                leaves[count] = node
                count += 1
                break
            child, move = NOBODY, NOBODY
            if depth < MAX_DEPTH:
                child, move = _select(tree, root, rule, node, board["to_move"], depth, banning)
            if child == NOBODY:
                if move == NOBODY and depth > 0:
                    _visit_again(tree, root.node, node)
                    done += 1
                    break
                if move == NOBODY or tree.size[0] == len(tree.nodes):
                    _cancel(tree, root.node, node)
                    return count, done
                child = _make_child(tree, node, move)
            move = tree.nodes[child]["move"]
            play(board, PASS if move == area else (move // width + 1) * (width + 1) + move % width + 1)
            root.history[length] = superko_key(board["hash"], board["to_move"], board["ko_rule"])
            length += 1
            depth += 1
            node = child
            tree.nodes[node]["in_flight"] += 1
    return count, done


@njit
def expand_and_back_up(
    tree: Tree,
    root: int,
    leaves: np.ndarray,
    count: int,
    policy: np.ndarray,
    value: np.ndarray,
    lead: np.ndarray,
    score_mean: np.ndarray,
    score_stdev: np.ndarray,
    first_plays: np.ndarray,
    score_utility: float,
) -> None:
    """Gives the leaves of `select_leaves` their priors and backs their values up (`evaluate.interface.Outputs`).

    first_plays: of shape [0, 2, 2, area] without RAVE.
    """
    area = policy.shape[1] - 1
    for index in range(count):
        leaf = leaves[index]
        _write_priors(tree, leaf, policy[index])
        win_loss = value[index, 0] - value[index, 1]
        mean = score_mean[index]
        utility = utility_of(win_loss, mean, area, score_utility)
        square = mean * mean + score_stdev[index] * score_stdev[index]
        _back_up(tree, root, leaf, win_loss, utility, lead[index], mean, square)
        if len(tree.first_plays):
            rave.back_up(tree.nodes, tree.first_plays, leaf, first_plays[index], win_loss)


@njit
def _write_priors(tree: Tree, leaf: int, policy: np.ndarray) -> None:
    """Fills the leaf's row where it is marked legal, scaled to a sum of one."""
    row = tree.priors[leaf]
    total = np.float32(0.0)
    for move in range(len(row)):
        if row[move]:
            total += policy[move]
    record = tree.nodes[leaf]
    scale = PRIOR_ONE / total if total > 0 else 0.0
    for move in range(len(row)):
        if row[move]:
            row[move] = np.uint16(max(1.0, min(PRIOR_ONE, policy[move] * scale)))
    record["unvisited"] = _largest_prior(row, _scan_start(leaf, len(row)))
    record["state"] = EXPANDED if record["unvisited"] != NOBODY else TERMINAL


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


@njit
def _copy_node(tree: Tree, node: int, target: Tree, index: int) -> None:
    target.nodes[index] = tree.nodes[node]
    target.priors[index] = tree.priors[node]
    if len(target.first_plays):
        target.first_plays[index] = tree.first_plays[node]
    if len(target.ownership):
        if len(tree.ownership):
            target.ownership[index] = tree.ownership[node]
        else:
            target.ownership[index, 0] = OWNERSHIP_UNKNOWN
