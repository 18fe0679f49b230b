"""What the tests of matches share: where the peer engine lies."""

import os
import shlex
import shutil

import pytest


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Command line of GNU Go at its fastest level."""
    # Debian's folder of games isn't on every account's path.
    program = shutil.which("gnugo", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
    if program is None:
        pytest.skip("GNU Go is not installed (Debian: apt install gnugo)")
    return shlex.join([program, "--mode", "gtp", "--chinese-rules", "--level", "1"])
