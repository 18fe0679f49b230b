"""What computes a network for its evaluator: our compiled kernels, or torch.

The kernels run on a CPU that has their instructions; torch runs on GPUs and on other CPUs, and in precisions that the
kernels do not have. It is imported only there.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ...base.errors import UserError, error_text
from ...nets.kernels.matmul import FLOAT32, TILES
from ...nets.kernels.network import (
    CompiledNetwork,
    bfloat16_is_faster,
    can_compile,
    half_products,
    has_bfloat16,
    has_int8,
    integer_kinds,
)
from ...nets.library import network_name
from ...nets.quantisation import scales_in
from ...nets.stored import RawOutputs, StoredNetwork
from .calibration import find_or_make_quantised, find_quantised, loses_little
from .choices import AUTO, INT8, PRECISIONS
from .devices import find_device
from .features import Inputs, as_slice

logger = logging.getLogger(__name__)


class Runner(Protocol):
    """Computes the outputs of a network; on a CPU several threads may call it side by side.

    Attributes:
        device: "cpu", "cuda" or "mps".
        precision: One of `choices.PRECISIONS`.
        largest_batch: The number of positions that the device has memory for, as far as is known.
    """

    device: str
    precision: str
    largest_batch: int

    def new_inputs(self, size: int, width: int, height: int) -> Inputs:
        """Returns memory for this many positions on a board."""
        ...

    def run(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[np.ndarray]:
        """Returns the raw outputs for some positions of the inputs, int [n], as float32.

        With CUDA they are there, and the inputs may be overwritten, only once the function that `mark` returns has.
        """
        ...

    def mark(self) -> Callable[[], None]:
        """Returns a function that waits until the work begun so far is done; by default it is when `run` returns."""
        return lambda: None

    def prepare(self, inputs: Inputs) -> None:
        """Does what the first batches with such inputs would have to do first; by default there is nothing to do."""
        return

    def prepare_thread(self) -> None:
        """Makes the settings of a thread that is going to call `run`; by default there are none."""
        return

    def close(self) -> None:
        """Frees the memory of the network, which cannot be used afterwards."""
        ...


class CompiledRunner(Runner):
    """Runs the compiled kernels, on the thread that calls them.

    Args:
        network: The network; `kernels.network.can_compile` has to accept it.
        precision: One of `choices.PRECISIONS`.
        quantised: What replaces values of the network for that precision (`quantisation.Quantised.values`).
    """

    device = "cpu"
    largest_batch = sys.maxsize

    def __init__(
        self, network: StoredNetwork, precision: str, quantised: Mapping[str, np.ndarray] = MappingProxyType({})
    ) -> None:
        self.precision = precision
        self._takes_metadata = network.config.metadata_version > 0
        is_half = precision == "bfloat16"
        if precision == INT8:  # integers in tiles go with bfloat16 in tiles, whatever a trial says
            is_half = half_products() == TILES or (has_bfloat16() and bfloat16_is_faster())
        products = half_products() if is_half else FLOAT32
        self._network = CompiledNetwork(network, products, quantised)

    def new_inputs(self, size: int, width: int, height: int) -> Inputs:
        """See `Runner.new_inputs`."""
        return Inputs(size, width, height, self._takes_metadata)

    def run(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[np.ndarray]:
        """See `Runner.run`."""
        chosen = as_slice(positions)
        metadata = None if inputs.metadata is None else inputs.metadata[chosen]
        return self._network(inputs.planes[chosen], inputs.scalars[chosen], metadata, full_board=True)

    def close(self) -> None:
        """See `Runner.close`."""
        del self._network


def make_runner(network: StoredNetwork, path: Path, device: str = AUTO, precision: str = AUTO) -> Runner:
    """Returns what runs a network.

    Args:
        path: Its file, next to which there may be its 8-bit integers (`calibration`), and whose name is for messages.
        device: One of `choices.DEVICES`, or AUTO for a GPU if this machine has one.
        precision: One of `choices.PRECISIONS`. AUTO is float16 on a GPU. On a CPU it is int8 if the kernels have it,
            and the network's weights are 8-bit integers, or these were made before and lose little; else bfloat16 if
            the kernels have it and a quick measurement shows that it is faster; else float32.

    Raises:
        UserError: The device or the precision is unknown, this machine lacks it, or the network would lose too much in
            8-bit integers.
    """
    device = find_device(device)
    if precision not in (AUTO, *PRECISIONS):
        raise UserError(f"unknown precision {precision!r}: expected {AUTO}, {', '.join(PRECISIONS)}")
    if precision == AUTO and device != "cpu":
        precision = "float16"
    quantised: Mapping[str, np.ndarray] = {}
    if precision in (AUTO, INT8):
        quantised = _quantised(network, path, device, precision)
        precision = INT8 if quantised else AUTO
    if precision == AUTO:
        half = can_compile(network.config, "bfloat16") and bfloat16_is_faster()
        precision = "bfloat16" if half else "float32"
    if device == "cpu" and can_compile(network.config, precision):
        return CompiledRunner(network, precision, quantised)
    from .torch_runner import TorchRunner

    return TorchRunner(network, network_name(path), device, precision)


def _quantised(network: StoredNetwork, path: Path, device: str, precision: str) -> Mapping[str, np.ndarray]:
    """Returns the network's 8-bit integers as values; nothing if they are not to be used, or of no use."""
    usable = device == "cpu" and has_int8() and can_compile(network.config, INT8)
    # In tiles only convolutions are of integers, and their inputs have to be known.
    if usable and half_products() != TILES and (scales := scales_in(network)):
        return scales
    if precision == AUTO:
        try:
            found = find_quantised(network, path) if usable else None
        except (UserError, OSError) as error:  # nobody asked for it
            logger.warning(error_text(error))
            return {}
        return found.values(integer_kinds(network.config)) if found is not None and loses_little(found.loss) else {}
    if device != "cpu":
        raise UserError(f"precision {INT8} is for CPUs, not for device {device!r}")
    if not has_int8():
        raise UserError(f"precision {INT8} is not available: it needs compiled code, and a CPU with VNNI or I8MM")
    if not can_compile(network.config, INT8):
        logger.warning(f"precision {INT8} is of no use to {network_name(path)}, which is computed as with {AUTO}")
        return {}
    return find_or_make_quantised(network, path).values(integer_kinds(network.config))
