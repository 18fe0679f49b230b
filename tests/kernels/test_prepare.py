"""Compiled passes and lower precision: how far they are from torch in float32."""

from pathlib import Path

import pytest
import torch
from golden import inputs, network_file, records
from random_networks import random_model
from torch.nn import functional

from gtp_engine.base.jit import config
from gtp_engine.kernels import trunk
from gtp_engine.kernels.activations import FusedActivation
from gtp_engine.kernels.prepare import prepare_for_inference
from gtp_engine.network.katago_file import read_katago_file
from gtp_engine.network.layers import ACTIVATION_FUNCTIONS
from gtp_engine.network.outputs import predict
from gtp_engine.network.schema import MISH, RELU, SILU


@pytest.mark.skipif(config.DISABLE_JIT, reason="passes are made only where code is compiled")
@pytest.mark.parametrize("kind", [MISH, RELU, SILU])
@pytest.mark.parametrize("channels_last", [True, False])
def test_fused_activations_are_torchs(kind: str, channels_last: bool) -> None:
    torch.manual_seed(1)
    x = torch.randn(2, 40, 5, 7) * 5
    x[0, :6, 0, 0] = torch.tensor([-1e4, -90.0, -50.0, 19.0, 21.0, 1e4])
    x = x.contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)
    scale, shift = torch.rand(40) + 0.5, torch.randn(40)
    fused = FusedActivation(kind, scale, shift)
    expected = ACTIVATION_FUNCTIONS[kind]((x * scale.view(-1, 1, 1) + shift.view(-1, 1, 1)).double())
    assert torch.allclose(fused(x).double(), expected, rtol=2e-6, atol=2e-6)
    half = x.bfloat16()
    expected = ACTIVATION_FUNCTIONS[kind]((half.float() * scale.view(-1, 1, 1) + shift.view(-1, 1, 1)).double())
    assert torch.allclose(fused(half).double(), expected, rtol=2**-8, atol=1e-6)


@pytest.mark.parametrize("version", [8, 14, 17])
def test_bfloat16_is_near(version: int) -> None:
    model = random_model(version, 5)
    half = prepare_for_inference(model, torch.bfloat16)
    generator = torch.Generator().manual_seed(1)
    planes = (torch.rand(4, 22, 9, 9, generator=generator) < 0.2).float()
    planes[:, 0] = 1
    scalars, metadata = torch.rand(4, 19, generator=generator), torch.rand(4, 192, generator=generator)
    with torch.inference_mode():
        for full_board in (True, False):
            expected = model(planes, scalars, metadata)
            found = half(planes, scalars, metadata, full_board=full_board)
            assert found.policy.dtype == torch.float32
            assert functional.l1_loss(found.value, expected.value) < 0.05
            assert functional.l1_loss(found.policy, expected.policy) < 0.05


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_portions_of_a_batch_change_nothing(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    model = prepare_for_inference(random_model(17, 5), dtype)
    generator = torch.Generator().manual_seed(1)
    planes = (torch.rand(21, 22, 9, 9, generator=generator) < 0.2).float()
    planes[:, 0] = 1
    planes[::3, :, 7:] = 0  # a smaller board
    scalars, metadata = torch.rand(21, 19, generator=generator), torch.rand(21, 192, generator=generator)
    with torch.inference_mode():
        whole = model(planes, scalars, metadata)
        monkeypatch.setattr(trunk, "_PORTION_VALUES", 1)
        for found, expected in zip(model(planes, scalars, metadata), whole, strict=True):
            assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b6c96", "b15c192", "b7c96h3tf", "b18c384nbt", "b10c384h6tf"])
def test_bfloat16_is_near_for_networks_of_katago(shared: Path, name: str) -> None:
    """Win rate and policy to 5e-3 on average; its first move has nine tenths of the best prior."""
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")[:30]
    model = read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"]))
    half = prepare_for_inference(model, torch.bfloat16)
    winrate, policy = 0.0, 0.0
    for record in found:
        given = inputs(record)
        with torch.inference_mode():
            exact, near = (
                predict(net(given.planes, given.scalars, full_board=True), model.config, given.legal, given.scalars)
                for net in (model, half)
            )
        winrate += float((exact.value - near.value)[0, 0].abs()) / len(found)
        policy += float((exact.policy - near.policy).abs().mean()) / len(found)
        assert exact.policy[0, near.policy.argmax()] >= 0.9 * exact.policy.max()
    assert winrate < 5e-3 and policy < 5e-3
