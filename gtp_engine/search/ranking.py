"""The report on a search: the root's moves ranked, their values averaged, their main lines."""

import math
from functools import lru_cache

import numpy as np

from ..base.jit import inline, njit
from ..go.coords import PASS, point_of_index
from .gumbel import improved_scores, policy_target
from .ownership import mean_ownership
from .report import MoveReport, SearchReport
from .search import ActiveSearch
from .selection import Root, Rule, exploration
from .tree import Tree, main_line

_LONGEST_LINE = 40
# KataGo's minVisitPropForLCB: moves with less than this share of the largest weight have no useful bounds.
_LEAST_SHARE_FOR_BOUNDS = 0.15
# KataGo's: how many visits a prior of 1 is worth when the best move is looked for.
_PRIORS_IN_CHOICE = 2.0

# Results of a node, for the side to move at the root: see `MoveReport`.
_MEANS = ("winrate", "lead", "score_mean", "score_stdev", "utility")
_NUMBERS = (*_MEANS, "lcb", "utility_lcb", "prior", "weight", "selection")
_FOUND = np.dtype([("visits", np.int64), *((name, np.float64) for name in _NUMBERS)])


def make_report(search: ActiveSearch, seconds: float) -> SearchReport:
    """Returns the report on a search whose root is evaluated, `seconds` after it began."""
    request, parameters, root = search.request, search.parameters, search.root
    tree, game, banned = search.tree.arrays, search.tree.game, search.banned
    children = search.tree.children()
    children = children[~banned[tree.nodes["move"][children]]]
    totals, counts = search.tree.ownership_sums
    shape = (game.height, game.width)
    rows = tree.nodes["move"][children]
    ownerships = mean_ownership(totals[rows], counts[rows], shape) if request.moves_ownership else None
    found, whole = np.zeros(len(children), _FOUND), np.zeros(1, _FOUND)
    corrects = parameters.selection == "puct" and not len(tree.amaf)
    _describe(tree, root, search.rule, float(parameters.lcb_stdevs), corrects, children, found, whole[0])
    priors = search.tree.root_priors()
    priors[banned] = 0
    return SearchReport(
        width=game.width,
        height=game.height,
        to_move=game.to_move,
        visits=search.tree.visits,
        new_visits=search.new_visits,
        **{name: whole[name].item() for name in (*_MEANS, "weight")},
        moves=_rank_moves(search, children, found, ownerships),
        priors=priors,
        ownership=mean_ownership(totals.sum(0), counts.sum(), shape) if request.needs_ownership else None,
        seconds=seconds,
        improved_policy=policy_target(tree, root.node, root.halving) if len(root.halving.considered_visits) else None,
        root_evaluation=search.root_evaluation,
        stones=game.stones(),
        last_move=game.moves[-1].point if game.moves else PASS,
    )


def _rank_moves(
    search: ActiveSearch, children: np.ndarray, found: np.ndarray, ownerships: np.ndarray | None
) -> tuple[MoveReport, ...]:
    """Returns the reports on children of the root, best first, from their results (_FOUND) and ownerships."""
    tree, game, root = search.tree.arrays, search.tree.game, search.root
    if len(root.halving.considered_visits):
        moves = tree.nodes["move"][children]
        scores = improved_scores(tree, root.node, root.halving.scores, root.halving.priors)[moves]
        order = np.lexsort((-scores, -found["visits"])).tolist()
    else:
        order = best_first(found["selection"], found["utility_lcb"], search.parameters.choice)
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
        own = ownerships[index] if ownerships is not None else None
        known |= {"width": game.width, "height": game.height}
        reports.append(MoveReport(pv[0], **known, order=rank, pv=pv, pv_visits=pv_visits, ownership=own))
    return tuple(reports)


@lru_cache(maxsize=64)
def _points(width: int, height: int) -> np.ndarray:
    """Returns the point of each move index, not to be modified."""
    return np.array([point_of_index(move, width, height) for move in range(width * height + 1)])


@njit
def _write_lines(tree: Tree, children: np.ndarray, lines: np.ndarray, lengths: np.ndarray) -> None:
    """Writes the main lines from children of the root: moves and visits, int32 [2, children, _LONGEST_LINE]."""
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
    """Writes the results (_FOUND) of the root's children and of the root.

    Args:
        tree: The tree.
        root: The root of the search.
        rule: The parameters of selection.
        lcb_stdevs: The distance of the bounds from the means, in standard errors.
        corrects: Whether the weight that selects the move is corrected (`_correct_selection`).
        children: int32 [n], the children.
        found: _FOUND [n], written.
        whole: A _FOUND record, written for the root.
    """
    _average(tree.nodes[root.node], 1.0, lcb_stdevs, whole)
    for index in range(len(children)):
        _average(tree.nodes[children[index]], -1.0, lcb_stdevs, found[index])
    if corrects and len(children) > 1:
        _correct_selection(tree, root, rule, children, found)


@inline
def _average(record: np.ndarray, sign: float, lcb_stdevs: float, known: np.ndarray) -> None:
    """Writes a node's averages, for the side to move at the root; `sign` is -1 if the other side moves at the node."""
    weight = record["weight"] if record["visits"] > 0 else 1.0
    utility = record["utility_sum"] / weight
    mean = record["score_sum"] / weight
    # The variance includes one more evaluation, 1 away from the mean, so that the error of a move with two equal
    # visits is not 0. Leela Zero has chosen the move by such a bound since version 0.17: a move with many visits and a
    # slightly lower mean is a safer choice than one that looked better at its last few visits.
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
    """Returns the moves' indices, best first.

    Args:
        weights: [n], by which they are sorted.
        lower_bound: [n], the lower confidence bounds of their utilities.
        choice: "lcb" to put the move with the best bound first, of those with enough weight; else "visits".
    """
    order: list[int] = np.lexsort((-lower_bound, -weights)).tolist()
    if choice == "lcb" and order:
        eligible = [index for index in order if weights[index] >= _LEAST_SHARE_FOR_BOUNDS * weights[order[0]]]
        best = max(eligible, key=lambda index: lower_bound[index])
        order.remove(best)
        order.insert(0, best)
    return order
