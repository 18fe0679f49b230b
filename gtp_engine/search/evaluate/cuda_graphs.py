"""CUDA graphs: a network's operations, recorded once for each size of a batch and started by one call.

A GPU computes a small batch in less time than PyTorch needs to start its operations one by one.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...nets.stored import RawOutputs

Evaluate = Callable[[Sequence[Tensor]], RawOutputs[Tensor]]

# A batch is padded to the next of these sizes. Larger ones keep a GPU busy without a graph.
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)

_lock = threading.Lock()  # torch records one graph at a time in a process


@dataclass
class _Recorded:
    """A graph, and the memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    inputs: list[Tensor]
    outputs: RawOutputs[Tensor]


class Graphs:
    """Evaluates batches of up to SIZES[-1] positions by graphs, which are recorded when their size is first needed.

    `evaluate` evaluates tensors on the GPU.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._recorded: dict[tuple[torch.Size, ...], _Recorded] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, tensors: Sequence[Tensor]) -> RawOutputs[Tensor]:
        """Evaluates tensors in host memory.

        Args:
            tensors: What `evaluate` takes, but for the device: each has a row for each position.

        Returns:
            The raw outputs on the GPU, which the next call overwrites.

        Raises:
            RuntimeError: the GPU cannot record them, or has not enough memory.
        """
        count = len(tensors[0])
        size = next(size for size in SIZES if size >= count)
        shapes = tuple(torch.Size((size, *tensor.shape[1:])) for tensor in tensors)
        if shapes not in self._recorded:
            inputs = [tensor.new_zeros(shape, device="cuda") for shape, tensor in zip(shapes, tensors, strict=True)]
            with _lock:
                self._recorded[shapes] = self._record(inputs)
        recorded = self._recorded[shapes]
        for memory, tensor in zip(recorded.inputs, tensors, strict=True):
            memory[:count].copy_(tensor, non_blocking=True)
        recorded.graph.replay()
        return RawOutputs(*(output[:count] for output in recorded.outputs))

    def _record(self, inputs: list[Tensor]) -> _Recorded:
        # Libraries choose their kernels and take their memory before the recording, on another stream as torch asks.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._evaluate(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # All graphs share their memory: they run one after the other, and none needs what another one left there.
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            outputs = self._evaluate(inputs)
        return _Recorded(graph, inputs, outputs)
