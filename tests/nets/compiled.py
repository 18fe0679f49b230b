"""Compiled networks and prepared ones, called as torch's modules are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gtp_engine.base.jit import config
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.kernels.llvm import HAS_BFLOAT16, HAS_FLOAT32, HAS_INT8, HAS_TILES, KNOWS_TILES
from gtp_engine.nets.kernels.matmul import BFLOAT16, FLOAT32, TILES
from gtp_engine.nets.kernels.network import CompiledNetwork, can_compile
from gtp_engine.nets.model import Model, prepare_for_inference
from gtp_engine.nets.stored import RawOutputs, StoredNetwork

needs_kernels = pytest.mark.skipif(
    config.DISABLE_JIT or not HAS_FLOAT32, reason="the vectors of this CPU are not used, or code is not compiled"
)
needs_bfloat16 = pytest.mark.skipif(config.DISABLE_JIT or not HAS_BFLOAT16, reason="this CPU multiplies no bfloat16")
_OBSTACLE = "the system does not permit AMX tiles" if KNOWS_TILES else "this CPU has no AMX tiles"
needs_tiles = pytest.mark.skipif(
    config.DISABLE_JIT or not HAS_TILES, reason="code is not compiled" if config.DISABLE_JIT else _OBSTACLE
)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA GPU")
needs_int8 = pytest.mark.skipif(config.DISABLE_JIT or not HAS_INT8, reason="this CPU has no 8-bit dot products")


Products = np.dtype[Any]  # the type of packed weights, which says how products are computed
HALF_PRODUCTS = [
    pytest.param(BFLOAT16, id="bfloat16", marks=needs_bfloat16),
    pytest.param(TILES, id="tiles", marks=needs_tiles),
]
PRODUCTS = [pytest.param(FLOAT32, id="float32"), *HALF_PRODUCTS]


def compiled(network: StoredNetwork, products: Products = FLOAT32) -> Callable[..., RawOutputs[Tensor]]:
    """Returns the compiled network as a function of torch's tensors."""
    assert can_compile(network.config, "float32" if products == FLOAT32 else "bfloat16")
    return on_tensors(CompiledNetwork(network, products))


def on_tensors(kernels: Callable[..., RawOutputs[np.ndarray]]) -> Callable[..., RawOutputs[Tensor]]:
    """Returns a function of numpy's arrays, such as a `CompiledNetwork`, as one of torch's tensors."""

    def run(
        planes: Tensor, scalars: Tensor, metadata: Tensor | None = None, *, full_board: bool = False
    ) -> RawOutputs[Tensor]:
        points = planes.permute(0, 2, 3, 1).to(torch.uint8).contiguous().numpy()
        people = None if metadata is None else metadata.numpy()
        return RawOutputs(*map(torch.from_numpy, kernels(points, scalars.numpy(), people, full_board=full_board)))

    return run


def raw_outputs_of(model: Model) -> Callable[..., RawOutputs[Tensor]]:
    """Returns a module of torch's as a function that returns the raw outputs alone."""
    return lambda *inputs, **options: model(*inputs, **options).raw


def check_against_torch(way: Callable[..., Callable[..., RawOutputs[Tensor]]], name: str, products: Products) -> None:
    """A random network of this architecture; `way` is called as `compiled` is."""
    torch.manual_seed(1)
    model = Model(parse_config(name)).initialise().eval()
    planes = (torch.rand(3, 22, 9, 9) < 0.2).float()
    planes[:, 0] = 1
    scalars = torch.rand(3, 19)
    with torch.inference_mode():
        expected, found = model(planes, scalars).raw, way(model.stored(), products)(planes, scalars, full_board=True)
    for one, other in zip(expected, found, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=2e-5 if products == FLOAT32 else 0.05)


def on_gpu(network: StoredNetwork, dtype: torch.dtype = torch.float32) -> Callable[..., RawOutputs[Tensor]]:
    """Returns the prepared network on an NVIDIA GPU as a function of tensors on the CPU."""
    torch.backends.cudnn.allow_tf32 = False  # as `configure_torch` does
    model = prepare_for_inference(network, dtype, "cuda")

    def run(*inputs: Tensor, full_board: bool) -> RawOutputs[Tensor]:
        raw = model(*(each.cuda() for each in inputs), full_board=full_board).raw
        return RawOutputs(*(output.float().cpu() for output in raw))

    return run


# The ways to compute a network in float32, each of which has to give the same outputs.
WAYS: dict[str, Callable[[StoredNetwork], Callable[..., RawOutputs[Tensor]]]] = {
    "plain": lambda network: raw_outputs_of(Model.from_stored(network)),
    "prepared": lambda network: raw_outputs_of(prepare_for_inference(network)),
    "compiled": compiled,
}
if torch.cuda.is_available():
    WAYS["gpu"] = on_gpu
_MARKS = {"compiled": needs_kernels}
EACH_WAY = pytest.mark.parametrize("way", [pytest.param(way, marks=_MARKS.get(way, ())) for way in WAYS])
