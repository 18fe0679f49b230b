"""The losses: each has a value per row, and the learner minimises their weighted sum.

The outputs are KataGo's (`nets.model` explains them), so that networks trained here run in KataGo. One of them is
used differently during training: channel 1 of the policy, which files from version 12 on have for an optimistic policy,
predicts the opponent's reply, and is replaced by a copy of channel 0 in the network that plays
(`learner.playing_network`). The time until the value settles is not trained.

The losses of policy, opponent's reply, value, ownership and lead are KataGo's (metrics_pytorch.py), and so are their
default weights; that of the value includes the factor 0.6 of KataGo's trainer. What differs:

- KataGo's score losses train a distribution that its files do not contain, and its standard deviation follows that of
  the distribution. Here the mean and the standard deviation are trained directly, with ten times KataGo's weights
  (0.0015 and 0.001). The weight of the lead is KataGo's, so that lead and mean are weighted 0.4 : 1 here, 4 : 1 there.
- The errors are absolute ones against the targets of value and score, not squared ones against later searches, and have
  a weight of their own.
- The score some moves later, future positions, seki and the points' scores are not trained; the value some moves later
  and a soft policy are if their heads are there (`NetworkConfig.with_auxiliary_heads`), which is off by default.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..nets.config import HORIZONS, NetworkConfig
from ..nets.model import ModelOutputs, no_result_possible, short_term_errors
from ..nets.stored import RawOutputs
from .data import rows
from .data.loader import Tensors
from .run_settings import LossWeights

# Points from which a score's error counts linearly instead of quadratically (KataGo's metrics_pytorch.py).
SCORE_DELTA, STDEV_DELTA, LEAD_DELTA = 12.0, 10.0, 8.0
_BINS, _EXPECTED, _TRUE, _SHARE = 10, "expected", "true", "share"  # of `_by_winrate`
_OFF = -1e4  # logit of what is impossible; finite, because it is multiplied by a target of 0
# The mean of |x| of a normal distribution is its standard deviation times sqrt(2 / pi).
_DEVIATION_OF_MEAN_ERROR = math.sqrt(math.pi / 2)


class Loss(NamedTuple):
    """One loss of a batch, and the weight of each row [n], 0 if its target is not known."""

    of_row: Tensor
    weight: Tensor


def losses(outputs: ModelOutputs, batch: Tensors, config: NetworkConfig) -> dict[str, Loss]:
    """Returns all losses that the network has outputs for, by their names in `LossWeights`."""
    raw, weights = outputs.raw, batch.weights
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
        "stdev": Loss(stdev_loss(stdev, batch.score - mean.detach(), batch.stdev), weights[:, rows.SCORE]),
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
        scored = weights[:, rows.SCORE] / weights[:, rows.VALUE].clamp(min=1e-6)  # if a score is known, so is a value
        error = huber(value_error - misjudged, 1.0)
        error = error + scored * huber((score_error - missed) / SCORE_DELTA, 1.0)
        found["errors"] = Loss(error, weights[:, rows.VALUE])
    if "td_value" in outputs.auxiliary:
        log_values = outputs.auxiliary["td_value"].float().unflatten(1, (HORIZONS, 3)).log_softmax(2)
        found["td_value"] = Loss(-(batch.td_value * log_values).sum((1, 2)), weights[:, rows.TD_VALUE])
    if "soft_policy" in outputs.auxiliary:
        loss = policy_loss(outputs.auxiliary["soft_policy"].float(), soft_policy(batch), batch)
        found["soft_policy"] = Loss(loss, weights[:, rows.POLICY])
    return found


def soft_policy(batch: Tensors) -> Tensor:
    """Returns the policy target [n, points + 1] to the power of 1/4, normalised.

    It lets the moves that the search likes less count too (KataGo's docs/KataGoMethods.md, "Auxiliary Soft Policy
    Target"). Moves without a share count as 1e-7, as in KataGo's metrics_pytorch.py.
    """
    soft = ((batch.policy + 1e-7) * _on_board(batch)).pow(0.25)
    return soft / soft.sum(1, keepdim=True)


def policy_loss(logits: Tensor, target: Tensor, batch: Tensors) -> Tensor:
    """Returns the cross entropy [n] over the points on the board and the pass."""
    return -(target * policy_logits(logits, batch).log_softmax(1)).sum(1)


def policy_logits(logits: Tensor, batch: Tensors) -> Tensor:
    """Returns the logits [n, points + 1] with points off the board excluded."""
    if batch.full_board:
        return logits
    return logits.masked_fill(~_on_board(batch), _OFF)


def _on_board(batch: Tensors) -> Tensor:
    """Returns bool [n, points + 1], True for the points on the board and the pass."""
    return functional.pad(batch.planes[:, 0].flatten(1), (0, 1), value=1) > 0


def value_logits(raw: RawOutputs[Tensor], batch: Tensors) -> Tensor:
    """Returns the logits [n, 3] of win, loss and no result, the latter excluded if the rules do not allow it."""
    value = raw.value.float()
    third = value[:, 2].masked_fill(~no_result_possible(batch.scalars), _OFF)
    return torch.cat((value[:, :2], third.unsqueeze(1)), 1)


def huber(error: Tensor, delta: float) -> Tensor:
    """Returns Huber's loss (1964): half the squared error up to `delta`, linear beyond."""
    return functional.huber_loss(error, torch.zeros_like(error), reduction="none", delta=delta)


def stdev_loss(stdev: Tensor, error: Tensor, target: Tensor) -> Tensor:
    """Returns a loss [n] that is lowest if `stdev` is the standard deviation of the score.

    `error` is how far the predicted mean is from the score, assumed to be normally distributed. `target` is the
    standard deviation of the score itself, 0 for the result of a game.
    """
    own = error.abs() * _DEVIATION_OF_MEAN_ERROR
    return huber(stdev - torch.hypot(own, target), STDEV_DELTA)


def ownership_loss(logits: Tensor, batch: Tensors) -> Tensor:
    """Returns the cross entropy of the ownership [n], a mean over the board; tanh(x) is 2 sigmoid(2 x) - 1."""
    loss = functional.binary_cross_entropy_with_logits(2 * logits, (batch.ownership + 1) / 2, reduction="none")
    return _mean_on_board(loss, batch)


def _mean_on_board(x: Tensor, batch: Tensors) -> Tensor:
    """Returns the means [n] of [n, points] over the points on the board."""
    if batch.full_board:
        return x.mean(1)
    on_board = batch.planes[:, 0].flatten(1).float()
    return (x * on_board).sum(1) / on_board.sum(1)


def measures(raw: RawOutputs[Tensor], batch: Tensors) -> dict[str, Loss]:
    """Returns what tells more about a network than its losses, in their form.

    "top1" and "top5" are 1 if the target's best move is the network's, or among its best five, else 0; "winner" is 1
    if the network expects the winner to win. "target_entropy" and "policy_entropy" are those of the target and of the
    network's policy, in nats: the loss of the policy minus the entropy of its target is the Kullback-Leibler divergence
    of the two. The entries of `_by_winrate` are for `take_calibration`.
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
        "target_entropy": Loss(_entropy(batch.policy), weights[:, rows.POLICY]),
        "policy_entropy": Loss(_entropy(logits.softmax(1)), weights[:, rows.POLICY]),
        **_by_winrate(raw, batch),
    }


def _entropy(policy: Tensor) -> Tensor:
    """Returns the entropy [n] of policies, in nats."""
    return -torch.special.xlogy(policy, policy).sum(1)


def _by_winrate(raw: RawOutputs[Tensor], batch: Tensors) -> dict[str, Loss]:
    """Returns win rates, true ones, and 1 for the rows of each of _BINS equal parts of the win rates from 0 to 1."""
    win, loss, _ = value_logits(raw, batch).softmax(1).unbind(1)
    expected, true = ((1 + win - loss) / 2, (1 + batch.value[:, rows.WIN] - batch.value[:, rows.LOSS]) / 2)
    weight, places = batch.weights[:, rows.VALUE], (expected * _BINS).long().clamp(0, _BINS - 1)
    found = {}
    for place in range(_BINS):
        is_here = (places == place).float()
        found[f"{_EXPECTED} {place}"] = Loss(expected, weight * is_here)
        found[f"{_TRUE} {place}"] = Loss(true, weight * is_here)
        found[f"{_SHARE} {place}"] = Loss(is_here, weight)
    return found


def take_calibration(means: dict[str, float]) -> list[list[float]]:
    """Takes the means of `_by_winrate` out of those of a measurement.

    Returns:
        For each part of the win rates that has positions: the mean of the win rates, what the games gave there on
        average (1 for a win, 0 for a loss), and the share of these positions.
    """
    taken = [[means.pop(f"{name} {place}", 0.0) for name in (_EXPECTED, _TRUE, _SHARE)] for place in range(_BINS)]
    return [part for part in taken if part[-1]]


def calibration_error(calibration: Sequence[Sequence[float]]) -> float:
    """Returns the expected calibration error: how far win rates are from what the games gave, 0 to 1, on average."""
    return sum(share * abs(expected - true) for expected, true, share in calibration)


def distances(raw: RawOutputs[Tensor], batch: Tensors, config: NetworkConfig) -> dict[str, Loss]:
    """Returns how far a network is from its targets, in natural units and in the form of `losses`.

    "off_policy" is the Kullback-Leibler divergence of the policy from the target, in nats; "off_winrate" the absolute
    difference of the win rates, 0 to 1, with a game without a result as half a win; "off_lead" that of the leads, in
    points; "off_ownership" that of the ownership, 0 to 2, a mean over the points of the board.
    """
    weights = batch.weights
    crossed = policy_loss(raw.policy[:, 0].float(), batch.policy, batch)
    win, loss, _ = value_logits(raw, batch).softmax(1).unbind(1)
    target = (batch.value[:, rows.WIN] - batch.value[:, rows.LOSS]) / 2
    lead = raw.scores[:, 2].float() * config.multipliers.lead
    owned = (raw.ownership.float().tanh() - batch.ownership).abs()
    return {
        "off_policy": Loss(crossed - _entropy(batch.policy), weights[:, rows.POLICY]),
        "off_winrate": Loss(((win - loss) / 2 - target).abs(), weights[:, rows.VALUE]),
        "off_lead": Loss((lead - batch.lead).abs(), weights[:, rows.LEAD]),
        "off_ownership": Loss(_mean_on_board(owned, batch), weights[:, rows.OWNERSHIP]),
    }


def total_loss(found: dict[str, Loss], factors: LossWeights) -> Tensor:
    """Returns the weighted sum of the losses, each a mean over the rows; a row without a known target counts as 0."""
    terms = [getattr(factors, name) * (loss.of_row * loss.weight).mean() for name, loss in found.items()]
    return torch.stack(terms).sum()


class Means:
    """Means of losses over many batches. The sums stay on the device, so that only reading them waits for it.

    If several processes share a batch, `all_reduce` replaces sums over their parts by the total, in place.

    Attributes:
        sums: By name a tensor [2]: the weighted sum of the losses, and the sum of their weights.
    """

    def __init__(self, all_reduce: Callable[[Tensor], None] | None = None) -> None:
        self.sums: dict[str, Tensor] = {}
        self._all_reduce = all_reduce

    def add(self, found: dict[str, Loss]) -> None:
        """Adds a batch."""
        of_batch = [x for loss in found.values() for x in (loss.of_row.detach() * loss.weight, loss.weight)]
        pairs = torch.stack([x.sum() for x in of_batch]).view(-1, 2)
        if self._all_reduce:
            self._all_reduce(pairs)
        for name, pair in zip(found, pairs, strict=True):
            self.sums[name] = pair if name not in self.sums else self.sums[name] + pair

    def read(self) -> dict[str, float]:
        """Returns the means over the rows with known targets; a loss without such rows is left out."""
        pairs = {name: pair.tolist() for name, pair in self.sums.items()}
        return {name: total / weight for name, (total, weight) in pairs.items() if weight}

    def clear(self) -> None:
        """Starts new means."""
        self.sums = {}
