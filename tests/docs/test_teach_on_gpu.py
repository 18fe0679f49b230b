"""The experiment in `examples/` labels the positions that it writes, and teaches a network that the engine can load."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gtp_engine.go.game import Game
from gtp_engine.nets.library import load_network
from gtp_engine.nets.model import prepare_for_inference
from gtp_engine.search.evaluate.batch import load_network as load_evaluator
from gtp_engine.training.data.samples import pack
from gtp_engine.training.losses import LEAD_DELTA

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"
MOVES = ("E5", "C3", "C7", "G3", "D5", "F6", "E6")


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("teach_on_gpu", ROOT / "examples" / "teach_on_gpu.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("SCORE_DELTA", "STDEV_DELTA", "LEAD_DELTA"):  # which it changes
        monkeypatch.setattr(module.losses, name, getattr(module.losses, name))
    return module


class Unmixed:
    """Random numbers that leave the positions in their order, and as they stand."""

    def permutation(self, count: int) -> np.ndarray:
        return np.arange(count)

    def integers(self, most: int, size: int) -> np.ndarray:
        return np.zeros(size, np.int64)


def run(experiment: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr("sys.argv", ["teach_on_gpu", *map(str, arguments)])
    experiment.main()


def test_labels_are_what_the_teacher_says_of_the_positions(experiment: ModuleType) -> None:
    games = []
    for count in range(len(MOVES) + 1):  # either side to move
        game = Game(9, komi=6.5)
        for vertex in MOVES[:count]:
            game.play(game.to_move, vertex)
        games.append(game)
    lesson = experiment.Lesson(experiment.argparse.Namespace(device="cpu", student=str(TINY), threads=1))
    lesson.random = Unmixed()
    written = pack([experiment.sample(game, number) for number, game in enumerate(games)])
    teacher = prepare_for_inference(load_network(TINY))
    _, _, policy, judged, owned = lesson._labelled(teacher, written, None)
    with load_evaluator(str(TINY), precision="float32") as evaluator:
        said = evaluator.evaluate(games)
    for row, each in enumerate(said):
        own = owned[row].numpy() / 127
        assert np.abs(policy[row].numpy() - each.priors).max() < 0.001
        assert judged[row, 5] * (1 - judged[row, 2]) == pytest.approx(each.lead, abs=0.001)  # given a result
        assert np.abs(own - each.ownership.ravel()).max() < 0.01


@pytest.mark.slow
def test_it_teaches_a_network(experiment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pieces = tmp_path / "pieces"  # which does not exist
    run(experiment, monkeypatch, "positions", pieces / "a.shard", "--played", 60, "--board-size", 7)
    run(experiment, monkeypatch, "positions", pieces / "b.shard", ROOT / "sgf" / "samples", "--records", 3)
    given = ("--batch-size", 8, "--warm-up", 2, "--threads", 1, "--device", "cpu", "--shares", "7=1")
    given += ("--teacher", TINY, "--student", TINY, "--minutes", 0.05, "--out", tmp_path / "taught.bin.gz")
    run(experiment, monkeypatch, "teach", pieces, *given)
    before, after = load_network(TINY), load_network(tmp_path / "taught.bin.gz")
    assert any(not np.array_equal(value, after.values[name]) for name, value in before.values.items())
    assert experiment.losses.LEAD_DELTA == experiment.LINEAR != LEAD_DELTA
