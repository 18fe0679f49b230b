"""Products of matrices, and the instructions that LLVM makes of them."""

import importlib.util
import platform
from typing import Any

import numpy as np
import pytest
from compiled import needs_int8, needs_kernels
from llvmlite import binding, ir

from gtp_engine.base import jit, target
from gtp_engine.base.target import Target
from gtp_engine.nets.kernels import emit
from gtp_engine.nets.kernels.amx import begin_products, end_products
from gtp_engine.nets.kernels.matmul import encode_rows, matmul, pack_integers, whole_lanes


@needs_int8
@pytest.mark.parametrize(("outputs", "inputs", "rows"), [(16, 16, 1), (288, 96, 48), (96, 256, 7), (20, 40, 13)])
def test_integers_are_multiplied_exactly(outputs: int, inputs: int, rows: int) -> None:
    generator = np.random.default_rng(1)
    integers = generator.integers(-127, 128, (outputs, inputs))
    scales = generator.uniform(0.5, 2, outputs).astype(np.float32)
    packed = pack_integers((integers * scales[:, None]).astype(np.float32), scales)
    columns = whole_lanes(inputs)
    values = np.zeros((rows, columns), np.float32)
    values[:, :inputs] = generator.standard_normal((rows, inputs))
    given = values.copy()
    encode_rows(values, rows, columns)
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
    encode_rows(values, 2, 16)
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
    encode_rows(values, 1, 16)
    matmul(values.view(np.uint8), 1, packed, np.full((1, 16), 5, np.float32), out)
    assert np.allclose(out[0, 0], 5 + 16 * 127) and (out[0, 1:] == 5).all()


@pytest.mark.parametrize(
    ("processor", "half"),
    [
        ("apple-m1", False),
        ("apple-m2", False),
        ("apple-m2", True),
        ("neoverse-n1", False),  # Amazon's Graviton 2
        ("neoverse-v1", False),  # Graviton 3
        ("neoverse-v1", True),
    ],
)
def test_sums_stay_in_the_registers_of_arm(processor: str, half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    features = frozenset({"neon", "bf16"} if half else {"neon"})
    monkeypatch.setattr(target, "target", lambda: Target(processor, "", features))
    monkeypatch.setattr(emit, "FEATURES", dict.fromkeys(features, True), raising=False)
    llvm = own_copy("gtp_engine.nets.kernels.llvm")
    assert llvm.HAS_FLOAT32 and half == llvm.HAS_BFLOAT16 and llvm.MAX_ROWS == {1: 6}
    instructions = [line.split() for line in loop_of_panel(llvm, processor, half)]
    names = [name for name, *_ in instructions]
    # A vector of 16 values is four registers: a product for each of them and of the six rows. Each row's value is
    # loaded into a register of its own, a factor's registers by twos, and nothing else is loaded or stored.
    assert names.count("bfdot" if half else "fmla") == 4 * 6
    assert sorted(name for name in names if name.startswith(("ld", "st"))) == ["ld1r"] * 6 + ["ldp"] * 2


def own_copy(name: str) -> Any:
    """A module that is loaded once more, for another processor; the one that the engine uses stays as it is."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loop_of_panel(llvm: Any, processor: str, half: bool) -> list[str]:
    """The instructions of the innermost loop for as many rows as there may be."""
    module = ir.Module()
    module.triple = "aarch64-unknown-linux-gnu"
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 9), "panel")
    builder = emit.Builder(function.append_basic_block())
    *panel, ahead = function.args
    llvm._emit_panel(half, emit.Panel(*panel), ahead, llvm.MAX_ROWS[1], 1, builder)
    builder.ret_void()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu=processor, opt=3)
    lines = machine.emit_assembly(binding.parse_assembly(str(module))).splitlines()
    first = lines.index(next(line for line in lines if line.startswith(".LBB0_1:")))
    last = next(number for number, line in enumerate(lines) if number > first and line.startswith("\tb."))
    return lines[first + 1 : last + 1]


@jit.njit
def square_during_products(x: np.ndarray, out: np.ndarray) -> None:
    state = begin_products(x)
    for k in range(len(x)):
        out[k] = x[k] * x[k]
    end_products(x, state)


@needs_kernels
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="not an x86-64 processor")
def test_denormal_numbers_are_0_during_products_only() -> None:
    x, out = np.array([1e-20, 1e-15, 3], np.float32), np.ones(3, np.float32)
    square_during_products(x, out)
    assert out[0] == 0 and (out[1:] == x[1:] * x[1:]).all()
    assert 0 < (x * x)[0] < 1e-38
