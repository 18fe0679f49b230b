"""Matrix products of 8-bit integers: against the same integers multiplied by numpy."""

import numpy as np
import pytest

pytest.importorskip("numba")

from compiled import needs_int8

from gtp_engine.nets.kernels.matmul import encode_rows, matmul, pack_integers, packed_integers_size, whole_lanes


@needs_int8
@pytest.mark.parametrize(("outputs", "inputs", "rows"), [(16, 16, 1), (288, 96, 48), (96, 256, 7), (20, 40, 13)])
def test_integers_are_multiplied_exactly(outputs: int, inputs: int, rows: int) -> None:
    generator = np.random.default_rng(1)
    integers = generator.integers(-127, 128, (outputs, inputs))
    scales = generator.uniform(0.5, 2, outputs).astype(np.float32)
    packed = pack_integers((integers * scales[:, None]).astype(np.float32), scales)
    assert packed.nbytes == packed_integers_size(outputs, inputs)
    columns = whole_lanes(inputs)
    values = np.zeros((rows, columns), np.float32)
    values[:, :inputs] = generator.standard_normal((rows, inputs))
    given = values.copy()
    encode_rows(values, rows, columns, packed)
    left, left_scales = values.view(np.uint8), np.abs(given).max(1) / np.float32(127)
    assert (values[:, columns // 4] == left_scales).all()
    rounded = left[:, :columns].astype(int) - 128
    assert np.abs(rounded * left_scales[:, None] - given).max() <= left_scales.max() * 0.5001
    start = generator.standard_normal((1, whole_lanes(outputs))).astype(np.float32)
    out = np.empty((rows, whole_lanes(outputs)), np.float32)
    matmul(left, rows, packed, start, out)
    expected = start[:, :outputs] + (rounded[:, :inputs] @ integers.T) * left_scales[:, None] * scales
    assert np.allclose(out[:, :outputs], expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@needs_int8
def test_a_row_of_zeros_adds_nothing() -> None:
    packed = pack_integers(np.full((16, 16), 127, np.float32), np.ones(16, np.float32))
    values, start = np.zeros((2, 16), np.float32), np.arange(16, dtype=np.float32)[None]
    values[1, 3] = -2
    encode_rows(values, 2, 16, packed)
    out = np.empty((2, 16), np.float32)
    matmul(values.view(np.uint8), 2, packed, start, out)
    assert (out[0] == start[0]).all()
    assert np.allclose(out[1], start[0] - 2 * 127, rtol=1e-5)


@needs_int8
def test_a_channel_without_weights_stays_what_it_is() -> None:
    weight = np.zeros((16, 16), np.float32)
    weight[0] = 127
    packed = pack_integers(weight, np.array([1] + [0] * 15, np.float32))
    values, out = np.ones((1, 16), np.float32), np.empty((1, 16), np.float32)
    encode_rows(values, 1, 16, packed)
    matmul(values.view(np.uint8), 1, packed, np.full((1, 16), 5, np.float32), out)
    assert np.allclose(out[0, 0], 5 + 16 * 127) and (out[0, 1:] == 5).all()
