"""KaTrain's own engine class uses the JSON analysis as KaTrain does (`katrain/session.py`)."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("katrain") / "session.py"
# Black has the whole board, white stones in the corners.
SGF = (
    "(;FF[4]GM[1]SZ[9]KM[0.5]RU[Japanese];B[ee];W[aa];B[ec];W[ia];B[gc];W[ai];B[ge];W[ii];B[eg];W[ba];B[cc]"
    ";W[ha];B[cg];W[bi];B[gg];W[hi];B[ce];W[ab];B[bc])"
)


@pytest.mark.peer
def test_katrain(tmp_path: Path) -> None:
    python = os.environ.get("GTP_ENGINE_KATRAIN_PYTHON")
    if python is None:
        # KaTrain is a download of 130 MB: it is not installed for every run.
        pytest.skip("GTP_ENGINE_KATRAIN_PYTHON names no Python with pysgf, kivy and (--no-deps) katrain==1.20.0")
    record = tmp_path / "game.sgf"
    record.write_text(SGF)
    engine = shlex.join([sys.executable, "-m", "gtp_engine", "analysis", "--threads", "1", "--seed", "1"])
    environment = os.environ | {"KIVY_HOME": str(tmp_path)}
    command = [python, str(SCRIPT), str(record), engine]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("ok ") == 14
