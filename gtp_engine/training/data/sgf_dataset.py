"""Conversion of SGF files, folders, zip archives and `.sgfs` files to shards, once per run; it can resume at any time.

There is a shard for each file with many games, and for some hundreds of files with single games. Its notes count what
was skipped and why.
"""

import hashlib
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import UserError, error_text
from ...base.files import files_with, is_visible
from ...base.messages import plural, printable
from ...go.sgf import LINES_SUFFIX, RECORD_SUFFIXES, SgfError, read_sgf_games
from ..progress import Limit, Observer, Stopped
from ..run_settings import RecordSettings
from .game_records import Unusable, check_filters, read_record
from .ownership import label_ownership
from .rows import LEGAL, find_illegal, illegal_text, new_workspace
from .samples import GameSet, SampleGame, join, pack
from .shards import SUFFIX, ShardError, read_notes, read_shard, shard_files, write_shard

ARCHIVE = ".zip"
SOURCE_SUFFIXES = (*RECORD_SUFFIXES, ARCHIVE)
FILES_PER_SHARD = 500
_CHECKED_GAMES = 100  # between two looks whether to stop
# Bytes of a file in an archive: 11 MB may unpack to gigabytes, and a file of half a million games has less.
LARGEST_MEMBER = 2**30


@dataclass(frozen=True)
class SourceFiles:
    """The source files of a shard."""

    name: str  # describes them
    files: tuple[tuple[Path, str], ...]  # each file or archive, and the name inside the archive; "" without one

    def state(self) -> str:
        """Returns a hash of the files' names, sizes and modification times; if it differs, they are read again."""
        digest = hashlib.sha256()
        for path, member in self.files:
            with suppress(OSError):
                known = path.stat()
                digest.update(repr((str(path), member, known.st_size, known.st_mtime_ns)).encode())
        return digest.hexdigest()

    def read(self, fail: Callable[[object], None]) -> Iterator[tuple[str, bytes]]:
        """Yields names and contents; calls `fail` with a message for each file that cannot be read."""
        archives: dict[Path, zipfile.ZipFile] = {}
        with ExitStack() as stack:
            for path, member in self.files:
                name = _shown(path, member)
                try:
                    if member and path not in archives:
                        archives[path] = stack.enter_context(zipfile.ZipFile(path))
                    if member and (size := archives[path].getinfo(member).file_size) > LARGEST_MEMBER:
                        raise UserError(f"unpacks to {size:,} bytes, at most {LARGEST_MEMBER:,} are read")
                    content = archives[path].read(member) if member else path.read_bytes()
                except (UserError, OSError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
                    fail(f"{name}: {error_text(error)}")
                    continue
                yield name, content


def find_source_files(sources: Sequence[Path], on_error: Callable[[str], None]) -> list[SourceFiles]:
    """Returns the files of files, folders and archives that contain games, grouped by shard, in a fixed order.

    `on_error` is called with a message for each damaged archive in a folder.

    Raises:
        FileNotFoundError: A source does not exist.
        SgfError: A source is neither a folder nor a file with games.
    """
    files: list[tuple[Path, str]] = []
    for source in sources:
        if source.is_dir():
            found = files_with(SOURCE_SUFFIXES, source, subfolders=True)
        elif not source.exists():
            raise FileNotFoundError(2, "No such file or directory", str(source))
        elif source.name.lower().endswith(SOURCE_SUFFIXES):
            found = [source]
        else:
            raise SgfError(f"{source}: expected a folder, or a file that ends in {', '.join(SOURCE_SUFFIXES)}")
        for path in found:
            try:
                files += _members(path) if path.name.lower().endswith(ARCHIVE) else [(path, "")]
            except (SgfError, OSError) as error:
                if path == source:
                    raise
                on_error(error_text(error))
    single = [entry for entry in files if not _name(entry).endswith(LINES_SUFFIX)]
    shards = [SourceFiles(_shown(*entry), (entry,)) for entry in files if _name(entry).endswith(LINES_SUFFIX)]
    for first in range(0, len(single), FILES_PER_SHARD):
        chosen = tuple(single[first : first + FILES_PER_SHARD])
        shards.append(SourceFiles(f"{plural(len(chosen), 'file')} from {printable(_name(chosen[0]))}", chosen))
    return shards


def _shown(path: Path, member: str) -> str:
    """Returns the name of a file, or of one in an archive, for messages."""
    return printable(f"{path}:{member}" if member else str(path))


def _name(entry: tuple[Path, str]) -> str:
    return (entry[1] or str(entry[0])).lower()


def _members(path: Path) -> list[tuple[Path, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            names = sorted(name for name in members if is_visible(name.rpartition("/")[2], RECORD_SUFFIXES))
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise SgfError(f"{path}: not a zip archive, or damaged ({error})") from error
    return [(path, name) for name in names]


def read_sgf_dataset(
    records: RecordSettings, folder: Path, observer: Observer, limit: Limit, *, with_ownership: bool = True
) -> GameSet:
    """Reads all records that pass the filters, each game once, and reports how many were read and skipped.

    Existing shards of the same filters in the folder are used again. New ones have an estimate of the ownership, which
    is slow (`ownership`), if it is wanted. The limit may stop the reading; its minutes do not count.

    Raises:
        Stopped: The limit is stopped; finished shards are kept.
        UserError: No games are left.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards = find_source_files(list(map(Path, records.games)), observer.skipped)
    sets: list[GameSet] = []
    read, count, skipped = 0, 0, Counter[str]()
    known = np.zeros(0, np.uint64)

    def report(shard: int, games: int) -> None:
        observer.progress("reading games", shard, len(shards), plural(count + games, "game"))
        if limit.is_stopped():
            raise Stopped

    for number, files in enumerate(shards):
        report(number, 0)
        path = folder / f"{number:05d}{SUFFIX}"
        about = {"portion": files.name, "state": files.state(), "filters": records.filters}
        games, notes = _read_kept(path, about, observer.skipped) or _make(
            path, files, about, records, observer.skipped, with_ownership, partial(report, number)
        )
        read += notes["read"]
        skipped.update(notes["skipped"])
        numbers = games.games["number"]
        is_first = np.zeros(games.game_count, np.bool_)
        is_first[np.unique(numbers, return_index=True)[1]] = True
        is_new = is_first & ~np.isin(numbers, known)
        known = np.concatenate((known, numbers[is_new]))
        skipped["the same game again"] += int(np.count_nonzero(~is_new))
        count += int(np.count_nonzero(is_new))
        sets.append(games.choose(is_new))
    for path in shard_files(folder)[len(shards) :]:  # of records that have been removed
        path.unlink(missing_ok=True)
    reasons = ", ".join(f"{reason}: {times:,}" for reason, times in (+skipped).most_common())
    if not count:
        raise UserError(f"no games to learn from: {plural(read, 'record')} read" + (f" ({reasons})" if reasons else ""))
    report(len(shards), 0)
    observer.message(f"{plural(read, 'record')} read")
    if reasons:
        observer.message(f"skipped: {reasons}")
    return join(sets)


def has_other_filters(folder: Path, records: RecordSettings) -> bool:
    """Returns whether the folder has shards that were made with other filters."""
    for path in shard_files(folder):
        with suppress(ShardError):
            if read_notes(path).get("filters") != records.filters:
                return True
    return False


def _read_kept(
    path: Path, about: Mapping[str, Any], on_error: Callable[[str], None]
) -> tuple[GameSet, dict[str, Any]] | None:
    """Reads an existing shard and its notes, which include `about`; None if there is none or it is damaged."""
    if not path.exists():
        return None
    try:
        notes = read_notes(path)
        is_same = all(notes.get(name) == value for name, value in about.items())
        return (read_shard(path), notes) if is_same else None
    except ShardError as error:
        on_error(f"{error}; made again")
        return None


def _make(
    path: Path,
    files: SourceFiles,
    about: Mapping[str, Any],
    records: RecordSettings,
    on_error: Callable[[str], None],
    with_ownership: bool,
    check: Callable[[int], None],
) -> tuple[GameSet, dict[str, Any]]:
    """Makes the shard of these files; returns its games and its notes.

    A file may have half a million games: `check` is called with the number of games so far, and may raise Stopped.
    """
    skipped = Counter[str]()

    def fail(error: object) -> None:
        skipped["damaged"] += 1
        on_error(str(error))

    candidates: list[SampleGame] = []
    places: list[str] = []
    contents = files.read(fail)
    found = (record for name, content in contents for record in read_sgf_games(content, name=name, on_error=fail))
    for number, record in enumerate(found):
        if number % _CHECKED_GAMES == 0:
            check(len(candidates))
        try:
            check_filters(record, records)
            candidates.append(read_record(record))
            places.append(record.source)
        except Unusable as why:
            skipped[str(why)] += 1
    read = len(candidates) + skipped.total()
    games = pack(candidates)
    games = games.choose(_are_legal(games, places, fail))
    games = label_ownership(games, partial(check, len(candidates))) if with_ownership else games
    notes = {**about, "read": read, "skipped": skipped}
    write_shard(games, path, notes)
    return games, notes


def _are_legal(games: GameSet, places: Sequence[str], fail: Callable[[object], None]) -> np.ndarray:
    """Returns which games are legal (bool [games]); calls `fail` for the others."""
    w = new_workspace()
    illegal = np.array([find_illegal(games, number, w) for number in range(games.game_count)], np.int64)
    for number in np.flatnonzero(illegal != LEGAL).tolist():
        fail(f"{places[number]}: {illegal_text(illegal[number])}")
    return illegal == LEGAL
