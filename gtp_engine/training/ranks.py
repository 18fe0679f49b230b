"""Several processes that learn one network together, as `torchrun` starts them: one for each GPU, or on CPUs.

The first one (rank 0) runs the whole program: it plays, decides, writes and says everything. The others only learn with
it (`together.follow`): each takes its part of every batch, and gradients are averaged by DistributedDataParallel, so
that weights, averages and optimizers are the same everywhere. Batch norms take the statistics of the whole batch. What
is learned is so what one process would learn of the same batches, but for rounding.

What rank 0 says goes over the CPU (gloo) and may be hours away: the others sleep until it comes.
"""

import contextlib
import datetime
import io
import signal
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from ..log import log
from ..network.layers import BatchNorm
from ..wording import reason

_PATIENCE = datetime.timedelta(days=365)
_MEETING = datetime.timedelta(minutes=10)  # until all are there, and then in each step
_MEETING_PLACE = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # without all of them nobody could meet
_END, _STEP = -1, 0  # what rank 0 says in a number; a larger one is the length of an object that follows


class Ranks:
    """This process among those that learn together; without torchrun it is alone, and nothing here does anything.

    rank: its number, count: of all. A context manager: when rank 0 leaves it in order, the others hear of it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """environment: torchrun's. What is left in it of another program is said on stderr and ignored; ValueError for
        numbers that are none."""
        found = [name for name in _MEETING_PLACE if name in environment]
        if len(found) < len(_MEETING_PLACE):
            if "RANK" in found or "WORLD_SIZE" in found:
                log(f"the environment has {' and '.join(found)}, but not all that torchrun sets: learns alone")
            environment = {}
        self.rank, self.count, self._rank_here, self._count_here = (
            _number(environment, name, alone)
            for name, alone in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0), ("LOCAL_WORLD_SIZE", 1))
        )
        _number(environment, "MASTER_PORT", 0)  # torch reads it itself, but does not name it where it is none
        if self.rank >= self.count:
            raise ValueError(f"RANK={self.rank} in the environment is not below WORLD_SIZE={self.count}")
        self._said: dist.ProcessGroup | None = None
        self._is_in_step = False

    @classmethod
    def alone(cls) -> "Ranks":
        return cls({})

    def __enter__(self) -> "Ranks":
        if self.count > 1:
            self._meet()
            if self.rank:  # rank 0 decides when all is over
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self._said = dist.new_group(backend="gloo", timeout=_PATIENCE)
        return self

    def _meet(self) -> None:
        """Waits until all are there; ConnectionError where one does not come, or the place to meet is taken."""
        if not dist.is_torchelastic_launched():
            log(f"RANK and WORLD_SIZE in the environment: process {self.rank} of {self.count} waits for the others")
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # torch would not let Python hear it
        try:
            dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=_MEETING)
        except dist.DistError as error:
            raise ConnectionError(
                f"not all of {self.count} processes met ({reason(error)}): start them with torchrun, or this one alone "
                "without RANK and WORLD_SIZE in its environment"
            ) from error
        finally:
            signal.signal(signal.SIGINT, before)

    def __exit__(self, *error: object) -> None:
        if self.count > 1 and not self._is_in_step:  # else the others wait for a sum, and see that nobody is there
            with contextlib.suppress(RuntimeError):  # of another one that has gone
                if self.rank == 0:
                    self._broadcast(torch.tensor([_END]))
                dist.destroy_process_group()

    def device(self, kind: torch.device) -> torch.device:
        """This process's own device of that kind. ValueError where there are fewer GPUs than processes."""
        if self.count == 1 or kind.type != "cuda":
            return kind
        if self._count_here > torch.cuda.device_count():
            raise ValueError(
                f"{self._count_here} processes for {torch.cuda.device_count()} GPUs: give torchrun --nproc-per-node "
                "as many as there are GPUs"
            )
        device = torch.device("cuda", self._rank_here)
        torch.cuda.set_device(device)
        return device

    def check_batch(self, size: int) -> None:
        """ValueError where batches of that size have no equal parts for all: to be asked before anything is read."""
        if size % self.count:
            raise ValueError(
                f"batches of {size} cannot be shared evenly by {self.count} processes: choose a batch size that "
                f"{self.count} divides, or another number of processes"
            )

    def threads(self, threads: int) -> int:
        """Those of a machine's threads that are this process's."""
        return max(1, threads // self._count_here)

    def begin(self, lesson: object) -> None:
        """Rank 0 says what is learned from now on."""
        if self.count == 1:
            return
        file = io.BytesIO()
        torch.save(lesson, file)
        content = torch.frombuffer(file.getbuffer(), dtype=torch.uint8)
        self._broadcast(torch.tensor([len(content)]))
        self._broadcast(content)

    def begin_step(self) -> None:
        """Rank 0 says that the next batch is learned; to be followed by `end_step` once that is done."""
        self._is_in_step = True
        if self.count > 1 and self.rank == 0:
            self._broadcast(torch.tensor([_STEP]))

    def end_step(self) -> None:
        self._is_in_step = False

    def heard(self) -> Iterator[Any]:
        """What rank 0 says to the others, to its end: lessons, and None for a step."""
        number = torch.empty(1, dtype=torch.int64)
        while self._broadcast(number).item() != _END:
            if number.item() == _STEP:
                yield None
            else:
                content = self._broadcast(torch.empty(int(number.item()), dtype=torch.uint8))
                # Whatever is in it: it comes from a process of the same run.
                yield torch.load(io.BytesIO(content.numpy().tobytes()), map_location="cpu", weights_only=False)

    def _broadcast(self, tensor: Tensor) -> Tensor:
        try:
            dist.broadcast(tensor, 0, group=self._said)
        except RuntimeError as error:
            raise RuntimeError("another one of the processes that learn together has gone") from error
        return tensor

    def add_up(self, tensor: Tensor) -> None:
        """Makes it the sum over all processes."""
        if self.count > 1:
            dist.all_reduce(tensor)

    def parallel(self, model: nn.Module) -> nn.Module:
        """The model as one that all learn."""
        if self.count == 1:
            return model
        for module in model.modules():
            if isinstance(module, BatchNorm):
                module.combine = self._whole_batch
        # It takes the strides of dimensions of one entry for a difference.
        warnings.filterwarnings("ignore", "Grad strides do not match")
        return DistributedDataParallel(model)

    def _whole_batch(self, count: Tensor, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Count, mean and variance [channels] of a batch from those of its parts (Chan, Golub and LeVeque 1979)."""
        mine = torch.zeros((self.count, 1), device=mean.device)
        mine[self.rank] = 1
        parts = _Sum.apply(mine * torch.cat((count.view(1), mean, variance)))
        counts, means, variances = parts.split((1, len(mean), len(mean)), 1)
        whole = counts.sum()
        mean = (counts * means).sum(0) / whole
        return whole, mean, (counts * (variances + (means - mean).square())).sum(0) / whole


def _number(environment: Mapping[str, str], name: str, alone: int) -> int:
    text = environment.get(name, str(alone))
    if not text.isdecimal():
        raise ValueError(f"{name}={text} in the environment: expected a number")
    return int(text)


class _Sum(torch.autograd.Function):
    """The sum over all processes: what each loses by it comes back to all."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient
