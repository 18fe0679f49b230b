"""Matrices as 8-bit integers: how they are rounded, and the file that keeps them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from random_networks import random_model
from torch.nn.functional import conv2d

from gtp_engine.base.errors import UserError
from gtp_engine.nets import quantisation
from gtp_engine.nets.config import Multipliers, parse_config
from gtp_engine.nets.katago_file import read_katago_file
from gtp_engine.nets.quantisation import (
    ALL_KINDS,
    MATRICES,
    POINTS,
    WINDOWS,
    Loss,
    Positions,
    Quantised,
    powers_in,
    quantisable,
    quantise,
    read_quantised,
    round_network,
    round_weights,
    save_quantised,
    scales_in,
    scales_of,
)
from gtp_engine.nets.stored import StoredNetwork, fold_norms

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


def test_whole_multiples_stay_what_they_are() -> None:
    generator = np.random.default_rng(1)
    integers = generator.integers(-127, 128, (5, 8))
    integers[:, 0] = 127
    scales = np.array([0.5, 1, 2, 0.25, 4], np.float32)
    weight = (integers * scales[:, None]).astype(np.float32)
    assert (scales_of(weight) == scales).all()
    assert (round_weights(weight, np.eye(8), scales).integers == integers).all()


def test_inputs_that_go_together_make_up_for_errors() -> None:
    """Two inputs that are always the same: what one weight is rounded down by, the other is rounded up by."""
    weight = np.array([[127, 0.4, 0.4]], np.float32)
    inputs = np.array([[1, 0, 0], [0, 1, 1]], np.float64)
    found, scales, _ = round_weights(weight, inputs.T @ inputs, scales_of(weight))
    assert scales == [1] and found.tolist() == [[127, 0, 1]]


def test_outputs_change_less_than_by_rounding_to_the_nearest() -> None:
    generator = np.random.default_rng(1)
    inputs = generator.standard_normal((1000, 20)) @ generator.standard_normal((20, 80))
    weight = generator.standard_normal((16, 80)).astype(np.float32)
    integers, scales, _ = round_weights(weight, inputs.T @ inputs, scales_of(weight))
    nearest = np.rint(weight / scales[:, None]) * scales[:, None]

    def error(rounded: np.ndarray) -> float:
        return float(np.square(inputs @ (rounded - weight).T).sum())

    assert error(integers * scales[:, None]) < error(nearest) / 4


def test_columns_are_rounded_block_by_block_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    inputs, weight = generator.standard_normal((40, 20)), generator.standard_normal((5, 20)).astype(np.float32)
    whole = round_weights(weight, inputs.T @ inputs, scales_of(weight))
    monkeypatch.setattr(quantisation, "_COLUMNS", 7)
    assert (round_weights(weight, inputs.T @ inputs, scales_of(weight)).integers == whole.integers).all()


def test_a_convolution_is_the_product_of_its_weights_and_rows() -> None:
    inputs, weight = torch.randn(2, 3, 5, 6), torch.randn(4, 3, 3, 3)
    expected = conv2d(inputs, weight, padding=1, stride=quantisation._STRIDE).permute(0, 2, 3, 1).flatten(0, 2)
    found = quantisation._rows(inputs, tuple(weight.shape)) @ weight.flatten(1).T
    assert torch.allclose(found, expected, atol=1e-5)


def test_layers_are_rounded_part_by_part_as_all_together(
    network: StoredNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The products of the inputs of a large network would not fit into memory."""
    planes, scalars = np.ones((1, 7, 7, 22), np.uint8), np.ones((1, 19), np.float32)
    whole = quantise(network, [Positions(planes, scalars)], ALL_KINDS)
    sizes = [layer.integers[0].size for layer in whole.values()]
    monkeypatch.setattr(quantisation, "_MOST_BYTES", 8 * max(sizes) ** 2)
    weights = {path: layer.integers for path, layer in whole.items()}
    assert 1 < len(list(quantisation._parts(weights))) < len(whole)
    found = quantise(network, [Positions(planes, scalars)], ALL_KINDS)
    assert list(found) == list(whole)
    for path, layer in whole.items():
        assert (found[path].integers == layer.integers).all()


def test_a_row_of_zeros_and_unused_inputs() -> None:
    weight = np.zeros((2, 3), np.float32)
    integers, scales, _ = round_weights(weight, np.zeros((3, 3)), scales_of(weight))
    assert not integers.any() and not scales.any()


def test_powers_of_two_are_found_in_weights() -> None:
    generator = np.random.default_rng(1)
    powers = np.ldexp(np.float32(1), generator.integers(-20, 5, 9)).astype(np.float32)
    integers = generator.integers(-127, 128, (9, 3, 1, 1))
    integers[:, 0] = 2 * generator.integers(0, 50, (9, 1, 1)) + 1  # odd: no larger power divides all
    weight = (integers * powers[:, None, None, None]).astype(np.float32)
    assert (powers_in(weight) == powers).all()
    weight[4] = 0
    assert powers_in(weight)[4] == 0


@pytest.mark.parametrize("row", [[128, 1], [1, 1 / 128], [0.3, 1], [1e-42, 1]])
def test_other_weights_are_no_multiples_of_powers_of_two(row: list[float]) -> None:
    assert powers_in(np.array([[1, 127], row], np.float32)) is None


def test_the_next_power_of_two() -> None:
    scales = np.array([0.25, 0.26, 3, 4, 0, 1e-42], np.float32)
    assert quantisation._next_powers(scales).tolist() == [0.25, 0.5, 4, 4, 0, 0]


def test_which_layers_can_be_of_integers() -> None:
    assert quantisable(parse_config("b3c36-mish"), {MATRICES, POINTS}) == []
    found = quantisable(parse_config("b3c36-mish"), {WINDOWS})
    assert found[:2] == ["trunk.blocks.0.conv1", "trunk.blocks.0.conv2"]
    of_bottlenecks = ["trunk.blocks.0.pre_conv", "trunk.blocks.0.post_conv"]
    assert quantisable(parse_config("b2c20nbt"), {POINTS})[:2] == of_bottlenecks
    paths = quantisable(read_katago_file(TINY).config, ALL_KINDS)
    assert paths and all(path.startswith("trunk.blocks.") for path in paths)


@pytest.fixture(scope="module")
def network() -> StoredNetwork:
    """A random network that has transformer blocks beyond the first two."""
    stored = (random_model(17, seed).stored() for seed in range(1, 99))
    return next(
        each
        for each in stored
        if {"query", "conv"}
        <= {part for path in quantisable(each.config, ALL_KINDS) for part in path.replace("_", ".").split(".")}
        and not each.config.metadata_version
    )


@pytest.fixture(scope="module")
def found(network: StoredNetwork) -> Quantised:
    generator = np.random.default_rng(1)
    planes = (generator.random((3, 7, 7, 22)) < 0.2).astype(np.uint8)
    planes[..., 0] = 1
    positions = [Positions(planes, np.ones((3, 19), np.float32))]
    return Quantised(quantise(network, positions, ALL_KINDS), Loss(0.001, 0.1))


def test_a_network_is_rounded_for_its_file(network: StoredNetwork) -> None:
    """All weights become bfloat16, and those of matrices and 1x1 convolutions multiples of powers of two."""
    choice = np.random.default_rng(1)
    planes, scalars = (choice.random((3, 7, 7, 22)) < 0.2).astype(np.uint8), choice.random((3, 19)).astype(np.float32)
    assert scales_in(network) == {}
    rounded = round_network(network, [Positions(planes, scalars)])
    layers = quantisable(network.config, {MATRICES, POINTS})
    assert list(scales_in(rounded)) == [f"{path}.scales" for path in layers]
    for name, value in network.values.items():
        found = rounded.values[name]
        if value.ndim == 1:
            assert (found == value).all()
        else:
            assert not (found.view(np.uint32) & 0xFFFF).any()
            assert np.abs(found - value).max() <= np.abs(value).max() / 16
    assert (rounded.values[f"{layers[0]}.weight"] != network.values[f"{layers[0]}.weight"]).any()
    again = round_network(network, [Positions(planes, scalars)])
    assert rounded.fingerprint == again.fingerprint


def test_a_network_without_matrices_is_not_rounded_for_its_file() -> None:
    stored = random_model(8, 1).stored()
    with pytest.raises(UserError, match="no transformer"):
        round_network(stored, [Positions(np.ones((1, 7, 7, 22), np.uint8), np.ones((1, 19), np.float32))])


def test_every_layer_is_rounded(network: StoredNetwork, found: Quantised) -> None:
    assert list(found.layers) == quantisable(network.config, ALL_KINDS)
    rounded, exact = found.values(ALL_KINDS), fold_norms(network)
    for path, layer in found.layers.items():
        error = np.abs(rounded[f"{path}.weight"] - exact[f"{path}.weight"].reshape(layer.integers.shape))
        assert error.max() < 8 * layer.scales.max()
        if layer.inputs is not None:
            assert layer.inputs[0] <= 0 < layer.inputs[1]
    in_tiles = found.values({POINTS, WINDOWS})
    assert [name for name in in_tiles if name.endswith(".scales")] == [
        f"{path}.scales" for path in quantisable(network.config, {POINTS, WINDOWS})
    ]


def test_a_file_keeps_what_was_made(network: StoredNetwork, found: Quantised, tmp_path: Path) -> None:
    path = tmp_path / "net.int8.npz"
    save_quantised(found, network, path)
    again = read_quantised(path, network)
    assert again.loss == pytest.approx(found.loss) and list(again.layers) == list(found.layers)
    assert again.kinds == found.kinds
    for name, arrays in found.layers.items():
        assert all(np.array_equal(one, other) for one, other in zip(arrays, again.layers[name], strict=True))


def test_a_file_of_another_network_is_refused(found: Quantised, network: StoredNetwork, tmp_path: Path) -> None:
    path = tmp_path / "net.int8.npz"
    other = StoredNetwork(network.config, {name: value + 1 for name, value in network.values.items()})
    save_quantised(found, network, path)
    with pytest.raises(UserError, match=r"net\.int8\.npz belongs to another network: remove it"):
        read_quantised(path, other)
    other = StoredNetwork(replace(network.config, multipliers=Multipliers(score_mean=2.0)), network.values)
    with pytest.raises(UserError, match="belongs to another network"):
        read_quantised(path, other)


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "changed", "array", "shape", "loss", "range", "missing"])
def test_a_damaged_file_is_one_clear_error(
    damage: str, found: Quantised, network: StoredNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "net.int8.npz"
    save_quantised(found, network, path)
    whole = path.read_bytes()
    if damage == "array":
        np.save(path.open("wb"), np.zeros(3))
    elif damage in ("shape", "loss", "range", "missing"):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        changed = {"shape": ".scales", "loss": "loss", "range": ".inputs", "missing": ".integers"}[damage]
        name = next(name for name in arrays if name.endswith(changed))
        array = arrays.pop(name)
        if damage != "missing":
            arrays[name] = {"shape": array[1:], "loss": array * np.nan, "range": np.array([1.0, 0.0])}[damage]
        np.savez(path, **arrays)
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 64]) + whole[middle + 64 :]
        path.write_bytes({"empty": b"", "text": b"hello", "cut": whole[:middle], "changed": flipped}[damage])
    with pytest.raises(UserError, match=r"net\.int8\.npz is damaged: remove it"):
        read_quantised(path, network)


def test_a_file_of_another_version_is_refused(found: Quantised, network: StoredNetwork, tmp_path: Path) -> None:
    path = tmp_path / "net.int8.npz"
    save_quantised(found, network, path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **(arrays | {"format": np.array(99)}))
    with pytest.raises(UserError, match=r"net\.int8\.npz was written by another version"):
        read_quantised(path, network)


@pytest.mark.parametrize(("factor", "message"), [(np.nan, "has weights that are"), (1e38, "computes inputs of")])
def test_values_that_are_not_numbers_are_refused(network: StoredNetwork, factor: float, message: str) -> None:
    path = quantisable(network.config, ALL_KINDS)[0]
    weight = network.values[f"{path}.weight"] * np.float32(factor)
    planes = np.ones((1, 7, 7, 22), np.uint8)
    with pytest.raises(UserError, match=message):
        broken = StoredNetwork(network.config, {**network.values, f"{path}.weight": weight})
        quantise(broken, [Positions(planes, np.ones((1, 19), np.float32))], ALL_KINDS)
