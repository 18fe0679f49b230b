"""The learner: a network, how a batch changes it, and all of its state, so that a run can resume as if never
stopped, up to rounding if the number of threads changes.

The network that plays is an average of the recent ones (Polyak and Juditsky 1992; KataGo plays with such averages too).
The statistics of its batch norms are measured again on some batches, because the average of the statistics of several
networks is not the statistics of their average.

In a group of processes each has a learner (`ddp`). That of rank 0 is the run's; `run_follower` is what the others do.
"""

import copy
import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from ..base.errors import UserError, error_text
from ..base.messages import plural
from ..base.system import configure_torch
from ..nets.config import NetworkConfig
from ..nets.layers import BatchNorm
from ..nets.model import Model, ModelOutputs
from ..nets.stored import RawOutputs
from ..search.evaluate.choices import AUTO
from .data.loader import Loader, Samples, Tensors, on_device, parts_of
from .ddp import ProcessGroup
from .losses import Loss, Means, losses, measures, total_loss
from .progress import resource_errors
from .run_settings import LearnSettings

logger = logging.getLogger(__name__)

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
STATE = "learner 1"  # version of `Learner.state`
MEASURED_SAMPLES = 4096  # enough to measure the batch norms of the network that plays
_TRIAL_STEPS, _TRIAL_BOARDS, _TRIAL_SECONDS = 3, 8, 1.0  # of `faster_precision`; after so long a step it ends
_MOMENTUM = 0.9  # of SGD (Nesterov's), or the first beta of AdamW (Loshchilov and Hutter 2019)
_CLIP = 1.0  # maximum norm of the gradient

# Points of a part's tensors on a CPU: with 8 boards of 19x19 the transformers learned 7 % faster than with 32, and few
# points keep the processor waiting for Python.
_LEAST_POINTS, _MOST_POINTS = 1000, 3000

_trained: set[int] = set()  # the processes in which a step was made, this one or those that it was forked from

T = TypeVar("T")
Measure: TypeAlias = Callable[[RawOutputs[Tensor], Tensors, NetworkConfig], dict[str, Loss]]


class LossNotFinite(UserError):
    """A loss became NaN or infinite: the network is lost, but the last saved one is not."""


def rate_at(settings: LearnSettings, samples: int) -> float:
    """Returns the learning rate after a number of samples: a warm-up, a plateau, and a decay at the end.

    A plateau and a short decay do as well as a cosine (Hu et al. 2024, "MiniCPM"), and a run on the plateau can be
    prolonged. Self-play gains most of its last strength in the decay (KataGo's notes on its training).
    """
    rate = settings.learning_rate * min(1.0, (samples + settings.batch_size) / max(settings.warm_up, 1))
    if settings.total is not None and settings.drop_share > 0:
        left = max(0.0, 1 - samples / settings.total) / settings.drop_share
        rate *= settings.last_rate + (1 - settings.last_rate) * min(1.0, left)
    return rate


class Learner:
    """Trains a network on batches. Call `check` before anything is saved.

    The processes of a group train together; each has its own learner and its part of every batch.

    Args:
        model: The network.
        settings: How it learns, and the weights of the losses.
        device: The device, by default the CPU.
        group: The processes that train together, by default this one alone.

    Attributes:
        model: The network as it is trained, in place; it belongs to the learner.
        average: The average of the recent networks.
        samples: Number of samples seen so far, by all processes.
        steps: Number of steps so far.
    """

    def __init__(
        self,
        model: Model,
        settings: LearnSettings,
        device: torch.device | None = None,
        group: ProcessGroup | None = None,
    ) -> None:
        self.device = device or torch.device("cpu")
        chosen = faster_precision(model, self.device) if settings.precision == AUTO else settings.precision
        self.settings = replace(settings, precision=chosen)
        self.model = model.to(self.device).train()
        for parameter in self.model.parameters():
            if parameter.dim() == 4:
                parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.model)
        self.samples = 0
        self.steps = 0
        self._optimizer = _optimizer(self.model, settings)
        self._group = group or ProcessGroup()
        self._means = Means(self._group.all_reduce)
        self._group.combine_norms(self.model)
        self._has_statistics = bool(_measured_norms(self.model))
        self._gradient_norm = torch.zeros(())  # of the last step

    def step(self, batch: Tensors) -> None:
        """Learns from one batch on the CPU, or from this process's part of it. It does not wait for a GPU to finish.

        Raises:
            ProcessLostError: Another process of the group ended.
            UserError: This process was forked from one that has learned: it lacks torch's threads, and would wait for
                them for ever.
        """
        if _trained - {os.getpid()}:
            raise UserError(
                "this process was forked from one in which a network has learned: learn in processes that are started "
                "with multiprocessing.get_context('spawn')"
            )
        _trained.add(os.getpid())
        with self._group.step():
            rate = rate_at(self.settings, self.samples)
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            found = self._set_gradients(batch)
            self._gradient_norm = nn.utils.clip_grad_norm_(self.model.parameters(), _CLIP)
            self._optimizer.step()
            samples = self._group.count * batch.size
            self.samples += samples
            self.steps += 1
            # The average moves fast at first, when there is nothing to average yet.
            decay = min(1 - samples / max(self.settings.average, samples), (1 + self.steps) / (10 + self.steps))
            with torch.no_grad():
                torch._foreach_lerp_(_tensors(self.average), _tensors(self.model), 1 - decay)
            self._means.add(found)

    def _set_gradients(self, batch: Tensors) -> dict[str, Loss]:
        """Sets the gradients for the batches of all processes; returns the losses of this one's rows, in any order."""
        parameters = list(self.model.parameters())

        def of_part(part: Tensors) -> tuple[dict[str, Loss], tuple[Tensor, ...]]:
            found = losses(self._outputs(self.model, part), part, self.model.config)
            share = part.size / batch.size / self._group.count
            loss = total_loss(found, self.settings.losses) * share
            return found, torch.autograd.grad(loss, parameters, materialize_grads=True, allow_unused=True)

        # In the memory layout of the parameters, which torch's fused optimizers take for granted.
        gradients = [torch.zeros_like(parameter) for parameter in parameters]
        found = []
        # Batch norms have to see the whole batch.
        parts = [on_device(batch, self.device)] if self._has_statistics else self._parts(batch)
        for of_rows, of_parameters in self._in_threads(of_part, parts):
            found.append(of_rows)
            torch._foreach_add_(gradients, of_parameters)
        self._group.sum_gradients(gradients)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        return _joined(found)

    def _parts(self, batch: Tensors) -> list[Tensors]:
        """Returns a batch on the device in parts that do not depend on each other: on a CPU several a thread."""
        if self.device.type != "cpu":
            return [on_device(part, self.device) for part in ([batch] if batch.full_board else parts_of(batch))]
        per_thread = batch.planes[:, 0].count_nonzero().item() // (2 * torch.get_num_threads())
        return parts_of(batch, max(_LEAST_POINTS, min(_MOST_POINTS, int(per_thread))))

    def _in_threads(self, compute: Callable[[Tensors], T], parts: list[Tensors]) -> Iterator[T]:
        """Yields what `compute` returns for each part, in order; on a CPU as many threads as torch may use take parts.

        Threads that share every operation wait for each other at each one's end: if other programs run too, 2 threads
        were 10 times slower than one.
        """
        threads = torch.get_num_threads()
        if len(parts) == 1 or threads == 1 or self.device.type != "cpu":
            yield from map(compute, parts)
            return
        try:
            with ThreadPoolExecutor(threads, "learner", configure_torch) as pool:
                yield from pool.map(compute, parts)
        finally:
            configure_torch(threads)

    def _outputs(self, model: nn.Module, batch: Tensors) -> ModelOutputs:
        """Returns a network's outputs in the precision of the training, for a batch on its device."""
        dtype = PRECISIONS[self.settings.precision]
        with torch.autocast(self.device.type, dtype, enabled=dtype != torch.float32):
            outputs: ModelOutputs = model(batch.planes.float(), batch.scalars, full_board=batch.full_board)
        return outputs

    def check(self) -> dict[str, float]:
        """Returns means of the losses since `take_losses`; LossNotFinite if one or the last gradient is not finite."""
        means = self._means.read()
        values = {f"{name} loss": mean for name, mean in means.items()}
        for name, value in (values | {"norm of the gradient": float(self._gradient_norm)}).items():
            if not math.isfinite(value):
                raise LossNotFinite(
                    f"the {name} became {value} after {plural(self.samples, 'sample')}; resume from the last "
                    "checkpoint with a lower learning rate"
                )
        return means

    def take_losses(self) -> dict[str, float]:
        """Returns the same as `check`, and starts new means."""
        means = self.check()
        self._means.clear()
        return means

    def averaged_network(self, batches: Iterable[Tensors]) -> Model:
        """Returns the averaged network in evaluation mode; `playing_network` makes the one that plays from it.

        The batch norms' statistics are measured on the batches, of about MEASURED_SAMPLES samples in all.
        """
        model = copy.deepcopy(self.average)
        norms = _measured_norms(model)
        if not norms:
            return model.eval()
        model.train()
        count = 0
        with torch.no_grad():
            for batch in batches:
                count += batch.size
                for norm in norms:
                    norm.momentum = batch.size / count  # a mean over the samples: the last batch may be small
                self._outputs(model, on_device(batch, self.device))
        for norm in norms:
            norm.momentum = BatchNorm.momentum
        return model.eval()

    @torch.inference_mode()
    def evaluate(self, model: Model, batches: Iterable[Tensors], also: Measure | None = None) -> dict[str, float]:
        """Returns the means of an averaged network's losses, `losses.measures` and further measurements, by name."""

        @torch.inference_mode()  # it applies to one thread
        def measure(part: Tensors) -> dict[str, Loss]:
            outputs = self._outputs(model, part)
            others = also(outputs.raw, part, model.config) if also else {}
            return losses(outputs, part, model.config) | measures(outputs.raw, part) | others

        means = Means()
        for batch in batches:
            for found in self._in_threads(measure, self._parts(batch)):
                means.add(found)
        return means.read()

    def state(self) -> dict[str, Any]:
        """Returns all that is needed to resume, as tensors and plain data for `load_state`."""
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
        """Resumes from a state that `state` returned; UserError for others, such as that of another network."""
        if not isinstance(state, Mapping) or state.get("state") != STATE:
            raise UserError(f"not a learner's state of this version ({STATE!r} is missing)")
        used = state.get("optimizer_name", self.settings.optimizer)
        if used != self.settings.optimizer:
            raise UserError(f"the run's optimizer is {used}, but the settings name {self.settings.optimizer}")
        try:
            self.model.load_state_dict(state["model"])
            self.average.load_state_dict(state["average"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._optimizer.param_groups[0]["weight_decay"] = _decay(self.settings)  # torch restores the old one
            self.samples, self.steps = int(state["samples"]), int(state["steps"])
            self._means.sums = {name: pair.to(self.device) for name, pair in state["means"].items()}
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"the learner's state does not fit the network ({str(error).splitlines()[0]})") from error


def faster_precision(model: Model, device: torch.device) -> str:
    """Returns the faster precision for training: bfloat16 on GPUs that support it; on a CPU it is measured."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if device.type != "cpu":
        return "float32"
    threads = torch.get_num_threads()
    configure_torch(1)  # several wait for each other while other programs run, which says nothing about precisions
    model = copy.deepcopy(model).train()
    try:
        seconds = {name: _trial_seconds(model, dtype) for name, dtype in PRECISIONS.items()}
    finally:
        configure_torch(threads)
    return min(seconds, key=lambda name: seconds[name])


def _trial_seconds(model: Model, dtype: torch.dtype) -> float:
    """Returns how long a model takes on the CPU for a few boards of 9x9, forwards and backwards."""
    planes = torch.ones(_TRIAL_BOARDS, model.config.planes, 9, 9).contiguous(memory_format=torch.channels_last)
    scalars = torch.zeros(_TRIAL_BOARDS, model.config.scalars)
    seconds = []
    for _ in range(_TRIAL_STEPS + 1):  # the first step is slower
        start = time.perf_counter()
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            outputs: ModelOutputs = model(planes, scalars, full_board=True)
        outputs.raw.policy.float().square().mean().backward()
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > _TRIAL_SECONDS:
            break
    return min(seconds)


def playing_network(averaged: Model) -> Model:
    """Returns a copy whose optimistic policy equals the policy; during training it is the opponent's (see `losses`)."""
    model = copy.deepcopy(averaged)
    head = model.policy
    if model.config.policy_channels > 1:
        with torch.no_grad():
            for layer in (head.out_conv, head.pass_out or head.pass_matmul):
                layer.weight[1] = layer.weight[0]
    return model


def _measured_norms(model: Model) -> list[BatchNorm]:
    """Returns the batch norms whose statistics are those of batches."""
    return [module for module in model.modules() if isinstance(module, BatchNorm) and not module.constant]


def _joined(parts: Sequence[dict[str, Loss]]) -> dict[str, Loss]:
    """Returns the losses of several parts of a batch as those of one."""
    return {
        name: Loss(*(torch.cat(column) for column in zip(*(part[name] for part in parts), strict=True)))
        for name in parts[0]
    }


def _tensors(model: Model) -> list[Tensor]:
    """Returns a model's weights and statistics."""
    return [*model.parameters(), *model.buffers()]


def _optimizer(model: Model, settings: LearnSettings) -> torch.optim.Optimizer:
    """Makes the optimizer. As usual only matrices and convolutions decay, not norms, biases or rotary frequencies."""
    large = [parameter for parameter in model.parameters() if parameter.dim() in (2, 4)]
    small = [parameter for parameter in model.parameters() if parameter.dim() not in (2, 4)]
    groups = [{"params": large, "weight_decay": _decay(settings)}, {"params": small, "weight_decay": 0.0}]
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, settings.learning_rate, _MOMENTUM, nesterov=True, fused=True)
    return torch.optim.AdamW(groups, settings.learning_rate, (_MOMENTUM, 0.999), fused=True)


def _decay(settings: LearnSettings) -> float:
    """Returns the weight decay for the optimizer: SGD adds it to the gradient, which momentum multiplies."""
    return settings.weight_decay * (1 - _MOMENTUM if settings.optimizer == "sgd" else 1.0)


class _Task(NamedTuple):
    """The present state of rank 0's learner, and what its loader draws from now on."""

    device: str
    config: NetworkConfig
    settings: LearnSettings
    state: dict[str, Any]
    samples: Samples
    batch_size: int
    draws: dict[str, int]  # seed and drawn of `Loader`
    threads: int  # of each machine; 0 for all


def start_followers(group: ProcessGroup, learner: Learner, loader: Loader, threads: int) -> None:
    """Makes the processes of rank 1 and above train `learner` on the batches of `loader`; called by rank 0.

    `threads` are those of each machine, 0 for all that it has (`ProcessGroup.thread_share`).
    """
    if group.count > 1:
        what = learner.device.type, learner.model.config, learner.settings, learner.state()
        draws = {"seed": loader.seed, "drawn": loader.drawn}
        group.broadcast(_Task(*what, loader.samples, loader.batch_size, draws, threads))


def run_follower(group: ProcessGroup) -> bool:
    """Trains on this process's parts of the batches of rank 0 until that ends.

    Returns:
        False if rank 0 or another process was lost, or if this one is out of memory; the reason is logged.
    """
    learner: Learner | None = None
    loader: Loader | None = None
    try:
        for task in group.receive():
            if task:
                if loader:
                    loader.close()
                learner = None  # its memory is needed for the next one
                learner, loader = _begin(group, task)
            elif learner and loader:
                learner.step(next(loader))
    except resource_errors() as error:
        logger.error(f"training process {group.rank} ends: {error_text(error)}")
        return False
    finally:
        if loader:
            loader.close()
    return True


def _begin(group: ProcessGroup, task: _Task) -> tuple[Learner, Loader]:
    threads = group.thread_share(task.threads)
    configure_torch(threads)
    device = group.device(torch.device(task.device))
    learner = Learner(Model(task.config), task.settings, device, group)
    learner.load_state(task.state)
    part, is_pinned = (group.rank, group.count), device.type == "cuda"
    loader = Loader(task.samples, task.batch_size, **task.draws, threads=threads, pinned=is_pinned, part=part)
    return learner, loader
