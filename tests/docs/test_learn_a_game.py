"""The example of the layers below records runs, with public names only, and type checkers know them."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import gtp_engine
from gtp_engine import load_model, load_network, network_inputs, read_sgf
from gtp_engine.base.errors import UserError
from gtp_engine.go.game import Game

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "learn_a_game.py"
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"


def test_it_shows_inputs_and_outputs_and_saves_what_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    import learn_a_game

    learn_a_game.main(str(ROOT / "sgf" / "samples" / "9x9.sgf"), str(TINY), str(tmp_path / "new.bin.gz"))
    planes, *board, logits, samples, losses = capsys.readouterr().out.splitlines()
    game = read_sgf(ROOT / "sgf" / "samples" / "9x9.sgf").to_game()
    assert planes.startswith("planes (1, 22, 9, 9); scalars (1, 19), of them komi ")
    stones = ["".join(".XO"[stone and 1 + (stone != game.to_move)] for stone in row) for row in game.stones().tolist()]
    assert board == stones
    assert logits.startswith("logits: win ") and samples.startswith(f"{len(game.moves)} samples; policy targets (")
    assert "'policy': " in losses
    before, after = load_model(TINY).state_dict(), load_model(tmp_path / "new.bin.gz").state_dict()
    assert before.keys() == after.keys() and any((after[name] != value).any() for name, value in before.items())
    source = EXAMPLE.read_text()
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imports] == ["import sys", "import numpy as np", "import gtp_engine"]
    used = set(re.findall(r"\bgtp_engine\.(\w+)", source))
    assert "Learner" in used and used <= set(gtp_engine.__all__)


def test_raw_outputs_are_those_of_the_module_and_the_evaluation_follows_from_them() -> None:
    games = [Game(7), Game(7, komi=0.5)]
    games[1].play("black", "C3")
    with load_network(TINY, precision="float32", batch_size=1) as network:
        raw, evaluated = network.raw_outputs(games), network.evaluate(games)
        for wrong in ([], [Game(7), Game(9)]):
            with pytest.raises(UserError, match="raw outputs are of boards of one size"):
                network.raw_outputs(wrong)
    planes, scalars = network_inputs(games)
    import torch

    with torch.no_grad():
        expected = load_model(TINY)(torch.from_numpy(planes).float(), torch.from_numpy(scalars)).raw
    for found, wanted in zip(raw, expected, strict=True):
        assert found.dtype == np.float32 and np.abs(found - wanted.numpy()).max() < 1e-3
    shares = np.exp(raw.value - raw.value.max(1, keepdims=True))
    shares[:, 2] *= [each.row.value[2] > 0 for each in evaluated]
    shares /= shares.sum(1, keepdims=True)
    assert shares[:, 0] + shares[:, 2] / 2 == pytest.approx([each.winrate for each in evaluated], abs=1e-4)


def test_smaller_boards_lie_top_left() -> None:
    planes, _ = network_inputs([Game(5), Game(7, 6)])
    assert planes.shape == (2, 22, 6, 7) and planes[0, 0].sum() == 25 == planes[0, 0, :5, :5].sum()
    with pytest.raises(UserError, match="there are no games"):
        network_inputs([])
