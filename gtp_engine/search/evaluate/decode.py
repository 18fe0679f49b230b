"""From a network's raw outputs for transformed boards to evaluation rows in move-index order.

The formulas are those of KataGo for its files of versions 8 to 17.
"""

import math
from typing import NamedTuple

import numpy as np

from ...base.jit import njit
from ...nets.config import SUPERKO, TERRITORY, NetworkConfig
from .row import (
    LEAD,
    LOSS,
    NO_RESULT,
    POLICY,
    SCORE_ERROR,
    SCORE_MEAN,
    SCORE_STDEV,
    UNKNOWN,
    VALUE_ERROR,
    VARIANCE_TIME,
    WIN,
    ownership_column,
)


class OutputScale(NamedTuple):
    """The meaning of raw scores: the version of a network's file and its multipliers."""

    version: int
    score_mean: float
    score_stdev: float
    lead: float
    variance_time: float
    value_error: float
    score_error: float


def output_scale(config: NetworkConfig) -> OutputScale:
    """Returns the scale of a network's outputs."""
    of = config.multipliers
    # Since version 10 the multipliers of errors are those of their squares.
    errors = (1.0, 10.0) if config.version == 9 else (math.sqrt(of.value_error), math.sqrt(of.score_error))
    return OutputScale(config.version, of.score_mean, of.score_stdev, of.lead, of.variance_time, *errors)


@njit
def decode_outputs(
    policy: np.ndarray,
    value: np.ndarray,
    scores: np.ndarray,
    ownership: np.ndarray,
    positions: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    symmetries: np.ndarray,
    transformed_index: np.ndarray,
    optimism: float,
    scale: OutputScale,
    rows: np.ndarray,
) -> None:
    """Writes the evaluation rows of some positions of a batch.

    Args:
        policy, value, scores, ownership: those of `RawOutputs`, entry i for the transformed board of positions[i].
        positions: int [n], indices into the batch.
        scalars: float32 [batch, 19], the inputs.
        legal: bool [batch, area + 1].
        symmetries: int [batch], by which each board was transformed.
        transformed_index: int [8, area + 1], `symmetry.turned_indices` of each symmetry.
        optimism: the share of the optimistic policy; 0 if the network has none.
        scale: the meaning of raw scores.
        rows: float32 [batch, columns], written at `positions`.
    """
    area = transformed_index.shape[1] - 1
    for number in range(len(positions)):
        position = positions[number]
        allowed, index = legal[position], transformed_index[symmetries[position]]
        row = rows[position]
        _write_policy(policy[number], optimism, allowed, index, row[POLICY:])
        no_result = scalars[position, SUPERKO] == 0 or scalars[position, TERRITORY] != 0
        _write_numbers(value[number], scores[number], no_result, scale, row)
        raw, owners = ownership[number], row[ownership_column(area) :]
        for point in range(area):
            owners[point] = math.tanh(raw[index[point]])


@njit
def _write_policy(
    logits: np.ndarray, optimism: float, allowed: np.ndarray, index: np.ndarray, policy: np.ndarray
) -> None:
    """Writes probabilities of the allowed moves, from the logits [channels, moves] of a transformed board."""
    moves = len(index)
    highest = -np.inf
    for move in range(moves):
        logit = logits[0, index[move]]
        if optimism > 0:
            logit += np.float32(optimism) * (logits[1, index[move]] - logit)
        policy[move] = logit
        if allowed[move]:
            highest = max(highest, logit)
    total = 0.0
    for move in range(moves):
        share = math.exp(policy[move] - highest) if allowed[move] else 0.0
        total += share
        policy[move] = share
    for move in range(moves):
        policy[move] /= total


@njit
def _write_numbers(value: np.ndarray, scores: np.ndarray, no_result: bool, scale: OutputScale, row: np.ndarray) -> None:
    """Writes the columns before the policy; no_result: whether the rules allow games without a result."""
    highest = max(value[0], value[1], value[2] if no_result else value[1])
    win, loss = math.exp(value[0] - highest), math.exp(value[1] - highest)
    neither = math.exp(value[2] - highest) if no_result else 0.0
    total = win + loss + neither
    ends = (win + loss) / total
    mean = scores[0] * scale.score_mean
    stdev = _softplus(scores[1]) * scale.score_stdev
    variance = (mean * mean + stdev * stdev) * ends - mean * ends * mean * ends
    row[WIN], row[LOSS], row[NO_RESULT] = win / total, loss / total, neither / total
    row[LEAD] = scores[2] * scale.lead * ends
    row[SCORE_MEAN] = mean * ends
    row[SCORE_STDEV] = math.sqrt(max(0.0, variance))
    if scale.version < 9:
        row[VALUE_ERROR:POLICY] = UNKNOWN
        return
    row[VALUE_ERROR] = _error(scores[4], scale.version) * scale.value_error
    row[SCORE_ERROR] = _error(scores[5], scale.version) * scale.score_error
    row[VARIANCE_TIME] = _softplus(scores[3]) * scale.variance_time


@njit
def _error(raw: float, version: int) -> float:
    """Returns an expected error, before its multiplier: what KataGo's files of that version mean by the raw output."""
    if version == 9:
        return _softplus(raw)
    return math.sqrt(_softplus(raw)) if version < 14 else _softplus(raw / 2)


@njit
def _softplus(x: float) -> float:
    # log(1 + exp(x)), written so that a large x does not overflow.
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
