"""A node's value as a weighted mean of its own evaluation and its children's values.

Plainly every visit counts the same. KataGo's search counts children for less that were visited far beyond their prior
and turned out worse than what stood before them (its useNoisePruning), and those that are clearly worse than the rest
(valueWeightExponent): the latter by a power of the probability that the child is not worse than the mean, by Student's
distribution with three degrees of freedom. It also corrects the node's own evaluation (`value_bias`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import inline, njit
from .tree import NOBODY, Tree
from .value_bias import WEIGHT_EXPONENT, entry_of, mean_gap

# KataGo's: the precision of a mean of n evaluations, whatever their spread, and the least probability.
_PRECISION = 1.5
_LEAST_PROBABILITY = 1e-4
# KataGo's: a child's weight is its own up to twice its share by prior.
_LENIENCE = 2.0

_LARGEST_WEIGHT = 8.0  # KataGo's uncertaintyMaxWeight


class Averaging(NamedTuple):
    """How a node's value is made.

    plain: every visit counts the same, and nothing else is looked at.
    better_children: the exponent by which clearly worse children count for less, 0 for not at all.
    noise_pruning: the loss of utility at which a child that was visited beyond its prior counts for less, 0 for none.
    value_bias: the share of `value_bias.mean_gap` that is added to evaluations.
    uncertainty: the error of utility at which an evaluation weighs about one, 0 where all weigh one.
    """

    plain: bool
    better_children: float
    noise_pruning: float
    value_bias: float
    uncertainty: float


@inline
def weight_of(error: float, averaging: Averaging) -> float:
    """What an evaluation weighs whose utility is expected to be wrong by so much.

    KataGo's docs/KataGoMethods.md, "Uncertainty-Weighted MCTS Playouts".
    """
    if averaging.uncertainty == 0.0:
        return 1.0
    return averaging.uncertainty / (error + averaging.uncertainty / _LARGEST_WEIGHT)


@inline
def _cumulative(t: float) -> float:
    """Student's distribution function for three degrees of freedom."""
    x = t / math.sqrt(3.0)
    return 0.5 + (x / (1.0 + x * x) + math.atan(x)) / math.pi


@njit
def average_children(tree: Tree, node: int, averaging: Averaging) -> None:
    """Writes a node's weight and sums anew, from its own evaluation and its children's means."""
    nodes = tree.nodes
    record = nodes[node]
    counted, mean = _prune_noise(nodes, node, averaging.noise_pruning)
    if counted == 0.0:
        return
    weights = value = utility = squares = lead = score = score_squares = 0.0
    child = record["first_child"]
    while child != NOBODY:
        other = nodes[child]
        weight = float(other["counted"])
        if weight > 0.0:
            share = weight / other["weight"]
            if averaging.better_children > 0.0:
                deviation = math.sqrt(1.0 / (_PRECISION * math.sqrt(weight)))
                probability = _cumulative((-other["utility_sum"] / other["weight"] - mean) / deviation)
                share *= (probability + _LEAST_PROBABILITY) ** averaging.better_children
            weights += share * other["weight"]
            value -= share * other["value_sum"]
            utility -= share * other["utility_sum"]
            squares += share * other["utility_squares"]
            lead -= share * other["lead_sum"]
            score -= share * other["score_sum"]
            score_squares += share * other["score_squares"]
        child = other["next_sibling"]
    own, scale = float(record["own_weight"]), counted / weights
    if record["bias_key"] != 0:
        _note_bias(tree, node, scale * utility / counted)
    own_utility = corrected_utility(tree, node, averaging)
    record["weight"] = own + counted
    record["value_sum"] = own * record["own_value"] + scale * value
    record["utility_sum"] = own * own_utility + scale * utility
    record["utility_squares"] = own * own_utility**2 + scale * squares
    record["lead_sum"] = own * record["own_lead"] + scale * lead
    record["score_sum"] = own * record["own_score"] + scale * score
    record["score_squares"] = own * record["own_score_square"] + scale * score_squares


@inline
def _prune_noise(nodes: np.ndarray, node: int, loss: float) -> tuple[float, float]:
    """Sets the weight with which each child counts; the sum of them, and the mean of their utilities for the node.

    Children stand in the order of their priors (`tree`). One that is worse than the mean of those before it keeps twice
    its share by prior, and of what is beyond that exp(-difference / loss).
    """
    record = nodes[node]
    whole = counted = utility = prior = 0.0
    child = record["first_child"]
    while child != NOBODY:
        other = nodes[child]
        weight = other["weight"]
        if weight > 0.0:
            own_utility = -other["utility_sum"] / weight
            whole += weight
            if loss > 0.0 and counted > 0.0 and prior > 0.0:
                worse = utility / counted - own_utility
                excess = weight - _LENIENCE * counted * other["prior"] / prior
                if worse > 0.0 and excess > 0.0:
                    weight -= excess * (1.0 - math.exp(-worse / loss))
            counted += weight
            utility += weight * own_utility
            prior += other["prior"]
        other["counted"] = weight
        child = other["next_sibling"]
    record["children_weight"] = whole
    return counted, utility / max(counted, 1e-300)


@inline
def _note_bias(tree: Tree, node: int, children_utility: float) -> None:
    """Puts into the node's entry how far its children's mean utility lies from its own evaluation, in place of what it
    put there before.
    """
    record = tree.nodes[node]
    entry = tree.biases[entry_of(tree.biases, record["bias_key"])]
    weight = np.float32(record["children_weight"] ** WEIGHT_EXPONENT)
    gap = np.float32((children_utility - record["own_utility"]) * weight)
    entry["weight"] += weight - record["bias_weight"]
    entry["gap"] += gap - record["bias_gap"]
    record["bias_weight"] = weight
    record["bias_gap"] = gap


@inline
def corrected_utility(tree: Tree, node: int, averaging: Averaging) -> float:
    """A node's own evaluation, and what is known to be amiss with it."""
    record = tree.nodes[node]
    utility = float(record["own_utility"])
    if record["bias_key"] != 0:
        utility += averaging.value_bias * mean_gap(tree.biases[entry_of(tree.biases, record["bias_key"])])
    return utility
