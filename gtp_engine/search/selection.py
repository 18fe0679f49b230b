"""Which move a visit tries next: PUCT or UCT, with RAVE, the root's noise and forbidden moves.

PUCT (Silver et al., "Mastering the game of Go without human knowledge", 2017, after Rosin 2011) chooses the child with
the largest Q(a) + c P(a) sqrt(N) / (1 + n(a)), where Q is the mean utility, P the prior, N the weight of all children
and n that of the child. UCT (Kocsis and Szepesvari 2006) chooses the largest Q(a) + c sqrt(log N / n(a)). Weights stand
for visits; they differ if evaluations do not weigh the same (`averaging`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..base.jit import borrowing, inline, next_random
from .gumbel import SequentialHalving
from .mirror import against_mirror
from .parameters import SearchParameters
from .tree import NO_MOVE, NO_NODE, PRIOR_ONE, Tree, node_above, scan_start

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
    penalties: np.ndarray  # float32 [area+1], by how much the utility of each move is taken for less
    mirroring: int  # the player whose answers through the centre get a share of the visits (`mirror`); EMPTY for none
    halving: SequentialHalving  # the plan of sequential halving at the root; NO_HALVING for the usual selection
    random: np.ndarray  # uint64 [1], the state of the generator of symmetries and wide root noise (`jit.next_random`)


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
    rave: float
    forced_playouts: float
    wide_root_noise: float
    loss: float  # the lowest utility there is, as a positive number: winning, and the shares of the score


def rule_of(parameters: SearchParameters) -> Rule:
    """Returns the rule of these parameters."""
    numbers = {name: float(getattr(parameters, name)) for name in Rule._fields[1:-1]}
    loss = 1.0 + parameters.score_utility + parameters.dynamic_score_utility
    return Rule(uct=parameters.selection == "uct", loss=loss, **numbers)


# Inlined: passing the many arrays of tree and root to a call costs a fifth of a visit.
@inline
def select(
    tree: Tree, root: Root, rule: Rule, node: int, last: int, colour: int, depth: int, bans_until: int
) -> tuple[int, int]:
    """Selects the move that a visit follows from a node, where it is already counted as in flight.

    Args:
        tree, root, rule: The search (`visits.SearchState`); so is `bans_until`.
        node, last: The node, `depth` moves below the root, and the move that the visit came by.
        colour: The side to move.

    Returns:
        The child to visit and NO_MOVE; NO_NODE and the move to make a child of; or, if none is allowed, both NO_*.
    """
    nodes, record = tree.nodes, tree.nodes[node]
    noisy, banning = root.noisy and node == root.node, depth < bans_until
    unvisited = _best_unvisited_by_scan(tree, root, colour, depth, node) if noisy or banning else record["unvisited"]
    if rule.uct and unvisited != NO_MOVE:
        return NO_NODE, unvisited  # UCB1 is infinite for a move without visits

    # N + 1: the node's own evaluation counts as one visit, visits in flight as lost ones, this one not.
    total = record["children_weight"] + 1.0 + (record["in_flight"] - 1) * rule.virtual_loss
    answer, least = against_mirror(root.mirroring, colour, last, tree.priors.shape[1] - 1, total)
    if answer != NO_MOVE and tree.priors[node, answer] > 0 and root.banned_until[colour, answer] <= depth:
        return NO_NODE, answer
    first_play = _first_play_value(record, rule, node == root.node)
    explore = rule.c_uct * math.sqrt(math.log(max(total, 1.0))) if rule.uct else exploration(record, rule, total)
    raving = len(tree.amaf) > 0
    widening = rule.wide_root_noise > 0.0 and node == root.node and not rule.uct
    forcing = rule.forced_playouts > 0.0 and node == root.node and not rule.uct
    best, best_urgency = NO_NODE, -np.inf
    child = record["first_child"]
    while child != NO_NODE:
        candidate = nodes[child]
        if banning and root.banned_until[colour, candidate["move"]] > depth:
            child = candidate["next_sibling"]
            continue
        # Visits in flight count as lost (virtual loss, Chaslot et al. 2008), so that the leaves of a batch differ. In a
        # lost position utilities are below -1: any loss but the greatest would make the move look better.
        lost = candidate["in_flight"] * rule.virtual_loss
        weight = candidate["weight"] + lost
        value = (-candidate["utility_sum"] - rule.loss * lost) / weight if weight > 0 else first_play
        value -= root.penalties[candidate["move"]] if node == root.node else 0.0
        if raving:
            value = rave_blend(value, weight, rave_estimate(tree.amaf[node], candidate["move"], first_play), rule.rave)
        prior = root.priors[candidate["move"]] if noisy else candidate["prior"]
        # The weight is 0 in flight without virtual loss.
        urgency = value + (explore / math.sqrt(max(weight, 0.5)) if rule.uct else explore * prior / (1.0 + weight))
        urgency += _widening(root, rule, explore / (1.0 + weight), float(prior)) if widening else 0.0
        # Wu 2019, section 3.2: a move that noise suggests gets enough visits to show its value.
        is_forced = forcing and weight < math.sqrt(rule.forced_playouts * prior * total)
        if is_forced or (candidate["move"] == answer and weight <= least):
            urgency = np.inf
        if urgency > best_urgency:
            best, best_urgency = child, urgency
        child = candidate["next_sibling"]
    if unvisited == NO_MOVE or rule.uct:
        return best, NO_MOVE
    unvisited, urgency = _best_unvisited(tree, root, colour, depth, node, first_play, explore, unvisited, noisy)
    urgency += _widening(root, rule, explore, _prior_of(tree, root, node, unvisited, noisy)) if widening else 0.0
    return (NO_NODE, unvisited) if urgency > best_urgency else (best, NO_MOVE)


@inline
def _widening(root: Root, rule: Rule, explore: float, prior: float) -> float:
    """Returns what wide root noise adds to a move's urgency, in which `explore` is the factor of its prior.

    As in KataGo the prior is raised to the power of 1 / (4 noise + 1), and half of the moves, each time others, look
    better by the noise times the absolute value of a draw from the normal distribution.
    """
    levelled = prior ** (1.0 / (4.0 * rule.wide_root_noise + 1.0))
    bits = next_random(root.random)
    if bits & np.uint64(1):
        return explore * (levelled - prior)
    # Box and Muller 1958, with two numbers of 24 and 32 bits
    radius = math.sqrt(-2.0 * math.log((float(bits >> np.uint64(40)) + 1.0) / 2.0**24))
    angle = 2.0 * math.pi * float((bits >> np.uint64(8)) & np.uint64(0xFFFFFFFF)) / 2.0**32
    return explore * (levelled - prior) + rule.wide_root_noise * radius * abs(math.cos(angle))


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


@inline
def _best_unvisited(
    tree: Tree,
    root: Root,
    colour: int,
    depth: int,
    node: int,
    first_play: float,
    explore: float,
    likeliest: int,
    noisy: bool,
) -> tuple[int, float]:
    """Returns the best move without visits and its urgency; `likeliest` is the one with the largest prior."""
    if len(tree.amaf) > 0:
        # RAVE gives each move a value of its own, so that the largest prior need not be the best any more.
        return _best_unvisited_by_rave(tree, root, colour, depth, node, first_play, explore)
    return likeliest, first_play + explore * _prior_of(tree, root, node, likeliest, noisy)


@inline
def _prior_of(tree: Tree, root: Root, node: int, move: int, noisy: bool) -> float:
    """Returns the prior of a move without visits; `noisy` is whether it is at the root and that one's own."""
    return float(root.priors[move] if noisy else np.float32(tree.priors[node, move]) / PRIOR_ONE)


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


@borrowing
def _best_unvisited_by_rave(
    tree: Tree, root: Root, colour: int, depth: int, node: int, first_play: float, explore: float
) -> tuple[int, float]:
    """Returns the move without visits that is best by priors and RAVE, and its urgency."""
    row = tree.priors[node]
    at_root = root.noisy and node == root.node
    best, best_urgency = NO_MOVE, -np.inf
    for move in range(len(row)):
        if row[move] == 0 or root.banned_until[colour, move] > depth:
            continue
        prior = float(root.priors[move]) if at_root else float(row[move]) / PRIOR_ONE
        urgency = float(rave_estimate(tree.amaf[node], move, first_play)) + explore * prior
        if urgency > best_urgency:
            best, best_urgency = move, urgency
    return best, best_urgency


# To a move's statistics area^2 / 650 rollouts are added that agree with the first-play value, so that one lucky rollout
# decides nothing: 10 on 9x9 (measured best), 200 on 19x19. A move's share in the result falls with the board's area, so
# the number of rollouts needed to detect it grows with the square.
_AREA_SQUARES_A_ROLLOUT = 650.0


@inline
def rave_estimate(amaf: np.ndarray, move: int, first_play: float) -> float:
    """Returns a move's value by a node's row of `tree.Tree.amaf`; the first-play value for a pass."""
    if move >= len(amaf):
        return first_play
    doubt = len(amaf) * len(amaf) / _AREA_SQUARES_A_ROLLOUT
    return (amaf[move, 1] + doubt * first_play) / (amaf[move, 0] + doubt)


@inline
def rave_blend(value: float, visits: float, estimated: float, equivalence: float) -> float:
    """Returns (1 - beta) value + beta estimated, with beta = sqrt(k / (3 n + k)) after n visits (equation 14)."""
    beta = math.sqrt(equivalence / (3.0 * visits + equivalence))
    return (1.0 - beta) * value + beta * estimated


@borrowing
def back_up_amaf(
    nodes: np.ndarray, amaf: np.ndarray, path: np.ndarray, leaf: int, leaf_amaf: np.ndarray, value: float
) -> None:
    """Adds a leaf's AMAF statistics to the leaf and all nodes above it.

    Args:
        nodes, amaf: Those of the `Tree`.
        path: PATH, that of the visit.
        leaf: The leaf's node.
        leaf_amaf: float32 [2, 2, area] (`evaluate.row`), overwritten: on the way up the path's own moves become the
            first plays of every rollout, since they were made before it.
        value: Win minus loss at the leaf, for the side to move there.
    """
    area = leaf_amaf.shape[2]
    side = 0  # index into `leaf_amaf` of the player to move at the node
    node, depth = leaf, int(path["length"])
    while node != NO_NODE:
        for move in range(area):
            amaf[node, move, 0] += leaf_amaf[side, 0, move]
            amaf[node, move, 1] += leaf_amaf[side, 1, move]
        move = nodes[path["records"][depth] if depth > 0 else node]["move"]
        side = 1 - side
        value = -value
        # The mover was the first to play there in all rollouts below, and its opponent in none. Not for a pass.
        if 0 <= move < area:
            leaf_amaf[side, 0, move] = 1.0
            leaf_amaf[side, 1, move] = value
            leaf_amaf[1 - side, 0, move] = 0.0
            leaf_amaf[1 - side, 1, move] = 0.0
        node = node_above(nodes, path, depth, node)
        depth -= 1
