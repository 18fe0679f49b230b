"""Several processes train one network: the result is that of a single process."""

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
from making import write_records
from running import check_whole

from gtp_engine.clients.cli import main
from gtp_engine.training.data.loader import Loader
from gtp_engine.training.ddp import ProcessGroup
from gtp_engine.training.new_run import begin_records, settings_from_options
from gtp_engine.training.record_run import RecordRun
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.selfplay_run import SelfPlayRun

LIMIT = 600  # seconds; the first start may compile the core
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def run(*arguments: str, status: int = 0) -> str:
    """Returns the output of a program under torchrun."""
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), str(tests.parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [*TORCHRUN, *arguments], capture_output=True, text=True, timeout=LIMIT, env=os.environ | {"PYTHONPATH": path}
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_each_process_uses_its_part_of_a_batch() -> None:
    samples = learned_together.sets()[1]
    whole = next(Loader(samples, 12, seed=3))
    for part in range(3):
        mine = next(Loader(samples, 12, seed=3, part=(part, 3)))
        assert mine.size == 4
        assert torch.equal(mine.planes, whole.planes[part::3])
        assert torch.equal(mine.policy, whole.policy[part::3])


def test_a_batch_that_cannot_be_shared_is_reported_before_anything_is_done(tmp_path: Path) -> None:
    three = ProcessGroup({"TORCHELASTIC_RUN_ID": "1", "RANK": "0", "WORLD_SIZE": "3"})
    (tmp_path / "games.sgf").write_text("(;GM[1]SZ[9];B[ee])")
    given = {"games": [str(tmp_path / "games.sgf")], "network": "b1c8", "batch_size": 10}
    records, selfplay = RunFolder(tmp_path / "records"), RunFolder(tmp_path / "run")
    begin_records(records, settings_from_options(given), given)
    selfplay.create(miniature.settings(batch_size="64"))
    with pytest.raises(ValueError, match="batches of 10 cannot be shared evenly by 3 processes: choose a batch size"):
        RecordRun(records, Mock(), group=three)
    assert not any(records.games.iterdir())
    given["batch_size"] = 12
    begin_records(records, settings_from_options(given), given)  # the folder is free for another batch size
    with pytest.raises(ValueError, match="batches of 64 cannot be shared evenly by 3 processes"):
        SelfPlayRun(selfplay, Mock(), group=three)
    assert not any(selfplay.shards.iterdir())


def test_two_learn_what_one_learns(tmp_path: Path) -> None:
    """With and without masks: gradients, batch norms' statistics, averages and losses."""
    run(str(Path(learned_together.__file__)), str(tmp_path / "two.pt"))
    together = torch.load(tmp_path / "two.pt", weights_only=True)
    for network, two in together.items():
        one = learned_together.result(learned_together.learn(network, ProcessGroup()))
        assert two["samples"] == one["samples"] == 2 * learned_together.STEPS * learned_together.BATCH
        assert two["losses"] == pytest.approx(one["losses"], rel=1e-4)
        torch.testing.assert_close(two["tensors"], one["tensors"], rtol=1e-4, atol=1e-4)
    assert tuple(together) == learned_together.NETWORKS


@pytest.mark.parametrize("left", [{"WORLD_SIZE": "2"}, {"WORLD_SIZE": "4", "RANK": "x"}, {"MASTER_ADDR": "localhost"}])
def test_what_another_program_left_in_the_environment_is_ignored(left: dict[str, str]) -> None:
    with ProcessGroup(left) as group:
        assert (group.rank, group.count, group.thread_share(2)) == (0, 1, 2)


def test_a_group_that_cannot_connect_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    with socket.create_server(("localhost", 0)) as taken:
        place = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(taken.getsockname()[1])}
        for name, value in {**place, "RANK": "0", "WORLD_SIZE": "2"}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ConnectionError, match=r"cannot connect all 2 processes: .*address already in use"):
            ProcessGroup({"TORCHELASTIC_RUN_ID": "1", "RANK": "0", "WORLD_SIZE": "2"}).__enter__()
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.slow
def test_a_run_of_two_writes_each_file_once(tmp_path: Path) -> None:
    settings = {"cycles": "2", "random_games": "40", "samples": "640", "warm_up": "64"}
    (tmp_path / "settings.toml").write_text(miniature.text(**settings))
    folder = RunFolder(tmp_path / "run")
    output = run("-m", "gtp_engine", "train", str(folder.path), "--settings", str(tmp_path / "settings.toml"))
    assert output.count("done: ") == output.count("games: starting") == 1
    check_whole(folder, miniature.settings(**settings))


@pytest.mark.slow
def test_two_learn_from_records_what_one_learns(tmp_path: Path) -> None:
    write_records(tmp_path / "games.sgfs", range(30))
    command = ["learn", str(tmp_path / "games.sgfs"), "--config", "b1c8", "--batch-size", "32", "--samples", "320"]
    command += ["--least-moves", "5", "--warm-up", "100", "--optimizer", "sgd", "--precision", "float32"]
    run("-m", "gtp_engine", *command, "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "two"))
    one = CliRunner().invoke(main, [*command, "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "one")])
    assert one.exit_code == 0, one.output
    logs = [(tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("one", "two")]
    alone, together = (json.loads(log[-1]) for log in logs)
    assert alone["samples"] == together["samples"] == 320
    for log in (alone, together):
        del log["validation"]["calibration"]  # a list of groups; its error is compared
    for kind in ("losses", "validation"):
        assert together[kind] == pytest.approx(alone[kind], rel=1e-3, abs=1e-3)
