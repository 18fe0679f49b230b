"""Networks computed by torch: on GPUs, and on CPUs where our kernels do not run."""

import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ...base.system import configure_torch
from ...nets.model import Model, prepare_for_inference
from ...nets.stored import RawOutputs, StoredNetwork
from .cuda_graphs import SIZES, Graphs
from .features import Inputs, as_slice

logger = logging.getLogger(__name__)


class _PinnedInputs(Inputs):
    """Inputs in memory from which a GPU copies by itself."""

    def __init__(self, size: int, width: int, height: int, metadata: bool) -> None:
        super().__init__(size, width, height, metadata)
        # The tensors are kept: torch owns their memory, which the arrays share.
        tensors = (torch.from_numpy(array).pin_memory() for array in (self.planes, self.scalars))
        self.pinned: list[Tensor] = list(tensors)
        self.planes, self.scalars = (tensor.numpy() for tensor in self.pinned)
        if self.metadata is not None:
            self.pinned.append(torch.from_numpy(self.metadata).pin_memory())
            self.metadata = self.pinned[-1].numpy()


class TorchRunner:
    """Implements `runner.Runner` by torch; the precision is named as there, the network for messages."""

    def __init__(self, network: StoredNetwork, name: str, device: str, precision: str) -> None:
        configure_torch()  # on a CPU threads work side by side, each on its own part of a batch
        self.device, self.precision, self._name = device, precision, name
        self.largest_batch = sys.maxsize
        self._takes_metadata = network.config.metadata_version > 0
        self.model = prepare_for_inference(network, getattr(torch, precision), device)
        self._graphs = Graphs(partial(_evaluate, self.model)) if device == "cuda" else None

    def new_inputs(self, size: int, width: int, height: int) -> Inputs:
        """See `Runner.new_inputs`."""
        return (_PinnedInputs if self.device == "cuda" else Inputs)(size, width, height, self._takes_metadata)

    @torch.inference_mode()
    def run(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[np.ndarray]:
        """See `Runner.run`."""
        raw = self._forward_in_halves(inputs, positions)
        if self.device != "cuda":
            return RawOutputs(*(output.cpu().numpy() for output in raw))
        pinned = (torch.empty(output.shape, pin_memory=True) for output in raw)
        hosts = (host.copy_(output, non_blocking=True) for host, output in zip(pinned, raw, strict=True))
        return RawOutputs(*(host.numpy() for host in hosts))

    def mark(self) -> Callable[[], None]:
        """See `Runner.mark`."""
        if self.device != "cuda":
            return lambda: None
        event = torch.cuda.Event()
        event.record()
        return event.synchronize

    def prepare(self, inputs: Inputs) -> None:
        """See `Runner.prepare`: on an NVIDIA GPU every size of a batch is recorded."""
        if self._graphs is None:
            return
        for array in (inputs.planes, inputs.scalars, inputs.metadata):
            if array is not None:
                array[:] = 0
        for size in SIZES:
            if size <= inputs.size:
                self.run(inputs, np.arange(size))
        self.mark()()

    def prepare_thread(self) -> None:
        """See `Runner.prepare_thread`."""
        configure_torch()

    def close(self) -> None:
        """See `Runner.close`."""
        del self.model, self._graphs
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def _forward_in_halves(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[Tensor]:
        """Calls `_forward`, in halves as often as the device has not enough memory."""
        if len(positions) <= self.largest_batch:
            try:
                return self._forward(inputs, positions)
            except torch.OutOfMemoryError:
                pass  # the memory of the failed attempt is free only outside of this handler
            if len(positions) == 1:
                raise MemoryError(f"not enough memory on {self.device} for the network {self._name}")
            torch.cuda.empty_cache()
            self.largest_batch = len(positions) // 2
            memory = f"not enough memory on {self.device} for batches of {len(positions)}"
            logger.warning(f"{memory}: using batches of {self.largest_batch} from now on")
        halves = (  # copied, since a graph writes the second half where it has written the first
            [output.clone() for output in self._forward_in_halves(inputs, half)]
            for half in np.array_split(positions, 2)
        )
        return RawOutputs(*(torch.cat(parts) for parts in zip(*halves, strict=True)))

    def _forward(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[Tensor]:
        """Returns the raw outputs for some positions of the inputs, on the device."""
        arrays = (inputs.planes, inputs.scalars, inputs.metadata)  # whose memory the tensors share
        tensors = [torch.from_numpy(array) for array in arrays if array is not None]
        if isinstance(inputs, _PinnedInputs):
            tensors = inputs.pinned
        chosen = as_slice(positions)
        indices = chosen if isinstance(chosen, slice) else torch.from_numpy(chosen)
        batch = [tensor[indices] for tensor in tensors]
        if self._graphs is not None and len(positions) <= SIZES[-1]:
            try:
                return self._graphs(batch)
            except RuntimeError as error:
                logger.warning(f"{self._name} cannot be recorded as a CUDA graph, so small batches are slower: {error}")
                self._graphs = None
        return _evaluate(self.model, [tensor.to(self.device, non_blocking=True) for tensor in batch])


def _evaluate(model: Model, tensors: Sequence[Tensor]) -> RawOutputs[Tensor]:
    """Returns the raw outputs in float32 for tensors on the device.

    They are planes [n, h, w, 22] of full boards, scalars [n, 19], and metadata [n, 192] if the network takes them.
    """
    planes, *others = tensors
    raw = model(planes.permute(0, 3, 1, 2).float(), *others, full_board=True).raw
    return RawOutputs(*(output.float().contiguous() for output in raw))
