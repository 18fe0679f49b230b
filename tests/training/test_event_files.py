"""The curves in TensorBoard."""

import sys
from pathlib import Path

import pytest
from tensorboard_curves import curves

from gtp_engine.training.event_files import EventFiles

LINES = [
    {"cycle": 1, "seconds": 60, "network": "0001.bin.gz", "accepted": True, "losses": {"policy": 3.5}},
    {"cycle": 2, "seconds": 130, "network": "0002.bin.gz", "accepted": True, "losses": {"policy": 3.0}, "elo": 80.5},
]


def test_a_resumed_run_repeats_no_point(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    EventFiles(tmp_path, []).add(LINES[0])
    EventFiles(tmp_path, LINES[:1]).add(LINES[1])  # killed, and resumed
    assert curves(tmp_path) == {"losses/policy": [(1, 60, 3.5), (2, 130, 3.0)], "elo": [(2, 130, 80.5)]}


def test_runs_without_cycles_count_samples(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    line = {"samples": 640, "seconds": 9.5, "losses": {"policy": 3.0}, "validation": {"top1": 0.25}}
    EventFiles(tmp_path, []).add(line)
    assert curves(tmp_path) == {"losses/policy": [(640, 9.5, 3.0)], "validation/top1": [(640, 9.5, 0.25)]}


def test_without_tensorboard_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    EventFiles(tmp_path / "tensorboard", LINES).add(LINES[0])
    assert not list(tmp_path.iterdir())
