"""Fixtures for the tests of training."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from making import write_records
from pool_here import PoolHere

from gtp_engine.training import selfplay, selfplay_run
from gtp_engine.training.distillation import labels


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    """Networks as small as these are slower with several threads, and much slower if other programs use the CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records on 5x5; one in 20 or so is held back."""
    path = tmp_path_factory.mktemp("records") / "games.sgfs"
    write_records(path, range(60))
    return path


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a teacher's labels are as small as such records need."""
    monkeypatch.setattr(labels, "TASK_POSITIONS", 60)


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs play in the tests' own process."""
    monkeypatch.setattr(selfplay_run, "own_unless", lambda pool: PoolHere())
    monkeypatch.setattr(selfplay, "_CALL_SECONDS", 0.1)
