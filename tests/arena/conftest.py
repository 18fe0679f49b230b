"""What the tests of matches share: where the peer engine lies."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Command line of GNU Go at its fastest level."""
    # Debian's folder of games isn't on every account's path.
    program = shutil.which("gnugo", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
    if program is None:
        pytest.skip("GNU Go is not installed (Debian: apt install gnugo)")
    return shlex.join([program, "--mode", "gtp", "--chinese-rules", "--level", "1"])


@pytest.fixture(scope="session")
def scripted() -> Callable[..., str]:
    """Makes the command line of the engine in `scripted_engine.py`."""

    def command(*words: str) -> str:
        return shlex.join([sys.executable, str(Path(__file__).with_name("scripted_engine.py")), *words])

    return command
