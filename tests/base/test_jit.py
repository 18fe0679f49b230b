"""The cache folder of the compiled core."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from gtp_engine.base import jit
from gtp_engine.base.errors import UserError

SCRIPT = "from gtp_engine.base import jit; print(jit.CACHE_FOLDER, jit.is_cold())"


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


PACKAGE = Path(jit.__file__).parents[1]
NOT_COMPILERS = {"is_cold"}  # what modules may import of `base.jit` that compile nothing themselves


def imports_of(file: Path) -> list[tuple[Path, set[str]]]:
    """The modules of the package that a file imports for its compiled code, at its top level, with the names."""
    found = []
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else PACKAGE.parent
            module = folder.joinpath(*(node.module or "").split("."))
            found.append((module, {alias.name for alias in node.names}))
            found += [(module / alias.name, {"*"}) for alias in node.names]
    files = [(place, names) for path, names in found for place in (path.with_suffix(".py"), path / "__init__.py")]
    return [(place, names) for place, names in files if PACKAGE in place.parents and place.is_file()]


def compiles(file: Path) -> bool:
    """Whether a module decorates functions, as far as its imports tell."""
    imports = imports_of(file)
    return any(place == Path(jit.__file__) and not names <= NOT_COMPILERS for place, names in imports)


def test_what_compiled_code_depends_on_is_in_the_fingerprint() -> None:
    """A change of any file that compiled code may call has to change the cache's folder."""
    wanted = [file for file in PACKAGE.rglob("*.py") if compiles(file)]
    assert len(wanted) > 20
    needed: set[Path] = set()
    while wanted:
        file = wanted.pop()
        if file not in needed:
            needed.add(file)
            wanted += [place for place, _ in imports_of(file)]
    # Nothing else of `base` is compiled.
    missing = {file for file in needed - set(jit.fingerprinted_files()) if file.parent != PACKAGE / "base"}
    assert sorted(str(file.relative_to(PACKAGE)) for file in missing) == []


def test_a_file_outside_the_compiled_folders_would_be_noticed() -> None:
    covered = {str(file.relative_to(PACKAGE)) for file in jit.fingerprinted_files()}
    assert {"base/jit.py", "training/data/samples.py", "search/selection.py"} <= covered
    assert "search/evaluate/rollouts.py" in covered
    assert not {"engine/engine.py", "clients/gtp/loop.py", "base/log.py"} & covered


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
    assert jit._prepare_cache() == (None, "this user has no home folder")
