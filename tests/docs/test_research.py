"""The worked example of docs/research.md: its lines fit the code, and a copy with them learns the head."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEARNS = """
import numpy as np
from making import random_game
from gtp_engine import GameRecord, Learner, LearnSettings, LossWeights, Model, Samples
from gtp_engine.go.symmetry import permutation
from gtp_engine.nets.config import parse_config
from gtp_engine.training.data.samples import INDEX_BITS
from gtp_engine.training.inspection import describe
games = [random_game(1, 9, moves=12), random_game(2, 13, moves=12)]
samples = Samples.from_records([GameRecord.from_game(game, result="B+R") for game in games])
batch = samples.batch(range(24))
for row, game, size in ((3, games[0], 9), (15, games[1], 13)):
    alone = Samples.from_records([GameRecord.from_game(game, result="B+R")])
    expected = np.zeros(size * size + 1, np.float32)
    expected[alone.games.moves[3:11] & INDEX_BITS] = 1
    for symmetry in (0, 6):
        turned = np.zeros_like(expected)
        turned[permutation(symmetry, size, size)] = expected
        assert (alone.batch([3], [symmetry]).soon[0].numpy() == turned[:-1]).all()  # without the pass
    assert batch.soon[row].reshape(13, 13)[:size, :size].flatten().tolist() == expected[:-1].tolist()
shown = describe(samples, 3, samples.batch([3])).splitlines()
assert "soon        " in [line[:12] for line in shown]
weights = LossWeights(soon=1)
settings = LearnSettings(learning_rate=1e-2, warm_up=0, precision="float32", losses=weights)
config = parse_config("b1c16").with_auxiliary_heads(weights.trained)
learner = Learner(Model(config).initialise(), settings)
means = []
for _ in range(30):
    learner.step(batch)
    means.append(learner.take_losses())
print(means[-1]["soon"] < 0.9 * means[0]["soon"])
assert not [name for name in learner.model.stored().values if "auxiliary" in name]
"""


def with_documented_lines(folder: Path) -> None:
    """Applies the diff of the page: hunks are separated by empty lines; the name of a file stands above its first."""
    (diff,) = re.findall(r"^```diff\n(.*?)^```", (ROOT / "docs" / "research.md").read_text(), re.DOTALL | re.MULTILINE)
    path = folder
    for hunk in diff.split("\n\n"):
        lines = hunk.strip("\n").splitlines()
        if lines[0].endswith(".py"):
            path = folder / lines.pop(0)
        old, new = ("\n".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
        text = path.read_text()
        assert text.count(f"{old}\n") == 1, old
        path.write_text(text.replace(f"{old}\n", f"{new}\n"))


def test_the_head_of_the_example_learns_on_two_board_sizes(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "gtp_engine", tmp_path / "gtp_engine", ignore=shutil.ignore_patterns("*.bin.gz", "__pycache__")
    )
    with_documented_lines(tmp_path)
    # As plain Python: to compile the changed code would take longer.
    found = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'tests' / 'training'}", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LEARNS],
        env=os.environ | found,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
