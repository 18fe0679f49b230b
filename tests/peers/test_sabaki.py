"""Sabaki's own GTP controller uses the engine as Sabaki does (`sabaki/session.js`)."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from peers.conftest import NODE_MODULES

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("sabaki") / "session.js"
SGF = "(;FF[4]GM[1]SZ[9]KM[5.5];B[ee];W[ec];B[gc])"


@pytest.fixture
def node_modules() -> Path:
    """The folder that holds @sabaki/gtp."""
    if not (NODE_MODULES / "@sabaki" / "gtp").is_dir():
        pytest.skip(f"@sabaki/gtp is not in {NODE_MODULES} (npm install --no-save @sabaki/gtp@3.0.0)")
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    return NODE_MODULES


@pytest.mark.peer
def test_sabaki(node_modules: Path, tmp_path: Path) -> None:
    record = tmp_path / "game.sgf"
    record.write_text(SGF)
    engine = [sys.executable, "-m", "gtp_engine", "gtp", "--visits", "50", "--threads", "1"]
    command = ["node", str(SCRIPT), str(node_modules), str(record), *engine]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("ok ") == 11
