"""The compiled steps of many visits: leaves are selected, and their evaluations are backed up.

Several visits are in flight at once, so that their leaves can be evaluated as one batch. `in_flight` of the records on
their paths counts them: virtual loss turns the next visit elsewhere (`selection`). Values change sign in one place,
`_back_up`, on the way to the tree's origin.
"""

import math
from typing import NamedTuple

import numpy as np

from ..base.jit import borrowing, inline, njit
from ..go.board import (
    AREA_SCORING,
    CAUGHT_BEFORE,
    CAUGHT_TWO_BEFORE,
    NO_TAX,
    Board,
    copy_board,
    mark_superko,
    play,
    superko_key,
    write_legal_moves,
)
from ..go.coords import BLACK, EMPTY
from ..go.points import point_of_index
from ..go.scoring import area_margin
from .averaging import Averaging, Utility, average_children, centred, corrected_utility, slope_of, utility_of, weight_of
from .evaluate.row import LEAD, LOSS, POLICY, SCORE_ERROR, SCORE_MEAN, SCORE_STDEV, VALUE_ERROR, WIN, amaf_column
from .gumbel import select_by_halving
from .selection import Root, Rule, back_up_amaf, select
from .transpositions import find_or_add, position_key
from .tree import (
    EXPANDED,
    MAX_DEPTH,
    NO_MOVE,
    NO_NODE,
    PRIOR_ONE,
    TERMINAL,
    UNEVALUATED,
    OwnershipSums,
    Tree,
    add_ownership,
    copy_row,
    largest_prior,
    link,
    make_child,
    node_above,
    node_of,
    record_at,
    scan_start,
    take_prior,
    write_ownership,
)
from .value_bias import key_of


class SearchState(NamedTuple):
    """A search as compiled code sees it. It is replaced when the arena grows and when the root is evaluated."""

    tree: Tree
    root: Root
    rule: Rule
    scale: Utility
    averaging: Averaging
    ownership: OwnershipSums  # the sums to which the ownership of new leaves is added
    bans_until: int  # the depth from which on `root.banned_until` forbids no move
    limit: int  # the number of visits at which the search ends
    batch_size: int  # the largest number of its leaves in a batch; 0 for the evaluator's own number


@borrowing
def select_leaves(search: SearchState, wanted: int, boards: np.ndarray, paths: np.ndarray) -> tuple[int, int]:
    """Walks down the tree of a search until `wanted` visits are under way or done.

    Args:
        wanted: The number of visits; there are fewer if too many walks end at leaves that are under way already.
        boards: BOARD [wanted or more], written: the positions to evaluate.
        paths: PATH, as long, written: the paths to them.

    Returns:
        The number of positions to evaluate, and of visits that are backed up already: they ended at a finished game or
        where no move is allowed, or would have gone round in a cycle. Both are 0 if the tree is full, no move is
        allowed at the root, or everything worth a visit is under way.
    """
    tree, root, averaging = search.tree, search.root, search.averaging
    nodes, count, done, collisions = tree.nodes, 0, 0, 0
    while count + done < wanted and collisions <= wanted:
        board, path, one_path = boards[count], paths[count], paths[count : count + 1]
        copy_board(board, root.boards[0])
        width, height, node, depth = board["width"], board["height"], root.node, 0
        path["records"][0] = node
        path["length"] = 0
        while True:
            ended = _arrive(tree, root, one_path, node, board, search.scale, averaging)
            if ended != NOT_ENDED:
                break
            # Not a function of its own: to pass the search to a call costs a seventh of a visit.
            child, move = NO_NODE, NO_MOVE
            if node == root.node and len(root.halving.considered_visits):
                child, move = select_by_halving(tree, node, root.halving)
            elif depth < MAX_DEPTH:
                last = nodes[path["records"][depth]]["move"]
                child, move = select(tree, root, search.rule, node, last, board["to_move"], depth, search.bans_until)
            is_new = child == NO_NODE
            if is_new and move == NO_MOVE and depth > 0:
                _visit_again(tree, one_path, averaging)
                ended = BACKED_UP
                break
            if is_new and (move == NO_MOVE or tree.size[0] == len(nodes)):
                _cancel(tree, path)
                return count, done
            if is_new:
                child = _make_child(tree, node, move, board)
            play(board, point_of_index(nodes[child]["move"], width, height))
            root.history[root.length + depth] = superko_key(board, board["hash"], board["to_move"])
            depth += 1
            path["records"][depth] = child
            path["length"] = depth
            if is_new and len(tree.keys):
                _link_if_known(tree, path, position_key(board, tree.keys[node]))
            node = node_of(nodes, child)
            if node != child and _ends_cycle(tree, one_path, node, averaging):
                ended = BACKED_UP
                break
        count += ended == LEAF
        done += ended == BACKED_UP
        collisions += ended == COLLIDED
    return count, done


# How a visit has ended: not yet, at a leaf to evaluate, with a value that was known, at a leaf that another waits for.
NOT_ENDED, LEAF, BACKED_UP, COLLIDED = range(4)


@inline
def _arrive(
    tree: Tree, root: Root, one_path: np.ndarray, node: int, board: Board, scale: Utility, averaging: Averaging
) -> int:
    """Does what a visit has to do at the last node of its path, PATH [1]; returns whether it ends there, and how."""
    record = tree.nodes[node]
    record["in_flight"] += 1
    if record["state"] == TERMINAL:
        _visit_again(tree, one_path, averaging)
        return BACKED_UP
    if record["state"] != UNEVALUATED:
        return NOT_ENDED
    if record["in_flight"] > 1:
        _cancel(tree, one_path[0])
        return COLLIDED
    record["to_move"] = board["to_move"]
    if _is_counted(board):
        _count_final_position(tree, root, one_path, board, scale, averaging)
        return BACKED_UP
    _prepare_leaf(tree, root, one_path[0], board)
    return LEAF


@inline
def _is_on(path: np.ndarray, nodes: np.ndarray, node: int) -> bool:
    """Returns whether a path leads through a node before its end."""
    for before in range(path["length"]):
        if node_of(nodes, path["records"][before]) == node:
            return True
    return False


@borrowing
def _link_if_known(tree: Tree, path: np.ndarray, key: np.uint64) -> None:
    """Makes the new record at the end of a path a link if the tree knows its position, from another way to it."""
    record = path["records"][path["length"]]
    tree.keys[record] = key
    node = find_or_add(tree.table, tree.keys, key, record)
    if node == record:
        return
    tree.keys[record] = 0
    if not _is_on(path, tree.nodes, node):
        link(tree, record, node)


@inline
def _ends_cycle(tree: Tree, one_path: np.ndarray, node: int, averaging: Averaging) -> bool:
    """Backs up a visit if its last move would lead it back to a node of its path, PATH [1]; returns whether it does.

    Nothing is evaluated then: the link gets one more visit, with the averages that its target has. Any other visit goes
    on to a leaf. KataGo's also end at a link until it has as many visits as its target.
    """
    path = one_path[0]
    record = tree.nodes[path["records"][path["length"]]]
    record["in_flight"] += 1
    if not _is_on(path, tree.nodes, node):
        return False
    record["visits"] += 1
    record["in_flight"] -= 1
    path["length"] -= 1
    _back_up(tree, path, 0.0, _Evaluated(0.0, 0.0, 0.0, 0.0, 0.0), averaging)
    path["length"] += 1
    _average_above(tree, one_path, averaging)
    return True


@inline
def _is_counted(board: Board) -> bool:
    """Returns whether the board is over and counted, which is exact and cheaper than an evaluation.

    That is after two passes under plain area scoring. Stones are alive unless the request names them as dead, under
    friendly passes too: if an evaluation ended the game, self-play (`training.selfplay`) and rollouts would pass with
    stones still in doubt.
    """
    return board["passes"] >= 2 and board["scoring"] == AREA_SCORING and board["tax"] == NO_TAX


@inline
def _make_child(tree: Tree, node: int, move: int, board: Board) -> int:
    """Returns a new child for a move at a node's position."""
    child = make_child(tree, node, move)
    if len(tree.biases):
        tree.nodes[child]["bias_key"] = key_of(board, point_of_index(move, board["width"], board["height"]))
    return child


@inline
def _prepare_leaf(tree: Tree, root: Root, path: np.ndarray, board: Board) -> None:
    """Marks the legal moves, and completes the board with what networks see of earlier ones: superko and ladders.

    The policy is written over the ones in the row of priors when it comes back (`_write_priors`), so that legality,
    which needs the positions of the path, is found while these are at hand.
    """
    leaf, length = leaf_of(tree.nodes, path), root.length + int(path["length"])
    if board["passes"] < 2:
        write_legal_moves(board, root.history, length, tree.priors[leaf])
    else:
        tree.priors[leaf][:] = 0  # territory rules or a tax: evaluated once, then terminal
    if len(tree.ladders):
        mark_superko(board, root.history, length)
        _recall_ladders(tree, root, path, board)
        if leaf == root.node and root.hides_passes:
            # KataGo's "conservative pass": at the root a network must not assume that another pass ends the game, since
            # the dead stones on the board would count as alive.
            board["passes"] = 0
            board["moves_shown"] = 0


@borrowing
def _recall_ladders(tree: Tree, root: Root, path: np.ndarray, board: Board) -> None:
    """Marks in the `ladders` of a path's last board the stones that were caught in ladders one and two moves ago.

    They are stored in the tree at the nodes above the leaf, and in the root's board for the positions before the root.
    """
    marks = board["ladders"]
    known = root.boards[0]["ladders"]
    width, height = board["width"], board["height"]
    length = path["length"]
    one = node_of(tree.nodes, path["records"][length - 1]) if length > 0 else NO_NODE
    two = node_of(tree.nodes, path["records"][length - 2]) if length > 1 else NO_NODE
    move = 0
    for y in range(height):
        for point in range((y + 1) * (width + 1) + 1, (y + 1) * (width + 1) + 1 + width):
            bit = np.uint8(1 << (move & 7))
            before = known[point] & CAUGHT_BEFORE if one == NO_NODE else tree.ladders[one, move >> 3] & bit
            if two != NO_NODE:
                before_that = tree.ladders[two, move >> 3] & bit
            elif one != NO_NODE:
                before_that = known[point] & CAUGHT_BEFORE
            else:
                before_that = known[point] & CAUGHT_TWO_BEFORE
            marks[point] = (CAUGHT_BEFORE if before else 0) | (CAUGHT_TWO_BEFORE if before_that else 0)
            move += 1


@borrowing
def _cancel(tree: Tree, path: np.ndarray) -> None:
    """Ends a visit without a result: its path has one visit fewer in flight."""
    for depth in range(path["length"] + 1):
        record = tree.nodes[record_at(tree.nodes, path, depth)]
        record["in_flight"] -= 1
        if record["target"] != NO_NODE:
            tree.nodes[record["target"]]["in_flight"] -= 1


class _Evaluated(NamedTuple):
    """What is backed up of an evaluation besides its utility, for the side to move at the leaf."""

    value: float  # win minus loss
    lead: float
    score: float  # the mean of the score
    score_square: float
    weight: float


@njit
def _visit_again(tree: Tree, one_path: np.ndarray, averaging: Averaging) -> None:
    """Backs up the mean of a path's last node as one more visit, at a finished game or where no move is allowed.

    one_path: PATH [1].
    """
    record = tree.nodes[leaf_of(tree.nodes, one_path[0])]
    weight = record["weight"]
    score, square = record["score_sum"] / weight, record["score_squares"] / weight
    mean = _Evaluated(record["value_sum"] / weight, record["lead_sum"] / weight, score, square, 1.0)
    _back_up(tree, one_path[0], record["utility_sum"] / weight, mean, averaging)
    _average_above(tree, one_path, averaging)


@njit
def _count_final_position(
    tree: Tree, root: Root, one_path: np.ndarray, board: Board, scale: Utility, averaging: Averaging
) -> None:
    """Makes a leaf after two passes terminal and backs up the exact count of the board without the dead stones.

    one_path: PATH [1], the way to it.
    """
    leaf = leaf_of(tree.nodes, one_path[0])
    for point in root.dead:
        if board["stones"][point] == root.boards[0]["stones"][point]:
            board["stones"][point] = EMPTY
            board["empties"][board["empty_count"]] = point
            board["empty_count"] += 1
    margin = area_margin(board)
    if board["to_move"] != BLACK:
        margin = -margin
    tree.nodes[leaf]["state"] = TERMINAL
    tree.nodes[leaf]["bias_key"] = 0  # an exact count needs no correction
    value = 1.0 if margin > 0 else (-1.0 if margin < 0 else 0.0)
    utility = utility_of(value, margin, 0.0, board["width"] * board["height"], board["to_move"], scale)
    counted = _Evaluated(value, margin, margin, margin * margin, 1.0)
    _back_up_leaf(tree, one_path[0], utility, counted, averaging)
    _average_above(tree, one_path, averaging)


@borrowing
def expand_and_back_up(
    search: SearchState,
    boards: np.ndarray,
    paths: np.ndarray,
    start: int,
    stop: int,
    rows: np.ndarray,
    ladders: np.ndarray,
) -> None:
    """Writes the priors of leaves of `select_leaves` and backs up their evaluations.

    Args:
        boards: BOARD [n], the positions of a batch.
        paths: PATH [n], the paths to them.
        start, stop: The first row of this search in the batch, and the one after its last.
        rows: float32 [n, columns], the batch's evaluation rows (`evaluate.row`). AMAF statistics are overwritten.
        ladders: uint8 [n, (area + 7) // 8 or more], one bit per stone that a ladder catches.
    """
    tree, scale, averaging = search.tree, search.scale, search.averaging
    area = tree.priors.shape[1] - 1
    if paths[start]["length"] == 0 and tree.nodes[search.root.node]["visits"] == 0:
        # The root's own utility is on the scale that the whole search then uses.
        scale = centred(scale, float(rows[start, SCORE_MEAN]), area, boards[start]["to_move"])
    for index in range(start, stop):
        path, row = paths[index], rows[index]
        leaf = leaf_of(tree.nodes, path)
        to_move = boards[index]["to_move"]
        _write_priors(tree, leaf, row[POLICY:])
        win_loss = row[WIN] - row[LOSS]
        mean, stdev = row[SCORE_MEAN], row[SCORE_STDEV]
        utility = utility_of(win_loss, mean, stdev, area, to_move, scale)
        square = mean * mean + stdev * stdev
        weight = 1.0
        if row[VALUE_ERROR] >= 0.0:  # otherwise the evaluator does not estimate errors
            # The error of the utility: that of the value, and that of the score by its derivative.
            slope = slope_of(mean, area, to_move, scale)
            weight = weight_of(row[VALUE_ERROR] + slope * row[SCORE_ERROR], averaging)
        evaluated = _Evaluated(win_loss, row[LEAD], mean, square, weight)
        _back_up_leaf(tree, path, utility, evaluated, averaging)
        if len(tree.ladders):
            copy_row(tree.ladders[leaf], ladders[index])
        if len(tree.amaf):
            amaf = row[amaf_column(area) :].reshape(2, 2, area)
            back_up_amaf(tree.nodes, tree.amaf, path, leaf, amaf, win_loss)
        if len(tree.ownership):
            write_ownership(tree, leaf, row)
        if search.ownership.totals.size:
            move = tree.nodes[path["records"][1]]["move"] if path["length"] > 0 else NO_MOVE
            add_ownership(tree, search.root.node, leaf, move, search.ownership)
    _average_above(tree, paths[start:stop], averaging)


@borrowing
def _write_priors(tree: Tree, leaf: int, policy: np.ndarray) -> None:
    """Writes the priors of the moves that are marked legal, scaled to a sum of one; the policy is part of a row."""
    row = tree.priors[leaf]
    total = np.float32(0.0)
    for move in range(len(row)):
        if row[move]:
            total += policy[move]
    scale = PRIOR_ONE / total if total > 0 else 0.0
    for move in range(len(row)):
        if row[move]:
            # Never 0, which would mark the move as illegal.
            row[move] = np.uint16(max(1.0, min(PRIOR_ONE, policy[move] * scale)))
    record = tree.nodes[leaf]
    record["visited_prior"] = 0.0
    child = record["first_child"]
    while child != NO_NODE:  # of a node that was evaluated before
        take_prior(tree, leaf, child)
        child = tree.nodes[child]["next_sibling"]
    record["unvisited"] = largest_prior(row, scan_start(leaf, len(row)))
    has_moves = record["unvisited"] != NO_MOVE or record["first_child"] != NO_NODE
    record["state"] = EXPANDED if has_moves else TERMINAL


@inline
def _set_own_averages(record: np.ndarray, utility: float) -> None:
    """Makes the averages of a node those of its own evaluation alone."""
    weight = record["own_weight"]
    record["weight"] = weight
    record["value_sum"] = weight * record["own_value"]
    record["utility_sum"] = weight * utility
    record["utility_squares"] = weight * utility * utility
    record["lead_sum"] = weight * record["own_lead"]
    record["score_sum"] = weight * record["own_score"]
    record["score_squares"] = weight * record["own_score_square"]


@inline
def leaf_of(nodes: np.ndarray, path: np.ndarray) -> int:
    """Returns the last node of a path."""
    return node_of(nodes, path["records"][path["length"]])


@inline
def _back_up_leaf(tree: Tree, path: np.ndarray, utility: float, evaluated: _Evaluated, averaging: Averaging) -> None:
    """Stores a leaf's own evaluation and backs it up by `_back_up`.

    If the node already has visits (`Search.begin`), the new evaluation replaces the old one and does not count as a
    visit.
    """
    leaf = leaf_of(tree.nodes, path)
    record = tree.nodes[leaf]
    record["own_value"] = evaluated.value
    record["own_utility"] = utility
    record["own_lead"] = evaluated.lead
    record["own_score"] = evaluated.score
    record["own_score_square"] = evaluated.score_square
    record["own_weight"] = evaluated.weight
    if len(tree.biases):
        utility = corrected_utility(tree, leaf, averaging)
    if record["visits"] > 0:
        _cancel(tree, path)
        _set_own_averages(record, utility)
        average_children(tree, leaf, averaging)
        return
    _back_up(tree, path, utility, evaluated, averaging)


@borrowing
def _back_up(tree: Tree, path: np.ndarray, utility: float, evaluated: _Evaluated, averaging: Averaging) -> None:
    """Adds a visit to the last node of a path and all above it.

    Unless averages are plain, those of the nodes above are left to `_average_above`.
    The nodes above the root get the visit too: after an undo they are the tree that the search continues with.
    """
    nodes = tree.nodes
    value, lead, mean, square, weight = evaluated
    depth = int(path["length"])
    node = leaf = leaf_of(nodes, path)
    while node != NO_NODE:
        record = nodes[node]
        record["visits"] += 1
        if node == leaf or averaging.plain:
            record["weight"] += weight
            record["value_sum"] += weight * value
            record["utility_sum"] += weight * utility
            record["utility_squares"] += weight * utility * utility
            record["lead_sum"] += weight * lead
            record["score_sum"] += weight * mean
            record["score_squares"] += weight * square
            if node != leaf:
                record["children_weight"] += weight
        if depth >= 0:
            record["in_flight"] -= 1
            move_record = record_at(nodes, path, depth)
            if move_record != node:
                nodes[move_record]["visits"] += 1
                nodes[move_record]["in_flight"] -= 1
        value, utility, lead, mean = -value, -utility, -lead, -mean
        node = node_above(nodes, path, depth, node)
        depth -= 1


@njit
def _average_above(tree: Tree, paths: np.ndarray, averaging: Averaging) -> None:
    """Recomputes the averages of all nodes above the last ones of paths, PATH [n], unless they are plain.

    Each is recomputed once, after all of its children: most leaves share the upper parts of their paths.
    """
    if averaging.plain:
        return
    nodes = tree.nodes
    depths, heads = np.empty(len(paths), np.int32), np.empty(len(paths), np.int32)
    for index in range(len(paths)):
        depths[index] = paths[index]["length"]
        heads[index] = node_above(nodes, paths[index], depths[index], leaf_of(nodes, paths[index]))
    while True:
        last = NO_NODE
        for index in range(len(paths)):
            last = max(last, int(heads[index]))
        if last == NO_NODE:
            return
        # Children come after their parents, so all of them are done. In a graph some are not: then the node's turn
        # comes again, since each path is followed to its beginning.
        average_children(tree, last, averaging)
        for index in range(len(paths)):
            if heads[index] == last:
                depths[index] -= 1
                heads[index] = node_above(nodes, paths[index], depths[index], last)


@njit
def rescore_tree(tree: Tree, area: int, scale: Utility, averaging: Averaging) -> None:
    """Recomputes the utilities of all nodes for another scale, when the expected score at the root has changed.

    It is not possible with plain averages, whose sums do not show the parts that they are made of. In a graph the
    target of a link may come before the node above the link in memory: that node is right after a second pass.
    """
    for _ in range(2 if len(tree.keys) else 1):
        for node in range(tree.size[0] - 1, -1, -1):  # children before their parents, whose averages need them
            record = tree.nodes[node]
            if record["visits"] == 0 or record["target"] != NO_NODE:
                continue
            score = record["own_score"]
            deviation = math.sqrt(max(0.0, record["own_score_square"] - score * score))
            record["own_utility"] = utility_of(record["own_value"], score, deviation, area, record["to_move"], scale)
            utility = corrected_utility(tree, node, averaging)
            record["utility_sum"] = record["weight"] * utility
            record["utility_squares"] = record["weight"] * utility * utility
            average_children(tree, node, averaging)
