"""Facts about the machine and its conventions, and the settings that hold for a whole process."""

import io
import os
import sys
from concurrent.futures import Future, wait
from typing import TypeVar

from .log import log_to_stderr

T = TypeVar("T")

EXIT_INTERRUPTED = 130  # the exit status that shells report for a program that Ctrl-C has ended
# Windows does not interrupt a blocked wait for Ctrl-C: the main thread waits in steps of this length.
WAIT_SECONDS = 0.2


def configure_process() -> None:
    """Configures a process of this package: a command of `gtp_engine`, or one that it has started.

    Logs go to stderr. The threads of torch spin only briefly while they wait for each other: by itself GNU OpenMP lets
    them spin for a millisecond after every step of a layer, which costs most of the speed when other programs need the
    CPU (measured with b4c32 and two threads: 200 positions/s instead of 1,400), and gains nothing on a quiet machine.
    This has an effect only before torch is loaded; if the user has set this variable or OpenMP's own, it is kept.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # names may have letters that the locale's encoding lacks
    log_to_stderr()
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")


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


def wait_for(future: "Future[T]") -> T:
    """Waits until a future is done and returns its result; Ctrl-C interrupts it on every system."""
    while not future.done():
        wait([future], timeout=WAIT_SECONDS)
    return future.result()
