"""The file of a game that is being played, written after every move so that a killed program loses nothing."""

import itertools
import re
import time
from contextlib import suppress
from pathlib import Path

from ..base.files import is_same_file, write_atomically
from ..go.sgf import GameRecord, write_sgf

_OUR_NAME = re.compile(r"\d{4}-\d\d-\d\d-\d{6}(-.*)?\.sgf")  # of new files


class GameFile:
    """The file of one game. A new file never replaces an existing one, and a file that another program has changed
    since it was last read or written here stays as that program left it: the game goes on in a new file.

    Args:
        folder: Folder for a new file, created when needed.
        label: The board and the opponent, for the name of a new file, which begins with the time.
        path: The file of a saved game to continue, which is then updated; None for a new file.

    Attributes:
        path: The file; None before it is first written.
        error: The last failure in one line; None after a success.
        notice: Why the last save went to another file than the one before, in one line; None if it did not.
    """

    def __init__(self, folder: Path, label: str = "", path: Path | None = None) -> None:
        self._folder = folder
        self._name = "-".join(filter(None, [time.strftime("%Y-%m-%d-%H%M%S"), label]))
        self.path = path
        self.error: str | None = None
        self.notice: str | None = None
        self._content = None if path is None else _content(path)

    def save(self, record: GameRecord) -> bool:
        """Writes the record over its earlier state; returns False and sets `error` if that fails."""
        self.notice = None
        try:
            if self.path is None:
                self.path = self._write_new(record)
            elif (found := _content(self.path)) in (None, self._content):
                content = record.to_sgf().encode("utf-8", "replace")
                if found != content:  # or it would seem to be the game played last
                    write_atomically(self.path, lambda temporary: temporary.write_bytes(content))
            else:
                changed, self.path = self.path, self._write_new(record)
                self.notice = f"another program has changed {changed}: this game is now saved to {self.path}"
        except OSError as error:
            self.error = f"cannot save to {self.path or self._folder}: {error.strerror or error}"
            return False
        self.error, self._content = None, _content(self.path)
        return True

    def save_as(self, record: GameRecord, name: str) -> bool:
        """Writes to another file, which later saves then update; refuses to replace an existing file.

        The game's file before, if it is in the folder and has a name of ours, is removed, also if it was continued
        here: it would stay behind the game, and be continued instead. One that the player has named, or that another
        program has changed, stays.
        """
        try:
            path = Path(name).expanduser()
            if self.path is not None and (path == self.path or is_same_file(path, self.path)):
                return self.save(record)
            write_sgf(record, path, overwrite=False)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~ has no home folder
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.error = f"cannot save to {name}: {reason}"
            return False
        self._remove_ours()
        self.path, self.error, self.notice, self._content = path, None, None, _content(path)
        return True

    def _remove_ours(self) -> None:
        if self.path is None or self._content is None or not _OUR_NAME.fullmatch(self.path.name):
            return
        with suppress(OSError):
            if self.path.parent.samefile(self._folder) and _content(self.path) == self._content:
                self.path.unlink()

    def _write_new(self, record: GameRecord) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            path = self._folder / (f"{self._name}.sgf" if number == 1 else f"{self._name}-{number}.sgf")
            try:
                write_sgf(record, path, overwrite=False)
            except FileExistsError:
                continue
            return path
        raise AssertionError("unreachable")


def _content(path: Path) -> bytes | None:
    """Returns what is in a file; None if it cannot be read."""
    with suppress(OSError):
        return path.read_bytes()
    return None
