"""The cache of the compiled core: its folder, damaged files, a full disk, sources that change."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base import jit
from gtp_engine.base.errors import UserError
from gtp_engine.base.jit import CodeFolder

SCRIPT = "from gtp_engine.base import jit, warm_up; print(jit.CACHE_FOLDER, warm_up.is_cold())"


def cache_folder(cache: Path) -> list[str]:
    environment = {**os.environ, "GTP_ENGINE_CACHE": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_old_versions_are_removed_but_the_last_five(tmp_path: Path) -> None:
    for age, name in enumerate("abcdefg"):
        folder = tmp_path / "compiled" / name
        folder.mkdir(parents=True)
        os.utime(folder, (1000 - age, 1000 - age))
    folder, cold = cache_folder(tmp_path)
    assert sorted(path.name for path in (tmp_path / "compiled").iterdir()) == sorted([*"abcde", Path(folder).name])
    assert cold == "True"


def test_a_folder_that_vanishes_meanwhile_does_not_cost_the_cache(tmp_path: Path) -> None:
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled" / "vanished").symlink_to(tmp_path / "nowhere")  # listed, but its time cannot be read
    assert Path(cache_folder(tmp_path)[0]).is_dir()


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cache_folder(tmp_path / "file") == ["None", "True"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_complete_cache_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    """As in the image of a container, or one that an administrator has prepared."""
    folder = Path(cache_folder(tmp_path)[0])
    (folder / "writable").unlink()
    (folder / "writable").symlink_to(tmp_path / "nowhere" / "file")  # root may write to any folder, but not through it
    assert cache_folder(tmp_path) == ["None", "True"]
    (folder / "any.code").touch()
    CodeFolder(folder).mark_complete()
    assert cache_folder(tmp_path) == [str(folder), "False"]


PACKAGE = Path(jit.__file__).parents[1]
DECORATORS = {"njit", "inline", "borrowing", "intrinsic"}


def imports_of(file: Path) -> list[tuple[Path, set[str]]]:
    """The modules of the package that a file imports for its compiled code, at its top level, with the names there."""
    found = []
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else PACKAGE.parent
            module = folder.joinpath(*(node.module or "").split("."))
            found.append((module, {alias.asname or alias.name for alias in node.names}))
            found += [(module / alias.name, {alias.asname or alias.name}) for alias in node.names]
    files = [(path.with_suffix(".py"), names) for path, names in found]
    return [(place, names) for place, names in files if PACKAGE in place.parents and place.is_file()]


def compiles(file: Path) -> bool:
    """Whether a module decorates functions, as far as its imports tell."""
    return any(place.parent.name == "base" and names & DECORATORS for place, names in imports_of(file))


def names_in_compiled_code(file: Path) -> set[str]:
    """The names that compiled functions and constants of a module use; all where functions make LLVM code."""
    tree = ast.parse(file.read_text())
    nodes: list[ast.AST] = [tree]
    if not any("ir" in names for _, names in imports_of(file)):
        nodes = [node for node in tree.body if isinstance(node, ast.Assign)]
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        nodes += [node for node in functions if {ast.unparse(name) for name in node.decorator_list} & DECORATORS]
    return {node.id for top in nodes for node in ast.walk(top) if isinstance(node, ast.Name)}


def test_a_change_of_what_compiled_code_uses_compiles_it_again() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if compiles(file)]
    assert len(files) > 20
    assert {file.parent.relative_to(PACKAGE).as_posix() for file in files} == set(jit._PARTS)
    for part in jit._PARTS:
        covered = jit.sources_of(part)
        assert covered.issuperset(file for file in files if file.parent == PACKAGE / part)
        for file in covered:
            used = names_in_compiled_code(file)
            needed = {place for place, names in imports_of(file) if names & used and place.parent.name != "base"}
            assert sorted(needed - covered) == [], (part, file)


def test_a_change_compiles_no_more_again_than_what_it_is_used_in() -> None:
    def parts(name: str) -> list[str]:
        return sorted(part for part in jit._PARTS if PACKAGE / name in jit.sources_of(part))

    assert parts("training/data/rows.py") == parts("training/data/samples.py") == ["training/data"]
    assert parts("solver/moves.py") == ["solver"]
    assert parts("nets/kernels/transformer.py") == ["nets/kernels"]
    assert parts("base/jit.py") == sorted(jit._PARTS)
    assert parts("nets/config.py") == parts("nets/schema.py") == parts("nets/quantisation.py") == []
    assert parts("engine/engine.py") == parts("search/scheduler.py") == []
    assert parts("go/drawing.py") == []


def test_no_start_is_cold_because_of_what_makes_samples_of_games(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: set[Path] = set()
    monkeypatch.setattr(jit, "_hash_of", lambda sources: str(hashed.update(sources)))
    jit._fingerprint(jit.target.target())
    names = {file.relative_to(PACKAGE).as_posix() for file in hashed}
    assert {"search/tree.py", "solver/moves.py", "nets/kernels/trunk.py"} <= names
    assert not any(name.startswith("training") for name in names)


@pytest.mark.skipif(bool(jit.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_users_cache_folder_stays_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.config, "CACHE_DIR", "the user's")
    decorated = jit.njit(compiles)
    assert decorated.stats.cache_path == str(jit.CACHE_FOLDER)  # type: ignore[attr-defined]
    assert jit.config.CACHE_DIR == "the user's"


def test_optimised_bytecode_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = cache_folder(tmp_path)[0]
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    assert cache_folder(tmp_path)[0] != usual


def test_a_removed_file_makes_the_start_cold_again(tmp_path: Path) -> None:
    folder = Path(cache_folder(tmp_path)[0])
    for name in ("a.code", "b.code"):
        (folder / name).touch()
    (folder / "complete").write_text("a.code\nb.code")
    assert cache_folder(tmp_path) == [str(folder), "False"]
    (folder / "b.code").unlink()
    assert cache_folder(tmp_path) == [str(folder), "True"]


def test_without_a_home_code_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.folders, "cache_dir", Mock(side_effect=UserError("this user has no home folder")))
    assert jit._prepare_cache() == ([], "this user has no home folder")


ROOT = Path(__file__).resolve().parents[2]
# Prints the sum, how often code was found on disk, and how often it was not.
COUNTING_SCRIPT = """
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
    script.write_text(COUNTING_SCRIPT.format(constant=constant, before=before))
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


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the script has run once."""
    folder = tmp_path_factory.mktemp("once")
    assert run(folder) == ([3, 0, 1], "")
    return folder


@pytest.fixture
def compiled(once: Path, tmp_path: Path) -> Path:
    """The test's folder, with the code that the script has left."""
    shutil.copytree(once / "cache", tmp_path / "cache")
    return tmp_path


def test_code_is_kept_until_the_source_changes(compiled: Path) -> None:
    assert run(compiled) == ([3, 1, 0], "")
    # The same bytecode, with another constant.
    assert run(compiled, constant=1) == ([4, 0, 1], "")
    assert run(compiled, constant=1) == ([4, 1, 0], "")


def test_what_an_earlier_version_compiled_of_the_same_sources_is_used(compiled: Path) -> None:
    file = code_file(compiled)
    folder = file.parent
    earlier = folder.rename(folder.with_name(f"{folder.name[:8]}-earlier"))
    assert run(compiled) == ([3, 1, 0], "")
    assert file.read_bytes() == (earlier / file.name).read_bytes()
    shutil.rmtree(folder)
    earlier.rename(folder.with_name("for another machine"))
    assert run(compiled) == ([3, 0, 1], "")


def test_code_for_other_types_is_in_a_file_of_its_own(compiled: Path) -> None:
    """Processes that compile a function for different types at once must not overwrite each other's code."""
    integers = code_file(compiled)
    content = integers.read_bytes()
    assert run(compiled, "float") == ([3, 0, 1], "")
    assert integers.read_bytes() == content
    assert run(compiled) == run(compiled, "float") == ([3, 1, 0], "")


def test_a_damaged_file_is_compiled_again(compiled: Path) -> None:
    file = code_file(compiled)
    file.write_bytes(flip(file.read_bytes()))
    numbers, log = run(compiled)
    assert numbers == [3, 0, 1]
    assert log == f"gtp_engine: compiled code in {file.parent} {DAMAGED}\n"
    assert run(compiled) == ([3, 1, 0], "")


@pytest.mark.parametrize("damage", [cut, flip, lambda data: b"", lambda data: b"x" * len(data)])
def test_a_damaged_file_counts_as_missing(
    damage: Callable[[bytes], bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, file = CodeFolder(tmp_path), tmp_path / "one.code"
    folder.write("one", b"code" * 100)
    assert folder.read("one") == b"code" * 100
    file.write_bytes(damage(file.read_bytes()))
    assert folder.read("one") is None and not file.exists()
    assert caplog.messages == [f"compiled code in {tmp_path} {DAMAGED}"]


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_pipe_in_place_of_a_file_is_replaced(compiled: Path) -> None:
    """Reading it would wait for a writer."""
    file = code_file(compiled)
    file.unlink()
    os.mkfifo(file)
    assert run(compiled)[0] == [3, 0, 1]
    assert run(compiled) == ([3, 1, 0], "")


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
