"""The self-play workers, and how they end."""

import os
import signal
from multiprocessing import Pipe
from unittest.mock import Mock

import pytest
from making import random_game, sample_game

from gtp_engine.training import workers as selfplay_workers
from gtp_engine.training.limit import ProcessLostError
from gtp_engine.training.selfplay import Counts, FinishedGame
from gtp_engine.training.settings import GameSettings, MachineSettings, RunSettings
from gtp_engine.training.workers import LocalPool, _Member

SETTINGS = RunSettings(games=GameSettings(sizes={"5": 1.0}), machine=MachineSettings(workers=1, concurrency=2))


@pytest.mark.parametrize(
    ("number", "how"),
    [
        (signal.SIGKILL, "killed by a user, or by the system because it was out of memory"),
        (signal.SIGSEGV, r"ended by signal 11 \(Segmentation fault\)"),
    ],
)
def test_the_end_of_a_lost_process_is_reported(number: signal.Signals, how: str) -> None:
    with LocalPool(SETTINGS, seed=1) as workers:
        workers.play("none", 1)
        os.kill(workers._members[0].process.pid, number)
        with pytest.raises(ProcessLostError, match=f"self-play worker lost: {how}$"):
            while True:
                list(workers.collect(60.0))


def test_a_stop_keeps_finished_games_although_workers_are_lost_or_do_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selfplay_workers, "_PATIENCE_SECONDS", 0.1)
    workers = LocalPool(SETTINGS, seed=1)
    pipes, ends = zip(*(Pipe() for _ in range(3)), strict=True)
    workers._members = [_Member(Mock(exitcode=1), pipe, None, is_playing=True) for pipe in pipes]
    lost, _, playing = ends
    sample = sample_game(random_game(1, 5, moves=10), 1)
    game = FinishedGame(sample, "(;SZ[5])", is_decided=False, is_checked=False, is_upset=False)
    lost.close()
    playing.send(([game], Counts()))
    assert [game.sample.number for game in workers.stop()] == [1]
    workers.close()
    with pytest.raises(EOFError):  # it is not called again, and ends
        playing.recv()
