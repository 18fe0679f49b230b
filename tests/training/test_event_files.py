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


def test_a_run_that_goes_on_doubles_no_point(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    EventFiles(tmp_path, "cycle", []).add(LINES[0])
    EventFiles(tmp_path, "cycle", LINES[:1]).add(LINES[1])  # killed, and gone on with
    assert curves(tmp_path) == {"losses/policy": [(1, 60, 3.5), (2, 130, 3.0)], "elo": [(2, 130, 80.5)]}


def test_without_tensorboard_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    EventFiles(tmp_path / "tensorboard", "cycle", LINES).add(LINES[0])
    assert not list(tmp_path.iterdir())
