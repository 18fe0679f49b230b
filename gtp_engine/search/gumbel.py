"""Sequential halving at the root with Gumbel noise: a good choice of move, and of what to learn, from few visits.

Ivo Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022. The root's candidates are drawn from the
policy without replacement, which is what the moves with the largest Gumbel noise plus log prior are. All of these get
the same number of visits, the better half of them more, and so on (sequential halving). Below the root the search is
the usual one.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..base.jit import njit
from .tree import NO_MOVE, NO_NODE, Tree

# The paper's c_visit and c_scale (appendix, Go and chess), for values in 0..1
_C_VISIT, _C_SCALE = 50.0, 1.0
# A plan has an entry for each visit, in memory; it is meant for few of them.
_MOST_VISITS = 1_000_000


class SequentialHalving(NamedTuple):
    """The plan of sequential halving at one root."""

    # int32, for each visit below the root in turn, how many visits the move that receives it must have had before
    # (`considered_visits`); empty without sequential halving.
    considered_visits: np.ndarray
    # float32 [area+1], each move's Gumbel noise plus the logarithm of its prior; -inf if it is not allowed.
    scores: np.ndarray
    priors: np.ndarray  # float32 [area+1], the root's policy, with noise if there is any


NO_HALVING = SequentialHalving(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))


@lru_cache(maxsize=64)
def considered_visits(moves: int, visits: int) -> np.ndarray:
    """Returns the paper's considered visits: a visit goes to a move that has exactly this many visits before it.

    In this form the plan needs no state besides the tree: the moves' visits show how far it has been carried out, even
    if visits are backed up in a different order from the one in which they began.

    Args:
        moves: The number of candidates at the beginning.
        visits: The number of visits below the root.

    Returns:
        int32 [visits]; not to be modified.
    """
    if moves < 2:
        return np.arange(visits, dtype=np.int32)
    rounds = math.ceil(math.log2(moves))
    schedule: list[int] = []
    left, given = moves, 0
    while len(schedule) < visits:
        # Each round has an equal share of the visits: the fewer candidates are left, the more each of them gets.
        for _ in range(max(1, visits // (rounds * left))):
            schedule += [given] * left
            given += 1
        left = max(2, left // 2)
    return np.array(schedule[:visits], np.int32)


def plan_halving(
    priors: np.ndarray, banned: np.ndarray, moves: int, visits: int, noise: np.ndarray
) -> SequentialHalving:
    """Returns the plan for a root; none for more than a million visits, or if no move is allowed.

    Args:
        priors: float32 [area+1], the root's policy.
        banned: bool [area+1], the moves that are not allowed.
        moves, visits: As in `considered_visits`; there are fewer candidates if fewer moves are allowed.
        noise: [area+1], independent samples of the Gumbel distribution, or 0 for a search without noise.
    """
    allowed = (priors > 0) & ~banned
    if visits > _MOST_VISITS or not allowed.any():
        return NO_HALVING
    scores = np.full(len(priors), -np.inf, np.float32)
    scores[allowed] = np.log(priors[allowed]) + noise[allowed]
    moves = min(moves, int(allowed.sum()))
    return SequentialHalving(considered_visits(moves, visits), scores, priors)


@njit
def completed_utilities(tree: Tree, node: int, priors: np.ndarray) -> np.ndarray:
    """Returns the paper's completed Q-values, float64 [area+1]: the utility of each move for the side to move.

    Moves without visits get v_mix (equation 33), the mean of the node's own evaluation and of its children's values
    averaged by their priors: an unbiased guess, while a pessimistic one, as in first-play urgency, would teach a
    network that whatever was not looked at is bad.
    """
    record = tree.nodes[node]
    total = prior = mean = 0.0
    child = record["first_child"]
    while child != NO_NODE:
        other = tree.nodes[child]
        if other["visits"] > 0:
            total += other["visits"]
            prior += priors[other["move"]]
            mean -= priors[other["move"]] * other["utility_sum"] / other["weight"]
        child = other["next_sibling"]
    mixed = float(record["own_utility"])
    if prior > 0.0:
        mixed = (mixed + total * mean / prior) / (1.0 + total)
    utilities = np.full(len(priors), mixed)
    child = record["first_child"]
    while child != NO_NODE:
        other = tree.nodes[child]
        if other["visits"] > 0:
            utilities[other["move"]] = -other["utility_sum"] / other["weight"]
        child = other["next_sibling"]
    return utilities


@njit
def improved_scores(tree: Tree, node: int, scores: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Returns scores plus what the search found, sigma(Q) = (c_visit + max n) c_scale Q (equation 8), float64 [area+1].

    The more visits, the more the utilities outweigh noise and priors.
    """
    most = 0
    child = tree.nodes[node]["first_child"]
    while child != NO_NODE:
        most = max(most, tree.nodes[child]["visits"])
        child = tree.nodes[child]["next_sibling"]
    return scores + (_C_VISIT + most) * _C_SCALE * (completed_utilities(tree, node, priors) + 1.0) / 2.0


@njit
def select_by_halving(tree: Tree, node: int, halving: SequentialHalving) -> tuple[int, int]:
    """Selects the root's move that the plan visits next: the best one with the considered number of visits.

    Returns the child and NO_MOVE; NO_NODE and the move to make a child of; or NO_NODE and NO_MOVE at the plan's end.
    """
    area = len(halving.scores) - 1
    begun = np.zeros(area + 1, np.int32)
    children = np.full(area + 1, NO_NODE, np.int32)
    total = 0
    child = tree.nodes[node]["first_child"]
    while child != NO_NODE:
        other = tree.nodes[child]
        # Visits in flight count: the plan says how many are to begin, and a batch begins several before any is back.
        begun[other["move"]] = other["visits"] + other["in_flight"]
        children[other["move"]] = child
        total += begun[other["move"]]
        child = other["next_sibling"]
    if total >= len(halving.considered_visits):
        return NO_NODE, NO_MOVE
    scores = improved_scores(tree, node, halving.scores, halving.priors)
    best = NO_MOVE
    for move in range(area + 1):
        is_due = begun[move] == halving.considered_visits[total] and scores[move] > -np.inf
        if is_due and (best == NO_MOVE or scores[move] > scores[best]):
            best = move
    if best == NO_MOVE:
        return NO_NODE, NO_MOVE
    return (children[best], NO_MOVE) if children[best] != NO_NODE else (NO_NODE, best)


def policy_target(tree: Tree, node: int, halving: SequentialHalving) -> np.ndarray:
    """Returns the improved policy, softmax(log prior + sigma(completed Q)), float32 [area+1] (equation 11).

    It is a network's training target. The noise is left out: it only decided which moves were looked at.
    """
    allowed = np.isfinite(halving.scores)
    logits = np.log(np.where(allowed, halving.priors, 1))
    scores = improved_scores(tree, node, logits, halving.priors)
    weights = np.where(allowed, np.exp(scores - scores[allowed].max()), 0)
    return (weights / weights.sum()).astype(np.float32)
