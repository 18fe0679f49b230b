"""Distributed data-parallel training: several processes train one network, one for each GPU or several on CPUs.

`processes` or `torchrun` starts them. The first one (rank 0) runs the whole program: it runs self-play, makes decisions
and writes all files and output. The others only train (`learner.run_follower`). Each process uses its part of every
batch, and the gradients are summed, so that weights, averages and optimizers are the same everywhere. Batch norms use
the statistics of the whole batch. The result therefore equals that of one process with the same batches, up to
rounding.

Rank 0 controls the others through a group on the CPU (gloo). Its next message may be hours away; they sleep until then.
"""

import contextlib
import datetime
import io
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from ..base.errors import ProcessLostError, UserError, error_text
from ..base.messages import plural
from ..base.system import available_cpus
from ..nets.layers import BatchNorm
from .processes import LAUNCHED

_CONTROL_TIMEOUT = datetime.timedelta(days=365)
_TIMEOUT = datetime.timedelta(minutes=10)  # until all processes are connected, and for each collective operation
_INTERFACE = "GLOO_SOCKET_IFNAME"  # a variable of torch
_SIOCGIFADDR = 0x8915  # asks Linux for the address of an interface (netdevice(7))
_LOST = "another training process was lost; its own output names the reason"
_END, _STEP = 0, -1  # control messages; a positive number is the length of the data that follow


class ProcessGroup:
    """This process among those that train together. If nothing has started others, no method does anything.

    A context manager: when rank 0 leaves it in order, the other processes end too.

    Args:
        environment: The environment variables, among them those that `processes` or torchrun sets, without which the
            process trains alone. What other programs have left in variables of the same names is ignored.

    Attributes:
        rank: This process's number, from 0.
        count: Number of processes.
    """

    def __init__(self, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        ours = environment if LAUNCHED in environment else {}
        self.rank, self.count, self._local_rank, self._local_count = (
            int(ours.get(name, default))
            for name, default in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0), ("LOCAL_WORLD_SIZE", 1))
        )
        self._control: dist.ProcessGroup | None = None
        self._is_in_step = False

    def __enter__(self) -> "ProcessGroup":
        if self.count > 1:
            self._connect()
            if self.rank:  # rank 0 decides when to stop
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self._control = dist.new_group(backend="gloo", timeout=_CONTROL_TIMEOUT)
        return self

    def _connect(self) -> None:
        """Waits until all processes are connected; ConnectionError if one is missing, or if the port is in use."""
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler would only run after torch returns
        if self.count > self._local_count:
            _choose_interface()
        try:
            dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=_TIMEOUT)
        except RuntimeError as error:
            raise ConnectionError(f"cannot connect all {self.count} processes: {error_text(error)}") from error
        finally:
            signal.signal(signal.SIGINT, before)

    def __exit__(self, *error: object) -> None:
        # After an error within a step the others wait for a sum; they fail when this process is gone.
        if self.count > 1 and not self._is_in_step:
            with contextlib.suppress(ProcessLostError, RuntimeError):
                if self.rank == 0:
                    self._broadcast(torch.tensor([_END]))
                dist.destroy_process_group()

    def device(self, kind: torch.device) -> torch.device:
        """Returns this process's own device of a kind; UserError if there are fewer GPUs than processes."""
        if self.count == 1 or kind.type != "cuda":
            return kind
        if self._local_count > torch.cuda.device_count():
            raise UserError(
                f"{self._local_count} processes for {plural(torch.cuda.device_count(), 'GPU')}: start one for each GPU "
                "(--processes, or torchrun's --nproc-per-node)"
            )
        device = torch.device("cuda", self._local_rank)
        torch.cuda.set_device(device)
        return device

    def check_batch(self, size: int) -> None:
        """Raises UserError if batches of that size cannot be split evenly; to be called before anything is read."""
        if size % self.count:
            raise UserError(
                f"batches of {size} cannot be shared evenly by {self.count} processes: choose a batch size that "
                f"{self.count} divides, or another number of processes"
            )

    def thread_share(self, threads: int) -> int:
        """Returns this process's share of a number of its machine's threads, or of all for 0; at least one."""
        return max(1, (threads or available_cpus()) // self._local_count)

    def broadcast(self, content: object) -> None:
        """Sends an object from rank 0 to the other processes, which get it from `receive`."""
        if self.count > 1:
            file = io.BytesIO()
            torch.save(content, file, pickle_protocol=5)  # arrays take a fourth of the time that they take by default
            data = torch.frombuffer(file.getbuffer(), dtype=torch.uint8)
            self._broadcast(torch.tensor([len(data)]))
            self._broadcast(data)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """A step of training in all processes, begun by rank 0; ProcessLostError if another one ended meanwhile."""
        self._is_in_step = True
        if self.count > 1 and self.rank == 0:
            self._broadcast(torch.tensor([_STEP]))
        try:
            yield
        except RuntimeError as error:
            # NCCL's errors have their own class; gloo's only name its source file.
            if self.count > 1 and (isinstance(error, dist.DistError) or "gloo" in str(error)):
                raise ProcessLostError(_LOST) from error
            raise
        self._is_in_step = False

    def receive(self) -> Iterator[Any]:
        """Yields what rank 0 broadcasts until it ends, with tensors on the CPU, and None for each step."""
        while size := self._broadcast(torch.empty(1, dtype=torch.int64)).item():
            if size == _STEP:
                yield None
            else:
                data = self._broadcast(torch.empty(int(size), dtype=torch.uint8))
                yield torch.load(io.BytesIO(data.numpy().tobytes()), map_location="cpu", weights_only=False)

    def _broadcast(self, tensor: Tensor) -> Tensor:
        try:
            dist.broadcast(tensor, 0, group=self._control)
        except RuntimeError as error:
            raise ProcessLostError(_LOST) from error
        return tensor

    def all_reduce(self, tensor: Tensor) -> None:
        """Replaces the tensor by its sum over all processes."""
        if self.count > 1:
            dist.all_reduce(tensor)

    def sum_gradients(self, gradients: list[Tensor]) -> None:
        """Replaces gradients by their sums over all processes, in place."""
        if self.count > 1:
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            dist.all_reduce(flat)
            for gradient, summed in zip(gradients, flat.split([x.numel() for x in gradients]), strict=True):
                gradient.copy_(summed.view_as(gradient))

    def combine_norms(self, model: nn.Module) -> None:
        """Makes the statistics of a model's batch norms those of the batches of all processes."""
        for module in model.modules():
            if self.count > 1 and isinstance(module, BatchNorm):
                module.combine = self._combine_statistics

    def _combine_statistics(self, count: Tensor, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Combines count, mean and variance [channels] of a batch's parts (Chan, Golub and LeVeque 1979)."""
        mine = torch.zeros((self.count, 1), device=mean.device)
        mine[self.rank] = 1
        parts = _AllReduce.apply(mine * torch.cat((count.view(1), mean, variance)))
        counts, means, variances = parts.split((1, len(mean), len(mean)), 1)
        whole = counts.sum()
        mean = (counts * means).sum(0) / whole
        return whole, mean, (counts * (variances + (means - mean).square())).sum(0) / whole


def _choose_interface() -> None:
    """Makes gloo use the network interface by which rank 0 is reached, unless the user has chosen one.

    By itself it takes the one of this machine's name, which on many machines is that of 127.0.0.1.
    """
    if sys.platform != "linux" or _INTERFACE in os.environ or "MASTER_ADDR" not in os.environ:
        return
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect((os.environ["MASTER_ADDR"], 1))  # sends nothing, but decides on an address
        own = socket.inet_aton(probe.getsockname()[0])
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # one without an address
                if fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()))[20:24] == own:
                    os.environ[_INTERFACE] = name


class _AllReduce(torch.autograd.Function):
    """The sum over all processes; so is its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _AllReduce.apply(gradient)
