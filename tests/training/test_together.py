"""Several processes learn one network: they learn what one alone learns."""

import datetime
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import learned_together
import miniature
import pytest
import torch
from click.testing import CliRunner
from making import random_game
from running import check_whole

from gtp_engine.cli import main
from gtp_engine.sgf import GameRecord
from gtp_engine.training.learner import LearnerSettings
from gtp_engine.training.loader import Loader
from gtp_engine.training.loop import Run
from gtp_engine.training.ranks import Ranks
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.supervised import SupervisedSettings, learn

LIMIT = 600  # seconds; the first start may compile the core
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def run(*arguments: str, status: int = 0) -> str:
    """What it says under torchrun."""
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), str(tests.parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [*TORCHRUN, *arguments], capture_output=True, text=True, timeout=LIMIT, env=os.environ | {"PYTHONPATH": path}
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_each_takes_its_part_of_a_batch() -> None:
    samples = learned_together.sets()[1]
    whole = next(Loader(samples, 12, seed=3))
    for part in range(3):
        mine = next(Loader(samples, 12, seed=3, part=(part, 3)))
        assert len(mine) == 4
        assert torch.equal(mine.planes, whole.planes[part::3])
        assert torch.equal(mine.policy, whole.policy[part::3])


def test_a_batch_that_cannot_be_shared_is_told_before_anything_is_done(tmp_path: Path) -> None:
    three = Ranks(PLACE | {"RANK": "0", "WORLD_SIZE": "3"})
    (tmp_path / "games.sgf").write_text("(;GM[1]SZ[9];B[ee])")
    sources = (str(tmp_path / "games.sgf"),)
    settings = SupervisedSettings(sources=sources, config="b1c8", learner=LearnerSettings(batch_size=10))
    folder = RunFolder(tmp_path / "run")
    folder.create(miniature.settings(batch_size="64"))
    with pytest.raises(ValueError, match="batches of 10 cannot be shared evenly by 3 processes: choose a batch size"):
        learn(settings, tmp_path / "records", Mock(), ranks=three)
    assert not (tmp_path / "records").exists()  # the folder is free for another batch size
    with pytest.raises(ValueError, match="batches of 64 cannot be shared evenly by 3 processes"):
        Run(folder, Mock(), ranks=three)
    assert not any(folder.shards.iterdir())


def test_two_learn_what_one_learns(tmp_path: Path) -> None:
    """With and without masks: gradients, batch norms' statistics, averages and losses."""
    run(str(Path(learned_together.__file__)), str(tmp_path / "two.pt"))
    two = torch.load(tmp_path / "two.pt", weights_only=True)
    one = learned_together.result(learned_together.learn(Ranks.alone()))
    assert two["samples"] == one["samples"] == 2 * learned_together.STEPS * learned_together.BATCH
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-4)
    torch.testing.assert_close(two["tensors"], one["tensors"], rtol=1e-4, atol=1e-4)


PLACE = {"MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
STRAY = ({"WORLD_SIZE": "2"}, {"RANK": "1"}, {"WORLD_SIZE": "4", "RANK": "x", "LOCAL_RANK": "1"})


@pytest.mark.parametrize("stray", STRAY)
def test_what_another_program_left_in_the_environment_is_said_and_ignored(
    stray: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with Ranks(stray) as ranks:
        assert (ranks.rank, ranks.count, ranks.threads(2)) == (0, 1, 2)
    assert "but not all that torchrun sets: learns alone" in capsys.readouterr().err


def test_an_address_alone_is_nobodys_business(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ranks({"MASTER_ADDR": "localhost"}).count == Ranks({}).count == 1
    assert not capsys.readouterr().err


def test_wrong_numbers_in_the_environment_are_named() -> None:
    with pytest.raises(ValueError, match="WORLD_SIZE=two in the environment: expected a number"):
        Ranks(PLACE | {"RANK": "0", "WORLD_SIZE": "two"})
    with pytest.raises(ValueError, match="RANK=2 in the environment is not below WORLD_SIZE=2"):
        Ranks(PLACE | {"RANK": "2", "WORLD_SIZE": "2"})
    with pytest.raises(ValueError, match="MASTER_PORT=here in the environment: expected a number"):
        Ranks(PLACE | {"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": "here"})


def test_who_waits_in_vain_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("gtp_engine.training.ranks._MEETING", datetime.timedelta(seconds=1))
    taken = socket.create_server(("localhost", 0))
    port = str(taken.getsockname()[1])
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", port)):
        monkeypatch.setenv(name, value)
    before = signal.getsignal(signal.SIGINT)
    with taken, pytest.raises(ConnectionError, match="address already in use"):
        Ranks(os.environ).__enter__()
    with pytest.raises(ConnectionError, match=r"not all of 2 processes met \(.*1.*\): start them with torchrun"):
        Ranks(os.environ).__enter__()
    assert "process 0 of 2 waits for the others" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.slow
def test_a_run_of_two_writes_each_file_once(tmp_path: Path) -> None:
    settings = {"cycles": "2", "random_games": "40", "samples": "640", "warm_up": "64"}
    (tmp_path / "settings.toml").write_text(miniature.text(**settings))
    folder = RunFolder(tmp_path / "run")
    said = run("-m", "gtp_engine", "train", str(folder.path), "--settings", str(tmp_path / "settings.toml"))
    assert said.count("done: ") == said.count("begins") == 1
    check_whole(folder, miniature.settings(**settings))


@pytest.mark.slow
def test_two_learn_of_records_what_one_learns(tmp_path: Path) -> None:
    games = (GameRecord.from_game(random_game(seed, 5, moves=16), result="B+3") for seed in range(30))
    (tmp_path / "games.sgfs").write_text("".join(game.to_sgf().replace("\n", "") + "\n" for game in games))
    command = ["learn", str(tmp_path / "games.sgfs"), "--config", "b1c8", "--batch-size", "32", "--samples", "320"]
    command += ["--least-moves", "5", "--warm-up", "100", "--optimizer", "sgd", "--precision", "float32"]
    run("-m", "gtp_engine", *command, "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "two"))
    one = CliRunner().invoke(main, [*command, "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "one")])
    assert one.exit_code == 0, one.output
    (alone,), (together,) = ((tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("one", "two"))
    for kind in ("learning", "validation"):
        assert json.loads(together)[kind] == pytest.approx(json.loads(alone)[kind], rel=1e-3, abs=1e-3)
