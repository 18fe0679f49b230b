"""Matrices and convolutions of networks as 8-bit integers, which CPUs multiply faster than bfloat16 and float32.

Each row of a matrix, an output channel, gets a scale, and its values become whole multiples of it, -127 to 127.
Rounding each value to the nearest multiple would cost four times the accuracy (b7c96h3tfrs, 90 positions of 19x19:
0.0040 nats of the policy instead of 0.0010, 0.44 points of the lead instead of 0.11). Instead the error of each rounded
column is made up for by the columns that are not rounded yet, by how the inputs go together in positions of games: GPTQ
(Frantar et al. 2022). What a matrix multiplies is rounded when it is computed (`kernels.matmul`).

The weights of a convolution are rounded as the matrix that multiplies the points around each point (450 positions of
19x19: g170 b6c96 0.18 points of the lead instead of 0.22, b6c64 0.16 instead of 0.32), and its inputs by the least and
the largest that they were in positions of games. In the tiles of AMX matrices are faster in bfloat16, and convolutions
alone have integers.

A network's file may hold weights that are such multiples already (`round_network`): of powers of two, so that bfloat16
and float32 express them too, and all precisions compute the same network.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.errors import UserError
from ..base.files import write_arrays
from .config import NetworkConfig
from .constants import LARGEST_INTEGER
from .schema import METADATA, AttentionBlockDesc, ConvDesc, FeedForwardBlockDesc, MatMulDesc, walk_paths
from .stored import StoredNetwork, fold_norms

if TYPE_CHECKING:
    from torch import Tensor

MATRICES, POINTS, WINDOWS = "matrices", "1x1", "3x3"
"""Kinds of layers: the matrices of transformers, and convolutions by their size."""
ALL_KINDS = frozenset({MATRICES, POINTS, WINDOWS})

# Added to the diagonal of the inputs' products, as a share of its mean, so that there is an inverse: that of GPTQ.
_DAMPING = 0.01
_STRIDE = 2  # between the lines, and the points of a line, whose inputs are looked at for a convolution
_COLUMNS = 64  # that are rounded before what they do to the columns after them is computed
FORMAT = 5
"""The version of the files."""
_BATCH = 8  # positions that torch evaluates together
_MOST_BYTES = 1 << 30  # of the products of inputs that are kept at a time: those of b60c320 are 4 GB
_ANEW = "remove it, and it is made anew with --precision int8"


class Loss(NamedTuple):
    """What is lost by 8-bit integers: mean differences from the network in float32."""

    policy: float  # the Kullback-Leibler divergence of the policy, in nats
    lead: float  # the absolute difference of the lead, in points


class Rounded(NamedTuple):
    """A matrix or a convolution as 8-bit integers."""

    integers: np.ndarray  # int8 [outputs, inputs], or [outputs, inputs, side, side] of a convolution
    scales: np.ndarray  # the scale of each output, float32 [outputs]
    inputs: np.ndarray | None = None  # of a convolution, the least and the largest input, float32 [2]; else None


class Quantised(NamedTuple):
    """Layers of a network as 8-bit integers."""

    layers: Mapping[str, Rounded]  # by their paths in the config
    loss: Loss  # what is lost by them all
    kinds: Set[str] = ALL_KINDS  # the kinds of layers that were rounded, if they did not lose too much

    def values(self, kinds: Set[str]) -> dict[str, np.ndarray]:
        """Returns what replaces values of the network: for each layer "weight", "scales", and perhaps "inputs".

        Only layers of these kinds are replaced.
        """
        found = {}
        for path, (integers, scales, inputs) in self.layers.items():
            if _kind_of(integers.shape) not in kinds:
                continue
            found[f"{path}.weight"] = integers * scales.reshape(-1, *[1] * (integers.ndim - 1))
            found[f"{path}.scales"] = scales
            if inputs is not None:
                found[f"{path}.inputs"] = inputs
        return found


class Positions(NamedTuple):
    """Inputs of positions that fill their boards: uint8 [n, h, w, 22] and float32 [n, 19]."""

    planes: np.ndarray
    scalars: np.ndarray


def _kind_of(shape: tuple[int, ...]) -> str:
    """Returns the kind of a layer with weights of this shape."""
    return MATRICES if len(shape) == 2 else POINTS if shape[2:] == (1, 1) else WINDOWS


def quantisable(config: NetworkConfig, kinds: Set[str]) -> list[str]:
    """Returns the paths of the layers that can be of 8-bit integers, of the kinds that the CPU computes so.

    They are the convolutions of the trunk's blocks and transformers' matrices.
    """
    return [path for path, shape in _layers(config) if _kind_of(shape) in kinds]


def kinds_of(config: NetworkConfig) -> set[str]:
    """Returns the kinds of layers that a network has."""
    return {_kind_of(shape) for _, shape in _layers(config)}


def _layers(config: NetworkConfig, leave_out: int = 2) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields the paths of such layers, and the shapes of their weights; leaves out the first transformer blocks."""
    # The first two transformer blocks would lose most: they work on what the first convolution and the scalar inputs
    # say. On 60 positions of 9x9 whose leads are large, block 0 of b7c96h3tfrs alone costs 0.013 nats and 2.7 points of
    # the lead, block 1 0.003 and 1.0, each other one less than 0.001 and 0.6.
    for number, block in enumerate(config.trunk.blocks):
        for path, desc in walk_paths(block, f"trunk.blocks.{number}"):
            if isinstance(desc, ConvDesc):
                yield path, (desc.out_channels, desc.in_channels, desc.height, desc.width)
            elif isinstance(desc, AttentionBlockDesc | FeedForwardBlockDesc):
                if leave_out > 0:
                    leave_out -= 1
                    continue
                for name, part in walk_paths(desc, path):
                    if isinstance(part, MatMulDesc):
                        yield name, (part.out_channels, part.in_channels)


def block_of(path: str) -> str:
    """Returns the path of the block that a layer is in, whose layers are quantised together or not at all."""
    return path.rpartition(".")[0]


def quantise(network: StoredNetwork, positions: Sequence[Positions], kinds: Set[str]) -> dict[str, Rounded]:
    """Rounds layers of a network by the inputs that they have in some positions; imports torch.

    Returns:
        The layers, as `Quantised` has them.

    Raises:
        UserError: A weight, or what it multiplies, is not a finite number.
    """
    paths, values = quantisable(network.config, kinds), fold_norms(network)
    weights = {path: values[f"{path}.weight"] for path in paths}
    if broken := [path for path, weight in weights.items() if not np.isfinite(weight).all()]:
        raise UserError(f"the network has weights that are not numbers: {broken[0]}")
    found: dict[str, Rounded] = {}
    for part in _parts(weights):
        found |= _round_part(network, positions, part)
    return found


def scales_in(network: StoredNetwork) -> dict[str, np.ndarray]:
    """Returns what `Quantised.values` does for a network whose weights are multiples of powers of two already.

    The names are those of the scales alone, since the weights stay as they are; empty for any other network, and for
    convolutions of 3x3, whose inputs have to be known.
    """
    values, found = fold_norms(network), {}
    for path in quantisable(network.config, {MATRICES, POINTS}):
        scales = powers_in(values[f"{path}.weight"])
        if scales is None:
            return {}
        found[f"{path}.scales"] = scales
    return found


def powers_in(weight: np.ndarray) -> np.ndarray | None:
    """Returns the largest powers of two, float32 [outputs], of which weights [outputs, ...] are whole multiples.

    None if one of these multiples is not -127 to 127.
    """
    bits = weight.reshape(len(weight), -1).view(np.uint32)
    if (bits & np.uint32(0x1FFFF)).any():  # seven significant bits at most: the others are 0
        return None
    mantissas = (bits & np.uint32(0x7FFFFF)) | np.uint32(0x800000)
    lowest = np.ldexp((mantissas & -mantissas).astype(np.float32), (bits >> 23 & np.uint32(255)).astype(np.int32) - 150)
    scales = np.where(bits << 1 > 0, lowest, np.float32(np.inf)).min(1).astype(np.float32)
    scales[np.isinf(scales)] = 0  # rows of zeros
    return scales if (np.abs(weight).reshape(len(weight), -1).max(1) <= LARGEST_INTEGER * scales).all() else None


def round_network(network: StoredNetwork, positions: Sequence[Positions]) -> StoredNetwork:
    """Returns a transformer with rounded weights, for a smaller file that needs no further rounding; imports torch.

    Matrices and 1x1 convolutions of the trunk's blocks become multiples of powers of two (`powers_in`), which costs
    accuracy beside free scales: 0.0006 nats and 0.08 points of the lead instead of 0.0003 and 0.07 (b10c384h6nbttflrs,
    112 positions). All other weights of two and more axes become bfloat16. Everything is computed in float64, so that
    the result does not depend on the processor.

    Raises:
        UserError: The network has no matrices, or as `quantise`.
    """
    folded = fold_norms(network)
    layers = dict(_layers(network.config, leave_out=0))
    if not any(_kind_of(shape) == MATRICES for shape in layers.values()):
        raise UserError("the network is no transformer: it has no matrices to round")
    weights = {
        path: network.values[f"{path}.weight"]
        for path, shape in layers.items()
        # A norm that is folded into a convolution would change the multiples.
        if _kind_of(shape) != WINDOWS and np.array_equal(folded[f"{path}.weight"], network.values[f"{path}.weight"])
    }
    values = {name: _as_bfloat16(value) if value.ndim > 1 else value for name, value in network.values.items()}
    for part in _parts(weights):
        for path, layer in _round_part(network, positions, part, for_file=True).items():
            values[f"{path}.weight"] = layer.integers * layer.scales.reshape(-1, *[1] * (layer.integers.ndim - 1))
    return StoredNetwork(network.config, values)


def _next_powers(scales: np.ndarray) -> np.ndarray:
    """Returns the next powers of two above scales, or these themselves; 0 for denormal ones.

    Training with weight decay leaves some channels with weights of 1e-42, which do nothing.
    """
    mantissas, exponents = np.frexp(scales)
    powers = np.ldexp(np.float32(1), exponents - (mantissas == 0.5)).astype(np.float32)
    return np.where(scales >= np.finfo(np.float32).tiny, powers, np.float32(0))


def _as_bfloat16(values: np.ndarray) -> np.ndarray:
    """Returns float32 values rounded to bfloat16."""
    import torch

    return torch.from_numpy(values).bfloat16().float().numpy()


def _parts(weights: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """Yields layers in parts whose products of inputs take no more than `_MOST_BYTES`, or of a single layer."""
    part: dict[str, np.ndarray] = {}
    used = 0
    for path, weight in weights.items():
        size = 4 * weight[0].size ** 2
        if part and used + size > _MOST_BYTES:
            yield part
            part, used = {}, 0
        part[path], used = weight, used + size
    if part:
        yield part


def _round_part(
    network: StoredNetwork, positions: Sequence[Positions], weights: Mapping[str, np.ndarray], *, for_file: bool = False
) -> dict[str, Rounded]:
    """Rounds some layers, given with their weights, as `quantise` or `round_network` does."""
    import torch

    from .model import prepare_for_inference

    ranges: dict[str, np.ndarray | None] = dict.fromkeys(weights)
    products: dict[str, Any] = {}

    def observe(path: str, _: Any, inputs: "tuple[Tensor]") -> None:
        x, weight = inputs[0], weights[path]
        if weight.ndim == 4:
            least, largest = (0, 0) if (known := ranges[path]) is None else known
            ranges[path] = np.array([min(least, float(x.min())), max(largest, float(x.max()))], np.float32)
        rows = _rows(x, weight.shape)
        products[path] = products.get(path, np.float32(0)) + (rows.T @ rows).numpy()

    kind = torch.float64 if for_file else torch.float32
    model = prepare_for_inference(network).to(kind)
    for path in weights:
        model.get_submodule(path).register_forward_pre_hook(partial(observe, path))
    with torch.inference_mode():
        for planes, scalars in positions:
            for start in range(0, len(planes), _BATCH):
                batch = torch.from_numpy(planes[start : start + _BATCH]).permute(0, 3, 1, 2).to(kind)
                nobody = torch.zeros(len(batch), METADATA, dtype=kind) if network.config.metadata_version else None
                model(batch, torch.from_numpy(scalars[start : start + _BATCH]).to(kind), nobody, full_board=True)
    found = {}
    for path, weight in weights.items():
        if not np.isfinite(products[path]).all():
            raise UserError(f"the network computes inputs of {path} that are not numbers")
        scales = _next_powers(scales_of(weight)) if for_file else scales_of(weight)
        found[path] = round_weights(weight, products[path], scales, ranges[path])
    return found


def _rows(inputs: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    """Returns what the weights of a layer multiply, as the rows of a matrix; shape: that of the weights.

    Of a convolution they are a part of the points: neighbours have inputs in common.
    """
    if len(shape) == 2:
        return inputs.flatten(0, -2)
    from torch.nn.functional import unfold

    return unfold(inputs, shape[2:], padding=shape[2] // 2, stride=_STRIDE).transpose(1, 2).flatten(0, 1)


def scales_of(weight: np.ndarray) -> np.ndarray:
    """Returns the scales of weights [outputs, ...] with which the largest of an output is LARGEST_INTEGER: float32."""
    return (np.abs(weight).reshape(len(weight), -1).max(1) / LARGEST_INTEGER).astype(np.float32)


def multiples(weight: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Returns weights [outputs, ...] as whole multiples of their outputs' scales, the nearest."""
    divisors = np.where(scales > 0, scales, 1).reshape(-1, *[1] * (weight.ndim - 1))
    return np.rint(weight / divisors)


def round_weights(
    weight: np.ndarray, products: np.ndarray, scales: np.ndarray, inputs: np.ndarray | None = None
) -> Rounded:
    """Rounds the weights of a layer so that its outputs change little for the inputs that it has.

    Args:
        weight: float32 [outputs, ...].
        products: The sum of x @ x.T over what one output's weights multiply, in their order.
        scales: Those of the outputs, at least `scales_of` the weights.
        inputs: As in `Rounded`.
    """
    import torch

    rest = weight.reshape(len(weight), -1) / np.where(scales > 0, scales, 1)[:, None].astype(np.float64)
    damped = products.astype(np.float64)
    damped += np.eye(len(damped)) * (_DAMPING * damped.diagonal().mean() + np.finfo(np.float32).tiny)
    # Row i of this factor tells by how much the columns after i make up for an error in column i (GPTQ, step 3): the
    # upper Cholesky factor of the inverse, which is the inverse of the one that is found from the last column on.
    upper = torch.linalg.cholesky(torch.from_numpy(damped).flip(0, 1)).flip(0, 1)
    factor = torch.linalg.solve_triangular(upper, torch.eye(len(damped), dtype=upper.dtype), upper=True).numpy()
    factor /= factor.diagonal()[:, None]
    integers = np.empty(rest.shape, np.int8)
    for start in range(0, rest.shape[1], _COLUMNS):
        block = slice(start, start + _COLUMNS)
        errors = np.empty_like(rest[:, block])
        for column in range(start, start + errors.shape[1]):
            integers[:, column] = np.clip(np.rint(rest[:, column]), -LARGEST_INTEGER, LARGEST_INTEGER)
            errors[:, column - start] = error = rest[:, column] - integers[:, column]
            rest[:, column + 1 : block.stop] -= np.outer(error, factor[column, column + 1 : block.stop])
        rest[:, block.stop :] -= errors @ factor[block, block.stop :]
    return Rounded(integers.reshape(weight.shape), scales, inputs)


def save_quantised(found: Quantised, network: StoredNetwork, path: Path) -> None:
    """Writes the layers to an .npz file; OSError if it cannot be written."""
    arrays: dict[str, Any] = {"format": FORMAT, "network": network.fingerprint, "loss": np.array(found.loss)}
    arrays |= {"kinds": np.array(sorted(found.kinds)), "layers": np.array(list(found.layers), str)}
    for name, layer in found.layers.items():
        for part, array in layer._asdict().items():
            if array is not None:
                arrays[f"{name}.{part}"] = array
    write_arrays(path, arrays)


def read_quantised(path: Path, network: StoredNetwork) -> Quantised:
    """Reads what `save_quantised` wrote.

    Raises:
        UserError: The file is damaged, from another version, or belongs to another network.
        OSError: It cannot be read.
    """
    try:
        # Pickled objects, which could execute code, are refused.
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        version = int(arrays["format"])
        found = _parse(arrays, network) if version == FORMAT else None
    except Exception as error:  # what numpy and zipfile raise for damaged files is of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise UserError(f"{path} is damaged: {_ANEW}") from error
    if version != FORMAT:
        raise UserError(f"{path} was written by another version of the program: {_ANEW}")
    if found is None:
        raise UserError(f"{path} belongs to another network: remove it, or put it next to its own network")
    return found


def _parse(arrays: dict[str, np.ndarray], network: StoredNetwork) -> Quantised | None:
    """Returns what is in the arrays of a file, None for another network's; any error says that they are damaged."""
    if str(arrays["network"]) != network.fingerprint:
        return None
    layers: dict[str, Rounded] = {}
    shapes = dict(_layers(network.config))
    for path in arrays["layers"].tolist():  # the other blocks would have lost too much
        shape, integers, scales = shapes[path], arrays[f"{path}.integers"], arrays[f"{path}.scales"]
        inputs = None if len(shape) == 2 else arrays[f"{path}.inputs"]
        if (integers.shape, scales.shape) != (shape, shape[:1]) or (inputs is not None and inputs.shape != (2,)):
            raise ValueError(f"wrong shape of {path}")
        if integers.dtype != np.int8 or not ((scales >= 0) & (scales < np.inf)).all():
            raise ValueError(f"wrong weights of {path}")
        if inputs is not None and not -np.inf < inputs[0] <= 0 <= inputs[1] < np.inf:
            raise ValueError(f"wrong range of the inputs of {path}")
        layers[path] = Rounded(integers, scales, inputs)
    kinds = frozenset(arrays["kinds"].tolist())
    if not (kinds <= ALL_KINDS and np.isfinite(arrays["loss"]).all()):
        raise ValueError("unknown kinds or a wrong loss")
    return Quantised(layers, Loss(*arrays["loss"].tolist()), kinds)
