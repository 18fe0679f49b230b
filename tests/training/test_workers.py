"""The self-play workers, and how they end."""

import os
import signal

import pytest

from gtp_engine.training.errors import ProcessLostError
from gtp_engine.training.settings import GameSettings, MachineSettings, RunSettings
from gtp_engine.training.workers import LocalPool

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
        os.kill(workers._processes[0].pid, number)
        with pytest.raises(ProcessLostError, match=f"self-play worker lost: {how}$"):
            while True:
                list(workers.collect(60.0))
