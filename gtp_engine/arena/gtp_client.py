"""A client of a GTP engine: another program, started by its command line and controlled through pipes."""

import contextlib
import logging
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections import deque

from ..base.errors import UserError
from ..base.lines import read_lines
from ..base.messages import printable
from ..base.system import command_arguments

logger = logging.getLogger(__name__)

# Seconds after which it is said that an engine has not answered its first command, or it is given up if it wrote
# something else.
START_PATIENCE = 20.0
# How long an engine may take to end after `quit` (Sabaki waits as long), and after a termination signal.
QUIT_SECONDS = 3.0
TERMINATE_SECONDS = 1.0
# Lines of stderr that are kept to report why an engine died.
STDERR_LINES = 20
SHOWN = 500  # characters of what an engine says that are shown and saved; of a line of stderr, its end
# Limits on a response's characters and on unread lines; beyond them the engine writes endless output. The largest real
# responses have some 100 kB.
LONGEST_REPLY = 16 * 2**20
MOST_UNREAD_LINES = 100_000


class EngineError(UserError):
    """An engine failed. The message names the engine and what happened, in one line."""


class EngineStartError(EngineError):
    """The command line does not start a working engine."""


class EngineDiedError(EngineError):
    """The program ended unexpectedly."""


class EngineSilentError(EngineError):
    """There was no response within the time allowed."""


class EngineGarbageError(EngineError):
    """The engine's output is not a response to the command."""


class CommandError(EngineError):
    """The engine returned an error response (`? ...`)."""


class GtpClient:
    """One engine process. Only one thread at a time may send commands. A context manager that connects and closes.

    After EngineDiedError, EngineSilentError or EngineGarbageError the engine is out of step and no longer usable; it
    can only be closed.

    Args:
        command: The command line. It is split as by a POSIX shell (passed unchanged on Windows); no shell runs it.
            If it begins with `gtp_engine`, and no program of this name is found, it starts this program again.
        timeout: Seconds that a command may take unless `send` sets another limit.
    """

    def __init__(self, command: str, *, timeout: float = 60.0) -> None:
        self.command = command
        self.timeout = timeout
        # What the engine reports; before `connect` its name is the command line.
        self.name, self.version, self.commands = command, "", frozenset[str]()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.usable = True  # whether commands can be sent
        self._floods = False
        self._is_gone = False  # the process and its group: their number may belong to others by now
        self._process = process = self._start()
        assert process.stdin and process.stdout and process.stderr
        self._stdin, self._outputs = process.stdin, (process.stdout, process.stderr)
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def connect(self) -> "GtpClient":
        """Asks for name, version and commands. If that fails, ends the process and raises EngineStartError."""
        try:
            self.name = shown(self._first_answer()) or self.command
            with contextlib.suppress(CommandError):
                self.version = shown(self.send("version"))
            self.commands = frozenset(self.send("list_commands").split())
        except EngineError as error:
            self.close()
            raise EngineStartError(str(error)) from error
        return self

    def _first_answer(self) -> str:
        """Returns the engine's name. It may be silent for long while it loads, which is told."""
        patience = min(START_PATIENCE, self.timeout)
        try:
            return self.send("name", patience)
        except EngineSilentError:
            if patience == self.timeout:
                raise
        self.usable = True
        logger.warning("%s has not answered for %g s: waiting up to %g s", self._label, patience, self.timeout)
        return self._answer("name", self.timeout - patience, "")

    def __enter__(self) -> "GtpClient":
        return self.connect()

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, command: str, timeout: float | None = None) -> str:
        """Sends a command with its arguments and waits for the response, some seconds or the client's own limit.

        Returns the response without the `=`; lines are separated by line feeds and have no trailing blanks. Raises
        EngineError: a `CommandError` if the engine returned an error, another one if it failed.
        """
        try:
            stray = self._stray_line(command)
            with contextlib.suppress(OSError):  # it has ended: its last output is more informative
                self._stdin.write(f"{command}\n".encode())
        except EngineError:
            self.usable = False
            raise
        return self._answer(command, self.timeout if timeout is None else timeout, stray)

    def _answer(self, command: str, timeout: float, stray: str) -> str:
        """Returns the response to a command that was sent, without its frame."""
        try:
            reply = self._reply(command, timeout, stray)
        except EngineError:
            self.usable = False
            raise
        if reply.startswith("?"):
            first_line, _, _ = reply[1:].strip().partition("\n")
            raise CommandError(f"{self._label} answered {command!r} with an error: {shown(first_line)}")
        return reply[1:].strip()

    def knows(self, command: str) -> bool:
        """Whether the engine supports the command."""
        return command in self.commands

    def close(self) -> None:
        """Asks the engine to quit, then forces it to. May be called twice, and after any error."""
        if self.usable:
            self.usable = False
            with contextlib.suppress(OSError):  # it may be gone
                self._stdin.write(b"quit\n")
            self._end(QUIT_SECONDS)
        else:
            self._end(0.0)

    def abort(self) -> None:
        """Ends the process at once, from any thread; a `send` waiting in another thread raises EngineDiedError."""
        self.usable = False
        self._kill(gently=True)

    @property
    def _label(self) -> str:
        return f"engine {self.name!r}"

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            arguments = command_arguments(self.command, windows=os.name == "nt")
        except ValueError as error:
            raise EngineStartError(f"engine command {self.command!r}: {error}") from error
        if not self.command.strip():
            raise EngineStartError("the engine command is empty")
        # In a process group of its own, so that Ctrl-C reaches this program alone, which then ends its engines.
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                arguments,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                bufsize=0,
                start_new_session=os.name != "nt",
                creationflags=flags,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in the command
            reason = getattr(error, "strerror", None) or error
            is_missing = isinstance(error, FileNotFoundError) and isinstance(arguments, list)
            if is_missing and shutil.which(arguments[0]) is None:
                reason = f"program {arguments[0]!r} not found"
            raise EngineStartError(f"cannot start engine {self.command!r}: {reason}") from error

    def _read_stdout(self) -> None:
        # os.read with our own splitting: a thread that hangs in a buffered reader would block the exit.
        for line in read_lines(self._outputs[0].fileno(), LONGEST_REPLY):
            self._lines.put(_text(line))
            self._floods = self._lines.qsize() > MOST_UNREAD_LINES
            if self._floods:
                break
        self._lines.put(None)

    def _read_stderr(self) -> None:
        for line in read_lines(self._outputs[1].fileno(), LONGEST_REPLY):
            if text := _text(line[-SHOWN:]):
                self._stderr.append(text)

    def _stray_line(self, command: str) -> str:
        """Returns the first stray line; a stray response is an error, since all later ones would be shifted."""
        stray = ""
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return stray
            if line is None:
                raise self._lost(command, stray)
            if line.startswith(("=", "?")):
                raise EngineGarbageError(f"{self._label} wrote {line[:60]!r} without being asked")
            stray = stray or line

    def _reply(self, command: str, timeout: float, stray: str) -> str:
        """Returns the next response with its status character; stray lines before it are skipped, as GUIs do."""
        deadline = time.monotonic() + timeout
        reply: list[str] = []
        size = 0
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                wrote = f" (it wrote {(reply[0] if reply else stray)[:60]!r})" if reply or stray else ""
                kind = EngineGarbageError if stray and not reply else EngineSilentError
                raise kind(f"{self._label} gave no answer to {command!r} within {timeout:g} s{wrote}") from None
            if line is None:
                raise self._lost(command, stray)
            size += len(line)
            if size > LONGEST_REPLY:
                raise EngineGarbageError(
                    f"{self._label} answered {command!r} with more than {LONGEST_REPLY} characters"
                )
            if not reply and not line.startswith(("=", "?")):
                stray = stray or line
            elif line:
                reply.append(line)
            else:
                return "\n".join(reply)

    def _lost(self, command: str, wrote: str = "") -> EngineDiedError | EngineGarbageError:
        """Returns the error for a lost engine; what it `wrote` instead of a response replaces an empty stderr."""
        self._lines.put(None)  # for the next command that is tried
        if self._floods:
            return EngineGarbageError(f"{self._label} writes without end, last at {command!r}")
        how = "closed its output"
        if self._ended(TERMINATE_SECONDS):
            status = self._process.returncode
            how = f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"
        self._readers[1].join(timeout=TERMINATE_SECONDS)
        last_words = shown(self._stderr[-1] if self._stderr else wrote)
        return EngineDiedError(f"{self._label} {how} at {command!r}" + (f": {last_words}" if last_words else ""))

    def _end(self, patience: float) -> None:
        """Waits for the process, then ends it, then frees its resources."""
        if not self._ended(patience):
            self._kill(gently=True)
            self._ended(TERMINATE_SECONDS)
        self._kill()
        self._process.wait()
        self._is_gone = True
        for reader in self._readers:
            reader.join(timeout=TERMINATE_SECONDS)
        if not any(reader.is_alive() for reader in self._readers):  # otherwise a grandchild holds the pipes open
            for pipe in (self._stdin, *self._outputs):
                pipe.close()

    def _ended(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
        return self._process.returncode is not None

    def _kill(self, *, gently: bool = False) -> None:
        """Ends the process; on systems with process groups its children too, such as the engine behind a script."""
        if os.name == "nt":
            self._process.kill()
        elif not self._is_gone:
            with contextlib.suppress(OSError):  # all have ended
                os.killpg(self._process.pid, signal.SIGTERM if gently else signal.SIGKILL)


def shown(text: str) -> str:
    """Returns an engine's words as one short line without control characters, for messages and records."""
    return printable(" ".join(text.split()))[:SHOWN]


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip()
