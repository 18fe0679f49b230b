"""How this program was started, so that it can tell the user what to type."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .folders import NAME


def program_line() -> str:
    """Returns what starts this program again in the same shell and folder, as it was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{_typed(Path(sys.executable))} -m {NAME}"
    return _typed(started) if started.stem == NAME else NAME


def quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """Returns a word, such as the name of a file, as it is typed at a command line.

    Args:
        word: The word.
        windows: Whether for a shell of Windows: a backslash is a plain character there, cmd.exe knows only double
            quotes, and characters such as & separate commands outside them.
    """
    if not windows:
        return shlex.quote(word)
    line = subprocess.list2cmdline([word])
    if line.startswith('"') or re.fullmatch(r"[\w.\\/:~+-]+", word):
        return line
    backslashes = word[len(word.rstrip("\\")) :]  # doubled: the last one would escape the quote
    return f'"{line}{backslashes}"'


def command_arguments(command: str, *, windows: bool) -> str | list[str]:
    """Returns a command line as `subprocess` starts it; this program is started for `gtp_engine` if that is not found.

    Args:
        command: The command line.
        windows: Whether the system splits it, as Windows does: it is then left as it is.

    Raises:
        ValueError: Its quotes cannot be understood.
    """
    own = [sys.executable, "-m", NAME]
    if windows:
        first, _, rest = command.strip().partition(" ")
        return f"{subprocess.list2cmdline(own)} {rest}" if _is_missing(first) else command
    words = shlex.split(command)
    return [*own, *words[1:]] if _is_missing(words[0] if words else "") else words


def _is_missing(program: str) -> bool:
    return program == NAME and shutil.which(NAME) is None


def _typed(program: Path) -> str:
    """Returns the name of a program if the shell finds it by that, otherwise its path, as words of a shell."""
    found = shutil.which(program.name)
    files = (program, Path(f"{program}.exe"))  # launchers on Windows leave the suffix out of sys.argv[0]
    is_found = found is not None and any(file.exists() and os.path.samefile(found, file) for file in files)
    return quoted(program.name if is_found else str(program))
