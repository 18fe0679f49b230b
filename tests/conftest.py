"""Fixtures for all tests."""

import os
import signal
import tempfile
from pathlib import Path

import pytest

from gtp_engine.base.system import available_cpus, configure_process
from gtp_engine.clients.cli.defaults import COMMON_SETTINGS
from gtp_engine.clients.cli.options import variable
from gtp_engine.study import move_review

configure_process()  # before torch is imported: its threads wait quietly, as tests run next to each other

# The defaults of whoever runs the tests are not those that the tests expect.
os.environ["GTP_ENGINE_CONFIG"] = os.devnull
_DATA = tempfile.TemporaryDirectory(prefix="gtp_engine-tests-")  # removed at the end
os.environ["GTP_ENGINE_DATA"] = _DATA.name
for name in COMMON_SETTINGS:
    os.environ.pop(variable(name), None)

# In the background of a script Ctrl-C is ignored, also by the programs that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores, at most four: many tests wait for clocks and other programs."""
    return min(4, available_cpus() + 1)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `../shared` next to the checkout: large test data that is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(f"no test data at {SHARED}")
    return SHARED


@pytest.fixture
def phases_on_9x9(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives phases to games on 9x9 too, as those of most tests: they begin with moves 1, 12 and 33."""
    monkeypatch.setattr(move_review, "_LEAST_WITH_PHASES", 9)


# Each file is run by one process: a long one that begins last would leave the other processes idle.
LONG_FILES = (
    "test_train.py",
    "test_review_command.py",
    "test_window.py",
    "test_integers.py",
    "test_jit.py",
    "test_analysis_command.py",
    "test_ending.py",
    "test_experiment.py",
)


SLOW_TIMEOUT = 1200  # seconds; the slowest took 300 s


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets the longest files begin first, and gives slow tests more time."""
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    for item in items:
        if any(item.iter_markers("slow")) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT))
