"""Which move a visit tries next: PUCT or UCT, with RAVE, the root's noise and forbidden moves."""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from . import rave
from .gumbel import Halving
from .parameters import SearchParameters
from .tree import NOBODY, PRIOR_ONE, Tree, scan_start

# KataGo's: a weight of so much with that standard deviation of utility are taken for granted (its SearchParams).
_USUAL_SPREAD = 0.4
_USUAL_SPREAD_WEIGHT = 2.0


class Root(NamedTuple):
    """Where a search starts.

    boards: BOARD [1], its `ladders` marked for the boards before it where the evaluator reads them.
    history: uint64, superko keys up to the root in its first `length` places, room for the path.
    priors: float32 [area+1], the root's policy, noise included; noisy: whether there is any.
    banned_until: int16 [3, area+1], at depths below it a colour may not make a move.
    halving: what Gumbel's search does here, NO_HALVING for the usual selection.
    """

    node: int
    boards: np.ndarray
    history: np.ndarray
    length: int
    priors: np.ndarray
    noisy: bool
    banned_until: np.ndarray
    halving: Halving


class Rule(NamedTuple):
    """The selection rule's numbers, `parameters.SearchParameters` in compiled form."""

    uct: bool
    c_puct: float
    c_puct_log: float
    c_puct_base: float
    c_puct_spread: float
    c_uct: float
    fpu_reduction: float
    root_fpu_reduction: float
    fpu_visited_power: float
    virtual_loss: float
    rave: float
    forced_playouts: float


def rule_of(parameters: SearchParameters) -> Rule:
    """The rule of these parameters."""
    numbers = (float(getattr(parameters, name)) for name in Rule._fields[1:])
    return Rule(parameters.selection == "uct", *numbers)


# Inlined: passing tree, root and rule to a call costs a fifth of a visit.
@inline
def select(tree: Tree, root: Root, rule: Rule, node: int, colour: int, depth: int, banning: bool) -> tuple[int, int]:
    """The child to visit, or NOBODY and the move to make one of; NOBODY twice where nothing is allowed."""
    nodes = tree.nodes
    record = nodes[node]
    noisy = root.noisy and node == root.node
    scanning = noisy or banning
    unvisited = _best_unvisited_by_scan(tree, root, colour, depth, node) if scanning else record["unvisited"]
    if rule.uct and unvisited != NOBODY:
        return NOBODY, unvisited

    # Its own weight counts as one; this visit itself is one in flight.
    total = record["children_weight"] + 1.0 + (record["in_flight"] - 1) * rule.virtual_loss
    first_play = _first_play_value(record, rule, node == root.node)
    explore = rule.c_uct * math.sqrt(math.log(max(total, 1.0))) if rule.uct else exploration(record, rule, total)
    raving = len(tree.first_plays) > 0
    forcing = rule.forced_playouts > 0.0 and node == root.node
    best, best_urgency = NOBODY, -np.inf
    child = record["first_child"]
    while child != NOBODY:
        candidate = nodes[child]
        if banning and root.banned_until[colour, candidate["move"]] > depth:
            child = candidate["next_sibling"]
            continue
        lost = candidate["in_flight"] * rule.virtual_loss
        weight = candidate["weight"] + lost
        value = (-candidate["utility_sum"] - lost) / weight if weight > 0 else first_play
        if raving:
            estimated = rave.estimate(tree.first_plays[node], candidate["move"], first_play)
            value = rave.blended(value, weight, estimated, rule.rave)
        if rule.uct:
            urgency = value + explore / math.sqrt(max(weight, 0.5))
        else:
            prior = root.priors[candidate["move"]] if noisy else candidate["prior"]
            urgency = value + explore * prior / (1.0 + weight)
            if forcing and weight < math.sqrt(rule.forced_playouts * prior * total):
                urgency = np.inf
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


@inline
def _first_play_value(record: np.ndarray, rule: Rule, at_root: bool) -> float:
    """What a move without visits is taken for: less than its parent, the more so the more of the priors is visited.

    With `fpu_visited_power` the parent's value lies between its own evaluation and its children's, by that power of
    the visited priors (KataGo's fpuParentWeightByVisitedPolicy).
    """
    visited = min(1.0, float(record["visited_prior"]))
    value = record["utility_sum"] / record["weight"]
    if rule.fpu_visited_power > 0.0:
        value = record["own_utility"] + visited**rule.fpu_visited_power * (value - record["own_utility"])
    return value - (rule.root_fpu_reduction if at_root else rule.fpu_reduction) * math.sqrt(visited)


@inline
def exploration(record: np.ndarray, rule: Rule, total: float) -> float:
    """PUCT's factor at a node: c sqrt(N), where c grows with the logarithm of the visits (AlphaZero's pb_c_base) and
    with the spread of the utilities found so far (KataGo's cpuctUtilityStdevScale).
    """
    # KataGo adds 0.01 so that priors decide before the first child has a visit.
    explore = rule.c_puct * math.sqrt(total - 0.99)
    if rule.c_puct_log > 0.0:
        explore *= 1.0 + rule.c_puct_log / rule.c_puct * math.log((total - 1.0 + rule.c_puct_base) / rule.c_puct_base)
    if rule.c_puct_spread > 0.0:
        weight = float(record["weight"])
        square = float(record["utility_sum"] / weight) ** 2
        usual = square + _USUAL_SPREAD * _USUAL_SPREAD
        found = max(square, float(record["utility_squares"] / weight))
        mean = (usual * _USUAL_SPREAD_WEIGHT + found * weight) / (_USUAL_SPREAD_WEIGHT + weight - 1.0)
        if weight <= 1.0:
            mean = usual
        spread = math.sqrt(max(0.0, mean - square))
        explore *= 1.0 + rule.c_puct_spread * (spread / _USUAL_SPREAD - 1.0)
    return explore


@njit
def _best_unvisited_by_scan(tree: Tree, root: Root, colour: int, depth: int, node: int) -> int:
    """As `tree.largest_prior`, with the root's noise and without what is banned."""
    row = tree.priors[node]
    moves = len(row)
    best, best_prior = NOBODY, np.float32(-1.0)
    start = scan_start(node, moves)
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
