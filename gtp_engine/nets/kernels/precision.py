"""How much faster products are in other precisions on this CPU; which one is used is stored with the compiled code."""

import contextlib
import math
import time
from functools import cache

import numpy as np

from ...base.files import write_text
from ...base.jit import CACHE_FOLDER
from .matmul import CHUNK, encode_rows, matmul, pack_integers, pack_matrix

# Products are two thirds of a network's time: by this factor bfloat16 has to be faster for a gain of 15 % in all, which
# its rounding is worth.
_LEAST_GAIN = 1.25
_CHANNELS, _TRIAL_SECONDS, _REPEATS = 96, 0.05, 50


def bfloat16_is_faster() -> bool:
    """Returns whether products of bfloat16 are faster than those of float32; the CPU has to have them."""
    file = CACHE_FOLDER / "precision" if CACHE_FOLDER else None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if file and (remembered := file.read_text()) in ("bfloat16", "float32"):
            return remembered == "bfloat16"
    is_faster = product_gain("bfloat16") > _LEAST_GAIN
    with contextlib.suppress(OSError):
        if file:
            write_text(file, "bfloat16" if is_faster else "float32")
    return is_faster


@cache  # the doctor shows the figure of the trial that decided
def product_gain(precision: str) -> float:
    """Returns how many times as fast as in float32 a product of the usual size is; the CPU has to have such products.

    The precisions alternate, and the shortest time of each counts, so that other programs disturb little. CPU time is
    of no use: on Windows its ticks are longer than one measurement.

    Args:
        precision: "bfloat16" or "int8".
    """
    weight, start = np.ones((_CHANNELS, _CHANNELS), np.float32), np.zeros((1, _CHANNELS), np.float32)
    out = np.empty((CHUNK, _CHANNELS), np.float32)
    is_int8 = precision == "int8"
    other = pack_integers(weight, np.ones(_CHANNELS, np.float32)) if is_int8 else pack_matrix(weight, True)
    factors = [(_left_factor(packed), packed) for packed in (pack_matrix(weight, False), other)]
    for left, packed in factors:  # compiles
        matmul(left, CHUNK, packed, start, out)
    times = [math.inf, math.inf]
    end = time.perf_counter() + _TRIAL_SECONDS
    while time.perf_counter() < end or math.inf in times:
        for number, (left, packed) in enumerate(factors):
            begin = time.perf_counter()
            for _ in range(_REPEATS):
                matmul(left, CHUNK, packed, start, out)
            times[number] = min(times[number], time.perf_counter() - begin)
    return times[0] / times[1]


def _left_factor(packed: np.ndarray) -> np.ndarray:
    values = np.ones((CHUNK, _CHANNELS), np.float32)
    encode_rows(values, CHUNK, _CHANNELS, packed)
    return values.view(packed.dtype)
