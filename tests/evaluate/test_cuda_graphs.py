"""Batches by CUDA graphs against the same network without them, mostly on a GPU."""

import logging
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from gtp_engine.nets.library import load_network
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.search.evaluate.cuda_graphs import SIZES
from gtp_engine.search.evaluate.features import Inputs
from gtp_engine.search.evaluate.torch_runner import TorchRunner, _evaluate

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA GPU")


def new_runner(device: str = "cuda") -> TorchRunner:
    return TorchRunner(load_network(TINY), "tiny", device, "float32")


def random_inputs(runner: TorchRunner, count: int, side: int, seed: int) -> Inputs:
    random = np.random.default_rng(seed)
    inputs = runner.new_inputs(count, side, side)
    inputs.planes[:] = random.random(inputs.planes.shape) < 0.2
    inputs.planes[..., 0] = 1
    inputs.scalars[:] = random.random(inputs.scalars.shape)
    return inputs


def outputs_of(runner: TorchRunner, inputs: Inputs, chosen: np.ndarray) -> RawOutputs[np.ndarray]:
    raw = runner.run(inputs, chosen)
    runner.mark()()
    return raw


def test_halves_of_a_batch_keep_their_outputs_though_graphs_share_memory() -> None:
    runner = new_runner("cpu")
    inputs = random_inputs(runner, 4, 9, 1)
    expected = runner.run(inputs, np.arange(4))
    memory = [torch.empty((2, *output.shape[1:])) for output in expected]

    def evaluate_in_place(tensors: Sequence[torch.Tensor]) -> RawOutputs[torch.Tensor]:
        for place, output in zip(memory, _evaluate(runner.model, tensors), strict=True):
            place.copy_(output)
        return RawOutputs(*memory)

    runner._graphs = Mock(side_effect=evaluate_in_place)
    runner.largest_batch = 2  # as after a lack of memory
    for one, other in zip(runner.run(inputs, np.arange(4)), expected, strict=True):
        assert np.abs(one - other).max() < 1e-5


def test_every_size_of_a_batch_is_recorded_ahead() -> None:
    runner = new_runner("cpu")
    runner.prepare(runner.new_inputs(8, 9, 9))  # nothing without graphs
    runner._graphs = Mock(side_effect=lambda tensors: _evaluate(runner.model, tensors))
    runner.prepare(runner.new_inputs(8, 9, 9))
    assert [len(call.args[0][0]) for call in runner._graphs.call_args_list] == [1, 2, 3, 4, 6, 8]


@needs_gpu
def test_graphs_compute_what_the_network_does() -> None:
    runner, plain = new_runner(), new_runner()
    plain._graphs = None
    for seed, (count, side) in enumerate(
        [(3, 9), (1, 9), (5, 7), (3, 9), (SIZES[-1] + 1, 9), (SIZES[-1], 9), (2, 7), (4, 9)]
    ):
        inputs = random_inputs(runner, count, side, seed)
        every_other = np.arange(0, count, 2) if seed % 2 else np.arange(count)
        found, expected = (outputs_of(each, inputs, every_other) for each in (runner, plain))
        assert runner._graphs is not None
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape and np.abs(one - other).max() < 1e-4


@needs_gpu
def test_two_batches_under_way_keep_their_outputs_apart() -> None:
    runner = new_runner()
    batches = [random_inputs(runner, 4, 9, seed) for seed in range(2)]
    alone = [outputs_of(runner, inputs, np.arange(4)) for inputs in batches]
    together = [runner.run(inputs, np.arange(4)) for inputs in batches]
    runner.mark()()
    for one, other in zip(alone, together, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


@needs_gpu
def test_a_gpu_that_cannot_record_does_without(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("operation not permitted")

    runner = new_runner()
    inputs = random_inputs(runner, 2, 9, 1)
    expected = outputs_of(runner, inputs, np.arange(2))
    other = new_runner()
    monkeypatch.setattr(torch.cuda, "graph", refuse)
    with caplog.at_level(logging.WARNING):
        found = outputs_of(other, inputs, np.arange(2))
    assert "tiny cannot be recorded as a CUDA graph" in caplog.text
    for one, two in zip(found, expected, strict=True):
        assert np.abs(one - two).max() < 1e-4
