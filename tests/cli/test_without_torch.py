"""What plays with a network on a CPU does not import torch, which would take a second and 200 MB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gtp_engine.base import jit
from gtp_engine.nets.kernels.llvm import HAS_FLOAT32

pytestmark = pytest.mark.skipif(jit.config.DISABLE_JIT or not HAS_FLOAT32, reason="the kernels do not run here")

NETWORK = ["--network", str(Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz")]
ON_CPU = [*NETWORK, "--device", "cpu", "--precision", "float32", "--threads", "2"]
SCRIPT = """
import atexit, sys
atexit.register(lambda: print("heavy:", [name for name in ("torch",) if name in sys.modules], file=sys.stderr))
from gtp_engine.clients.cli import main
main()
"""
QUERY = {"id": "q", "moves": [], "rules": "chinese", "boardXSize": 9, "boardYSize": 9, "maxVisits": 4}
GAME = "(;GM[1]FF[4]SZ[9]KM[7];B[ee];W[ge];B[ce])"


@pytest.mark.parametrize(
    ("command", "given", "answer"),
    [
        (["gtp", "--board-size", "9", "--visits", "4"], "genmove b\nkata-raw-nn 0\nfinal_score\n", "whiteOwnership"),
        (["analysis"], json.dumps(QUERY) + "\n", '"rootInfo"'),
        (["play", "--visits", "4", "--colour", "white", "--sgf-dir", "FOLDER"], "quit\n", "black plays"),
        (["review", "FOLDER/game.sgf", "--visits", "4"], "", "accuracy"),
        (["network", NETWORK[1]], "", "parameters"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_torch_is_not_imported(command: list[str], given: str, answer: str, tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    words = [word.replace("FOLDER", str(tmp_path)) for word in command]
    options = [] if command[0] == "network" else ON_CPU
    arguments = [sys.executable, "-c", SCRIPT, *words, *options]
    found = subprocess.run(arguments, input=given, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert answer in found.stdout
    assert found.stderr.splitlines()[-1] == "heavy: []"


def test_workers_of_self_play_do_not_import_torch() -> None:
    code = "import sys, gtp_engine.training.workers; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
