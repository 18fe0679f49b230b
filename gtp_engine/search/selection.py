"""Which move a visit tries next: PUCT or UCT, with the root's noise and forbidden moves.

PUCT (Silver et al., "Mastering the game of Go without human knowledge", 2017, after Rosin 2011) chooses the child with
the largest Q(a) + c P(a) sqrt(N) / (1 + n(a)), where Q is the mean utility, P the prior, N the weight of all children
and n that of the child. UCT (Kocsis and Szepesvari 2006) chooses the largest Q(a) + c sqrt(log N / n(a)). Weights stand
for visits; they differ if evaluations do not weigh the same (`averaging`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..base.jit import borrowing, inline
from .gumbel import SequentialHalving
from .parameters import SearchParameters
from .tree import NO_MOVE, NO_NODE, PRIOR_ONE, Tree, scan_start

# KataGo's prior for the spread of utilities (its SearchParams): a standard deviation of 0.4 with the weight of 2 visits
_USUAL_SPREAD = 0.4
_USUAL_SPREAD_WEIGHT = 2.0


class Root(NamedTuple):
    """Where a search starts."""

    node: int  # the root's index in the tree
    # BOARD [1], the position; its `ladders` are marked for the positions before it if the evaluator reads them.
    boards: np.ndarray
    # uint64, the superko keys up to the root in the first `length` elements; those of a path are written after them.
    history: np.ndarray
    length: int  # the number of positions up to the root
    priors: np.ndarray  # float32 [area+1], the root's policy with noise; to be read only if `noisy`
    noisy: bool  # whether selection at the root follows these instead of the evaluator's policy
    banned_until: np.ndarray  # int16 [3, area+1], the depth from which on a colour may make a move
    hides_passes: bool  # whether the evaluator does not see that the last moves were passes (`Search.hides_passes`)
    dead: np.ndarray  # int16, the points of the root's stones that a count in the tree takes off (`SearchRequest.dead`)
    halving: SequentialHalving  # the plan of sequential halving at the root; NO_HALVING for the usual selection


class Rule(NamedTuple):
    """The parameters of selection for compiled code: UCT or PUCT, the rest as in `SearchParameters`."""

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
    forced_playouts: float


def rule_of(parameters: SearchParameters) -> Rule:
    """Returns the rule of these parameters."""
    numbers = (float(getattr(parameters, name)) for name in Rule._fields[1:])
    return Rule(parameters.selection == "uct", *numbers)


# Inlined: passing the many arrays of tree and root to a call costs a fifth of a visit.
@inline
def select(tree: Tree, root: Root, rule: Rule, node: int, colour: int, depth: int, banning: bool) -> tuple[int, int]:
    """Selects the move that a visit follows from a node, where it is already counted as in flight.

    Args:
        tree, root, rule: The search (`visits.SearchState`); so is `banning`.
        node: The node, `depth` moves below the root.
        colour: The side to move.

    Returns:
        The child to visit and NO_MOVE; or NO_NODE and the move to make a child of; or NO_NODE and NO_MOVE if no move is
        allowed.
    """
    nodes = tree.nodes
    record = nodes[node]
    noisy = root.noisy and node == root.node
    unvisited = _best_unvisited_by_scan(tree, root, colour, depth, node) if noisy or banning else record["unvisited"]
    if rule.uct and unvisited != NO_MOVE:
        return NO_NODE, unvisited  # UCB1 is infinite for a move without visits

    # N of the formula: the node's own evaluation counts as one visit, visits in flight as lost ones, this one not.
    total = record["children_weight"] + 1.0 + (record["in_flight"] - 1) * rule.virtual_loss
    first_play = _first_play_value(record, rule, node == root.node)
    explore = rule.c_uct * math.sqrt(math.log(max(total, 1.0))) if rule.uct else exploration(record, rule, total)
    forcing = rule.forced_playouts > 0.0 and node == root.node and not rule.uct
    best, best_urgency = NO_NODE, -np.inf
    child = record["first_child"]
    while child != NO_NODE:
        candidate = nodes[child]
        if banning and root.banned_until[colour, candidate["move"]] > depth:
            child = candidate["next_sibling"]
            continue
        # Visits in flight count as lost (virtual loss, Chaslot et al. 2008), so that the leaves of a batch differ.
        lost = candidate["in_flight"] * rule.virtual_loss
        weight = candidate["weight"] + lost
        value = (-candidate["utility_sum"] - lost) / weight if weight > 0 else first_play
        prior = root.priors[candidate["move"]] if noisy else candidate["prior"]
        # The weight is 0 in flight without virtual loss.
        urgency = value + (explore / math.sqrt(max(weight, 0.5)) if rule.uct else explore * prior / (1.0 + weight))
        # Wu 2019, section 3.2: a move that noise suggests gets enough visits to show its value.
        if forcing and weight < math.sqrt(rule.forced_playouts * prior * total):
            urgency = np.inf
        if urgency > best_urgency:
            best, best_urgency = child, urgency
        child = candidate["next_sibling"]
    if unvisited == NO_MOVE or rule.uct:
        return best, NO_MOVE
    prior = root.priors[unvisited] if noisy else np.float32(tree.priors[node, unvisited]) / PRIOR_ONE
    urgency = first_play + explore * prior
    return (NO_NODE, unvisited) if urgency > best_urgency else (best, NO_MOVE)


@inline
def _first_play_value(record: np.ndarray, rule: Rule, at_root: bool) -> float:
    """Returns the first-play urgency (FPU): the value assumed for moves without visits (Gelly and Wang 2006).

    It is the parent's value minus reduction * sqrt(sum of the visited children's priors), as in Leela Zero and KataGo:
    the more of the policy has been tried, the less is expected of what is left. With `fpu_visited_power` the parent's
    value is a mixture of its own evaluation and the mean with its children, by that power of the visited priors
    (KataGo's fpuParentWeightByVisitedPolicy), since the mean over one or two visits is not reliable yet.
    """
    visited = min(1.0, float(record["visited_prior"]))
    value = record["utility_sum"] / record["weight"]
    if rule.fpu_visited_power > 0.0:
        value = record["own_utility"] + visited**rule.fpu_visited_power * (value - record["own_utility"])
    return value - (rule.root_fpu_reduction if at_root else rule.fpu_reduction) * math.sqrt(visited)


@inline
def exploration(record: np.ndarray, rule: Rule, total: float) -> float:
    """Returns PUCT's factor c(N) sqrt(N) at a node; `total` is N plus one, its own evaluation included.

    c(N) = c_puct + c_puct_log log((N + base) / base), as in AlphaZero (Silver et al. 2018, its c_init and c_base): with
    a constant c, exploration would fade in long searches. With KataGo's cpuctUtilityStdevScale it is multiplied by
    1 + c_puct_spread (s / 0.4 - 1) for the standard deviation s of the utilities found so far: c has to be in
    proportion to the differences of the values that it competes with.
    """
    # KataGo adds 0.01 so that priors decide before the first child has a visit.
    explore = rule.c_puct * math.sqrt(total - 0.99)
    if rule.c_puct_log > 0.0:
        explore *= 1.0 + rule.c_puct_log / rule.c_puct * math.log((total - 1.0 + rule.c_puct_base) / rule.c_puct_base)
    if rule.c_puct_spread > 0.0:
        weight = float(record["weight"])
        square = float(record["utility_sum"] / weight) ** 2
        # Means of squares: of the prior, and of the evaluations found; rounding must not make a variance negative.
        usual = square + _USUAL_SPREAD * _USUAL_SPREAD
        found = max(square, float(record["utility_squares"] / weight))
        mean = (usual * _USUAL_SPREAD_WEIGHT + found * weight) / (_USUAL_SPREAD_WEIGHT + weight - 1.0)
        if weight <= 1.0:
            mean = usual  # one evaluation has no spread
        spread = math.sqrt(max(0.0, mean - square))
        explore *= 1.0 + rule.c_puct_spread * (spread / _USUAL_SPREAD - 1.0)
    return explore


@borrowing
def _best_unvisited_by_scan(tree: Tree, root: Root, colour: int, depth: int, node: int) -> int:
    """Returns the allowed move without visits that has the largest prior; at the root, priors include the noise.

    It does what `tree.largest_prior` does where no move is forbidden and there is no noise.
    """
    row = tree.priors[node]
    moves = len(row)
    best, best_prior = NO_MOVE, np.float32(-1.0)
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
