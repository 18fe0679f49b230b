"""The cache folder of the compiled core."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = "from gtp_engine import compiled; print(compiled.CACHE_FOLDER, compiled.is_cold())"


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
