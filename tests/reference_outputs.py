"""A reference in torch for `decode_outputs`: raw outputs as probabilities, points and ownership.

The formulas are those of KataGo for its files of versions 8 to 17. Everything is for the side to move.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from gtp_engine.nets.config import NetworkConfig
from gtp_engine.nets.model import no_result_possible, short_term_errors
from gtp_engine.nets.stored import RawOutputs


class Predictions(NamedTuple):
    """A network's predictions for the side to move, all float32.

    Attributes:
        policy: [n, points + 1], the pass last; sums to 1 over the legal moves and is 0 elsewhere.
        value: [n, 3] probabilities of win, loss and no result.
        score_mean: [n] points, times the probability that the game has a result.
        score_mean_square: [n] points squared, times the same.
        lead: [n] points, times the same.
        variance_time: [n] turns until the value settles.
        value_error: [n] expected short-term error of win minus loss, or None if the network does not predict it.
        score_error: [n] expected short-term error of the score in points, or None.
        ownership: [n, points] from -1 (the opponent's) to 1 (the side to move's).
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


def predict(
    raw: RawOutputs[Tensor], config: NetworkConfig, legal: Tensor, scalars: Tensor, *, optimism: float = 0.0
) -> Predictions:
    """Converts raw outputs to predictions.

    Args:
        raw: The outputs of `Model`.
        config: The network's config.
        legal: bool [n, points + 1], at least one move of each position.
        scalars: [n, 19], the inputs, which tell whether the rules allow games without result.
        optimism: 0 to 1, the share of the optimistic policy, if the network has one.
    """
    value = value_probabilities(raw.value, no_result_possible(scalars))
    scores = raw.scores.float()
    multipliers = config.multipliers
    has_result = 1 - value[:, 2]
    mean = scores[:, 0] * multipliers.score_mean
    stdev = functional.softplus(scores[:, 1]) * multipliers.score_stdev
    value_error, score_error = short_term_errors(scores, config)
    return Predictions(
        policy=masked_softmax(policy_logits(raw.policy, config, optimism), legal),
        value=value,
        score_mean=mean * has_result,
        score_mean_square=(mean.square() + stdev.square()) * has_result,
        lead=scores[:, 2] * multipliers.lead * has_result,
        variance_time=variance_time(scores, config),
        value_error=value_error,
        score_error=score_error,
        ownership=raw.ownership.float().tanh(),
    )


def policy_logits(policy: Tensor, config: NetworkConfig, optimism: float) -> Tensor:
    """Returns the policy's logits, interpolated towards the optimistic ones: [n, points + 1]."""
    policy = policy.float()
    if optimism == 0 or not config.has_optimism:
        return policy[:, 0]
    return torch.lerp(policy[:, 0], policy[:, 1], optimism)


def masked_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Returns probabilities [n, moves] over the legal moves."""
    return logits.masked_fill(~legal, -torch.inf).softmax(1)


def value_probabilities(value: Tensor, no_result: Tensor) -> Tensor:
    """Returns probabilities [n, 3] for logits [n, 3]; the third is 0 if `no_result`, bool [n], is False."""
    logits = value.float()
    third = logits[:, 2].masked_fill(~no_result, -torch.inf)
    return torch.cat((logits[:, :2], third.unsqueeze(1)), 1).softmax(1)


def variance_time(scores: Tensor, config: NetworkConfig) -> Tensor:
    """Returns the turns until the value settles, [n]."""
    return functional.softplus(scores[:, 3]) * config.multipliers.variance_time
