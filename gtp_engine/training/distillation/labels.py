"""A folder of labels: one or several processes make it once, and any number of students can learn from it.

The folder contains

- `labels.json`: the teacher, the records and the seed that determine the labels
- `games/`: the records as shards (`data.sgf_dataset`)
- `19x19-00012.shard`: the labels of a task, numbered for each board size; existing ones are kept
- `.19x19-00012.lock`: locked by the process that works on the task (`files.claim`).

One task in VALIDATION_SHARE uses games that are held back for validation (`game_records.is_held`). The records may
change while the folder grows: what the shards of a board size contain is not labelled again.
"""

import hashlib
import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...base.files import claim, write_text
from ...base.messages import plural
from ...base.system import available_cpus
from ...nets.library import network_name
from ..data.game_records import VALIDATION_SHARE, Filters, is_held
from ..data.samples import GameSet, join, pack
from ..data.sgf_dataset import read_sgf_dataset
from ..data.shards import SUFFIX, ShardError, read_notes, read_shard, read_shards, shard_files, write_shard
from ..limit import Limit, Stopped
from ..observer import Observer, reading_progress
from ..run_settings import RunSettings, parse_size
from .teacher import Teacher, load_teacher
from .walks import PlayedWalk, RecordWalk, Walk

FACTS, GAMES = "labels.json", "games"
FORMAT = "gtp_engine labels 1"
TASK_POSITIONS = 1000  # approximate number of labels per shard: the most work that a kill can cost
LABELS_PER_RECORD = 6  # approximately, including the positions after random moves
_TASK_NAME = re.compile(r"(\d+)x(\d+)-(\d+)")
WAIT_SECONDS = 2.0  # between two checks whether other processes have finished
# Weights: humans play mostly on 19x19, and also on 9x9 and 13x13.
BOARD_SIZES: Mapping[tuple[int, int], float] = {(side, side): 2.0 for side in range(7, 19)} | {
    (9, 9): 12.0,
    (13, 13): 12.0,
    (19, 19): 40.0,
}


@dataclass(frozen=True, kw_only=True)
class LabelSettings:
    """What determines the labels of a folder.

    Attributes:
        teacher: Name of the teacher's network.
        checksum: SHA-256 of its file.
        sources: Game records: files and folders.
        filters: Which records to use.
        seed: Seed of the choice of positions.
    """

    teacher: str
    checksum: str
    sources: tuple[str, ...]
    filters: Filters = field(default=Filters())
    seed: int = 1

    @classmethod
    def of_teacher(cls, path: Path, sources: Sequence[Path], **others: Any) -> "LabelSettings":
        """Returns the settings for a teacher's file; OSError if it cannot be read.

        Args:
            path: The teacher's file.
            sources: Game records: files and folders.
            **others: The other fields.
        """
        with open(path, "rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
        paths = tuple(str(source.absolute()) for source in sources)
        return cls(teacher=network_name(path), checksum=checksum, sources=paths, **others)

    def to_data(self) -> dict[str, Any]:
        """Returns the settings as plain data, in the form that JSON restores."""
        teacher = {"format": FORMAT, "teacher": self.teacher, "checksum": self.checksum}
        return {**teacher, "sources": list(self.sources), **self.filters.to_data(), "seed": self.seed}


@dataclass(frozen=True)
class Task:
    """The labels of one shard.

    Attributes:
        width: Width of the board.
        height: Height of the board.
        number: Number of the task among those of its board size.
    """

    width: int
    height: int
    number: int

    @property
    def name(self) -> str:
        """The name of the shard, such as 19x19-00012."""
        return f"{self.width}x{self.height}-{self.number:05d}"

    @property
    def is_held(self) -> bool:
        """Whether its games are held back for validation."""
        return self.number % VALIDATION_SHARE == 0

    @property
    def place(self) -> int:
        """Its number among the tasks of the same board size and the same `is_held`."""
        behind = self.number // VALIDATION_SHARE
        return behind if self.is_held else self.number - behind - 1


def tasks_for(positions: int, sizes: Mapping[tuple[int, int], float]) -> list[Task]:
    """Returns the tasks for about a number of labels.

    Args:
        positions: Number of labels.
        sizes: Weights of the board sizes.

    Returns:
        The tasks. Any initial part of the list has about the same mixture of board sizes.
    """
    total = sum(sizes.values())
    tasks = []
    for (width, height), weight in sizes.items():
        count = -(-positions * weight / total // TASK_POSITIONS)
        tasks += [((number + 0.5) / count, Task(width, height, number)) for number in range(int(count))]
    return [task for _, task in sorted(tasks, key=lambda entry: (entry[0], entry[1].name))]


def _weights(settings: RunSettings) -> Mapping[tuple[int, int], float]:
    """Returns the weights of the board sizes whose positions a run's settings ask for."""
    sizes = {parse_size(name): weight for name, weight in settings.records.label_sizes.items()}
    return sizes or BOARD_SIZES


def fill_labels(settings: RunSettings, folder: Path, observer: Observer, limit: Limit) -> bool:
    """Makes the labels that a run's settings ask for and the folder lacks; see `make_labels`.

    If it lacks none, the teacher's file may be gone.
    """
    records, machine = settings.records, settings.machine
    teacher = Path(records.teacher)
    weights = _weights(settings)
    tasks = tasks_for(records.positions, weights)
    if not teacher.exists() and all(shard_of(folder, task).exists() for task in tasks):
        return True
    wanted = wanted_labels(settings)
    make_teacher = partial(load_teacher, teacher, machine.device, machine.threads or available_cpus())
    if missing := _sizes_not_learned(tasks):
        least = int(TASK_POSITIONS * sum(weights.values()) / min(filter(None, weights.values()))) + 1
        observer.message(
            f"warning: all labels for {', '.join(missing)} will be held back for validation; {least:,} or more "
            "--positions have labels of each board size to learn"
        )
    is_done = make_labels(wanted, folder, tasks, make_teacher, observer, limit)
    if is_done:
        count = sum(int(read_notes(shard_of(folder, task))["labels"]) for task in tasks)
        observer.message(
            f"{plural(count, 'label')} in {plural(len(tasks), 'shard')}, {records.positions:,} were asked for: a shard "
            f"has about {TASK_POSITIONS:,}, fewer if its games are short, soon decided or labelled before"
        )
    return is_done


def wanted_labels(settings: RunSettings) -> LabelSettings:
    """Returns what determines the labels of a run with a teacher; OSError if the teacher's file cannot be read."""
    records = settings.records
    sources = list(map(Path, records.games))
    return LabelSettings.of_teacher(Path(records.teacher), sources, filters=records.filters(), seed=records.seed)


def check_some_are_learned(settings: RunSettings, folder: Path) -> None:
    """Raises UserError if all labels of a run would be held back: the first task of each board size is.

    Args:
        settings: The run's settings.
        folder: Its folder of labels; those that it contains already are learned too.
    """
    positions, weights = settings.records.positions, _weights(settings)
    if all(task.is_held for task in [*tasks_for(positions, weights), *_tasks_in(folder)]):
        more = itertools.count(positions + 1)
        least = next(count for count in more if not all(task.is_held for task in tasks_for(count, weights)))
        raise UserError(
            f"too few positions to learn from: all labels for {positions:,} would be held back for validation; ask for "
            f"{least:,} or more with --positions"
        )


def _tasks_in(folder: Path) -> list[Task]:
    """Returns the tasks whose shards a folder contains."""
    names = [_TASK_NAME.fullmatch(path.name.removesuffix(SUFFIX)) for path in shard_files(folder)]
    return [Task(*map(int, name.groups())) for name in names if name]


def _sizes_not_learned(tasks: Sequence[Task]) -> list[str]:
    """Returns the board sizes whose labels are all held back, such as "9x9"."""
    learned = {(task.width, task.height) for task in tasks if not task.is_held}
    sizes = dict.fromkeys((task.width, task.height) for task in tasks)
    return [f"{width}x{height}" for width, height in sizes if (width, height) not in learned]


def open_labels(folder: Path, settings: LabelSettings) -> None:
    """Creates the folder, or checks that it contains labels of the same settings; UserError if not."""
    check_labels(folder, settings)
    if not (folder / FACTS).exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / FACTS, json.dumps(settings.to_data(), indent=1) + "\n")


def check_labels(folder: Path, settings: LabelSettings) -> None:
    """Raises UserError if the folder contains labels of other settings. The teacher's file may have another name."""
    path, data = folder / FACTS, settings.to_data()
    if not path.exists():
        _refuse_other_shards(folder)
        return
    try:
        before = dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: damaged ({error}); choose another folder") from error
    if before.get("checksum") == data["checksum"]:
        del data["teacher"]  # the same file under another name
    for name, now in data.items():
        if before.get(name) != now:
            raise UserError(
                f"{folder} contains labels with {name} = {before.get(name)!r}, not {now!r}; choose another folder"
            )


def _refuse_other_shards(folder: Path) -> None:
    """Raises UserError if a folder without FACTS contains shards, such as those of self-play."""
    if shard_files(folder) and not (folder / FACTS).exists():
        raise UserError(
            f"{folder}: it contains shards, but no {FACTS}: copy it too if they are labels of a teacher, or choose "
            "another folder"
        )


def make_labels(
    settings: LabelSettings,
    folder: Path,
    tasks: Sequence[Task],
    make_teacher: Callable[[], Teacher],
    observer: Observer,
    limit: Limit,
) -> bool:
    """Makes missing and damaged shards, sharing the work with other processes that do the same.

    Args:
        settings: What determines the labels.
        folder: The folder of labels.
        tasks: The tasks whose shards are wanted.
        make_teacher: Loads the teacher; called only if a shard is missing.
        observer: Receives the progress.
        limit: Ends the work: its minutes, which begin when all files are read and the teacher is loaded, after a
            shard, and a stop at once.

    Returns:
        Whether all shards are there; False if it was stopped.

    Raises:
        UserError: The folder contains other labels, or the records contain no games.
    """
    check_labels(folder, settings)
    if not _missing(folder, tasks, observer.skipped):
        observer.progress("labels", len(tasks), len(tasks))
        limit.restart()  # else many labels would leave a short piece no time to learn
        return True
    try:
        games = _read_games(settings, folder, observer, limit)
    except Stopped:
        return False
    teacher = make_teacher()
    try:
        open_labels(folder, settings)  # only now: without games or a usable teacher it stays as it was
        limit.restart()  # else a short piece would only read, and label nothing
        while missing := [task for task in tasks if not shard_of(folder, task).exists()]:
            made = 0
            for task in missing:
                if description := _claim_and_make(settings, folder, task, games, teacher, limit.is_stopped):
                    made += 1
                    finished = sum(shard_of(folder, task).exists() for task in tasks)
                    observer.progress("labels", finished, len(tasks))
                    observer.message(f"{description}; {finished} of {len(tasks)} shards")
                if limit.is_over():  # only now, so that each piece makes one
                    return all(shard_of(folder, task).exists() for task in tasks)
            if not made:
                time.sleep(WAIT_SECONDS)  # other processes work on all of them
    finally:
        teacher.close()
    return True


def shard_of(folder: Path, task: Task) -> Path:
    """Returns the file of a task's labels."""
    return folder / f"{task.name}{SUFFIX}"


def _missing(folder: Path, tasks: Sequence[Task], on_error: Callable[[str], None]) -> list[Task]:
    """Returns the tasks without a shard; damaged shards are reported and removed."""
    missing = []
    for task in tasks:
        path = shard_of(folder, task)
        try:
            _numbers_in(path)
        except FileNotFoundError:
            missing.append(task)
        except ShardError as error:
            on_error(f"{error}; made again")
            path.unlink(missing_ok=True)
            missing.append(task)
    return missing


def _numbers_in(path: Path) -> np.ndarray:
    """Returns the numbers of the games in a shard, uint64; raises the same errors as `read_shard`."""
    return _numbers_since(path, path.stat().st_mtime_ns)


@cache
def _numbers_since(path: Path, modified: int) -> np.ndarray:
    return np.unique(read_shard(path).games["number"])


def _read_games(settings: LabelSettings, folder: Path, observer: Observer, limit: Limit) -> GameSet:
    """Returns the games of the records; raises Stopped if it was stopped."""
    if not settings.sources:
        return pack([])
    return read_sgf_dataset(
        [Path(source) for source in settings.sources],
        folder / GAMES,
        settings.filters,
        on_error=observer.skipped,
        on_progress=reading_progress(observer, limit.is_stopped),
        with_ownership=False,
    ).games


def _games_of(task: Task, folder: Path, games: GameSet, seed: int) -> np.ndarray:
    """Returns the indices of a task's games; none if all are used by other tasks.

    The games of a board size are in an order that other games do not change. Those in other shards are left out: the
    task had other games if the records were others then.
    """
    records, numbers = games.games, games.games["number"]
    is_of_size = (records["width"] == task.width) & (records["height"] == task.height)
    places = np.flatnonzero(is_of_size & (is_held(numbers) == task.is_held))
    mask = np.random.default_rng((seed, task.width, task.height)).integers(2**64, dtype=np.uint64)
    places = places[np.argsort(numbers[places] ^ mask)]  # the numbers are hashes
    count = TASK_POSITIONS // LABELS_PER_RECORD
    places = places[task.place * count : (task.place + 1) * count]
    labelled = [np.zeros(0, np.uint64)]
    for other in _tasks_in(folder):
        if other != task and (other.width, other.height) == (task.width, task.height):
            with suppress(FileNotFoundError, ShardError):  # it is made again when it is needed
                labelled.append(_numbers_in(shard_of(folder, other)))
    return places[~np.isin(numbers[places], np.concatenate(labelled))]


def _claim_and_make(
    settings: LabelSettings,
    folder: Path,
    task: Task,
    games: GameSet,
    teacher: Teacher,
    is_stopped: Callable[[], bool],
) -> str | None:
    """Makes the shard of a task.

    Returns:
        A description of it; None if another process works on it or has made it, or if it was stopped.
    """
    path = shard_of(folder, task)
    with claim(path) as is_mine:
        if not is_mine:
            return None
        start = time.perf_counter()
        walks = _walks(task, games, _games_of(task, folder, games, settings.seed), settings.seed)
        labels = teacher.label(walks, is_stopped)
        if labels is None:
            return None
        rate = len(labels) / (time.perf_counter() - start)
        write_shard(pack(labels), path, {"teacher": settings.teacher, "labels": len(labels)})
    return f"{task.name}: {plural(len(labels), 'label')}, {rate:.1f} positions/s"


def _walks(task: Task, games: GameSet, places: np.ndarray, seed: int) -> Iterator[Walk]:
    """Yields walks along the records at `places`; if there are none, through games that the teacher plays."""
    for place in places.tolist():
        yield RecordWalk(games, place, np.random.default_rng((seed, int(games.games["number"][place]))))
    if len(places):
        return
    random = np.random.default_rng((seed, task.width, task.height, task.number))
    count = max(1, TASK_POSITIONS // (task.width * task.height))
    numbers = random.integers(2**64, size=50 * VALIDATION_SHARE * count, dtype=np.uint64)
    for number in numbers[is_held(numbers) == task.is_held][:count].tolist():
        yield PlayedWalk(task.width, task.height, number, np.random.default_rng((seed, number)))


def read_labels(folder: Path, on_error: Callable[[str], None]) -> GameSet:
    """Reads all labels of a folder.

    Args:
        folder: The folder.
        on_error: Called with a message for each damaged shard, which is skipped.

    Raises:
        UserError: The folder contains no labels, or shards that are not known to be labels.
    """
    _refuse_other_shards(folder)
    sets = list(read_shards(shard_files(folder), lambda error: on_error(str(error))))
    if not sets:
        raise UserError(f"{folder}: it contains no labels; make some with --teacher")
    return join(sets)
