"""Batches by CUDA graphs against the same network without them, on a GPU."""

import logging
from pathlib import Path

import numpy as np
import pytest
import torch

from gtp_engine.nets.library import load_network
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.search.evaluate.cuda_graphs import SIZES
from gtp_engine.search.evaluate.features import Inputs
from gtp_engine.search.evaluate.torch_runner import TorchRunner

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA GPU")


def new_runner() -> TorchRunner:
    return TorchRunner(load_network(TINY), "tiny", "cuda", "float32")


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


@needs_gpu
def test_graphs_compute_what_the_network_does() -> None:
    runner, plain = new_runner(), new_runner()
    plain._graphed = None
    for seed, (count, side) in enumerate(
        [(3, 9), (1, 9), (5, 7), (3, 9), (SIZES[-1] + 1, 9), (SIZES[-1], 9), (2, 7), (4, 9)]
    ):
        inputs = random_inputs(runner, count, side, seed)
        every_other = np.arange(0, count, 2) if seed % 2 else np.arange(count)
        found, expected = (outputs_of(each, inputs, every_other) for each in (runner, plain))
        assert runner._graphed is not None
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
