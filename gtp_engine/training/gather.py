"""From SGF files, folders, zips and `.sgfs` to shards, once for a run; killed at any time it goes on where it was.

The records come in portions: one for each file of many games, one for some hundred files of single ones. Each makes a
shard whose notes say what was left out of it and why.
"""

import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..sgf import GameRecord, SgfError, read_sgf_games
from ..wording import reason
from .ownership import settle
from .records import Filters, Unusable, read_record
from .rows import ILLEGAL_SETUP, LEGAL, columns_of, find_illegal, new_workspace
from .samples import GameSet, SampleGame, join, pack
from .shards import SUFFIX, ShardError, read_notes, read_shard, write_shard

SINGLE, MANY = (".sgf",), (".sgfs",)
ARCHIVE = ".zip"
FILES_A_PORTION = 500
NAMED_ERRORS = 1000  # that a shard's notes keep


@dataclass(frozen=True)
class Portion:
    """Some files: where each lies, and its name inside its archive, "" where it lies in none."""

    name: str
    files: tuple[tuple[Path, str], ...]

    def read(self) -> Iterator[tuple[str, bytes]]:
        """Names and contents. Raises OSError."""
        archive: zipfile.ZipFile | None = None
        for path, member in self.files:
            if not member:
                yield str(path), path.read_bytes()
                continue
            try:
                if archive is None or archive.filename != str(path):
                    archive = zipfile.ZipFile(path)
                content = archive.read(member)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
                raise SgfError(f"{path}: {member}: {error}") from error
            yield f"{path}:{member}", content


@dataclass(frozen=True)
class Gathered:
    """What came of all records. read: how many there were. skipped: how many of them were left out, by reason."""

    games: GameSet
    read: int
    skipped: Mapping[str, int]


def find_portions(sources: Sequence[Path]) -> list[Portion]:
    """The files of games in files, folders and archives, in a fixed order.

    Raises FileNotFoundError for what is not there, SgfError for what can hold no games.
    """
    files: list[tuple[Path, str]] = []
    for source in sources:
        if source.is_dir():
            found = sorted(path for path in source.rglob("*") if _is_games(path.name) and path.is_file())
        elif not source.exists():
            raise FileNotFoundError(2, "No such file or directory", str(source))
        elif _is_games(source.name):
            found = [source]
        else:
            raise SgfError(f"{source}: expected a folder, or a file that ends in .sgf, .sgfs or .zip")
        for path in found:
            files += _members(path) if path.name.lower().endswith(ARCHIVE) else [(path, "")]
    many = [entry for entry in files if _name(entry).endswith(MANY)]
    single = [entry for entry in files if not _name(entry).endswith(MANY)]
    portions = [Portion(f"{path}:{member}" if member else str(path), ((path, member),)) for path, member in many]
    for first in range(0, len(single), FILES_A_PORTION):
        chosen = tuple(single[first : first + FILES_A_PORTION])
        portions.append(Portion(f"{len(chosen)} files from {_name(chosen[0])}", chosen))
    return portions


def _is_games(name: str) -> bool:
    return name.lower().endswith((*SINGLE, *MANY, ARCHIVE))


def _name(entry: tuple[Path, str]) -> str:
    return (entry[1] or str(entry[0])).lower()


def _members(path: Path) -> list[tuple[Path, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.lower().endswith((*SINGLE, *MANY)))
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise SgfError(f"{path}: no zip archive, or a damaged one ({error})") from error
    return [(path, name) for name in names]


def gather(
    sources: Sequence[Path],
    folder: Path,
    filters: Filters,
    *,
    on_error: Callable[[str], None],
    on_progress: Callable[[int, int, int], bool],
) -> Gathered | None:
    """The games of all records that pass, each game once.

    Shards are kept in `folder` and not made again. on_error: told what is damaged. on_progress(portions done, of how
    many, games so far): whether to go on; otherwise the answer is None. Raises ValueError where no game is left.
    """
    folder.mkdir(parents=True, exist_ok=True)
    portions = find_portions(sources)
    sets: list[GameSet] = []
    read, count, skipped = 0, 0, Counter[str]()
    known = np.zeros(0, np.uint64)
    for number, portion in enumerate(portions):
        if not on_progress(number, len(portions), count):
            return None
        path = folder / f"{number:05d}{SUFFIX}"
        games, notes = _kept(path, portion, on_error) or _make(path, portion, filters, on_error)
        read += notes["read"]
        skipped.update(notes["skipped"])
        numbers = games.games["number"]
        is_first = np.zeros(len(games), np.bool_)
        is_first[np.unique(numbers, return_index=True)[1]] = True
        is_new = is_first & ~np.isin(numbers, known)
        known = np.concatenate((known, numbers[is_new]))
        skipped["the same game again"] += int(np.count_nonzero(~is_new))
        count += int(np.count_nonzero(is_new))
        sets.append(games.choose(is_new))
    if not count:
        reasons = ", ".join(f"{reason}: {times}" for reason, times in (+skipped).most_common())
        raise ValueError(f"there is no game to learn from: {read} read" + (f" ({reasons})" if reasons else ""))
    on_progress(len(portions), len(portions), count)
    return Gathered(join(sets), read, +skipped)


def _kept(path: Path, portion: Portion, on_error: Callable[[str], None]) -> tuple[GameSet, dict[str, Any]] | None:
    """The shard that an earlier run made of this portion; None where there is none, or a damaged one, which is told."""
    if not path.exists():
        return None
    try:
        notes = read_notes(path)
        return (read_shard(path), notes) if notes["portion"] == portion.name else None
    except ShardError as error:
        on_error(f"{error}; made again")
        return None


def _make(
    path: Path, portion: Portion, filters: Filters, on_error: Callable[[str], None]
) -> tuple[GameSet, dict[str, Any]]:
    errors: list[str] = []
    skipped = Counter[str]()

    def fail(error: object) -> None:
        errors.append(str(error))
        on_error(str(error))

    candidates: list[SampleGame] = []
    places: list[str] = []
    for record in _records(portion, fail):
        try:
            filters.check(record)
            candidates.append(read_record(record, portion.name))
            places.append(record.source)
        except Unusable as why:
            skipped[str(why)] += 1
    read = len(candidates) + skipped.total() + len(errors)
    games = pack(candidates)
    games = settle(games.choose(_are_legal(games, places, fail)))
    skipped["damaged"] += len(errors)
    notes = {"portion": portion.name, "read": read, "skipped": +skipped, "errors": errors[:NAMED_ERRORS]}
    write_shard(games, path, notes)
    return games, notes


def _records(portion: Portion, fail: Callable[[object], None]) -> Iterator[GameRecord]:
    try:
        for name, content in portion.read():
            yield from read_sgf_games(content, name=name, on_error=fail)
    except (OSError, SgfError) as error:
        fail(reason(error))


def _are_legal(games: GameSet, places: Sequence[str], fail: Callable[[object], None]) -> np.ndarray:
    """bool [games]; what is wrong with the others is told."""
    columns, w = columns_of(games), new_workspace()
    illegal = np.array([find_illegal(columns, number, w) for number in range(len(games))], np.int64)
    for number in np.flatnonzero(illegal != LEGAL).tolist():
        move = illegal[number]
        fail(f"{places[number]}: {'the setup' if move == ILLEGAL_SETUP else f'move {move + 1}'} is illegal")
    return illegal == LEGAL
