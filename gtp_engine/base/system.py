"""This program and its machine: settings for a whole process, and how the program was started.

What it was started with tells the user what to type.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TypeVar

from .errors import UserError
from .folders import NAME
from .log import log_to_stderr

T = TypeVar("T")

EXIT_INTERRUPTED = 130  # the exit status that shells report for a program that Ctrl-C has ended
# Windows does not interrupt a blocked wait for Ctrl-C: the main thread waits in steps of this length.
WAIT_SECONDS = 0.2


def open_standard_streams() -> None:
    """Opens the null device as those of the standard streams that are closed.

    Otherwise the next file or pipe would get the descriptor: commands were read from the pipe of `base.interrupts`.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115  (for the whole process)


def configure_process() -> None:
    """Configures a process of this package: a command of `gtp_engine`, or one that it has started.

    Logs go to stderr. The threads of torch spin only briefly while they wait for each other: by itself GNU OpenMP lets
    them spin for a millisecond after every step of a layer, which costs most of the speed when other programs need the
    CPU (measured with b4c32 and two threads: 200 positions/s instead of 1,400), and gains nothing on a quiet machine.
    This has an effect only before torch is loaded; if the user has set this variable or OpenMP's own, it is kept.

    Raises UserError if the working folder has been deleted, without which some libraries do not load, or if the
    environment has a number of threads that numba does not start with.
    """
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise UserError("the working folder no longer exists: change to another one with cd") from error
    threads = os.environ.get("NUMBA_NUM_THREADS", "")
    if re.fullmatch(r"0+|-\d+", threads):  # numba warns of what is no number
        raise UserError(f"NUMBA_NUM_THREADS is {threads} in the environment: unset it, or set it to 1 or more")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # names may have letters that the locale's encoding lacks
    log_to_stderr()
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")


def configure_torch(threads: int = 1) -> None:
    """Sets how many threads torch uses for one operation on the CPU, in this thread and those that it starts.

    On GPUs float32 is what its name says, whatever computes with it: by itself torch's convolutions would keep 10 bits.

    Evaluators want one (`evaluate.torch_runner`): several of them work side by side. Learning wants all.
    """
    import torch

    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = False


def available_cpus() -> int:
    """Returns the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def wait_for(future: "Future[T]") -> T:
    """Waits until a future is done and returns its result; Ctrl-C interrupts it on every system."""
    while not future.done():
        wait([future], timeout=WAIT_SECONDS)
    return future.result()


def program_line() -> str:
    """Returns what starts this program again in the same shell and folder, as it was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{_typed(Path(sys.executable))} -m {NAME}"
    return _typed(started) if started.stem == NAME else NAME


def quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """Returns a word, such as the name of a file, as it is typed at a command line, or at one of Windows.

    A backslash is a plain character there, cmd.exe knows only double quotes, and characters such as & separate commands
    outside them.
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

    On Windows the system splits it, so it is left as it is. Raises ValueError if its quotes cannot be understood.
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
