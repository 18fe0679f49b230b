"""Compiled code on disk: damaged files, a full disk, sources that change."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gtp_engine.base.code_cache import CodeFolder

ROOT = Path(__file__).resolve().parents[2]
# Prints the sum, how often code was found on disk, and how often it was not.
SCRIPT = """
import sys
from gtp_engine.base import jit
from gtp_engine.base.log import log_to_stderr
log_to_stderr()
{before}
@jit.njit
def add(a, b):
    return a + b + {constant}
one = float(1) if 'float' in sys.argv else 1
print(int(add(one, 2)), sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))
"""
DAMAGED = "is damaged: compiling it again, which takes up to a minute"
# A limit on the size of files fails as a full disk does: in the middle of a write.
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"


def run(folder: Path, *arguments: str, constant: int = 0, before: str = "") -> tuple[list[int], str]:
    """What the script prints, and its log; the cache is in the folder `cache`."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(constant=constant, before=before))
    environment = {**os.environ, "GTP_ENGINE_CACHE": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()], done.stderr


def code_file(folder: Path) -> Path:
    (file,) = folder.glob("cache/compiled/*/*.code")
    return file


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    """Flips a bit in the middle, where the machine code is."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]


def test_code_is_kept_until_the_source_changes(tmp_path: Path) -> None:
    assert run(tmp_path) == ([3, 0, 1], "")
    assert run(tmp_path) == ([3, 1, 0], "")
    # The same bytecode, with another constant.
    assert run(tmp_path, constant=1) == ([4, 0, 1], "")
    assert run(tmp_path, constant=1) == ([4, 1, 0], "")


def test_code_for_other_types_is_in_a_file_of_its_own(tmp_path: Path) -> None:
    """Processes that compile a function for different types at once must not overwrite each other's code."""
    assert run(tmp_path) == ([3, 0, 1], "")
    integers = code_file(tmp_path)
    content = integers.read_bytes()
    assert run(tmp_path, "float") == ([3, 0, 1], "")
    assert integers.read_bytes() == content
    assert run(tmp_path) == run(tmp_path, "float") == ([3, 1, 0], "")


@pytest.mark.parametrize("damage", [cut, flip, lambda data: b"", lambda data: b"x" * len(data)])
def test_a_damaged_file_is_compiled_again(tmp_path: Path, damage: "object") -> None:
    run(tmp_path)
    file = code_file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    numbers, log = run(tmp_path)
    assert numbers == [3, 0, 1]
    assert log == f"gtp_engine: compiled code in {file.parent} {DAMAGED}\n"
    assert run(tmp_path) == ([3, 1, 0], "")


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_on_a_full_disk_code_stays_in_memory(tmp_path: Path) -> None:
    numbers, log = run(tmp_path, before=FULL)
    assert numbers == [3, 0, 1]
    (folder,) = (tmp_path / "cache" / "compiled").iterdir()
    assert log == (
        f"gtp_engine: compiled code is kept in memory only ({folder}: File too large): the next start compiles again\n"
    )
    assert list(folder.iterdir()) == [folder / "writable"]  # nothing half written
    assert run(tmp_path) == ([3, 0, 1], "")  # with space again it is kept
    assert run(tmp_path) == ([3, 1, 0], "")


def test_a_folder_is_complete_as_long_as_nothing_is_removed(tmp_path: Path) -> None:
    folder = CodeFolder(tmp_path)
    assert not folder.is_complete
    folder.write("one", b"1")
    folder.write("two", b"2")
    assert not folder.is_complete
    folder.mark_complete()
    folder.write("three", b"3")
    assert folder.is_complete and folder.read("one") == b"1"
    (tmp_path / "two.code").unlink()
    assert not folder.is_complete and folder.read("two") is None


def test_a_folder_with_a_problem_is_not_complete(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = CodeFolder(tmp_path / "file" / "compiled")
    folder.write("one", b"1")
    assert folder.problem.startswith(f"{tmp_path / 'file' / 'compiled'}: ")
    folder.mark_complete()
    assert not folder.is_complete
