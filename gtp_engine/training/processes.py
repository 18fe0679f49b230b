"""Starts the processes that train together on this machine; `ddp` is how they do it.

They are told what torchrun would tell them, by the same environment variables. But torchrun ends with a traceback at
Ctrl-C and with a page of text if a process fails, and it keeps a second Ctrl-C from those that it has started.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..base.errors import ProcessLostError, UserError
from ..base.system import EXIT_INTERRUPTED
from ..base.threads import in_background

LAUNCHED = "TORCHELASTIC_RUN_ID"  # a variable of torchrun that nothing else sets

_OURS = "gtp_engine"  # its value if `launch` has set it
_PATIENCE_SECONDS = 60.0  # for what a run does when it is stopped: collect games, save, measure
_POLL_SECONDS = 0.1
_PORT = 29500  # torchrun's default
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(frozen=True)
class Machine:
    """One of several machines that train together, each with the same number of processes.

    Attributes:
        number: Its number, from 0; the run's folder is on number 0.
        count: Number of machines.
        host: Where the others reach number 0: a name or an address.
        port: A port there that is free.
    """

    number: int
    count: int
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Machine":
        """Reads `NUMBER/COUNT@HOST:PORT`, as in 1/2@10.0.0.1, in which the port may be left out."""
        found = re.fullmatch(r"(\d+)/(\d+)@(?:\[([^\]@]+)\]|([^@:\[\]]+))(?::(\d+))?", text)
        port = int(found[5] or _PORT) if found else 0
        if not found or int(found[1]) >= int(found[2]) or not 0 < port < 1 << 16:
            raise UserError(f"invalid machine {text!r}: expected its number, from 0, as in 0/2@HOST or 1/2@HOST:PORT")
        return cls(int(found[1]), int(found[2]), found[3] or found[4], port)


def launch(processes: int, machine: Machine | None) -> int:
    """Runs this program's command line in several processes on this machine, and waits for them.

    Signals are passed on: rank 0 decides when to stop. Whatever is left a minute later, or a minute after a process was
    lost, is killed.

    Returns the exit status, 130 if a signal ended the work. Raises ProcessLostError if a process crashed or was killed.
    """
    machine = machine or Machine(0, 1, "localhost", _free_port())
    # In a session of their own, so that Ctrl-C in a terminal reaches them only once.
    children = [
        subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env=os.environ | _variables(rank, processes, machine),
            stdin=subprocess.PIPE,  # closed when this process is gone (`end_with_launcher`)
            start_new_session=True,
        )
        for rank in range(processes)
    ]
    return _Watch(children, machine.number * processes).wait()


def end_with_launcher() -> None:
    """Stops this process, as SIGTERM does, when the `launch` that has started it is gone; nothing if none has."""

    def wait() -> None:
        os.read(0, 1)  # not sys.stdin, whose lock would be held at exit
        os.kill(os.getpid(), signal.SIGTERM)

    if os.environ.get(LAUNCHED) == _OURS:
        in_background("launcher", wait)


def _variables(rank: int, processes: int, machine: Machine) -> Mapping[str, str]:
    """Returns the variables that tell a process of this machine, numbered from 0, about its place."""
    values = {
        LAUNCHED: _OURS,
        "RANK": machine.number * processes + rank,
        "WORLD_SIZE": machine.count * processes,
        "LOCAL_RANK": rank,
        "LOCAL_WORLD_SIZE": processes,
        "MASTER_ADDR": machine.host,
        "MASTER_PORT": machine.port,
        "TORCH_CPP_LOG_LEVEL": os.environ.get("TORCH_CPP_LOG_LEVEL", "ERROR"),  # warnings about missing names of hosts
    }
    return {name: str(value) for name, value in values.items()}


def _free_port() -> int:
    with socket.create_server(("localhost", 0)) as server:
        return int(server.getsockname()[1])


class _Watch:
    """Passes signals on to child processes and waits for their ends; `first` is the rank of the first one."""

    def __init__(self, children: list[subprocess.Popen[bytes]], first: int) -> None:
        self._children, self._first = children, first
        self._end: float | None = None  # when what is left is killed
        self._is_stopped = False
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves SIGHUP
                signal.signal(number, self._pass_on)

    def _pass_on(self, number: int, frame: object) -> None:
        self._is_stopped = True
        self._ask(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)

    def _ask(self, number: int) -> None:
        """Sends a signal to all, unless the system has done so, and begins to lose patience."""
        self._end = self._end or time.monotonic() + _PATIENCE_SECONDS
        if os.name == "posix":
            for child in self._children:
                child.send_signal(number)

    def wait(self) -> int:
        """Returns the exit status of all processes together; ProcessLostError if one was lost."""
        lost = ""
        while True:
            statuses = [child.poll() for child in self._children]
            if self._end is None and any(statuses):  # the others may be in self-play, for hours
                lost = self._loss(statuses)
                self._ask(signal.SIGTERM)
            if None not in statuses:
                break
            if self._end and time.monotonic() > self._end:
                for child in self._children:
                    child.kill()
            time.sleep(_POLL_SECONDS)
        if lost:
            raise ProcessLostError(lost)
        return EXIT_INTERRUPTED if self._is_stopped and any(statuses) else max(abs(status or 0) for status in statuses)

    def _loss(self, statuses: Sequence[int | None]) -> str:
        """Describes the first process that a signal has ended; "" if there is none, as others say why they end."""
        for rank, status in enumerate(statuses, self._first):
            if status and status < 0:
                return f"training process {rank} was lost: {signal.Signals(-status).name} has ended it"
        return ""
