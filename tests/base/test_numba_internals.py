"""Functions that are compiled together with all that they call, once, and a numba with which they cannot be."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from gtp_engine.base import jit

pytestmark = pytest.mark.skipif(bool(jit.config.DISABLE_JIT), reason="nothing is compiled")

CALLER_AND_PART = """
import numpy as np
from gtp_engine.base import jit

@jit.njit
def part(x: np.ndarray) -> np.ndarray:
    return x * 2.0 + 1.0

@jit.njit
def caller(x: np.ndarray) -> float:
    return part(x).sum()

x = np.ones(3)
print(caller(x), part(x), part.stats.cache_hits[part.signatures[0]])
"""

# What a start prints, of whose numba something is changed first.
START = """
from gtp_engine.base import jit, warm_up
import numpy as np

@jit.njit
def doubled(x: np.ndarray) -> np.ndarray:
    return x * 2.0

@jit.borrowing
def first(x: np.ndarray) -> float:
    return x[0]

@jit.njit
def total(x: np.ndarray, state: np.ndarray) -> int:
    return int(doubled(x).sum() + first(x)) + 1000 * jit.random_below(state, 100)

state = np.ones(1, np.uint64)
found = [total(np.ones(number), state) for number in (1, 2)]
print(found, jit.CACHE_FOLDER is None, warm_up.is_cold(), warm_up.is_kept("any"), warm_up.start_helper("re"))
print(jit.mark_complete())
"""

# Decorated at run time: mypy sees functions.
largest: Any
total: Any
doubled: Any
last: Any
never_called: Any
called: Any
chosen: Any


@jit.inline
def largest(values: np.ndarray, least: int) -> float:  # type: ignore[no-redef]
    found = least + 0.0
    for value in values:
        found = max(found, value)
    return found


@jit.njit
def total(values: np.ndarray, start: int, small: bool) -> float:  # type: ignore[no-redef]
    if len(values) > 5:
        raise ValueError("too many values")
    return start + values.sum() + largest(values, 0) + largest(values, 1) + small


@jit.njit
def doubled(values: np.ndarray, offset: int = 2) -> np.ndarray:  # type: ignore[no-redef]
    byte = np.int8(offset)
    result = np.empty(2)
    result[0] = 2 * total(values, byte, True)
    result[1] = total(values, 100, False)
    return result


@jit.njit
def last(value: float) -> float:  # type: ignore[no-redef]
    return value if value < 1 else last(value - 1)  # a function that calls itself is not inlined


@jit.njit
def never_called(value: float) -> float:  # type: ignore[no-redef]
    return last(value) + 1


@jit.njit
def called(value: float) -> float:  # type: ignore[no-redef]
    return last(value) + 2


@jit.njit
def chosen(number: int, value: float) -> float:  # type: ignore[no-redef]
    return never_called(value) if (number & 1) > 1 else called(value)  # LLVM knows the choice, numba does not


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (total, doubled, chosen):
        monkeypatch.setattr(function, "_cache", jit.CodeCache(function.py_func, []))


def test_only_what_python_calls_becomes_machine_code() -> None:
    values = np.array([0.5, 1.5])
    assert doubled(values).tolist() == [2 * (2 + 2 + 1.5 + 1.5 + 1), 100 + 2 + 1.5 + 1.5]
    assert doubled(values, 3).tolist() == [2 * (3 + 2 + 1.5 + 1.5 + 1), 100 + 2 + 1.5 + 1.5]
    assert len(doubled.overloads) == 2  # with and without the default
    assert not total.overloads and not largest.overloads
    [part] = total._parts.values()  # constants and small integers share it
    assert not part.library._finalized


def test_python_may_call_a_part_later() -> None:
    doubled(np.ones(1))
    assert total(np.array([1.0]), 5, False) == 8.0
    assert len(total.overloads) == 1


def test_a_part_is_linked_although_one_of_its_callers_is_not() -> None:
    """LLVM links a function only if something that was linked before calls it; else its address would be 0."""
    assert chosen(3, 2.5) == 2.5


def test_errors_of_parts_reach_python() -> None:
    with pytest.raises(ValueError, match="too many values"):
        doubled(np.zeros(6))


def test_a_part_is_cached_for_python_too(tmp_path: Path) -> None:
    """The wrapper of a part has constants, which the file of its caller lacks."""
    program = tmp_path / "program.py"
    program.write_text(CALLER_AND_PART)
    environment = os.environ | {"GTP_ENGINE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-P", str(program)]
    found = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    assert found == ["9.0 [3. 3. 3.] 0\n", "9.0 [3. 3. 3.] 1\n"]


def test_other_packages_keep_what_they_compile_as_numba_does(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "import numba\n\n@numba.njit(cache=True)\ndef doubled(x):\n    return x * 2.0\n", encoding="utf-8"
    )
    uses = "import numba\nimport other\n\nother.doubled(21.0)\n"
    uses += "caller = numba.njit(lambda x: other.doubled(x) + 1.0)\nprint(caller(41.0))\n"
    programs = ["from gtp_engine.base import jit\n" + uses, uses]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    for number in (0, 0, 1):  # the first one fills the cache
        command = [sys.executable, "-c", programs[number]]
        assert subprocess.check_output(command, env=environment, cwd=tmp_path, text=True) == "83.0\n"


SUMS = "[56003, 74005]"


def started(change: str, cache: Path) -> list[str]:
    """The lines that START prints."""
    environment = os.environ | {"GTP_ENGINE_CACHE": str(cache)}
    command = [sys.executable, "-c", change + START]
    return subprocess.check_output(command, env=environment, text=True).splitlines()


def test_this_numba_has_all_that_is_private(tmp_path: Path) -> None:
    """If this fails, it names what numba has changed: `numba_internals` has to follow, or setup.cfg to refuse it."""
    assert started("", tmp_path)[1] == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("from numba.core import codegen; del codegen.JITCodeLibrary", "cannot import name 'JITCodeLibrary'"),
        pytest.param(
            "from numba.core import registry; del registry.CPUDispatcher",
            "cannot import name 'CPUDispatcher'",
            marks=pytest.mark.slow,
        ),
        (
            "from numba.core.compiler import CompileResult; del CompileResult._rebuild",
            "AttributeError: type object 'CompileResult' has no attribute '_rebuild'",
        ),
        pytest.param(
            "from numba.core import codegen; del codegen.CodeLibrary._get_compiled_object",
            "AttributeError: 'Library' object has no attribute '_get_compiled_object'",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_start_without_something_private_is_slower_but_right(change: str, problem: str, tmp_path: Path) -> None:
    found, reason = started(change, tmp_path)
    assert found == f"{SUMS} True True False None"
    assert reason.startswith(f"numba {numba.__version__} does not fit this program: {problem}")


@pytest.mark.slow
def test_the_engine_plays_without_what_is_private(tmp_path: Path) -> None:
    change = "from numba.core import codegen; del codegen.JITCodeLibrary\n"
    change += "import sys; sys.argv[1:] = ['gtp', '--network', 'none']; from gtp_engine.__main__ import run; run()"
    environment = os.environ | {"GTP_ENGINE_CACHE": str(tmp_path), "NUMBA_OPT": "0"}  # optimising takes the time
    done = subprocess.run(
        [sys.executable, "-c", change],
        env=environment,
        input="boardsize 9\ngenmove b\nquit\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"=\s+= [A-J][1-9]\s+=\s+", done.stdout)
    assert f"(not kept: numba {numba.__version__} does not fit this program: cannot import name" in done.stderr
