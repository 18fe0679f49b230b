"""The compiled steps of many visits: leaves are selected, and what the evaluator says of them is backed up.

Values change sign in one place, `_back_up`, up to the tree's origin.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from ..game.board import (
    AREA_SCORING,
    CAUGHT_BEFORE,
    CAUGHT_NOW,
    CAUGHT_TWO_BEFORE,
    NO_TAX,
    Board,
    copy_board,
    is_legal,
    mark_superko,
    play,
    superko_key,
)
from ..game.coords import BLACK, EMPTY, PASS
from ..game.counting import area_margin
from . import rave
from .averaging import Averaging, average_children, corrected_utility, weight_of
from .gumbel import select_by_halving
from .ownership import OwnershipSums
from .selection import Root, Rule, select
from .tree import EXPANDED, NOBODY, PRIOR_ONE, TERMINAL, UNEVALUATED, Tree, largest_prior, make_child, scan_start
from .utility import Utility, centred, slope_of, utility_of
from .value_bias import key_of

MAX_DEPTH = 1024  # moves below the root; only superko-free repetitions get that deep


class View(NamedTuple):
    """A search as compiled code sees it; another one once the arena has grown or the root is evaluated.

    banning: whether a move is forbidden somewhere (`Root.banned_until`).
    limit: of visits; batch_size: of its leaves at a time, 0 for the evaluator's own.
    turns: uint64 [1], the state of the random symmetries (`evaluate.playout.next_random`).
    """

    tree: Tree
    root: Root
    rule: Rule
    scale: Utility
    averaging: Averaging
    owned: OwnershipSums
    banning: bool
    limit: int
    batch_size: int
    turns: np.ndarray


class Said(NamedTuple):
    """`evaluate.interface.Outputs` as compiled code sees it: what an evaluator does not say has no rows."""

    policy: np.ndarray
    value: np.ndarray
    lead: np.ndarray
    score_mean: np.ndarray
    score_stdev: np.ndarray
    ownership: np.ndarray
    outlook: np.ndarray
    first_plays: np.ndarray


@njit
def select_leaves(view: View, wanted: int, boards: np.ndarray, leaves: np.ndarray) -> tuple[int, int]:
    """Walks down the tree until `wanted` visits are under way or done.

    The positions to evaluate come into `boards`, their nodes into `leaves`. The first result is their number, the
    second that of visits which ended at a finished game, or where nothing is allowed, and are backed up already. Both
    are 0 where the tree is full or nothing is allowed at the root.
    """
    tree, root, averaging = view.tree, view.root, view.averaging
    count = done = collisions = 0
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
                _visit_again(tree, root.node, node, averaging)
                done += 1
                break
            if state == UNEVALUATED:
                if tree.nodes[node]["in_flight"] > 1:
                    _cancel(tree, root.node, node)
                    collisions += 1
                    break
                if board["passes"] >= 2 and board["scoring"] == AREA_SCORING and board["tax"] == NO_TAX:
                    _count_final_position(tree, root.node, node, board, view.scale, averaging)
                    done += 1
                    break
                _mark_legal(tree, node, board, root.history, length)
                if len(tree.ladders):
                    _complete_position(tree, root, node, board, length)
                leaves[count] = node
                count += 1
                break
            child, move = NOBODY, NOBODY
            if node == root.node and len(root.halving.schedule):
                child, move = select_by_halving(tree, node, root.halving)
            elif depth < MAX_DEPTH:
                child, move = select(tree, root, view.rule, node, board["to_move"], depth, view.banning)
            if child == NOBODY:
                if move == NOBODY and depth > 0:
                    _visit_again(tree, root.node, node, averaging)
                    done += 1
                    break
                if move == NOBODY or tree.size[0] == len(tree.nodes):
                    _cancel(tree, root.node, node)
                    return count, done
                child = make_child(tree, node, move)
                if len(tree.biases):
                    tree.nodes[child]["bias_key"] = key_of(board, _point_of(move, width, area))
            move = tree.nodes[child]["move"]
            play(board, _point_of(move, width, area))
            root.history[length] = superko_key(board["hash"], board["to_move"], board["ko_rule"])
            length += 1
            depth += 1
            node = child
            tree.nodes[node]["in_flight"] += 1
    return count, done


@inline
def _point_of(move: int, width: int, area: int) -> int:
    return PASS if move == area else (move // width + 1) * (width + 1) + move % width + 1


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
def _complete_position(tree: Tree, root: Root, leaf: int, board: Board, length: int) -> None:
    """Adds what a leaf's record does not know of its past."""
    mark_superko(board, root.history, length)
    _recall_ladders(tree, root, leaf, board)
    if leaf == root.node and board["scoring"] == AREA_SCORING and board["passes"] > 0:
        # KataGo's "conservative pass": at the root a network must not take the game for ended.
        board["passes"] = 0
        board["moves_shown"] = 0


@njit
def _recall_ladders(tree: Tree, root: Root, leaf: int, board: Board) -> None:
    """Marks in a leaf's `ladders` what was caught one and two moves ago: in the nodes above, or before the root."""
    marks = board["ladders"]
    known = root.boards[0]["ladders"]
    width, height = board["width"], board["height"]
    one = tree.nodes[leaf]["parent"] if leaf != root.node else NOBODY
    two = tree.nodes[one]["parent"] if one != NOBODY and one != root.node else NOBODY
    move = 0
    for y in range(height):
        for point in range((y + 1) * (width + 1) + 1, (y + 1) * (width + 1) + 1 + width):
            bit = np.uint8(1 << (move & 7))
            before = known[point] & CAUGHT_BEFORE if one == NOBODY else tree.ladders[one, move >> 3] & bit
            if two != NOBODY:
                before_that = tree.ladders[two, move >> 3] & bit
            elif one != NOBODY:
                before_that = known[point] & CAUGHT_BEFORE
            else:
                before_that = known[point] & CAUGHT_TWO_BEFORE
            marks[point] = (CAUGHT_BEFORE if before else 0) | (CAUGHT_TWO_BEFORE if before_that else 0)
            move += 1


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
def _visit_again(tree: Tree, root: int, leaf: int, averaging: Averaging) -> None:
    """Backs the mean of a node up once more: of a finished game, or where there is no way on."""
    record = tree.nodes[leaf]
    weight = record["weight"]
    value, utility, lead = record["value_sum"] / weight, record["utility_sum"] / weight, record["lead_sum"] / weight
    score, square = record["score_sum"] / weight, record["score_squares"] / weight
    _back_up(tree, root, leaf, value, utility, lead, score, square, 1.0, averaging)


@njit
def _count_final_position(tree: Tree, root: int, leaf: int, board: Board, scale: Utility, averaging: Averaging) -> None:
    """Makes a leaf after two passes terminal and backs the exact count up."""
    margin = area_margin(board)
    if board["to_move"] != BLACK:
        margin = -margin
    tree.nodes[leaf]["state"] = TERMINAL
    tree.nodes[leaf]["bias_key"] = 0  # nothing is amiss with a count
    value = 1.0 if margin > 0 else (-1.0 if margin < 0 else 0.0)
    utility = utility_of(value, margin, 0.0, board["width"] * board["height"], board["to_move"], scale)
    _judge(tree, root, leaf, value, utility, margin, margin, margin * margin, 1.0, averaging)


@njit
def expand_and_back_up(view: View, boards: np.ndarray, leaves: np.ndarray, start: int, stop: int, said: Said) -> None:
    """Gives the leaves of `select_leaves`, here the rows `start` to `stop` of a batch, their priors and backs their
    values up.
    """
    tree, scale, averaging = view.tree, view.scale, view.averaging
    area = said.policy.shape[1] - 1
    if leaves[start] == view.root.node:
        scale = centred(scale, float(said.score_mean[start]), area, boards[start]["to_move"])
    for index in range(start, stop):
        leaf = leaves[index]
        board = boards[index]
        _write_priors(tree, leaf, said.policy[index])
        win_loss = said.value[index, 0] - said.value[index, 1]
        mean, stdev = said.score_mean[index], said.score_stdev[index]
        utility = utility_of(win_loss, mean, stdev, area, board["to_move"], scale)
        square = mean * mean + stdev * stdev
        weight = 1.0
        if len(said.outlook) and said.outlook[index, 0] >= 0.0:
            slope = slope_of(mean, area, board["to_move"], scale)
            weight = weight_of(said.outlook[index, 0] + slope * said.outlook[index, 1], averaging)
        _judge(tree, view.root.node, leaf, win_loss, utility, said.lead[index], mean, square, weight, averaging)
        if len(tree.ladders):
            _keep_ladders(tree, leaf, board)
        if len(tree.first_plays):
            rave.back_up(tree.nodes, tree.first_plays, leaf, said.first_plays[index], win_loss)


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
    record["unvisited"] = largest_prior(row, scan_start(leaf, len(row)))
    record["state"] = EXPANDED if record["unvisited"] != NOBODY else TERMINAL


@njit
def _keep_ladders(tree: Tree, leaf: int, board: Board) -> None:
    """Keeps what the evaluator read of the leaf's ladders."""
    row = tree.ladders[leaf]
    row[:] = 0
    width, height = board["width"], board["height"]
    move = 0
    for y in range(height):
        for point in range((y + 1) * (width + 1) + 1, (y + 1) * (width + 1) + 1 + width):
            if board["ladders"][point] & CAUGHT_NOW:
                row[move >> 3] |= np.uint8(1 << (move & 7))
            move += 1


@inline
def _judge(
    tree: Tree,
    root: int,
    leaf: int,
    value: float,
    utility: float,
    lead: float,
    mean: float,
    square: float,
    weight: float,
    averaging: Averaging,
) -> None:
    """Gives a leaf its own evaluation and backs it up."""
    record = tree.nodes[leaf]
    record["own_value"] = value
    record["own_utility"] = utility
    record["own_lead"] = lead
    record["own_score"] = mean
    record["own_score_square"] = square
    record["own_weight"] = weight
    if len(tree.biases):
        utility = corrected_utility(tree, leaf, averaging)
    _back_up(tree, root, leaf, value, utility, lead, mean, square, weight, averaging)


@njit
def _back_up(
    tree: Tree,
    root: int,
    leaf: int,
    value: float,
    utility: float,
    lead: float,
    mean: float,
    square: float,
    weight: float,
    averaging: Averaging,
) -> None:
    """Adds a visit with its values, given for the side to move at the leaf, to the leaf and all above it."""
    below_root = True
    node = leaf
    while node != NOBODY:
        record = tree.nodes[node]
        record["visits"] += 1
        if node != leaf and not averaging.plain:
            average_children(tree, node, averaging)
        else:
            record["weight"] += weight
            record["value_sum"] += weight * value
            record["utility_sum"] += weight * utility
            record["utility_squares"] += weight * utility * utility
            record["lead_sum"] += weight * lead
            record["score_sum"] += weight * mean
            record["score_squares"] += weight * square
            if node != leaf:
                record["children_weight"] += weight
        if below_root:
            record["in_flight"] -= 1
            below_root = node != root
        value, utility, lead, mean = -value, -utility, -lead, -mean
        node = record["parent"]


@njit
def judge_anew(tree: Tree, to_move: int, area: int, scale: Utility, averaging: Averaging) -> None:
    """Gives all nodes utilities by another scale; to_move: the colour at the origin.

    Not for plain averages, whose sums cannot be taken apart.
    """
    size = tree.size[0]
    colours = np.empty(size, np.int8)
    for node in range(size):  # parents come before their children
        parent = tree.nodes[node]["parent"]
        colours[node] = 3 - colours[parent] if parent != NOBODY else to_move
    for node in range(size - 1, -1, -1):
        record = tree.nodes[node]
        if record["visits"] == 0:
            continue
        score = record["own_score"]
        deviation = math.sqrt(max(0.0, record["own_score_square"] - score * score))
        record["own_utility"] = utility_of(record["own_value"], score, deviation, area, colours[node], scale)
        utility = corrected_utility(tree, node, averaging)
        record["utility_sum"] = record["weight"] * utility
        record["utility_squares"] = record["weight"] * utility * utility
        average_children(tree, node, averaging)
