"""Drives a GTP engine: another program, given by its command line, spoken to over pipes."""

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from types import TracebackType
from typing import IO

# How long an engine may take to end after `quit` (Sabaki waits as long), and how long after being told to terminate.
QUIT_SECONDS = 3.0
TERMINATE_SECONDS = 1.0
# Lines of stderr that are kept to say why an engine died.
STDERR_LINES = 20
# Characters and unread lines beyond which an engine only floods: the largest real replies have some 100 kB.
LONGEST_REPLY = 16 * 2**20
MOST_UNREAD_LINES = 100_000


class EngineError(ValueError):
    """An engine that doesn't behave; the message names it and says what happened, in one line."""


class EngineStartError(EngineError):
    """The command line doesn't lead to a running program."""


class EngineDiedError(EngineError):
    """The program ended without being asked."""


class EngineSilentError(EngineError):
    """No answer in the time allowed."""


class EngineGarbageError(EngineError):
    """What it writes is no answer to the command."""


class CommandError(EngineError):
    """The engine answered with an error (`? ...`)."""


class GtpClient:
    """One engine process. Commands go out one at a time; one thread at a time may send. `connect` comes first, and is
    part of `with`.

    command: the command line, split as a POSIX shell does (on Windows handed over as it is); no shell runs it.
    timeout: seconds that a command may take where `send` isn't told otherwise.

    After EngineDiedError, EngineSilentError or EngineGarbageError the engine is out of step and no longer `usable`:
    only `close` is left.
    """

    def __init__(self, command: str, *, timeout: float = 60.0) -> None:
        self.command = command
        self.timeout = timeout
        self.name, self.version, self.commands = command, "", frozenset[str]()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.usable = True
        self._floods = False
        self._process = self._start()
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def connect(self) -> "GtpClient":
        """Asks for name, version and commands; EngineStartError, and the process is ended, where that fails."""
        try:
            self.name = self.send("name") or self.command
            self.version = self._optional("version")
            self.commands = frozenset(self.send("list_commands").split())
        except EngineError as error:
            self.close()
            raise EngineStartError(str(error)) from error
        return self

    def __enter__(self) -> "GtpClient":
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, command: str, timeout: float | None = None) -> str:
        """The engine's answer, without the `=`; lines are kept apart by line feeds, without trailing blanks.

        Raises CommandError, EngineDiedError, EngineSilentError or EngineGarbageError.
        """
        try:
            reply = self._exchange(command, self.timeout if timeout is None else timeout)
        except EngineError:
            self.usable = False
            raise
        if reply.startswith("?"):
            raise CommandError(f"{self._label} answered {command!r} with an error: {_first_line(reply[1:])}")
        return reply[1:].strip()

    def knows(self, command: str) -> bool:
        """Whether the engine lists the command."""
        return command in self.commands

    def close(self) -> None:
        """Asks the engine to quit, then makes it. May be called twice, and after any error."""
        if self.usable:
            self.usable = False
            with contextlib.suppress(OSError):  # it may be gone
                self._stdin.write(b"quit\n")
            self._end(QUIT_SECONDS)
        else:
            self._end(0.0)

    def abort(self) -> None:
        """Ends the process at once, from any thread; a `send` that waits in another one raises EngineDiedError."""
        self.usable = False
        self._terminate()

    @property
    def _label(self) -> str:
        return f"engine {self.name!r}"

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            arguments = self.command if os.name == "nt" else shlex.split(self.command)
        except ValueError as error:
            raise EngineStartError(f"engine command {self.command!r}: {error}") from error
        if not arguments:
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
            raise EngineStartError(f"engine command {self.command!r} doesn't start: {reason}") from error

    def _read_stdout(self) -> None:
        # os.read and our own splitting: a thread that hangs in a buffered reader can't be left behind at exit.
        assert self._process.stdout is not None
        descriptor, rest = self._process.stdout.fileno(), b""
        while not self._floods and (chunk := _read(descriptor)):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LONGEST_REPLY:
                lines, rest = [*lines, rest], b""
            for line in lines:
                self._lines.put(_text(line))
            self._floods = self._lines.qsize() > MOST_UNREAD_LINES
        if rest:
            self._lines.put(_text(rest))
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        descriptor, rest = self._process.stderr.fileno(), b""
        while chunk := _read(descriptor):
            *lines, rest = (rest + chunk).split(b"\n")
            self._stderr.extend(text for line in lines if (text := _text(line[-500:])))
            rest = rest[-500:]
        if rest:
            self._stderr.append(_text(rest))

    def _exchange(self, command: str, timeout: float) -> str:
        stray = self._stray_line(command)
        with contextlib.suppress(OSError):  # it has ended: what it wrote before says more
            self._stdin.write(f"{command}\n".encode())
        return self._reply(command, timeout, stray)

    def _stray_line(self, command: str) -> str:
        """What it wrote unasked; an answer without a question is an error, since all that follow would be shifted."""
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
        """The next answer, status character included; stray lines before it are passed over, as GUIs do."""
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
        """Why nothing more can be read; what it `wrote` instead of an answer stands in for an empty stderr."""
        self._lines.put(None)  # for the next command that is tried
        if self._floods:
            return EngineGarbageError(f"{self._label} writes without end, last at {command!r}")
        try:
            status = self._process.wait(timeout=TERMINATE_SECONDS)
        except subprocess.TimeoutExpired:
            how = "closed its output"
        else:
            how = f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"
        self._readers[1].join(timeout=TERMINATE_SECONDS)
        last_words = self._stderr[-1] if self._stderr else wrote[:200]
        return EngineDiedError(f"{self._label} {how} at {command!r}" + (f": {last_words}" if last_words else ""))

    def _optional(self, command: str) -> str:
        try:
            return self.send(command)
        except CommandError:
            return ""

    def _end(self, patience: float) -> None:
        """Waits for the process, then makes it end, then frees what belongs to it."""
        if not self._ended(patience):
            self._terminate()
            self._ended(TERMINATE_SECONDS)
        self._kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(timeout=TERMINATE_SECONDS)
        if not any(reader.is_alive() for reader in self._readers):  # else a grandchild holds the pipes open
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()

    def _ended(self, seconds: float) -> bool:
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    # Where the system has process groups, what the process has started (the engine behind a script) ends with it.

    def _terminate(self) -> None:
        if os.name == "nt":
            self._process.terminate()
        else:
            self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        if os.name == "nt":
            self._process.kill()
        else:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):  # all have ended
            os.killpg(self._process.pid, number)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip()


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
