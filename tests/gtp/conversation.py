"""A conversation with the real program over pipes, on the level of bytes and lines."""

import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

# Long enough for a first compilation on a busy machine; below pytest's limit for a test (setup.cfg).
PATIENCE = 280.0
ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ("-m", "gtp_engine", "gtp", "--network", "none")


def environment() -> dict[str, str]:
    """The present one, in which every script finds this package."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


class Conversation:
    """One `gtp_engine gtp` process. `stderr` is the file that its log goes to."""

    def __init__(self, stderr: Path, *options: str, launcher: tuple[str, ...] = LAUNCHER) -> None:
        self.stderr = stderr
        with stderr.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *launcher, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
            )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._is_given_up = False  # a test waited in vain: a late answer would be taken for that to the next command
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def send(self, *lines: str | bytes) -> None:
        """Sends lines; each gets its line feed here."""
        assert not self._is_given_up, "this conversation ended when an earlier test got no answer in time"
        assert self.process.stdin is not None
        data = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self, seconds: float = PATIENCE) -> str | None:
        """The next line of output without its line feed; None at the end. Without one in time the process is ended."""
        try:
            raw = self._lines.get(timeout=seconds)
        except BaseException as error:  # pytest's limit for a test, too
            self._is_given_up = True
            self.close()
            if isinstance(error, queue.Empty):
                raise TimeoutError(f"no line of output within {seconds:.0f} s") from error
            raise
        if raw is None:
            self._lines.put(None)
            return None
        assert raw.endswith(b"\n"), raw
        return raw[:-1].decode()

    def response(self, seconds: float = PATIENCE) -> str:
        """All lines up to the empty one that ends a response."""
        lines = []
        deadline = time.monotonic() + seconds
        while line := self.line(max(deadline - time.monotonic(), 0.01)):
            lines.append(line)
        assert line == "", f"the output ended in a response: {lines}"
        return "\n".join(lines)

    def ask(self, command: str) -> str:
        """The text of a success."""
        self.send(command)
        response = self.response()
        assert response[:1] == "=", f"{command}: {response}"
        return response[1:].removeprefix(" ")

    def fail(self, command: str) -> str:
        """The text of a failure."""
        self.send(command)
        response = self.response()
        assert response[:1] == "?", f"{command}: {response}"
        return response[1:].removeprefix(" ")

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> list[str]:
        """The lines up to the end of the output."""
        lines = []
        while (line := self.line()) is not None:
            lines.append(line)
        return lines

    def wait(self, seconds: float = 20.0) -> int:
        """The exit status."""
        return self.process.wait(seconds)

    def log(self) -> str:
        return self.stderr.read_text(errors="replace")

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        self.process.wait()
