"""The file of a game that is being played, written after every move so that a killed program loses nothing."""

import itertools
import time
from pathlib import Path

from ..sgf import GameRecord, write_sgf


class GameFile:
    """The file of one game. A new file never replaces an existing one.

    Args:
        folder: Folder for a new file, created when needed.
        label: The board and the opponent, for the name of a new file, which begins with the time.
        path: The file of a saved game to continue, which is then updated; None for a new file.

    Attributes:
        path: The file; None before it is first written.
        error: The last failure in one line; None after a success.
    """

    def __init__(self, folder: Path, label: str = "", path: Path | None = None) -> None:
        self._folder = folder
        self._name = "-".join(filter(None, [time.strftime("%Y-%m-%d-%H%M%S"), label]))
        self.path = path
        self.error: str | None = None

    def save(self, record: GameRecord) -> bool:
        """Writes the record over its earlier state; returns False and sets `error` if that fails."""
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
        """Writes to another file, which later saves then update; refuses to replace an existing file."""
        try:
            path = Path(name).expanduser()
            if path == self.path:
                return self.save(record)
            write_sgf(record, path, overwrite=False)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~ has no home folder
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.error = f"cannot save to {name}: {reason}"
            return False
        self.path, self.error = path, None
        return True

    def _write_new(self, record: GameRecord) -> Path:
        for number in itertools.count(1):
            path = self._folder / (f"{self._name}.sgf" if number == 1 else f"{self._name}-{number}.sgf")
            try:
                write_sgf(record, path, overwrite=False)
            except FileExistsError:
                continue
            return path
        raise AssertionError("unreachable")
