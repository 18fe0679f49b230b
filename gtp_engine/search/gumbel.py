"""Sequential halving at the root with Gumbel noise: a good choice of move, and of what to learn, from few visits.

Ivo Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022. Some of the moves are drawn from the
policy, all of these get the same visits, the better half of them twice as many, and so on. Below the root the search is
the usual one.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..compiled import njit
from .tree import NOBODY, Tree

# The paper's (appendix, Go and chess), for values in 0..1.
_C_VISIT, _C_SCALE = 50.0, 1.0


class Halving(NamedTuple):
    """What a root does.

    schedule: int32, for each visit below the root how many the move has that gets it; empty without Gumbel.
    scores: float32 [area+1], each move's noise plus the logarithm of its prior; -inf where it is not allowed.
    priors: float32 [area+1].
    """

    schedule: np.ndarray
    scores: np.ndarray
    priors: np.ndarray


NO_HALVING = Halving(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))


@lru_cache(maxsize=64)
def schedule_of(moves: int, visits: int) -> np.ndarray:
    """The visits that a move has when it gets the next, for `visits` in turn, with so many moves to begin with. Not to
    be written.
    """
    if moves < 2:
        return np.arange(visits, dtype=np.int32)
    rounds = math.ceil(math.log2(moves))
    schedule: list[int] = []
    left, given = moves, 0
    while len(schedule) < visits:
        for _ in range(max(1, visits // (rounds * left))):
            schedule += [given] * left
            given += 1
        left = max(2, left // 2)
    return np.array(schedule[:visits], np.int32)


def halving_of(priors: np.ndarray, banned: np.ndarray, moves: int, visits: int, noise: np.ndarray) -> Halving:
    """The plan of a root for `visits` below it; priors: float32 [area+1], banned: bool, noise: Gumbel, 0 for none."""
    allowed = (priors > 0) & ~banned
    scores = np.full(len(priors), -np.inf, np.float32)
    scores[allowed] = np.log(priors[allowed]) + noise[allowed]
    moves = min(moves, int(allowed.sum()))
    return Halving(schedule_of(moves, visits), scores, priors)


@njit
def completed_utilities(tree: Tree, node: int, priors: np.ndarray) -> np.ndarray:
    """The utility of each move for the side to move, float64 [area+1]; of those without visits the mean of the node's
    own evaluation and its children's, by their priors (the paper's equation 33).
    """
    record = tree.nodes[node]
    total = prior = mean = 0.0
    child = record["first_child"]
    while child != NOBODY:
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
    while child != NOBODY:
        other = tree.nodes[child]
        if other["visits"] > 0:
            utilities[other["move"]] = -other["utility_sum"] / other["weight"]
        child = other["next_sibling"]
    return utilities


@njit
def improved_scores(tree: Tree, node: int, scores: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Scores with what the search found added to them, float64 [area+1] (the paper's sigma, equation 8)."""
    most = 0
    child = tree.nodes[node]["first_child"]
    while child != NOBODY:
        most = max(most, tree.nodes[child]["visits"])
        child = tree.nodes[child]["next_sibling"]
    return scores + (_C_VISIT + most) * _C_SCALE * (completed_utilities(tree, node, priors) + 1.0) / 2.0


@njit
def select_by_halving(tree: Tree, node: int, halving: Halving) -> tuple[int, int]:
    """The root's child that the plan visits next, or NOBODY and the move to make one of; NOBODY twice at its end."""
    area = len(halving.scores) - 1
    begun = np.zeros(area + 1, np.int32)
    children = np.full(area + 1, NOBODY, np.int32)
    total = 0
    child = tree.nodes[node]["first_child"]
    while child != NOBODY:
        other = tree.nodes[child]
        begun[other["move"]] = other["visits"] + other["in_flight"]
        children[other["move"]] = child
        total += begun[other["move"]]
        child = other["next_sibling"]
    if total >= len(halving.schedule):
        return NOBODY, NOBODY
    scores = improved_scores(tree, node, halving.scores, halving.priors)
    best = NOBODY
    for move in range(area + 1):
        is_due = begun[move] == halving.schedule[total] and scores[move] > -np.inf
        if is_due and (best == NOBODY or scores[move] > scores[best]):
            best = move
    if best == NOBODY:
        return NOBODY, NOBODY
    return (children[best], NOBODY) if children[best] != NOBODY else (NOBODY, best)


def policy_target(tree: Tree, node: int, halving: Halving) -> np.ndarray:
    """What the policy should have been, float32 [area+1]: the priors, raised by what the search found of each move
    (the paper's equation 11).
    """
    allowed = np.isfinite(halving.scores)
    logits = np.log(np.where(allowed, halving.priors, 1))
    scores = improved_scores(tree, node, logits, halving.priors)
    weights = np.where(allowed, np.exp(scores - scores[allowed].max()), 0)
    return (weights / weights.sum()).astype(np.float32)
