"""From a network's raw outputs of turned boards to evaluations in move-index order.

It is `network.outputs` for a batch of a search: one compiled pass instead of many small steps of torch's.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import njit
from ..network.config import NetworkConfig
from ..network.outputs import SUPERKO, TERRITORY
from .interface import Outputs

NUMBERS = 9  # win, loss, no result; lead, score mean, score stdev; the three of `Outputs.outlook`


class Scale(NamedTuple):
    """What raw scores mean: a file's version and its multipliers."""

    version: int
    score_mean: float
    score_stdev: float
    lead: float
    variance_time: float
    value_error: float
    score_error: float


def scale_of(config: NetworkConfig) -> Scale:
    of = config.multipliers
    # Of squares since version 10.
    errors = (1.0, 10.0) if config.version == 9 else (math.sqrt(of.value_error), math.sqrt(of.score_error))
    return Scale(config.version, of.score_mean, of.score_stdev, of.lead, of.variance_time, *errors)


def columns_of(area: int) -> int:
    """The numbers of an evaluation: policy [area + 1], NUMBERS, ownership [area]."""
    return 2 * area + 1 + NUMBERS


@njit
def write_answers(
    policy: np.ndarray,
    value: np.ndarray,
    scores: np.ndarray,
    ownership: np.ndarray,
    rows: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    turns: np.ndarray,
    turned: np.ndarray,
    optimism: float,
    scale: Scale,
    out: np.ndarray,
) -> None:
    """Evaluations of the positions `rows` into `out`: float32 [rows, columns].

    policy, value, scores, ownership: `network.model.RawOutputs` of the rows' boards turned. scalars: the inputs
    [positions, 19]; legal: bool [positions, area + 1]; turns: symmetries [positions]; turned: `symmetry.turned_indices`
    of the eight. optimism: the optimistic policy's share, 0 where the network has none.
    """
    moves = turned.shape[1]
    for number in range(len(rows)):
        position = rows[number]
        allowed, places = legal[position], turned[turns[position]]
        made = out[number]
        _write_policy(policy[number], optimism, allowed, places, made)
        no_result = scalars[position, SUPERKO] == 0 or scalars[position, TERRITORY] != 0
        _write_numbers(value[number], scores[number], no_result, scale, made[moves : moves + NUMBERS])
        owned, owners = ownership[number], made[moves + NUMBERS :]
        for point in range(moves - 1):
            owners[point] = math.tanh(owned[places[point]])


@njit
def _write_policy(
    logits: np.ndarray, optimism: float, allowed: np.ndarray, places: np.ndarray, made: np.ndarray
) -> None:
    """Probabilities of the allowed moves, of logits [channels, moves] turned."""
    moves = len(places)
    highest = -np.inf
    for move in range(moves):
        logit = logits[0, places[move]]
        if optimism > 0:
            logit += np.float32(optimism) * (logits[1, places[move]] - logit)
        made[move] = logit
        if allowed[move]:
            highest = max(highest, logit)
    total = 0.0
    for move in range(moves):
        share = math.exp(made[move] - highest) if allowed[move] else 0.0
        total += share
        made[move] = share
    for move in range(moves):
        made[move] /= total


@njit
def _write_numbers(value: np.ndarray, scores: np.ndarray, no_result: bool, scale: Scale, made: np.ndarray) -> None:
    """NUMBERS, of raw values and scores; no_result: whether the rules allow games without one."""
    highest = max(value[0], value[1], value[2] if no_result else value[1])
    win, loss = math.exp(value[0] - highest), math.exp(value[1] - highest)
    neither = math.exp(value[2] - highest) if no_result else 0.0
    total = win + loss + neither
    ends = (win + loss) / total
    mean = scores[0] * scale.score_mean
    stdev = _softplus(scores[1]) * scale.score_stdev
    variance = (mean * mean + stdev * stdev) * ends - mean * ends * mean * ends
    made[0], made[1], made[2] = win / total, loss / total, neither / total
    made[3] = scores[2] * scale.lead * ends
    made[4] = mean * ends
    made[5] = math.sqrt(max(0.0, variance))
    if scale.version < 9:
        made[6:] = -1
        return
    made[6] = _error(scores[4], scale.version) * scale.value_error
    made[7] = _error(scores[5], scale.version) * scale.score_error
    made[8] = _softplus(scores[3]) * scale.variance_time


@njit
def _error(raw: float, version: int) -> float:
    if version == 9:
        return _softplus(raw)
    return math.sqrt(_softplus(raw)) if version < 14 else _softplus(raw / 2)


@njit
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def outputs_of(rows: np.ndarray, area: int, has_outlook: bool) -> Outputs:
    """Evaluations [n, columns] as a search takes them, contiguous: compiled code is compiled once more for others."""
    count = len(rows)
    widths = area + 1, 3, area, 3
    policy, value, ownership, outlook = (np.empty((count, width), np.float32) for width in widths)
    lead, mean, stdev = scores = np.empty((3, count), np.float32)
    _split(rows, policy, value, scores, outlook, ownership)
    return Outputs(policy, value, lead, mean, stdev, ownership, outlook if has_outlook else None)


@njit
def _split(
    rows: np.ndarray,
    policy: np.ndarray,
    value: np.ndarray,
    scores: np.ndarray,
    outlook: np.ndarray,
    ownership: np.ndarray,
) -> None:
    moves = policy.shape[1]
    for number in range(len(rows)):
        row = rows[number]
        policy[number] = row[:moves]
        value[number] = row[moves : moves + 3]
        scores[:, number] = row[moves + 3 : moves + 6]
        outlook[number] = row[moves + 6 : moves + NUMBERS]
        ownership[number] = row[moves + NUMBERS :]
