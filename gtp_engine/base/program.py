"""How this program was started, so that it can tell the user what to type."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from .folders import NAME


def program_line() -> str:
    """Returns what starts this program again in the same shell and folder, as it was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{_typed(Path(sys.executable))} -m {NAME}"
    return _typed(started) if started.stem == NAME else NAME


def with_own_program(words: list[str]) -> list[str]:
    """Returns the words of a command line; its program is this one if it is `gtp_engine`, and that is not found."""
    if words[:1] == [NAME] and shutil.which(NAME) is None:
        return [sys.executable, "-m", NAME, *words[1:]]
    return words


def _typed(program: Path) -> str:
    """Returns the name of a program if the shell finds it by that, otherwise its path, as words of a shell."""
    found = shutil.which(program.name)
    is_found = found is not None and program.exists() and os.path.samefile(found, program)
    return shlex.quote(program.name if is_found else str(program))
