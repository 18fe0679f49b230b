"""Fixtures for the tests of training."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from making import write_records

from gtp_engine.training import selfplay_run
from gtp_engine.training.distillation import labels
from gtp_engine.training.selfplay import Counts, FinishedGame, SelfPlay
from gtp_engine.training.workers import SelfPlayPool


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


class PoolHere(SelfPlayPool):
    """Plays in this process: another one takes longer to start than a short run to play."""

    player: SelfPlay | None = None

    @property
    def counts(self) -> Counts:
        return self.player.counts if self.player else Counts()

    def play(self, network: str, cycle: int) -> None:
        self._order = network, cycle
        self.player = self.player or SelfPlay(self.settings, (self._seed, 0), self._total)

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        assert self.player and self._order
        yield from self.player.play(*self._order)[0]

    def close(self) -> None:
        if self.player:
            self.player.close()


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs play in the tests' own process."""
    monkeypatch.setattr(selfplay_run, "SelfPlayPool", PoolHere)
