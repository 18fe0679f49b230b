"""What a network is taught: one function a loss, each a number a row; their weighted sum is what the learner lowers.

Outputs are KataGo's (`network.outputs` says what they mean), so that a network that was taught here runs in KataGo.
Two of its outputs are used otherwise while learning: channel 1 of the policy, which files from version 12 on have for
an optimistic policy, predicts the opponent's reply, and is made a copy of channel 0 in the network that plays
(`learner.playing_network`). Not taught: the time until the value settles.

Losses and their usual weights are KataGo's as `LossWeights` says; where KataGo's score losses teach a distribution that
its files do not hold, mean and deviation are taught here by themselves, with larger weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..network.config import NetworkConfig
from ..network.model import RawOutputs
from ..network.outputs import no_result_possible, short_term_errors
from . import rows
from .loader import Batch

# Beyond so many points the error of a score counts no more than in proportion (KataGo's metrics_pytorch.py).
SCORE_DELTA, STDEV_DELTA, LEAD_DELTA = 12.0, 10.0, 8.0
_OFF = -1e4  # a logit of what cannot be; not infinite, since it is multiplied by a target of 0
# The mean of |x| of a normal distribution is its deviation times sqrt(2 / pi).
_DEVIATION_OF_MEAN_ERROR = math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class LossWeights:
    """Of each loss in the sum. policy, opponent, value, ownership (a mean over the points) and lead as in KataGo's
    training; score and stdev ten times as there, since no distribution is taught; errors: of the network's own value
    and score against the end of the game."""

    policy: float = 1.0
    opponent: float = 0.15
    value: float = 0.72
    score: float = 0.015
    stdev: float = 0.01
    lead: float = 0.006
    ownership: float = 1.5
    errors: float = 0.1


class Loss(NamedTuple):
    """One loss: [n] and the weights of its rows, [n]."""

    of_row: Tensor
    weight: Tensor


def losses(raw: RawOutputs, batch: Batch, config: NetworkConfig) -> dict[str, Loss]:
    """Every loss that the network has outputs for, by its name in `LossWeights`."""
    weights = batch.weights
    policy = raw.policy.float()
    scores = raw.scores.float()
    m = config.multipliers
    win_loss = batch.value[:, rows.WIN] - batch.value[:, rows.LOSS]
    log_value = value_logits(raw, batch).log_softmax(1)
    mean, stdev = scores[:, 0] * m.score_mean, functional.softplus(scores[:, 1]) * m.score_stdev
    found = {
        "policy": Loss(policy_loss(policy[:, 0], batch.policy, batch), weights[:, rows.POLICY]),
        "value": Loss(-(batch.value * log_value).sum(1), weights[:, rows.VALUE]),
        "score": Loss(huber(mean - batch.score, SCORE_DELTA), weights[:, rows.SCORE]),
        "stdev": Loss(stdev_loss(stdev, batch.score - mean.detach()), weights[:, rows.SCORE]),
        "lead": Loss(huber(scores[:, 2] * m.lead - batch.lead, LEAD_DELTA), weights[:, rows.LEAD]),
        "ownership": Loss(ownership_loss(raw.ownership.float(), batch), weights[:, rows.OWNERSHIP]),
    }
    if policy.shape[1] > 1:
        found["opponent"] = Loss(policy_loss(policy[:, 1], batch.opponent, batch), weights[:, rows.OPPONENT])
    value_error, score_error = short_term_errors(scores, config)
    if value_error is not None and score_error is not None:
        value = log_value.detach().exp()
        misjudged = (value[:, 0] - value[:, 1] - win_loss).abs()
        missed = (mean.detach() - batch.score).abs()
        scored = weights[:, rows.SCORE] / weights[:, rows.VALUE].clamp(min=1e-6)  # a score is known where a value is
        error = huber(value_error - misjudged, 1.0)
        error = error + scored * huber((score_error - missed) / SCORE_DELTA, 1.0)
        found["errors"] = Loss(error, weights[:, rows.VALUE])
    return found


def policy_loss(logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
    """Cross entropy over the points on the board and the pass."""
    return -(target * policy_logits(logits, batch).log_softmax(1)).sum(1)


def policy_logits(logits: Tensor, batch: Batch) -> Tensor:
    """[n, points + 1], those off the board excluded."""
    if batch.full_board:
        return logits
    on_board = functional.pad(batch.planes[:, 0].flatten(1), (0, 1), value=1) > 0
    return logits.masked_fill(~on_board, _OFF)


def value_logits(raw: RawOutputs, batch: Batch) -> Tensor:
    """[n, 3], "no result" excluded where the rules do not know it."""
    value = raw.value.float()
    third = value[:, 2].masked_fill(~no_result_possible(batch.scalars), _OFF)
    return torch.cat((value[:, :2], third.unsqueeze(1)), 1)


def huber(error: Tensor, delta: float) -> Tensor:
    """The loss of Huber 1964: half the square, from delta on delta times the absolute value, less a constant."""
    return functional.huber_loss(error, torch.zeros_like(error), reduction="none", delta=delta)


def stdev_loss(stdev: Tensor, error: Tensor) -> Tensor:
    """Lowest where `stdev` is the deviation of normal errors."""
    return huber(stdev - error.abs() * _DEVIATION_OF_MEAN_ERROR, STDEV_DELTA)


def ownership_loss(logits: Tensor, batch: Batch) -> Tensor:
    """The mean over the board of the cross entropy of whose a point is; tanh(x) is sigmoid(2 x), from -1 to 1."""
    loss = functional.binary_cross_entropy_with_logits(2 * logits, (batch.ownership + 1) / 2, reduction="none")
    if batch.full_board:
        return loss.mean(1)
    on_board = batch.planes[:, 0].flatten(1).float()
    return (loss * on_board).sum(1) / on_board.sum(1)


def accuracies(raw: RawOutputs, batch: Batch) -> dict[str, Loss]:
    """Like `losses`, but 1 for right and 0 for wrong.

    top1, top5: the target's best move is the network's, or among its best five. winner: who won is held to win.
    """
    logits, weights = policy_logits(raw.policy[:, 0].float(), batch), batch.weights
    best = batch.policy.argmax(1, keepdim=True)
    rank = (logits > logits.gather(1, best)).sum(1)
    sides = raw.value[:, rows.WIN] > raw.value[:, rows.LOSS]
    decided = batch.value[:, rows.WIN] != batch.value[:, rows.LOSS]
    right = sides == (batch.value[:, rows.WIN] > batch.value[:, rows.LOSS])
    return {
        "top1": Loss((rank < 1).float(), weights[:, rows.POLICY]),
        "top5": Loss((rank < 5).float(), weights[:, rows.POLICY]),
        "winner": Loss(right.float(), weights[:, rows.VALUE] * decided),
    }


def total(found: dict[str, Loss], factors: LossWeights) -> Tensor:
    """The weighted sum, a mean over the rows: one whose target is not known adds nothing."""
    terms = [getattr(factors, name) * (loss.of_row * loss.weight).mean() for name, loss in found.items()]
    return torch.stack(terms).sum()


class Means:
    """Means of losses (and of other numbers) over many batches, summed where they arise: reading them is what waits.

    add_up: where several processes share a batch, makes sums over their parts those of the whole, in place.
    """

    def __init__(self, add_up: Callable[[Tensor], None] | None = None) -> None:
        self.sums: dict[str, Tensor] = {}  # [2]: of the losses, and of their weights
        self._add_up = add_up

    def add(self, found: dict[str, Loss]) -> None:
        """Adds a batch."""
        of_batch = [x for loss in found.values() for x in (loss.of_row.detach() * loss.weight, loss.weight)]
        pairs = torch.stack([x.sum() for x in of_batch]).view(-1, 2)
        if self._add_up:
            self._add_up(pairs)
        for name, pair in zip(found, pairs, strict=True):
            self.sums[name] = pair if name not in self.sums else self.sums[name] + pair

    def read(self) -> dict[str, float]:
        """The means over the rows whose targets are known; where none is, the name is left out."""
        pairs = {name: pair.tolist() for name, pair in self.sums.items()}
        return {name: total / weight for name, (total, weight) in pairs.items() if weight}

    def clear(self) -> None:
        self.sums = {}
