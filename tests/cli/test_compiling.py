"""Compiling ahead, and not waiting for it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("module", ["gtp_engine.clients.cli.compiling", "gtp_engine benchmark"])
def test_ctrl_c_ends_the_first_compilation_at_once(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", *module.split()]
    environment = os.environ | {"GTP_ENGINE_CACHE": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("gtp_engine: compiling 1/")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
