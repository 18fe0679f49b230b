"""Matrices of networks as 8-bit integers, which CPUs multiply faster than bfloat16 and float32.

Each row of a matrix, an output channel, gets a scale, and its values become whole multiples of it, -127 to 127.
Rounding each value to the nearest multiple would cost four times the accuracy (b7c96h3tfrs, 90 positions of 19x19:
0.0040 nats of the policy instead of 0.0010, 0.44 points of the lead instead of 0.11). Instead the error of each rounded
column is made up for by the columns that are not rounded yet, by how the inputs go together in positions of games: GPTQ
(Frantar et al. 2022). What a matrix multiplies is rounded when it is computed (`kernels.matmul`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.errors import UserError
from ..base.files import write_atomically
from .config import NetworkConfig
from .schema import METADATA, AttentionBlockDesc, ConvDesc, FeedForwardBlockDesc, MatMulDesc, walk_paths
from .stored import StoredNetwork, fold_norms

if TYPE_CHECKING:
    from torch import Tensor

LARGEST = 127  # of the 8-bit integers: symmetric, so that no zero point is needed
# Added to the diagonal of the inputs' products, as a share of its mean, so that there is an inverse: that of GPTQ.
_DAMPING = 0.01
_FORMAT = 1  # of the files
_BATCH = 8  # positions that torch evaluates together


class Loss(NamedTuple):
    """What is lost by 8-bit integers: mean differences from the network in float32.

    Attributes:
        policy: The Kullback-Leibler divergence of the policy, in nats.
        lead: The absolute difference of the lead, in points.
    """

    policy: float
    lead: float


class Quantised(NamedTuple):
    """Matrices of a network as 8-bit integers.

    Attributes:
        matrices: By the paths of the layers in the config: int8 [outputs, inputs], and the scale of each output,
            float32 [outputs].
        loss: What is lost by them all.
    """

    matrices: Mapping[str, tuple[np.ndarray, np.ndarray]]
    loss: Loss

    def values(self) -> dict[str, np.ndarray]:
        """Returns what replaces values of the network: for each matrix "weight", the rounded one, and "scales"."""
        found = {}
        for path, (integers, scales) in self.matrices.items():
            found[f"{path}.weight"], found[f"{path}.scales"] = integers * scales[:, None], scales
        return found


class Positions(NamedTuple):
    """Inputs of positions that fill their boards: uint8 [n, h, w, 22] and float32 [n, 19]."""

    planes: np.ndarray
    scalars: np.ndarray


def quantisable(config: NetworkConfig) -> list[str]:
    """Returns the paths of the layers that can be of 8-bit integers: the trunk's 1x1 convolutions and transformers."""
    return [path for path, _ in _matrices(config)]


def _matrices(config: NetworkConfig) -> Iterator[tuple[str, MatMulDesc | ConvDesc]]:
    # The first two transformer blocks would lose most: they work on what the first convolution and the scalar inputs
    # say. On 60 positions of 9x9 whose leads are large, block 0 of b7c96h3tfrs alone costs 0.013 nats and 2.7 points of
    # the lead, block 1 0.003 and 1.0, each other one less than 0.001 and 0.6.
    left_out = 2
    # A 3x3 convolution would have four times the products that it has with Winograd's tiles of 4x4 points, in which 8
    # bits lose too much: tiles are faster in bfloat16, and as fast in float32.
    for number, block in enumerate(config.trunk.blocks):
        for path, desc in walk_paths(block, f"trunk.blocks.{number}"):
            if isinstance(desc, AttentionBlockDesc | FeedForwardBlockDesc):
                if left_out > 0:
                    left_out -= 1
                    continue
                yield from ((name, part) for name, part in walk_paths(desc, path) if isinstance(part, MatMulDesc))
            elif isinstance(desc, ConvDesc) and (desc.height, desc.width) == (1, 1):
                yield path, desc


def block_of(path: str) -> str:
    """Returns the path of the block that a layer is in, whose matrices are quantised together or not at all."""
    return path.rpartition(".")[0]


def quantise(network: StoredNetwork, positions: Sequence[Positions]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rounds the matrices of a network by the inputs that they have in some positions; imports torch.

    Returns:
        The integers and scales of each matrix, as `Quantised` has them.

    Raises:
        UserError: A weight is not a finite number.
    """
    products = _input_products(network, positions)
    values = fold_norms(network)
    broken = [path for path in products if not np.isfinite(values[f"{path}.weight"]).all()]
    if broken:
        raise UserError(f"the network has weights that are not numbers: {broken[0]}")
    # A 1x1 convolution has two axes more.
    matrices = {path: values[f"{path}.weight"].reshape(-1, len(product)) for path, product in products.items()}
    return {path: round_matrix(matrix, products[path]) for path, matrix in matrices.items()}


def _input_products(network: StoredNetwork, positions: Sequence[Positions]) -> dict[str, np.ndarray]:
    """Returns the sums of x @ x.T over the inputs x of each matrix, float32 [inputs, inputs]."""
    import torch

    from .model import prepare_for_inference

    model = prepare_for_inference(network)
    products: dict[str, Any] = {}

    def add(path: str, _: Any, inputs: "tuple[Tensor]") -> None:
        points = inputs[0] if inputs[0].dim() == 3 else inputs[0].permute(0, 2, 3, 1)
        rows = points.flatten(0, -2).numpy()
        products[path] = products.get(path, np.float32(0)) + rows.T @ rows

    for path in quantisable(network.config):
        model.get_submodule(path).register_forward_pre_hook(partial(add, path))
    with torch.inference_mode():
        for planes, scalars in positions:
            for start in range(0, len(planes), _BATCH):
                batch = torch.from_numpy(planes[start : start + _BATCH]).permute(0, 3, 1, 2).float()
                nobody = torch.zeros(len(batch), METADATA) if network.config.metadata_version else None
                model(batch, torch.from_numpy(scalars[start : start + _BATCH]), nobody, full_board=True)
    return products


def round_matrix(weight: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rounds a matrix so that its outputs change little for the inputs that it has.

    Args:
        weight: float32 [outputs, inputs].
        products: [inputs, inputs], the sum of x @ x.T over inputs x.

    Returns:
        int8 [outputs, inputs], and the scale of each output, float32 [outputs].
    """
    scales = (np.abs(weight).max(1) / LARGEST).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1)[:, None]
    rest, integers = weight / divisors.astype(np.float64), np.empty(weight.shape, np.int8)
    damped = products.astype(np.float64)
    damped += np.eye(len(damped)) * (_DAMPING * damped.diagonal().mean() + np.finfo(np.float32).tiny)
    # Row i of this factor tells by how much the columns after i make up for an error in column i (GPTQ, step 3).
    factor = np.linalg.cholesky(np.linalg.inv(damped)).T
    for column in range(weight.shape[1]):
        rounded = np.clip(np.rint(rest[:, column]), -LARGEST, LARGEST)
        integers[:, column] = rounded
        error = (rest[:, column] - rounded) / factor[column, column]
        rest[:, column + 1 :] -= np.outer(error, factor[column, column + 1 :])
    return integers, scales


def save_quantised(found: Quantised, network: StoredNetwork, path: Path) -> None:
    """Writes the matrices to an .npz file.

    Raises:
        OSError: The file cannot be written.
    """
    arrays: dict[str, Any] = {"format": _FORMAT, "network": network.fingerprint, "loss": np.array(found.loss)}
    for name, (integers, scales) in found.matrices.items():
        arrays[f"{name}.integers"], arrays[f"{name}.scales"] = integers, scales

    def write(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)

    write_atomically(path, write)


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
        found = _parse(arrays, network) if version == _FORMAT else None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(path) from error
    except Exception as error:  # what numpy and zipfile raise for damaged files is of many kinds
        raise _damaged(path) from error
    if version != _FORMAT:
        raise UserError(f"{path} was written by another version of the program: remove it, and it is made anew")
    if found is None:
        raise UserError(f"{path} belongs to another network: remove it, or put it next to its own network")
    return found


def _damaged(path: Path) -> UserError:
    return UserError(f"{path} is damaged: remove it, and it is made anew with --precision int8")


def _parse(arrays: dict[str, np.ndarray], network: StoredNetwork) -> Quantised | None:
    """Returns what is in the arrays of a file, None for another network's; any error says that they are damaged."""
    if str(arrays["network"]) != network.fingerprint:
        return None
    known, matrices = dict(_matrices(network.config)), {}
    for name in arrays:
        path, _, kind = name.rpartition(".")
        if kind != "integers":
            continue
        integers, scales = arrays[name].astype(np.int8), arrays[f"{path}.scales"].astype(np.float32)
        outputs, inputs = known[path].out_channels, known[path].in_channels
        if integers.shape != (outputs, inputs) or scales.shape != (outputs,) or not np.isfinite(scales).all():
            raise ValueError(f"wrong shape or scales of {path}")
        matrices[path] = integers, scales
    if not np.isfinite(arrays["loss"]).all():
        raise ValueError("wrong loss")
    blocks = {block_of(path) for path in matrices}
    if any(path not in matrices for path in known if block_of(path) in blocks):
        raise ValueError("incomplete")
    return Quantised(matrices, Loss(*arrays["loss"].tolist()))
