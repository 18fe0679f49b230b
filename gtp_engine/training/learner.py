"""The learner: a network, how it is changed by a batch, and all its state, so that it can go on as if never stopped.

The network that plays is an average of the last ones (Polyak and Juditsky 1992; KataGo plays with such averages too),
its batch norms measured afresh on some batches: the average of the statistics of several networks is not the
statistics of their average.
"""

import copy
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..network.layers import BatchNorm
from ..network.model import Model
from .loader import Batch
from .losses import LossWeights, Means, accuracies, losses, total
from .ranks import Ranks

RATES = {"adamw": 2e-3, "sgd": 0.05}  # of each optimizer, for batches of some hundred samples
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
STATE = "learner 1"
MEASURED_SAMPLES = 4096  # enough to measure the batch norms of the network that plays


class LossNotFinite(ArithmeticError):
    """A loss became NaN or infinite: the network is lost, the last one that was saved is not."""


@dataclass(frozen=True, kw_only=True)
class LearnerSettings:
    """How to learn.

    optimizer: "adamw" (Loshchilov and Hutter 2019) or "sgd" (Nesterov's momentum). learning_rate: the highest one, for
    this batch size. warm_up: samples over which it rises from nothing. total: samples after which it is all over; the
    rate falls over the last drop_share of them, in a straight line, to last_rate of the highest; None: it never falls.
    weight_decay: of weights, not of biases and norms. average: samples that the averaged network reaches back.
    clip: the largest norm of the gradient. precision: "float32", or "bfloat16" where torch holds it to be enough.
    """

    batch_size: int = 256
    optimizer: str = "adamw"
    learning_rate: float = 2e-3
    momentum: float = 0.9
    weight_decay: float = 0.02
    warm_up: int = 50_000
    total: int | None = None
    drop_share: float = 0.5
    last_rate: float = 0.01
    average: int = 200_000
    clip: float = 1.0
    precision: str = "float32"
    losses: LossWeights = field(default=LossWeights())

    def __post_init__(self) -> None:
        if self.optimizer not in RATES:
            raise ValueError(f"unknown optimizer {self.optimizer!r}: expected {' or '.join(RATES)}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"unknown precision {self.precision!r}: expected {' or '.join(PRECISIONS)}")


def rate_at(settings: LearnerSettings, samples: int) -> float:
    """The learning rate after so many samples: warm-up, a plateau, and a fall at the end.

    A plateau and a short fall do as well as a cosine (Hu et al. 2024, "MiniCPM"), and a run on the plateau can be
    prolonged. Self-play gains most of its last strength in the fall (KataGo's notes on its training).
    """
    rate = settings.learning_rate * min(1.0, (samples + settings.batch_size) / max(settings.warm_up, 1))
    if settings.total is not None and settings.drop_share > 0:
        left = max(0.0, 1 - samples / settings.total) / settings.drop_share
        rate *= settings.last_rate + (1 - settings.last_rate) * min(1.0, left)
    return rate


class Learner:
    """Changes a network by batches. The model given is the one that is changed, and belongs to the learner.

    samples: seen so far. `check` is to be called before anything is saved. ranks: the processes that learn it
    together; each has a learner of its own and takes its part of every batch.
    """

    def __init__(
        self,
        model: Model,
        settings: LearnerSettings,
        device: torch.device | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        self.settings = settings
        self.device = device or torch.device("cpu")
        self.model = model.to(self.device).train()
        for parameter in self.model.parameters():
            if parameter.dim() == 4:
                parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.model)
        self.samples = 0
        self.steps = 0
        self._optimizer = _optimizer(self.model, settings)
        self._ranks = ranks or Ranks.alone()
        self._means = Means(self._ranks.add_up)
        self._called: nn.Module | None = None  # the model, as one that all learn

    def step(self, batch: Batch) -> None:
        """Learns from one batch, or from this process's part of it; nothing here waits for a GPU."""
        self._ranks.begin_step()
        if self._called is None:
            self._called = self._ranks.parallel(self.model)
        batch = batch.to(self.device)
        rate = rate_at(self.settings, self.samples)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        with self._autocast():
            raw = self._called(batch.planes.float(), batch.scalars, full_board=batch.full_board)
        found = losses(raw, batch, self.model.config)
        self._optimizer.zero_grad(set_to_none=True)
        total(found, self.settings.losses).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self._optimizer.step()
        samples = self._ranks.count * len(batch)
        self.samples += samples
        self.steps += 1
        self._follow(samples)
        self._means.add(found)
        self._ranks.end_step()

    def _follow(self, samples: int) -> None:
        """Moves the average towards the network; fast at first, as there is nothing to average yet."""
        decay = min(1 - samples / max(self.settings.average, samples), (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(_numbers(self.average), _numbers(self.model), 1 - decay)

    @contextmanager
    def _autocast(self) -> Iterator[None]:
        dtype = PRECISIONS[self.settings.precision]
        with torch.autocast(self.device.type, dtype, enabled=dtype != torch.float32):
            yield

    def check(self) -> dict[str, float]:
        """Means of the losses since they were taken. Raises LossNotFinite."""
        means = self._means.read()
        for name, value in means.items():
            if not math.isfinite(value):
                raise LossNotFinite(
                    f"the {name} loss became {value} within {self.samples:,} samples; nothing was saved since: go on "
                    "from the last checkpoint with a lower learning rate"
                )
        return means

    def take_losses(self) -> dict[str, float]:
        """As `check`, and begins new means."""
        means = self.check()
        self._means.clear()
        return means

    def averaged_network(self, batches: Iterable[Batch]) -> Model:
        """The averaged network in evaluation mode, its batch norms measured on `batches` (MEASURED_SAMPLES).

        `playing_network` makes the one of it that plays.
        """
        model = copy.deepcopy(self.average)
        norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
        model.train()
        with torch.no_grad(), self._autocast():
            for number, batch in enumerate(batches, 1):
                for norm in norms:
                    norm.momentum = 1 / number  # a plain mean over the batches
                batch = batch.to(self.device)
                model(batch.planes.float(), batch.scalars, full_board=batch.full_board)
        for norm in norms:
            norm.momentum = BatchNorm.momentum
        return model.eval()

    @torch.inference_mode()
    def evaluate(self, model: Model, batches: Iterable[Batch]) -> dict[str, float]:
        """Means of the losses and accuracies (`losses.accuracies`) of an averaged network."""
        means = Means()
        for batch in batches:
            batch = batch.to(self.device)
            with self._autocast():
                raw = model(batch.planes.float(), batch.scalars, full_board=batch.full_board)
            means.add(losses(raw, batch, model.config) | accuracies(raw, batch))
        return means.read()

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, tensors and plain data; `load_state` takes it."""
        return {
            "state": STATE,
            "samples": self.samples,
            "steps": self.steps,
            "optimizer_name": self.settings.optimizer,
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "means": self._means.sums,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on where `state` was taken; ValueError where it is not such a state, or another network's."""
        if state.get("state") != STATE:
            raise ValueError(f"no state of this learner ({STATE!r} is not in it)")
        used = state.get("optimizer_name", self.settings.optimizer)
        if used != self.settings.optimizer:
            raise ValueError(f"it has learned by {used}, the settings say {self.settings.optimizer}")
        try:
            self.model.load_state_dict(state["model"])
            self.average.load_state_dict(state["average"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._optimizer.param_groups[0]["weight_decay"] = self.settings.weight_decay  # torch takes the old one
            self.samples, self.steps = int(state["samples"]), int(state["steps"])
            self._means.sums = {name: pair.to(self.device) for name, pair in state["means"].items()}
        except (RuntimeError, KeyError, TypeError) as error:
            raise ValueError(f"a learner's state that does not fit ({str(error).splitlines()[0]})") from error


def faster_precision(device: torch.device) -> str:
    """The precision to learn in: bfloat16 where the device has it; on a CPU a quick measurement tells."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if device.type != "cpu":
        return "float32"
    weight = torch.randn(96, 96, 3, 3).contiguous(memory_format=torch.channels_last).requires_grad_()
    x = torch.randn(64, 96, 9, 9).contiguous(memory_format=torch.channels_last)
    seconds = dict.fromkeys(PRECISIONS, math.inf)
    for _ in range(4):
        for name, dtype in PRECISIONS.items():
            start = time.perf_counter()
            with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
                y = nn.functional.conv2d(x, weight, padding=1)
            y.sum().backward()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return min(seconds, key=lambda name: seconds[name])


def playing_network(averaged: Model) -> Model:
    """A copy whose optimistic policy is the policy: while learning it is the opponent's (see `losses`)."""
    model = copy.deepcopy(averaged)
    head = model.policy
    if model.config.policy_channels > 1:
        with torch.no_grad():
            for layer in (head.out_conv, head.pass_out or head.pass_matmul):
                layer.weight[1] = layer.weight[0]
    return model


def _numbers(model: Model) -> list[Tensor]:
    """Weights and statistics."""
    return [*model.parameters(), *model.buffers()]


def _optimizer(model: Model, settings: LearnerSettings) -> torch.optim.Optimizer:
    """Decay is for matrices and convolutions, as is usual."""
    large = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    small = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups = [{"params": large, "weight_decay": settings.weight_decay}, {"params": small, "weight_decay": 0.0}]
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, settings.learning_rate, settings.momentum, nesterov=True, fused=True)
    return torch.optim.AdamW(groups, settings.learning_rate, (settings.momentum, 0.999), fused=True)
