"""What the search maximises, and a node's value as a weighted mean of its own evaluation and its children's values.

The utility is winning, and a little of the score: expected utilities of a score as in David J. Wu, "Accelerating
Self-Play Learning in Go", 2019, appendix, and KataGo's staticScoreUtilityFactor and dynamicScoreUtilityFactor.

In a plain mean every visit weighs the same. KataGo's search reduces the weight of children that were visited far beyond
their prior and turned out worse than those before them (its useNoisePruning), and of children that are clearly worse
than the rest (valueWeightExponent): the latter by a power of the probability that the child is not worse than the mean,
by Student's distribution with three degrees of freedom. It also corrects the node's own evaluation (`value_bias`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..base.jit import borrowing, inline, njit
from ..go.coords import BLACK
from .tree import NO_NODE, Tree, refresh_link
from .value_bias import WEIGHT_EXPONENT, entry_of, mean_gap

# KataGo's: the static utility saturates within 2 sqrt(area) around zero, the dynamic one within 0.75 sqrt(area) around
# a centre that is a fifth nearer to zero than the score expected at the root.
_STATIC_WIDTH = 2.0
_DYNAMIC_WIDTH = 0.75
_CENTRE_SHARE = 0.8


def _make_corrections() -> np.ndarray:
    """Returns `_CORRECTIONS`, by a sum over eight standard deviations."""
    draws = np.linspace(-4, 4, 81)
    weights = np.exp(-(draws**2) / 2)
    weights /= weights.sum()
    scores = np.arange(_SCORES + 1)[:, None] / _STEPS
    deviations = np.arange(_DEVIATIONS + 1)[None, :] / _STEPS
    means = sum(weight * np.arctan(scores + draw * deviations) for draw, weight in zip(draws, weights, strict=True))
    return np.asarray((means - np.arctan(scores)) * 2 / np.pi, np.float32)


# The difference of the mean of 2/pi atan(x) over a normal distribution from the value at its mean, by the mean and by
# the standard deviation, both in steps of 1/8. Interpolated, it is accurate to 0.001 (a quadrature of five points to
# 0.03).
_STEPS, _SCORES, _DEVIATIONS = 8, 128, 96
_CORRECTIONS = _make_corrections()


class Utility(NamedTuple):
    """The weights of the score in the utility."""

    static: float  # the weight of the score itself
    dynamic: float  # the weight of the score relative to `centre`
    centre: float  # the score in points, for Black, around which the dynamic part is steepest


@njit
def centred(scale: Utility, score: float, area: int, to_move: int) -> Utility:
    """Returns the utility centred for a root at which the side to move expects this score."""
    reach = _DYNAMIC_WIDTH * math.sqrt(area)
    centre = min(max(_CENTRE_SHARE * score, score - reach), score + reach)
    return Utility(scale.static, scale.dynamic, centre if to_move == BLACK else -centre)


@inline
def _expected(score: float, stdev: float, width: float) -> float:
    """Returns the mean of 2/pi atan(x / width) for a normal x."""
    x = score / width
    row = min(abs(x) * _STEPS, _SCORES - 1e-9)
    column = min(stdev / width * _STEPS, _DEVIATIONS - 1e-9)
    i, j = int(row), int(column)
    below, left = row - i, column - j
    nearer = (1 - left) * _CORRECTIONS[i, j] + left * _CORRECTIONS[i, j + 1]
    farther = (1 - left) * _CORRECTIONS[i + 1, j] + left * _CORRECTIONS[i + 1, j + 1]
    correction = (1 - below) * nearer + below * farther
    return math.atan(x) * 2.0 / math.pi + (correction if x > 0.0 else -correction)


@borrowing
def utility_of(value: float, score: float, stdev: float, area: int, to_move: int, scale: Utility) -> float:
    """Returns the utility of win minus loss and a score with its standard deviation, all for the side to move."""
    root = math.sqrt(area)
    utility = value + scale.static * _expected(score, stdev, _STATIC_WIDTH * root)
    if scale.dynamic != 0.0:
        centre = scale.centre if to_move == BLACK else -scale.centre
        utility += scale.dynamic * _expected(score - centre, stdev, _DYNAMIC_WIDTH * root)
    return utility


@inline
def slope_of(score: float, area: int, to_move: int, scale: Utility) -> float:
    """Returns about by how much one more point raises the utility, for the side to move."""
    root = math.sqrt(area)
    width = _STATIC_WIDTH * root
    slope = scale.static * width / (width * width + score * score)
    if scale.dynamic != 0.0:
        width = _DYNAMIC_WIDTH * root
        score -= scale.centre if to_move == BLACK else -scale.centre
        slope += scale.dynamic * width / (width * width + score * score)
    return slope * 2.0 / math.pi


# KataGo's downweightBadChildrenAndNormalizeWeight: the variance of a mean of weight w is taken to be 1 / (1.5 sqrt(w)),
# whatever the spread of its evaluations, and no probability is 0.
_PRECISION = 1.5
_LEAST_PROBABILITY = 1e-4
# KataGo's pruneNoiseWeight: a child keeps its weight up to twice its share by prior.
_LENIENCE = 2.0

_LARGEST_WEIGHT = 8.0  # KataGo's uncertaintyMaxWeight


class Averaging(NamedTuple):
    """How a node's value is averaged."""

    plain: bool  # whether a node's value is the plain weighted mean; the next three fields are 0 then
    # KataGo's valueWeightExponent, by which the weight of clearly worse children is reduced; 0 for not at all.
    better_children: float
    # The loss of utility at which the weight of a child visited beyond its prior is reduced to 1/e; 0 for not at all.
    noise_pruning: float
    value_bias: float  # the share of `value_bias.mean_gap` that is added to evaluations
    uncertainty: float  # the error of utility at which an evaluation weighs about one; 0 if all weigh one


@inline
def weight_of(error: float, averaging: Averaging) -> float:
    """Returns the weight of an evaluation whose utility has this expected error.

    It is c / (error + c / 8) with c = `uncertainty` (KataGo's docs/KataGoMethods.md, "Uncertainty-Weighted MCTS
    Playouts"): an evaluation that the network itself doubts, as in the middle of a fight, counts less.
    """
    if averaging.uncertainty == 0.0:
        return 1.0
    return averaging.uncertainty / (error + averaging.uncertainty / _LARGEST_WEIGHT)


@inline
def _cumulative(t: float) -> float:
    """Returns Student's distribution function for three degrees of freedom."""
    x = t / math.sqrt(3.0)
    return 0.5 + (x / (1.0 + x * x) + math.atan(x)) / math.pi


@borrowing
def average_children(tree: Tree, node: int, averaging: Averaging) -> None:
    """Recomputes a node's weight and sums from its own evaluation and its children's means.

    With plain means a visit could simply be added on its way up. Here it may change the weight of every other child, so
    each node of the path is recomputed from all of its children.
    """
    nodes = tree.nodes
    record = nodes[node]
    counted, mean = _prune_noise(nodes, node, averaging.noise_pruning)
    if counted == 0.0:
        return
    weights = value = utility = squares = lead = score = score_squares = 0.0
    child = record["first_child"]
    while child != NO_NODE:
        other = nodes[child]
        weight = float(other["counted"])
        if weight > 0.0:
            share = weight / other["weight"]
            # Weight is multiplied by the probability, to this power, that the child is not worse than the mean: once a
            # move is known to be bad, its visits should not pull down the value of a node that will not play it.
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
    # The children keep their joint weight, which only moves from the bad ones to the good ones.
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
    """Sets the weight of each child in the mean; returns the sum of the weights and the mean of the utilities.

    KataGo's pruneNoiseWeight. Utilities are for the node's side to move, children in the order of their priors
    (`tree`). A child that is worse than the mean of those before it keeps twice its share by prior, and exp(-difference
    / loss) of the rest: these visits went to a move that looked good for a while, and were found to be wasted.
    """
    record = nodes[node]
    whole = counted = utility = prior = 0.0
    child = record["first_child"]
    while child != NO_NODE:
        other = nodes[child]
        if other["target"] != NO_NODE:
            refresh_link(nodes, child)
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
    return counted, utility / max(counted, 1e-300)  # no division by zero if no child has a weight


@inline
def _note_bias(tree: Tree, node: int, children_utility: float) -> None:
    """Updates the node's share in its bias entry: the difference of its children's mean utility from its evaluation.

    The node's last share is subtracted, so that an entry counts each of its nodes once, as of the latest batch.
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
    """Returns the utility of a node's own evaluation plus the correction known for it (`value_bias`)."""
    record = tree.nodes[node]
    utility = float(record["own_utility"])
    if record["bias_key"] != 0:
        utility += averaging.value_bias * mean_gap(tree.biases[entry_of(tree.biases, record["bias_key"])])
    return utility
