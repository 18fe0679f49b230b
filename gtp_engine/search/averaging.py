"""A node's value as a weighted mean of its children's: clearly worse moves, tried to make sure, count for less.

KataGo's valueWeightExponent (its search's update of node statistics): the weight of a child is its visits times a power
of the probability that it is not worse than the mean, by Student's distribution with three degrees of freedom.
"""

import math

import numpy as np

from ..compiled import inline, njit

# KataGo's: the precision of a mean of n evaluations, whatever their spread, and the least probability.
_PRECISION = 1.5
_LEAST_PROBABILITY = 1e-4


@inline
def _cumulative(t: float) -> float:
    """Student's distribution function for three degrees of freedom."""
    x = t / math.sqrt(3.0)
    return 0.5 + (x / (1.0 + x * x) + math.atan(x)) / math.pi


@njit
def average_children(nodes: np.ndarray, node: int, exponent: float) -> None:
    """Writes a node's sums anew: its own evaluation, and its children's means by weights that sum to their visits."""
    record = nodes[node]
    visits = 0
    mean = 0.0
    child = record["first_child"]
    while child >= 0:
        visits += nodes[child]["visits"]
        mean -= nodes[child]["utility_sum"]
        child = nodes[child]["next_sibling"]
    own = record["visits"] - visits
    if visits == 0:
        return
    mean /= visits
    weights = value = utility = squares = lead = score = score_squares = 0.0
    child = record["first_child"]
    while child >= 0:
        other = nodes[child]
        count = float(other["visits"])
        if count > 0.0:
            deviation = math.sqrt(1.0 / (_PRECISION * math.sqrt(count)))
            probability = _cumulative((-other["utility_sum"] / count - mean) / deviation) + _LEAST_PROBABILITY
            share = probability**exponent  # of each visit
            weights += share * count
            value -= share * other["value_sum"]
            utility -= share * other["utility_sum"]
            squares += share * other["utility_squares"]
            lead -= share * other["lead_sum"]
            score -= share * other["score_sum"]
            score_squares += share * other["score_squares"]
        child = other["next_sibling"]
    scale = visits / weights
    record["value_sum"] = own * record["own_value"] + scale * value
    record["utility_sum"] = own * record["own_utility"] + scale * utility
    record["utility_squares"] = own * record["own_utility"] ** 2 + scale * squares
    record["lead_sum"] = own * record["own_lead"] + scale * lead
    record["score_sum"] = own * record["own_score"] + scale * score
    record["score_squares"] = own * record["own_score_square"] + scale * score_squares
