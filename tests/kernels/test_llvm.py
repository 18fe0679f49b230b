"""The code that LLVM makes of the innermost loops for processors that this one need not be."""

import pytest

pytest.importorskip("numba")

from llvmlite import binding, ir

from gtp_engine.kernels import llvm

# The processors of Amazon's Graviton 3 and of Apple's M2 have BF16, Graviton 2's and M1 lack it.
WITH_BFLOAT16, WITHOUT = ("neoverse-v1", "apple-m2"), ("neoverse-n1", "apple-m1")


def arm_panel(processor: str, half: bool, rows: int) -> list[str]:
    """The instructions of a panel of one vector per row; `test_arm64` executes such code."""
    numbers = [ir.IntType(64)] * 9
    module = ir.Module()
    module.triple = "aarch64-unknown-linux-gnu"
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), numbers), "panel")
    builder = ir.IRBuilder(function.append_basic_block())
    llvm._panel_loop(half, rows, 1, *function.args)(builder)
    builder.ret_void()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu=processor, opt=3)
    return machine.emit_assembly(binding.parse_assembly(str(module))).splitlines()


@pytest.mark.parametrize(
    ("half", "processor"),
    [(False, name) for name in WITH_BFLOAT16 + WITHOUT] + [(True, name) for name in WITH_BFLOAT16],
)
def test_sums_stay_in_the_registers_of_arm(processor: str, half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "_FEATURES", {"neon": True, "bf16": half})
    lines = arm_panel(processor, half, 6)
    loop = lines[lines.index(next(line for line in lines if line.startswith(".LBB0_1:"))) :]
    loop = loop[: 1 + next(number for number, line in enumerate(loop) if line.startswith("\tb."))]
    names = [line.split()[0] for line in loop[1:]]
    # A vector of 16 values is four registers: a product for each of them and of the six rows, a load of each factor
    # (ldp loads two) and row, and no other access to memory.
    assert names.count("bfdot" if half else "fmla") == 4 * 6
    assert [name for name in names if name.startswith(("ld", "st"))].count("ld1r") == 6
    assert not any(name.startswith("st") for name in names) and not any("sp" in line.split() for line in loop)
    assert sum(name in ("ldp", "ldr") for name in names) == 2
