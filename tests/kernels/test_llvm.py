"""The code that LLVM makes of the innermost loops for ARM64, whatever this processor is; `test_arm64` executes it."""

import importlib.util
from typing import Any

import pytest

pytest.importorskip("numba")

from llvmlite import binding, ir

from gtp_engine.base import target
from gtp_engine.base.target import Target


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
    builder = ir.IRBuilder(function.append_basic_block())
    llvm._panel_loop(half, llvm.MAX_ROWS[1], 1, llvm.Panel(*function.args))(builder)
    builder.ret_void()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu=processor, opt=3)
    lines = machine.emit_assembly(binding.parse_assembly(str(module))).splitlines()
    first = lines.index(next(line for line in lines if line.startswith(".LBB0_1:")))
    last = next(number for number, line in enumerate(lines) if number > first and line.startswith("\tb."))
    return lines[first + 1 : last + 1]
