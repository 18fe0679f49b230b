"""The processes that play, and how they end."""

import os
import signal

import pytest

from gtp_engine.training.settings import GameSettings, MachineSettings, RunSettings
from gtp_engine.training.workers import Workers

SETTINGS = RunSettings(games=GameSettings(sizes={"5": 1.0}), machine=MachineSettings(workers=1, concurrency=2))


@pytest.mark.parametrize(
    ("number", "how"),
    [
        (signal.SIGKILL, "killed by somebody, or by the system for lack of memory"),
        (signal.SIGSEGV, r"ended by signal 11 \(Segmentation fault\)"),
    ],
)
def test_how_a_lost_process_ended_is_said(number: signal.Signals, how: str) -> None:
    with Workers(SETTINGS, seed=1) as workers:
        workers.play("none", 1)
        os.kill(workers._processes[0].pid, number)
        with pytest.raises(RuntimeError, match=f"a process that played has gone: {how}$"):
            while True:
                list(workers.collect(60.0))
