"""The settings of a whole process."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from gtp_engine.base.system import available_cpus, configure_process, wait_for


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "3000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "passive"}, None),
    ],
)
def test_threads_wait_quietly_unless_the_user_wants_otherwise(
    given: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    configure_process()
    assert os.environ.get("GOMP_SPINCOUNT") == expected


def test_importing_the_package_changes_no_setting_of_the_process() -> None:
    code = """
import os
before = dict(os.environ)
import torch
threads = torch.get_num_threads()
import gtp_engine.search.evaluate.network_evaluator, gtp_engine.engine.engine, gtp_engine.training.selfplay_run, logging
print(before == dict(os.environ), threads == torch.get_num_threads(), logging.getLogger("gtp_engine").handlers)
"""
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("True True []\n", 0), done.stderr


def test_waiting_ends_with_the_future() -> None:
    future: Future[int] = Future()
    began = time.monotonic()
    threading.Timer(0.05, future.set_result, (1,)).start()
    assert wait_for(future) == 1 and time.monotonic() - began < 5


def test_there_is_a_cpu() -> None:
    assert 1 <= available_cpus() <= (os.cpu_count() or 1)
