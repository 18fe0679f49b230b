"""From a network's raw outputs to probabilities, points and ownership, by the version of its file.

The facts are KataGo's (its files of versions 8 to 17). Everything is for the side to move.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from .config import NetworkConfig
from .model import RawOutputs

SUPERKO, TERRITORY = 6, 9  # scalars: not 0 where the rules have it


class Predictions(NamedTuple):
    """float32, for the side to move.

    policy: [n, points + 1], pass last; sums to 1 over the legal moves and is 0 elsewhere.
    value: [n, 3] probabilities of win, loss and no result.
    score_mean, lead: [n] points; score_mean_square: [n] points squared, all weighted by a result's being reached.
    variance_time: [n] turns until the value settles.
    value_error, score_error: [n] expected errors in the short term (of win less loss, in points), or None where the
    network has none.
    ownership: [n, points], 1 = the side to move's, -1 = the opponent's.
    """

    policy: Tensor
    value: Tensor
    score_mean: Tensor
    score_mean_square: Tensor
    lead: Tensor
    variance_time: Tensor
    value_error: Tensor | None
    score_error: Tensor | None
    ownership: Tensor

    @property
    def score_stdev(self) -> Tensor:
        return Result(self.value, self.score_mean, self.score_mean_square, self.lead).score_stdev


class Result(NamedTuple):
    """Of `Predictions`, how the game ends: all that a search asks for beside policy and ownership."""

    value: Tensor
    score_mean: Tensor
    score_mean_square: Tensor
    lead: Tensor

    @property
    def score_stdev(self) -> Tensor:
        return (self.score_mean_square - self.score_mean.square()).clamp(min=0).sqrt()


def predict(
    raw: RawOutputs, config: NetworkConfig, legal: Tensor, scalars: Tensor, *, optimism: float = 0.0
) -> Predictions:
    """What a network says.

    legal: bool [n, points + 1], at least one move of each position. scalars: [n, 19], the inputs, which tell whether
    the rules allow games without result. optimism: 0 to 1, the optimistic policy's share, where the network has one.
    """
    scores = raw.scores.float()
    value_error, score_error = short_term_errors(scores, config)
    return Predictions(
        policy=masked_softmax(policy_logits(raw.policy, config, optimism), legal),
        **expected_result(raw, config, scalars)._asdict(),
        variance_time=variance_time(scores, config),
        value_error=value_error,
        score_error=score_error,
        ownership=raw.ownership.float().tanh(),
    )


def expected_result(raw: RawOutputs, config: NetworkConfig, scalars: Tensor) -> Result:
    """How the game ends, as `predict` says it."""
    value = value_probabilities(raw.value, no_result_possible(scalars))
    scores = raw.scores.float()
    multipliers = config.multipliers
    ends = 1 - value[:, 2]
    mean = scores[:, 0] * multipliers.score_mean
    stdev = functional.softplus(scores[:, 1]) * multipliers.score_stdev
    return Result(
        value=value,
        score_mean=mean * ends,
        score_mean_square=(mean.square() + stdev.square()) * ends,
        lead=scores[:, 2] * multipliers.lead * ends,
    )


def policy_logits(policy: Tensor, config: NetworkConfig, optimism: float) -> Tensor:
    """The policy's channel, moved towards the optimistic one: [n, points + 1]."""
    policy = policy.float()
    if optimism == 0 or not config.has_optimism:
        return policy[:, 0]
    return torch.lerp(policy[:, 0], policy[:, 1], optimism)


def masked_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    return logits.masked_fill(~legal, -torch.inf).softmax(1)


def no_result_possible(scalars: Tensor) -> Tensor:
    """bool [n]: simple ko, where triple kos occur, and territory rules, which KataGo trains so."""
    return (scalars[:, SUPERKO] == 0) | (scalars[:, TERRITORY] != 0)


def value_probabilities(value: Tensor, no_result: Tensor) -> Tensor:
    """[n, 3] of logits [n, 3]; the third is 0 where `no_result`, bool [n], is False."""
    logits = value.float()
    third = logits[:, 2].masked_fill(~no_result, -torch.inf)
    return torch.cat((logits[:, :2], third.unsqueeze(1)), 1).softmax(1)


def variance_time(scores: Tensor, config: NetworkConfig) -> Tensor:
    return functional.softplus(scores[:, 3]) * config.multipliers.variance_time


def short_term_errors(scores: Tensor, config: NetworkConfig) -> tuple[Tensor | None, Tensor | None]:
    if config.version < 9:
        return None, None
    raw = scores[:, 4:6]
    if config.version == 9:
        value, score = functional.softplus(raw).unbind(1)
        return value, 10 * score
    squares = functional.softplus(raw) if config.version < 14 else functional.softplus(raw / 2).square()
    value, score = squares.sqrt().unbind(1)
    factors = config.multipliers.value_error, config.multipliers.score_error
    return value * math.sqrt(factors[0]), score * math.sqrt(factors[1])
