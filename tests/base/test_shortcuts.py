"""The shortcuts find what numba finds without them."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from llvmlite import ir
from numba.core.compiler import Flags
from numba.core.registry import cpu_target

from gtp_engine.base import jit, shortcuts

# A function with arrays, a loop, a branch, a call, and constants that are folded; prints its machine code.
SCRIPT = """
import sys
from gtp_engine.base import shortcuts
if sys.argv[1] == "without":
    shortcuts.install = lambda: None
import numpy as np
from gtp_engine.base.jit import njit
@njit
def weigh(values, none):
    return values.sum() if none is None else values[0]
@njit
def function(values, pair):
    table, total = np.zeros(len(values) + 1), 0.0
    for index, value in enumerate(values):
        if value > pair[0] and index % 3:
            table[index] = max(value, 2.0) * pair[1]
        else:
            total += weigh(table[:index], None) + 2**3
    return total, table
function(np.arange(8.0), (3, 0.5))
[overload] = function.overloads.values()
print(overload.library.get_asm_str())
"""


def assembly(tmp_path: Path, choice: str) -> str:
    cache = {"GTP_ENGINE_CACHE": str(tmp_path), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", SCRIPT, choice]
    return subprocess.run(command, env={**os.environ, **cache}, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(jit.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_machine_code_is_the_same(tmp_path: Path) -> None:
    with_shortcuts = assembly(tmp_path, "with")
    assert len(with_shortcuts) > 1000
    assert with_shortcuts == assembly(tmp_path, "without")


def test_sizes_of_types_are_those_of_llvm() -> None:
    context = cpu_target.target_context
    byte, wide = ir.IntType(8), ir.IntType(64)
    for type_, size in [(byte, 1), (wide, 8), (ir.LiteralStructType([byte, wide]), 16), (ir.ArrayType(byte, 3), 3)]:
        assert [context.get_abi_sizeof(type_) for _ in range(2)] == [size, size]


def test_sizes_of_types_with_names_are_not_remembered() -> None:
    """Two types may have the same name."""
    find = Mock(side_effect=[1, 8])
    get_size = shortcuts._remembered_sizes(find)
    named = ir.Context().get_identified_type("name")
    assert [get_size(None, named), get_size(None, named)] == [1, 8]


def test_flags_are_equal_if_all_their_values_are() -> None:
    one, other = Flags(), Flags()
    other.nrt = one.nrt  # given and left at its default are the same
    assert one == other and hash(one) == hash(other)
    other.nrt = not one.nrt
    assert one != other
    assert one != "flags"
