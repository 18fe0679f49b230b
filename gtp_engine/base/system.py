"""Facts about the machine and its conventions, and the settings that hold for a whole process."""

import io
import os
import shlex
import shutil
import sys
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from .folders import NAME
from .log import log_to_stderr

EXIT_INTERRUPTED = 130  # the exit status that shells report for a program that Ctrl-C has ended
# Windows does not interrupt a blocked wait for Ctrl-C: the main thread waits in steps of this length.
WAIT_SECONDS = 0.2


def program_line() -> str:
    """Returns what starts this program again in the same shell and folder, as it was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{_typed(Path(sys.executable))} -m {NAME}"
    return _typed(started) if started.stem == NAME else NAME


def _typed(program: Path) -> str:
    """Returns the name of a program if the shell finds it by that, otherwise its path, as words of a shell."""
    found = shutil.which(program.name)
    is_found = found is not None and program.exists() and os.path.samefile(found, program)
    return shlex.quote(program.name if is_found else str(program))


def configure_process() -> None:
    """Configures a process of this package: a command of `gtp_engine`, or one that it has started.

    Logs go to stderr. Characters that standard output cannot encode are replaced, such as Chinese names in a Latin-1
    locale. The threads of torch spin only briefly while they wait for each other: by itself GNU OpenMP lets
    them spin for a millisecond after every step of a layer, which costs most of the speed when other programs need the
    CPU (measured with b4c32 and two threads: 200 positions/s instead of 1,400), and gains nothing on a quiet machine.
    This has an effect only before torch is loaded; if the user has set this variable or OpenMP's own, it is kept. Ray,
    which self-play on a cluster uses, sends no statistics.
    """
    log_to_stderr()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray reads it when it is imported, and sends nothing to anybody then


def configure_torch(threads: int = 1) -> None:
    """Sets how many threads torch uses for one operation on the CPU, in this thread and those that it starts.

    Evaluators want one (`evaluate.torch_runner`): several of them work side by side. Learning wants all.
    """
    import torch

    torch.set_num_threads(threads)


def available_cpus() -> int:
    """Returns the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def wait_for(future: "Future[Any]") -> None:
    """Waits until a future is done; Ctrl-C interrupts it on every system."""
    while not future.done():
        wait([future], timeout=WAIT_SECONDS)
