"""What users type to start the program again."""

import shlex
import sys
from pathlib import Path

import pytest

from gtp_engine.base.program import program_line


def test_the_line_that_starts_the_program_again_is_that_which_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my programs" / "gtp_engine"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", "")
    for started, line in {
        str(program): f"'{program}'",
        ".venv/bin/gtp_engine": ".venv/bin/gtp_engine",
        "/somewhere/gtp_engine/__main__.py": f"{shlex.quote(sys.executable)} -m gtp_engine",
        "pytest": "gtp_engine",
    }.items():
        monkeypatch.setattr(sys, "argv", [started, "play"])
        assert program_line() == line
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", [str(program), "play"])
    assert program_line() == "gtp_engine"
