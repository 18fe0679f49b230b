"""What the root's subtree says: its moves ranked, values averaged, main lines, as a `report.SearchReport`."""

import math
from functools import lru_cache

import numpy as np

from ..compiled import inline, njit
from ..game.coords import point_of_index
from .game_tree import GameTree
from .gumbel import improved_scores
from .ownership import mean_ownership
from .parameters import SearchParameters
from .report import MoveReport, SearchReport
from .selection import Root, Rule, exploration
from .tree import Tree, main_line

_LONGEST_LINE = 40
# KataGo's minVisitPropForLCB: bounds of moves with less weight, as a share of the largest, mean little.
_LEAST_SHARE_FOR_BOUNDS = 0.15
# KataGo's: how many visits a prior of 1 is worth when the best move is looked for.
_PRIORS_IN_CHOICE = 2.0

# What is known of a node, for the side to move at the root: see `MoveReport`.
_MEANS = ("winrate", "lead", "score_mean", "score_stdev", "utility")
_NUMBERS = (*_MEANS, "lcb", "utility_lcb", "prior", "weight", "selection")
_FOUND = np.dtype([("visits", np.int64), *((name, np.float64) for name in _NUMBERS)])


def make_report(
    game_tree: GameTree,
    parameters: SearchParameters,
    root: Root,
    rule: Rule,
    *,
    playouts: int,
    seconds: float,
    ownership: bool,
    moves_ownership: bool,
) -> SearchReport:
    """The report on a tree whose root is evaluated."""
    tree, game = game_tree.arrays, game_tree.game
    banned = root.banned_until[game.to_move] > 0
    children = game_tree.children()
    children = children[~banned[tree.nodes["move"][children]]]
    totals, counts = game_tree.owned
    shape = (game.height, game.width)
    rows = tree.nodes["move"][children]
    owned = mean_ownership(totals[rows], counts[rows], shape) if moves_ownership else None
    found, whole = np.zeros(len(children), _FOUND), np.zeros(1, _FOUND)
    corrects = parameters.selection == "puct" and not len(tree.first_plays)
    _describe(tree, root, rule, float(parameters.lcb_stdevs), corrects, children, found, whole[0])
    priors = game_tree.root_priors()
    priors[banned] = 0
    return SearchReport(
        width=game.width,
        height=game.height,
        to_move=game.to_move,
        visits=game_tree.visits,
        playouts=playouts,
        **{name: whole[name].item() for name in _MEANS},
        moves=_rank_moves(game_tree, parameters, root, children, found, owned),
        priors=priors,
        ownership=mean_ownership(totals.sum(0), counts.sum(), shape) if ownership else None,
        seconds=seconds,
    )


def _rank_moves(
    game_tree: GameTree,
    parameters: SearchParameters,
    root: Root,
    children: np.ndarray,
    found: np.ndarray,
    owned: np.ndarray | None,
) -> tuple[MoveReport, ...]:
    """Children of the root with what is known of them (_FOUND), best first."""
    tree, game = game_tree.arrays, game_tree.game
    if len(root.halving.schedule):
        moves = tree.nodes["move"][children]
        scores = improved_scores(tree, game_tree.root, root.halving.scores, root.halving.priors)[moves]
        order = np.lexsort((-scores, -found["visits"])).tolist()
    else:
        order = best_first(found["selection"], found["utility_lcb"], parameters.choice)
    lines, lengths = np.zeros((2, len(children), _LONGEST_LINE), np.int32), np.zeros(len(children), np.int32)
    _write_lines(tree, children, lines, lengths)
    longest = int(lengths.max(initial=0))
    points = _points(game.width, game.height)[lines[0, :, :longest]].tolist()
    visits = lines[1, :, :longest].tolist()
    numbers, ends = found.tolist(), lengths.tolist()
    reports = []
    for rank, index in enumerate(order):
        pv, pv_visits = tuple(points[index][: ends[index]]), tuple(visits[index][: ends[index]])
        known = dict(zip(("visits", *_NUMBERS), numbers[index], strict=True))
        own = owned[index] if owned is not None else None
        reports.append(MoveReport(pv[0], **known, order=rank, pv=pv, pv_visits=pv_visits, ownership=own))
    return tuple(reports)


@lru_cache(maxsize=64)
def _points(width: int, height: int) -> np.ndarray:
    """The point of each move index. Not to be written."""
    return np.array([point_of_index(move, width, height) for move in range(width * height + 1)])


@njit
def _write_lines(tree: Tree, children: np.ndarray, lines: np.ndarray, lengths: np.ndarray) -> None:
    """The main lines through children of the root: moves and visits in lines, int32 [2, children, _LONGEST_LINE]."""
    for index in range(len(children)):
        lengths[index] = main_line(tree, children[index], lines[0, index], lines[1, index])


@njit
def _describe(
    tree: Tree,
    root: Root,
    rule: Rule,
    lcb_stdevs: float,
    corrects: bool,
    children: np.ndarray,
    found: np.ndarray,
    whole: np.ndarray,
) -> None:
    """Fills found (_FOUND) with what is known of the root's children, `whole` with what is of the root.

    corrects: whether selection is more than the weight: see `_correct_selection`.
    """
    _average(tree.nodes[root.node], 1.0, lcb_stdevs, whole)
    for index in range(len(children)):
        _average(tree.nodes[children[index]], -1.0, lcb_stdevs, found[index])
    if corrects and len(children) > 1:
        _correct_selection(tree, root, rule, children, found)


@inline
def _average(record: np.ndarray, sign: float, lcb_stdevs: float, known: np.ndarray) -> None:
    """Averages over the evaluations of a node; sign: 1 where the side to move is the root's, else -1."""
    weight = record["weight"] if record["visits"] > 0 else 1.0
    utility = record["utility_sum"] / weight
    mean = record["score_sum"] / weight
    # One more visit as far from the mean as can be keeps the error of a move with few visits from being nil.
    variance = (record["utility_squares"] - weight * (utility * utility) + 1.0) / weight
    radius = lcb_stdevs * math.sqrt(max(variance, 0.0) / max(int(record["visits"]), 1))
    winrate = 0.5 + 0.5 * record["value_sum"] / weight
    known["visits"] = record["visits"]
    known["winrate"] = winrate if sign > 0.0 else 1.0 - winrate
    known["lead"] = sign * (record["lead_sum"] / weight)
    known["score_mean"] = sign * mean
    known["score_stdev"] = math.sqrt(max(record["score_squares"] / weight - mean * mean, 0.0))
    known["utility"] = sign * utility
    known["lcb"] = known["winrate"] - radius / 2.0  # win rates span half of the utility's range
    known["utility_lcb"] = known["utility"] - radius
    known["prior"] = record["prior"]
    known["weight"] = record["weight"]
    known["selection"] = record["weight"]


@njit
def _correct_selection(tree: Tree, root: Root, rule: Rule, children: np.ndarray, found: np.ndarray) -> None:
    """Sets the weights by which the root's children are chosen from, with PUCT and a network.

    These are what the search would have given them, had it known their utilities from the start: weight that made a
    move look worse afterwards does not speak for it (KataGo's choice of the move to play).
    """
    record = tree.nodes[root.node]
    explore = np.float32(exploration(record, rule, record["children_weight"] + 1.0))
    scaled = np.empty(len(children), np.float32)
    best, highest = 0, -np.inf
    for index in range(len(children)):
        move, child = found[index], tree.nodes[children[index]]
        prior = root.priors[child["move"]] if root.noisy else child["prior"]
        scaled[index] = explore * prior
        # The last visit may have misled; priors decide between moves with hardly any.
        value = move["weight"] * (move["visits"] - 1) / move["visits"] + _PRIORS_IN_CHOICE * prior
        if value > highest:
            best, highest = index, value
    urgency = scaled[best] / (1.0 + found[best]["weight"]) + found[best]["utility"]
    for index in range(len(children)):
        ahead = urgency - found[index]["utility"]
        if index != best and ahead > 0.0:
            wanted = scaled[index] / ahead - 1.0
            found[index]["selection"] = min(found[index]["weight"], math.ceil(max(wanted, 0.0)))


def best_first(weights: np.ndarray, lower_bound: np.ndarray, choice: str) -> list[int]:
    """The moves' indices, the best first: by weight, the best lower bound in front where `choice` is "lcb"."""
    order: list[int] = np.lexsort((-lower_bound, -weights)).tolist()
    if choice == "lcb" and order:
        eligible = [index for index in order if weights[index] >= _LEAST_SHARE_FOR_BOUNDS * weights[order[0]]]
        best = max(eligible, key=lambda index: lower_bound[index])
        order.remove(best)
        order.insert(0, best)
    return order
