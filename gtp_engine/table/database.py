"""The user's database: ratings, problems that come again, an index of saved games, reviews, and the first step left.

Game records remain SGF files; this is what has been found out about them and about their player. It is one SQLite file.
Several programs may use it at once, and a change is in it completely or not at all, also if the program is killed.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import UserError, error_text
from ..base.files import write_bytes
from ..base.folders import data_dir
from ..base.nesting import parse_json

FILE = "gtp_engine.db"
_APPLICATION = 0x67744761  # SQLite's mark of whose file it is; ours is arbitrary
_VERSION = 1
_WAIT_SECONDS = 2.0  # for another program, which holds the file for milliseconds
_SCHEMA = (
    # A row for each change of the user's rating, all NULL but the time if full strength was chosen.
    # Nothing overflows within the bounds.
    "CREATE TABLE ratings (time REAL PRIMARY KEY, rating REAL CHECK (rating BETWEEN -1e5 AND 1e5),"
    " deviation REAL CHECK (deviation BETWEEN 1e-3 AND 1e5), volatility REAL CHECK (volatility BETWEEN 1e-6 AND 1e3),"
    " games INT CHECK (games BETWEEN 0 AND 1e6), last REAL CHECK (last BETWEEN 0 AND 1))",
    # `days` is the interval after which a problem comes again, `due` the day in ISO form ("": never), `missed` the
    # mistake that it was made of as JSON ("": none).
    "CREATE TABLE problems (key TEXT PRIMARY KEY, name TEXT NOT NULL, sgf TEXT NOT NULL, missed TEXT NOT NULL,"
    " days INT NOT NULL CHECK (days BETWEEN 0 AND 1e5), due TEXT NOT NULL, solved INT NOT NULL, failed INT NOT NULL)",
    # What the files of saved games say, as JSON; `stamp` tells whether a file has changed since.
    "CREATE TABLE games (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, facts TEXT NOT NULL)",
    # Reviewed games by what identifies them, with what their records say, and the user's mistakes among theirs.
    "CREATE TABLE reviews (key TEXT PRIMARY KEY, time REAL NOT NULL, is_lesson INT NOT NULL, facts TEXT NOT NULL,"
    " sgf TEXT NOT NULL, content BLOB NOT NULL)",
    "CREATE TABLE mistakes (key TEXT, number INT, phase TEXT NOT NULL, kind TEXT NOT NULL, points REAL NOT NULL"
    " CHECK (points BETWEEN 0 AND 1e4), missed TEXT NOT NULL, PRIMARY KEY (key, number))",
    # The first step at which the user is, in a single row.
    "CREATE TABLE first_steps (id INT PRIMARY KEY, step INT NOT NULL CHECK (step BETWEEN 0 AND 1000))",
)
_ABSORBED = ("ratings", "problems", "reviews", "mistakes", "first_steps")


@dataclass(frozen=True)
class Change:
    """A statement that changes the database, and its values."""

    statement: str
    values: tuple[Any, ...] = ()


class Database:
    """The user's database, whose file is made with the first change.

    What cannot be written, to a full disk for example, is kept in memory, read from there, and written with the next
    change. A file of another kind, or of a newer version, is left alone. Any thread may call the methods.

    Args:
        path: The file; None for the user's own.

    Attributes:
        notice: Why changes are not in the file, or what was wrong with the files of an older version, in one line; ""
            for nothing.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.notice = ""
        self._waiting: list[Change] = []  # what is not in the file
        self._memory: sqlite3.Connection | None = None  # what it would have; None if nothing is waiting
        self._lock = threading.RLock()

    @property
    def path(self) -> Path:
        """The file; raises UserError for a user without a home folder."""
        self._path = self._path or data_dir() / FILE
        return self._path

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows that a query finds."""
        with self._lock:
            if self._memory is None:
                try:
                    if not (self.path.exists() or any(map(Path.exists, _older_files(self.path)))):
                        return []
                    with self._file() as connection:
                        return connection.execute(query, values).fetchall()
                except (sqlite3.Error, OSError, UserError) as error:
                    self._use_memory(error)
            assert self._memory is not None
            return self._memory.execute(query, values).fetchall()

    def change(self, *changes: Change) -> None:
        """Makes changes, all or none of them; if the file cannot be written, `notice` says why."""
        with self._lock:
            self._waiting += changes
            try:
                self._write(changes)
            except Exception:  # the tables refuse them: they must not be in the way of later ones
                del self._waiting[len(self._waiting) - len(changes) :]
                raise

    def _write(self, changes: tuple[Change, ...]) -> None:
        """Writes all waiting changes, which end with these, to the file; if that fails, to memory."""
        try:
            with self._file() as connection:
                _make(connection, self._waiting)
        except (sqlite3.Error, OSError, UserError) as error:
            if self._memory is None:
                self._use_memory(error)
            else:
                _make(self._memory, changes)
        else:
            self._waiting.clear()
            self._memory, self.notice = None, self.notice if self._memory is None else ""

    def _use_memory(self, error: Exception) -> None:
        """Goes on in memory, with what can be read of the file."""
        memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        try:
            with self._file(is_read_only=True) as connection:
                connection.backup(memory)
            if memory.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise sqlite3.DatabaseError
            _make(memory, self._waiting)  # its header may forbid changes
        except (sqlite3.Error, OSError, UserError):
            memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            _create(memory)
            _make(memory, self._waiting)
        text = f"{self.path}: {error}" if isinstance(error, sqlite3.Error) else error_text(error)
        self._memory, self.notice = memory, f"results and reviews are not saved: {text}"

    @contextmanager
    def _file(self, *, is_read_only: bool = False) -> Iterator[sqlite3.Connection]:
        """Opens the file for a `with` block, with the tables of this version."""
        mode = "ro" if is_read_only else "rwc"
        if not is_read_only:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, _WAIT_SECONDS, isolation_level=None, uri=True)) as connection:
            if not _is_current(connection, self.path):
                self._begin(connection)
            yield connection

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Makes the tables, with what an older version of the program has kept in other files."""
        connection.execute("BEGIN IMMEDIATE")
        if _is_current(connection, self.path):  # another program has just made them
            connection.execute("COMMIT")
            return
        _create(connection)
        problems = []
        for file, read in _older_files(self.path).items():
            with suppress(FileNotFoundError):
                try:
                    for each in read(parse_json(file.read_bytes())):
                        connection.execute(each.statement, each.values)
                except (ValueError, KeyError, TypeError, AttributeError, sqlite3.Error):
                    problems.append(f"{file} is damaged, and kept as {_aside(file).name}")
        connection.execute("COMMIT")
        for file in _older_files(self.path):
            with suppress(OSError):
                os.replace(file, _aside(file))
        self.notice = "; ".join(problems)

    def export(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes everything but the index of games to a file, which `absorb` reads; OSError if that fails."""
        try:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy, self._lock:
                with nullcontext(self._memory) if self._memory is not None else self._file() as connection:
                    connection.backup(copy)
                copy.execute("DELETE FROM games")  # whose files are here
                write_bytes(path, copy.serialize(), overwrite=overwrite)
        except sqlite3.Error as error:
            raise UserError(f"cannot write {path}: {error}") from error

    def absorb(self, path: Path) -> None:
        """Adds what another file has that is not here; of a problem in both, what has more answers stays.

        Raises UserError if it is no such file.
        """
        if not path.is_file():
            raise UserError(f"{path}: there is no such file; name one that `gtp_engine games --export` has written")
        changes = []
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as other:
                if not _is_current(other, path):
                    raise UserError(f"{path} is empty")
                for table in _ABSORBED:
                    for row in other.execute(f"SELECT * FROM {table}"):
                        if table == "problems":
                            more = "DELETE FROM problems WHERE key = ? AND solved + failed < ?"
                            changes.append(Change(more, (row[0], row[-2] + row[-1])))
                        marks = ", ".join("?" * len(row))
                        changes.append(Change(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row))
        except (sqlite3.Error, UserError, TypeError) as error:  # TypeError: texts in the place of numbers
            problem = f"{path}: {error}" if isinstance(error, sqlite3.Error) else error
            raise UserError(f"nothing was imported: {problem}") from None
        self.change(*changes)


def _is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a file has the tables of this version; False if it is empty. Raises UserError if it is not for us."""
    # The tables first: another program may make them meanwhile, with the rest, all at once.
    tables = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'")}
    (application,), (version,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    if application == _APPLICATION and version > _VERSION:
        raise UserError(
            f"{path} was written by a newer version of gtp_engine ({version}, this one reads {_VERSION}): update it, "
            "or move the file away"
        )
    if not tables:
        return False
    if (application, version, tables) != (_APPLICATION, _VERSION, {*_SCHEMA}):
        raise UserError(f"{path} is not a database of gtp_engine: move the file away")
    return True


def _create(connection: sqlite3.Connection) -> None:
    for statement in (*_SCHEMA, f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {_VERSION}"):
        connection.execute(statement)


def _make(connection: sqlite3.Connection, changes: list[Change] | tuple[Change, ...]) -> None:
    with connection:  # which ends the transaction
        connection.execute("BEGIN IMMEDIATE")
        for each in changes:
            connection.execute(each.statement, each.values)


# Files of version 0.21 and before.


def _older_files(path: Path) -> dict[Path, Any]:
    """Returns the files that were used instead, each with what makes changes of its content."""
    return {path.with_name("rating.json"): _older_rating, path.with_name("problems.json"): _older_problems}


def _aside(file: Path) -> Path:
    return file.with_name(f"{file.name}.old")


def _older_rating(document: Any) -> Iterator[Change]:
    names = ("rating", "deviation", "volatility", "games", "last")
    if document["version"] != 2:
        raise ValueError("ratings were on another scale")
    found = document["rating"]
    values = tuple(None if found is None else float(found[name]) for name in names)
    yield Change("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?)", (0.0, *values))


def _older_problems(document: Any) -> Iterator[Change]:
    """Yields the problems; those of Leitner's box n came again after 2^(n-1) days."""
    for key, card in document["problems"].items():
        missed = "" if card["missed"] is None else json.dumps(card["missed"])
        days = 2 ** (card["box"] - 1) if card["box"] else 0
        values = key, card["name"], card["sgf"], missed, days, card["due"], card["right"], card["wrong"]
        yield Change("INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
