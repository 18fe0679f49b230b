"""The file that a game in the terminal is kept in: written after every move, so that killing it loses nothing."""

import itertools
import time
from pathlib import Path

from ..sgf import GameRecord, write_sgf


class GameFile:
    """Where one game is saved. The name is chosen when it is first written, and never one that exists.

    folder: made when needed. error: the last failure in one line, None after a success.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = time.strftime("%Y-%m-%d-%H%M%S")
        self.path: Path | None = None
        self.error: str | None = None

    def save(self, record: GameRecord) -> bool:
        """Writes the record over its earlier state; False, with `error` set, where that fails."""
        try:
            if self.path is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self.path = self._write_new(record)
            else:
                write_sgf(record, self.path, overwrite=True)
        except OSError as error:
            self.error = f"cannot save to {self.path or self._folder}: {error.strerror or error}"
            return False
        self.error = None
        return True

    def save_as(self, record: GameRecord, name: str) -> bool:
        """Writes to another file, which is then the one that is kept up to date; refuses a file that exists."""
        path = Path(name).expanduser()
        if path == self.path:
            return self.save(record)
        try:
            write_sgf(record, path)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: no home folder behind ~
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.error = f"cannot save to {path}: {reason}"
            return False
        self.path, self.error = path, None
        return True

    def _write_new(self, record: GameRecord) -> Path:
        for number in itertools.count(1):
            path = self._folder / (f"{self._name}.sgf" if number == 1 else f"{self._name}-{number}.sgf")
            try:
                write_sgf(record, path)
            except FileExistsError:
                continue
            return path
        raise AssertionError("unreachable")
