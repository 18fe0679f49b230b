"""The user's database: killed while it is written, damaged, of another kind, unwritable, used by two programs."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cases import some

from gtp_engine.base.errors import UserError
from gtp_engine.table.database import FILE, Change, Database
from gtp_engine.table.player_rating import KeptRating, PlayerRating, rating_history

KNOWN = PlayerRating(-900.0, 70.0, games=40, last=1)
KEPT = "INSERT OR REPLACE INTO problems VALUES (?, 'name', '', '', 1, '', 0, 0)"
# Writes problems of a megabyte each, two in a transaction, and says after each that it is kept.
WRITER = """
import sys
from pathlib import Path
from gtp_engine.table.database import Change, Database
database, first = Database(Path(sys.argv[1])), int(sys.argv[2])
for number in range(first, first + 10_000):
    one, other = ((f"{number} {half}", "x" * 2**20) for half in "ab")
    statement = "INSERT INTO problems VALUES (?, '', ?, '', 0, '', 0, 0)"
    database.change(Change(statement, one), Change(statement, other))
    assert not database.notice, database.notice
    print(number, flush=True)
"""


def keys(database: Database) -> list[str]:
    return [key for (key,) in database.rows("SELECT key FROM problems ORDER BY key")]


def test_the_ratings_are_kept_in_order(tmp_path: Path) -> None:
    database = Database(tmp_path / "new" / FILE)
    kept = KeptRating(database)
    assert (kept.rating, kept.is_asked, kept.notice, database.path.exists()) == (None, False, "", False)
    kept.keep(PlayerRating(-1500.0, 350.0))
    kept.keep(KNOWN)
    assert KeptRating(Database(database.path)).rating == KNOWN
    kept.keep(None)
    again = KeptRating(Database(database.path))
    assert again.rating is None and again.is_asked
    assert [rating for _, rating in rating_history(database)] == [KNOWN]  # the other one rests on no game
    assert [path.name for path in database.path.parent.iterdir()] == [FILE]


def kill_while_it_is_written(path: Path, times: int) -> None:
    """Kills a program that writes, each time a bit later, and finds all that it said to be kept."""
    said = -1
    for attempt in range(times):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(said + 2)], stdout=subprocess.PIPE, text=True
        ) as program:
            assert program.stdout is not None
            said = int(program.stdout.readline())
            time.sleep(0.002 * (attempt % 25))
            program.send_signal(signal.SIGKILL)
            said = max([said, *map(int, program.stdout.read().split("\n")[:-1])])
        found = keys(Database(path))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            # As fast as a new file; what is removed here has been found.
            connection.execute("DELETE FROM problems WHERE key NOT LIKE ?", (f"{said} %",))
            connection.commit()
        numbers = sorted({int(key.split()[0]) for key in found})
        assert said in numbers and numbers[-1] <= said + 1  # what it was writing may be there
        assert all(f"{number} {half}" in found for number in numbers for half in "ab")


def test_a_program_that_is_killed_while_it_writes_loses_nothing(tmp_path: Path) -> None:
    kill_while_it_is_written(tmp_path / FILE, 2)


@pytest.mark.slow
def test_many_programs_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    kill_while_it_is_written(tmp_path / FILE, some(50))


def test_two_programs_use_one_database(tmp_path: Path) -> None:
    path = tmp_path / FILE
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("10_000", "8").replace("2**20", "9"), str(path), n],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in ("0", "100")
    ]
    for program in programs:
        with program:
            assert program.stderr is not None and program.stderr.read() == ""
    one, other = Database(path), Database(path)
    assert len(keys(one)) == 32
    one.change(Change("DELETE FROM problems"))
    one.change(Change(KEPT, ("a",)))
    other.change(Change(KEPT, ("b",)))
    assert keys(one) == keys(other) == ["a", "b"]


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE photos (name)")


def newer(path: Path) -> None:
    Database(path).change(Change(KEPT, ("a",)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def damaged(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)


def damaged_inside(path: Path) -> None:
    Database(path).change(*(Change(KEPT, (f"{number:500}",)) for number in range(99)))
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\7" * (len(content) - 4096))


def other_columns(path: Path) -> None:
    newer(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
        connection.execute("ALTER TABLE ratings RENAME TO marks")


def no_database(path: Path) -> None:
    path.write_text("(;GM[1])" * 99)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (foreign, "is not a database of gtp_engine: move the file away"),
        (no_database, "file is not a database"),
        (damaged, ""),
        (damaged_inside, "database disk image is malformed"),
        (other_columns, "is not a database of gtp_engine: move the file away"),
        (
            newer,
            "was written by a newer version of gtp_engine (99, this one reads 1): update it, or move the file away",
        ),
        (lambda path: path.mkdir(), "unable to open database file"),
    ],
)
def test_another_file_is_left_alone_and_play_goes_on(tmp_path: Path, make: object, problem: str) -> None:
    path = tmp_path / FILE
    make(path)  # type: ignore[operator]
    before = None if path.is_dir() else path.read_bytes()
    database = Database(path)
    assert keys(database) == []
    assert database.notice.startswith(f"results and reviews are not saved: {path}") and problem in database.notice
    kept = KeptRating(database)
    kept.keep(KNOWN)
    database.change(Change(KEPT, ("b",)))
    assert KeptRating(database).rating == KNOWN and keys(database) == ["b"] and "\n" not in kept.notice
    assert path.is_dir() or path.read_bytes() == before
    path.rename(tmp_path / "away")
    database.change(Change(KEPT, ("c",)))  # and all that was waiting
    assert database.notice == "" and keys(Database(path)) == ["b", "c"] and KeptRating(Database(path)).rating == KNOWN


def test_play_goes_on_if_the_header_forbids_changes(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Database(path).change(Change(KEPT, ("a",)))
    content = bytearray(path.read_bytes())
    content[18] = 9  # a format of writing that this SQLite does not know
    path.write_bytes(content)
    database = Database(path)
    assert keys(database) == ["a"]
    database.change(Change(KEPT, ("b",)))
    assert "readonly database" in database.notice and "b" in keys(database)
    assert path.read_bytes() == content


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Has files not grow beyond a size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_refuses_is_written_when_there_is_room(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE)
    database.change(Change(KEPT, ("a",)))
    with full_disk(database.path.stat().st_size):
        big = "INSERT INTO problems VALUES ('b', '', ?, '', 0, '', 0, 0)"
        database.change(Change(big, ("x" * 10**6,)))
        assert database.notice.startswith(f"results and reviews are not saved: {database.path}: ")
        assert keys(database) == ["a", "b"] and keys(Database(database.path)) == ["a"]
    database.change(Change(KEPT, ("c",)))
    assert database.notice == "" and keys(Database(database.path)) == ["a", "b", "c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_read(tmp_path: Path) -> None:
    database = Database(tmp_path / "data" / FILE)
    database.change(Change(KEPT, ("a",)))
    database.path.chmod(0o400)
    database.path.parent.chmod(0o500)
    try:
        again = Database(database.path)
        assert keys(again) == ["a"] and again.notice == ""
        again.change(Change(KEPT, ("b",)))
        assert "readonly database" in again.notice and keys(again) == ["a", "b"]
    finally:
        database.path.parent.chmod(0o700)


def older_files(folder: Path) -> dict[str, str]:
    card = {"name": "first 白", "sgf": "(;)", "box": 3, "due": "2026-11-26", "right": 2, "wrong": 1}
    missed = {"played": "C3", "points": 4.5, "line": ["D4", "pass"], "group": "E5"}
    problems = {"a": card | {"missed": missed}, "b": card | {"missed": None, "box": 0, "due": ""}}
    rating = {"rating": -900.0, "deviation": 70.0, "volatility": 0.06, "games": 40, "last": 1}
    texts = {
        "problems.json": json.dumps({"version": 1, "problems": problems}),
        "rating.json": json.dumps({"version": 2, "rating": rating}),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return texts


def test_the_files_of_an_older_version_are_taken_over_once(tmp_path: Path) -> None:
    texts = older_files(tmp_path)
    database = Database(tmp_path / FILE)
    assert KeptRating(database).rating == KNOWN and database.notice == ""
    assert database.rows("SELECT key, name, days, due, solved, failed FROM problems") == [
        ("a", "first 白", 4, "2026-11-26", 2, 1),
        ("b", "first 白", 0, "", 2, 1),
    ]
    assert {path.name for path in tmp_path.iterdir()} == {FILE, "problems.json.old", "rating.json.old"}
    assert (tmp_path / "rating.json.old").read_text() == texts["rating.json"]
    database.change(Change("DELETE FROM problems"))
    assert keys(Database(tmp_path / FILE)) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "[" * 100_000,
        json.dumps({"version": 2, "rating": {"rating": "x", "deviation": 1}}),
        json.dumps({"version": 2, "rating": {"rating": 1e999, "deviation": 1, "volatility": 1, "games": 1, "last": 1}}),
        json.dumps({"version": 1, "rating": None}),
    ],
)
def test_a_damaged_file_of_an_older_version_is_told_and_kept(tmp_path: Path, content: str) -> None:
    older_files(tmp_path)
    (tmp_path / "rating.json").write_text(content)
    database = Database(tmp_path / FILE)
    assert KeptRating(database).rating is None and keys(database) == ["a", "b"]
    assert database.notice == f"{tmp_path / 'rating.json'} is damaged, and kept as rating.json.old"
    assert (tmp_path / "rating.json.old").read_text() == content


def test_what_is_exported_is_imported_elsewhere(tmp_path: Path) -> None:
    one, other = Database(tmp_path / "one.db"), Database(tmp_path / "other.db")
    KeptRating(one).keep(KNOWN)
    for database, key, solved in ((one, "a", 3), (one, "b", 0), (other, "a", 1), (other, "b", 2)):
        database.change(Change("INSERT INTO problems VALUES (?, '', '', '', 1, '', ?, 0)", (key, solved)))
    one.export(tmp_path / "out.db")
    with pytest.raises(FileExistsError):
        one.export(tmp_path / "out.db")
    other.absorb(tmp_path / "out.db")
    other.absorb(tmp_path / "out.db")  # once more changes nothing
    assert other.rows("SELECT key, solved FROM problems ORDER BY key") == [("a", 3), ("b", 2)]
    assert KeptRating(other).rating == KNOWN


def test_an_export_before_the_first_game_is_empty(tmp_path: Path) -> None:
    Database(tmp_path / "data" / "one.db").export(tmp_path / "out.db")
    two = Database(tmp_path / "two.db")
    two.absorb(tmp_path / "out.db")
    assert not two.rows("SELECT * FROM ratings") and not two.notice


def test_what_is_no_export_is_not_imported_and_left_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "here" / FILE)
    for make, problem in (
        (foreign, "is not a database of gtp_engine"),
        (damaged_inside, "malformed"),
        (other_columns, "is not a database of gtp_engine"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: None, "there is no such file"),
    ):
        make(tmp_path / "in.db")  # type: ignore[no-untyped-call]
        texts = older_files(tmp_path)  # which belong to no import
        with pytest.raises(UserError, match=problem):
            database.absorb(tmp_path / "in.db")
        assert texts.keys() <= {path.name for path in tmp_path.iterdir()} and keys(database) == []
        (tmp_path / "in.db").unlink(missing_ok=True)


def test_texts_in_the_place_of_numbers_are_not_imported(tmp_path: Path) -> None:
    one, other = Database(tmp_path / "one.db"), Database(tmp_path / "other.db")
    one.change(Change("INSERT INTO problems VALUES ('a', '', '', '', 1, '', 'many', 0)"))
    with pytest.raises(UserError, match="nothing was imported: "):
        other.absorb(one.path)
    assert keys(other) == []


@pytest.mark.parametrize("has_file", [True, False])
@pytest.mark.parametrize("wrong", ["\udce9", 5000, 2**70])
def test_what_the_tables_refuse_is_not_in_the_way_of_later_changes(
    tmp_path: Path, wrong: object, has_file: bool
) -> None:
    path = tmp_path / FILE if has_file else Path("/proc/nowhere/kept.db")
    database, step = Database(path), "INSERT OR REPLACE INTO first_steps VALUES (1, ?)"
    for number in (3, 8):
        database.change(Change(step, (number,)))
        with pytest.raises((UnicodeError, OverflowError, sqlite3.IntegrityError)):
            database.change(Change(step, (4,)), Change(step, (wrong,)))
        assert database.rows("SELECT step FROM first_steps") == [(number,)]
    assert (database.notice == "") == has_file


def test_values_that_would_overflow_are_not_imported(tmp_path: Path) -> None:
    one, other = Database(tmp_path / "one.db"), Database(tmp_path / "other.db")
    KeptRating(one).keep(KNOWN)
    with closing(sqlite3.connect(one.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute("UPDATE ratings SET rating = 9e999")
        connection.execute("INSERT INTO problems VALUES ('a', '', '', '', 9000000, '', 1, 0)")
    other.absorb(one.path)
    assert not KeptRating(other).is_asked and keys(other) == []
