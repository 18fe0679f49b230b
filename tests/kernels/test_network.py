"""Compiled networks: how far they are from torch in float32, in both precisions; every width of a network."""

import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from compiled import (
    HALF_PRODUCTS,
    PRODUCTS,
    Products,
    check_against_torch,
    compiled,
    needs_bfloat16,
    needs_int8,
    needs_kernels,
    raw_outputs_of,
)
from golden import check_nearness, network_file, records
from random_networks import random_model
from torch import Tensor
from torch.nn import functional

from gtp_engine.nets.config import parse_config
from gtp_engine.nets.constants import MISH, RELU, SILU
from gtp_engine.nets.katago_file import read_katago_file
from gtp_engine.nets.kernels import network as kernels
from gtp_engine.nets.kernels import trunk
from gtp_engine.nets.kernels.grid import Grid
from gtp_engine.nets.kernels.layers import ActivatedConv, Activation, Conv
from gtp_engine.nets.kernels.matmul import FLOAT32, to_bfloat16
from gtp_engine.nets.kernels.passes import Before, activate_rows, activate_values
from gtp_engine.nets.kernels.scalars import KINDS
from gtp_engine.nets.layers import ACTIVATION_FUNCTIONS
from gtp_engine.nets.model import Model, prepare_for_inference
from gtp_engine.nets.quantisation import ALL_KINDS, MATRICES, POINTS

TINY = Path(__file__).resolve().parents[1] / "data" / "networks"


@needs_kernels
@pytest.mark.parametrize("kind", [MISH, RELU, SILU])
@pytest.mark.parametrize("half", [False, pytest.param(True, marks=needs_bfloat16)])
def test_activations_are_torchs(kind: str, half: bool) -> None:
    torch.manual_seed(1)
    x = torch.randn(35, 48) * 5
    x[0, :6] = torch.tensor([-1e4, -90.0, -50.0, 19.0, 21.0, 1e4])
    scale, shift = torch.rand(48) + 0.5, torch.randn(48)
    out, everywhere = np.empty(x.shape, np.uint16 if half else np.float32), np.zeros((0, 1), np.bool_)
    before = Before(KINDS[kind], scale.numpy(), shift[None].numpy(), np.zeros(2, np.float32))
    activate_rows(x[None].numpy(), everywhere, 0, 0, len(x), before, out, out)
    found = torch.from_numpy(out).view(torch.bfloat16).double() if half else torch.from_numpy(out).double()
    expected = ACTIVATION_FUNCTIONS[kind]((x * scale + shift).double())
    assert torch.allclose(found, expected, rtol=2**-8 if half else 2e-6, atol=1e-6 if half else 2e-6)


@needs_kernels
def test_a_few_values_are_activated_in_place() -> None:
    values = np.linspace(-3, 3, 96, dtype=np.float32).reshape(6, 16)
    expected = functional.mish(torch.from_numpy(values.copy()))
    activate_values(values, KINDS[MISH])
    assert torch.allclose(torch.from_numpy(values), expected, atol=1e-6)


def test_numbers_are_rounded_to_bfloat16_as_by_torch() -> None:
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(10_000, generator=generator) * torch.exp(20 * torch.randn(10_000, generator=generator))
    ties = torch.arange(0x3F800000, 0x3F900000, 0x8000, dtype=torch.int32).view(torch.float32)
    values = torch.cat((values, ties, torch.zeros(1)))
    assert (to_bfloat16(values.numpy()) == values.bfloat16().view(torch.uint16).numpy()).all()


@needs_kernels
@pytest.mark.parametrize(
    "name", ["b2c8", "b2c20nbt", "b3c36-mish", "b2c48nbt-silu", "b2c100", "b3c136-silu", "b3c260nbt-mish"]
)
@pytest.mark.parametrize("products", PRODUCTS)
def test_channels_need_not_fill_vectors(name: str, products: Products) -> None:
    check_against_torch(compiled, name, products)


@needs_kernels
@pytest.mark.parametrize("heads", [("value",), ("policy",), ("value", "policy")])
def test_there_are_kernels_if_the_convolutions_of_both_heads_have_one_size(heads: tuple[str, ...]) -> None:
    config = parse_config("b2c16")
    for name, convs in (("value", ["conv"]), ("policy", ["conv", "pool_conv"])):
        if name in heads:
            head = getattr(config, name)
            larger = {conv: replace(getattr(head, conv), height=3, width=3) for conv in convs}
            config = replace(config, **{name: replace(head, **larger)})
    assert kernels.can_compile(config, "float32") == (len(heads) == 2)
    if len(heads) == 1:
        return
    torch.manual_seed(1)
    model = Model(config).initialise().eval()
    planes, scalars = torch.ones(2, 22, 5, 5), torch.rand(2, 19)
    with torch.inference_mode():
        expected, found = model(planes, scalars).raw, compiled(model.stored())(planes, scalars, full_board=True)
    for one, other in zip(expected, found, strict=True):
        check_near(one, other, FLOAT32)


@needs_kernels
@pytest.mark.parametrize("products", PRODUCTS)
def test_positions_need_not_lie_side_by_side(products: Products) -> None:
    model = random_model(17, 5)
    network, choice = kernels.CompiledNetwork(model.stored(), products), np.random.default_rng(1)
    planes = (choice.random((6, 9, 9, 22)) < 0.2).astype(np.uint8)
    planes[..., 0] = 1
    scalars, metadata = choice.random((6, 19)).astype(np.float32), choice.random((6, 192)).astype(np.float32)
    expected = network(planes[::2].copy(), scalars[::2].copy(), metadata[::2].copy())
    found = network(planes[::2], scalars[::2], metadata[::2])
    assert all(map(np.array_equal, found, expected))


@needs_kernels
def test_no_positions_have_no_outputs() -> None:
    found = kernels.CompiledNetwork(random_model(14, 5).stored(), FLOAT32)(
        np.empty((0, 9, 9, 22), np.uint8), np.empty((0, 19), np.float32)
    )
    assert all(len(output) == 0 for output in found)


@pytest.mark.parametrize("products", [pytest.param(None, id="prepared"), *HALF_PRODUCTS])
@pytest.mark.parametrize("version", [8, 14, 17])
def test_bfloat16_is_near(version: int, products: Products | None) -> None:
    model = random_model(version, 5)
    network = model.stored()
    prepared = raw_outputs_of(prepare_for_inference(network, torch.bfloat16))
    half = prepared if products is None else compiled(network, products)
    generator = torch.Generator().manual_seed(1)
    planes = (torch.rand(4, 22, 9, 9, generator=generator) < 0.2).float()
    planes[:, 0] = 1
    scalars, metadata = torch.rand(4, 19, generator=generator), torch.rand(4, 192, generator=generator)
    with torch.inference_mode():
        for full_board in (True, False):
            expected = model(planes, scalars, metadata).raw
            found = half(planes, scalars, metadata, full_board=full_board)
            assert found.policy.dtype == torch.float32
            assert functional.l1_loss(found.value, expected.value) < 0.05
            assert functional.l1_loss(found.policy, expected.policy) < 0.05


# Heights and widths of tensors, and of a smaller board in each.
SIZES = [
    ((1, 1), (1, 1)),
    ((1, 19), (1, 7)),
    ((19, 2), (16, 1)),
    ((5, 5), (3, 4)),
    ((7, 13), (7, 9)),
    ((19, 19), (9, 13)),
]


@needs_kernels
@pytest.mark.parametrize("products", PRODUCTS)
@pytest.mark.parametrize("seed", [3, 5, 7])
def test_boards_may_have_any_size(seed: int, products: Products) -> None:
    """And a tensor may hold smaller ones. The networks have pooling, bottlenecks, attention and metadata, or not."""
    model = random_model(17, seed)
    found_by = compiled(model.stored(), products)
    generator = torch.Generator().manual_seed(seed)
    for (height, width), (less_height, less_width) in SIZES:
        planes = (torch.rand(3, 22, height, width, generator=generator) < 0.2).float()
        planes[:, 0] = 1
        planes[1, :, less_height:] = planes[1, :, :, less_width:] = 0
        scalars, metadata = torch.rand(3, 19, generator=generator), torch.rand(3, 192, generator=generator)
        with torch.inference_mode():
            expected = model(planes, scalars, metadata).raw
            found = found_by(planes, scalars, metadata)
        on_board = planes[:, 0].flatten(1) > 0
        policy = torch.cat((on_board, torch.ones(3, 1, dtype=torch.bool)), 1)[:, None]
        check_near(expected.policy * policy, found.policy * policy, products)
        check_near(expected.ownership * on_board, found.ownership * on_board, products)
        check_near(expected.value, found.value, products)
        check_near(expected.scores, found.scores, products)


def check_near(expected: Tensor, found: Tensor, products: Products) -> None:
    relative, absolute = (1e-4, 2e-5) if products == FLOAT32 else (0.05, 0.05)
    assert torch.allclose(found, expected, rtol=relative, atol=absolute), float((found - expected).abs().max())


@needs_kernels
@pytest.mark.parametrize("products", PRODUCTS)
def test_portions_of_a_batch_change_nothing(products: Products, monkeypatch: pytest.MonkeyPatch) -> None:
    model = compiled(random_model(17, 5).stored(), products)
    generator = torch.Generator().manual_seed(1)
    planes = (torch.rand(21, 22, 9, 9, generator=generator) < 0.2).float()
    planes[:, 0] = 1
    planes[::3, :, 7:] = 0  # a smaller board
    scalars, metadata = torch.rand(21, 19, generator=generator), torch.rand(21, 192, generator=generator)
    with torch.inference_mode():
        whole = model(planes, scalars, metadata)
        for name in ("_PORTION_VALUES", "_TILE_PORTION_VALUES"):
            monkeypatch.setattr(trunk, name, 1)
        for found, expected in zip(model(planes, scalars, metadata), whole, strict=True):
            assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("products", HALF_PRODUCTS)
@pytest.mark.parametrize("name", ["b6c96", "b15c192", "b7c96h3tf", "b7c96h6kv3tf", "b18c384nbt", "b10c384h6tf"])
def test_bfloat16_is_near_for_networks_of_katago(shared: Path, name: str, products: Products) -> None:
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")[:30]
    network = read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"]))
    check_nearness(compiled(network, products), Model.from_stored(network), found)


@needs_bfloat16
def test_the_faster_precision_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    tried = kernels.bfloat16_is_faster()
    (file,) = tmp_path.iterdir()
    assert file.read_text() == ("bfloat16" if tried else "float32")
    file.write_text("float32" if tried else "bfloat16")
    assert kernels.bfloat16_is_faster() != tried
    for damaged in (b"float8", b"\xe6loat32"):
        file.write_bytes(damaged)
        kernels.bfloat16_is_faster()
        assert file.read_text() in ("bfloat16", "float32")
    monkeypatch.setattr(kernels, "CACHE_FOLDER", None)
    assert kernels.bfloat16_is_faster() in (True, False)


@needs_int8
def test_whether_integers_are_faster_for_3x3_convolutions_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(kernels, "HAS_TILES", False)
    gain = kernels._window_gain()
    assert 0.1 < gain < 20
    config = read_katago_file(TINY / "tiny.bin.gz").config
    for found, kinds in ((2.0, ALL_KINDS), (0.9, {MATRICES, POINTS})):
        monkeypatch.setattr(kernels, "_window_gain", Mock(return_value=found))
        for _ in range(2):  # the second time from the file
            kernels.windows_are_faster.cache_clear()
            assert kernels.integer_kinds(config) == kinds
        kernels._window_gain.assert_called_once()
        (tmp_path / "integers").unlink()


def test_processes_with_and_without_tiles_choose_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(kernels, "_product_gain", lambda: 8.0 if kernels.HAS_TILES else 0.6)
    for has_tiles in (True, False, True):
        monkeypatch.setattr(kernels, "HAS_TILES", has_tiles)
        assert kernels.bfloat16_is_faster() == has_tiles


@pytest.mark.slow  # all kernels are compiled
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="not an x86-64 processor")
@needs_kernels
def test_a_processor_without_8_bit_products_compiles_everything_else(tmp_path: Path) -> None:
    """LLVM would end the process if there were an instruction that the processor lacks."""
    code = (
        "from pathlib import Path; import numpy as np\n"
        "from gtp_engine.nets.kernels.matmul import FLOAT32\n"
        "from gtp_engine.nets.kernels.network import CompiledNetwork, has_float32, has_int8\n"
        "from gtp_engine.nets.katago_file import read_katago_file\n"
        f"network = CompiledNetwork(read_katago_file(Path({str(TINY / 'tiny.bin.gz')!r})), FLOAT32)\n"
        "planes, scalars = np.ones((1, 5, 5, 22), np.uint8), np.zeros((1, 19), np.float32)\n"
        "network(planes, scalars, full_board=True)\n"
        "print(has_float32(), has_int8())\n"
    )
    processor = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "", "GTP_ENGINE_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, **processor}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_no_code_is_compiled_for_kernels_that_a_part_does_not_have() -> None:
    ones = np.ones(16, np.float32)
    for side, present in ((1, "products"), (3, "windows")):
        run = trunk.Run(FLOAT32)
        conv = Conv(np.ones((16, 16, side, side), np.float32), ones)
        activated = ActivatedConv(Activation(KINDS[RELU], ones, ones), [conv], FLOAT32)
        run.add_convolution(activated, 0, 16, 1, adds=False, shifted=False)
        tables = run._make_tables(Grid.of(9, 9, False))
        assert [name for name in tables._fields[2:] if getattr(tables, name) is not None] == [present]
