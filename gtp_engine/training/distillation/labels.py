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
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...base.files import claim, folder_lock, write_text
from ...base.messages import plural
from ...base.system import available_cpus
from ...network.library import network_name
from ..data.game_records import VALIDATION_SHARE, Filters, is_held
from ..data.samples import GameSet, join, pack
from ..data.sgf_dataset import read_sgf_dataset
from ..data.shards import SUFFIX, ShardError, read_notes, read_shard, read_shards, shard_files, write_shard
from ..limit import Limit, Stopped
from ..observer import Observer, reading_progress
from ..settings import RunSettings, parse_size
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
        data: dict[str, Any] = json.loads(json.dumps({"format": FORMAT} | asdict(self)))
        return data


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
        before = json.loads(path.read_text())
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error}); choose another folder") from error
    if isinstance(before, dict) and before.get("checksum") == data["checksum"]:
        del data["teacher"]  # the same file under another name
    old, new = _flat(before), _flat(data)
    for name, now in new.items():
        if old.get(name) != now:
            raise UserError(
                f"{folder} contains labels with {name} = {old.get(name)!r}, not {now!r}; choose another folder"
            )


def _flat(facts: object) -> dict[str, Any]:
    """Returns the facts of labels with those of their filters beside the others; none if they are damaged."""
    if not isinstance(facts, dict):
        return {}
    filters = facts.get("filters")
    return {**facts, **filters, "filters": None} if isinstance(filters, dict) else facts


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
    known: dict[str, np.ndarray] = {}
    missing = _missing(folder, tasks, known, observer.skipped)
    if not missing:
        observer.progress("labels", len(tasks), len(tasks))
        limit.restart()  # else many labels would leave a short piece no time to learn
        return True
    games = _read_games(settings, folder, observer, limit.is_stopped)
    if games is None:
        return False
    by_size = {(task.width, task.height): _of_size(games, task, settings.seed) for task in tasks}
    teacher = make_teacher()
    try:
        open_labels(folder, settings)  # only now: without games or a usable teacher it stays as it was
        limit.restart()  # else a short piece would only read, and label nothing
        while missing and not limit.is_over():
            for task in missing:
                records = by_size[task.width, task.height]
                made = _claim_and_make(settings, folder, task, records, known, teacher, limit.is_stopped)
                missing = [task for task in missing if not shard_of(folder, task).exists()]
                if made:
                    finished = len(tasks) - len(missing)
                    observer.progress("labels", finished, len(tasks))
                    observer.message(f"{made}; {finished} of {len(tasks)} shards")
                    break  # other processes may have made the next ones
                if limit.is_over():
                    break
            else:
                time.sleep(WAIT_SECONDS)  # other processes work on all of them
    finally:
        teacher.close()
    return not missing


def shard_of(folder: Path, task: Task) -> Path:
    """Returns the file of a task's labels."""
    return folder / f"{task.name}{SUFFIX}"


def _missing(
    folder: Path, tasks: Sequence[Task], known: dict[str, np.ndarray], on_error: Callable[[str], None]
) -> list[Task]:
    """Returns the tasks without a shard; damaged shards are reported and removed.

    Args:
        folder: The folder of labels.
        tasks: The tasks whose shards are wanted.
        known: Receives the numbers of the games in each shard, by its name.
        on_error: Called with a message for each damaged shard.
    """
    missing = []
    for task in tasks:
        path = shard_of(folder, task)
        try:
            known[path.name] = _numbers_in(path)
        except FileNotFoundError:
            missing.append(task)
        except ShardError as error:
            on_error(f"{error}; made again")
            path.unlink(missing_ok=True)
            missing.append(task)
    return missing


def _numbers_in(path: Path) -> np.ndarray:
    """Returns the numbers of the games in a shard, uint64; raises the same errors as `read_shard`."""
    return np.unique(read_shard(path).games["number"])


def _labelled(folder: Path, task: Task, known: dict[str, np.ndarray]) -> np.ndarray:
    """Returns the numbers of the games in the other shards of a task's board size, uint64.

    Args:
        folder: The folder of labels.
        task: The task.
        known: The numbers of the games in the shards that were read before, by their names; the others are added.
    """
    size = f"{task.width}x{task.height}-"
    for path in shard_files(folder):
        if path.name.startswith(size) and path.name not in known:
            with suppress(FileNotFoundError, ShardError):  # it is made again when it is needed
                known[path.name] = _numbers_in(path)
    own = shard_of(folder, task).name
    found = [numbers for name, numbers in known.items() if name.startswith(size) and name != own]
    return np.concatenate([np.zeros(0, np.uint64), *found])


def _read_games(
    settings: LabelSettings, folder: Path, observer: Observer, is_stopped: Callable[[], bool]
) -> GameSet | None:
    """Returns the games of the records, None if it was stopped. The first process makes their shards, others wait."""
    if not settings.sources:
        return pack([])
    sources, games = [Path(source) for source in settings.sources], folder / GAMES
    games.mkdir(parents=True, exist_ok=True)

    while not is_stopped():
        with ExitStack() as stack:
            try:
                stack.enter_context(folder_lock(games))
            except ValueError:
                time.sleep(WAIT_SECONDS)
                continue
            with suppress(Stopped):
                return read_sgf_dataset(
                    sources,
                    games,
                    settings.filters,
                    on_error=observer.skipped,
                    on_progress=reading_progress(observer, is_stopped),
                    with_ownership=False,
                ).games
    return None


@dataclass(frozen=True)
class _Records:
    """The games of one board size, shuffled.

    Attributes:
        games: Games of all sizes.
        learned: Indices of those of this size to learn from.
        held: Indices of those of this size that are held back for validation.
    """

    games: GameSet
    learned: np.ndarray
    held: np.ndarray

    def of_task(self, task: Task, labelled: np.ndarray) -> np.ndarray:
        """Returns the indices of a task's games; none if all are used by other tasks.

        Args:
            task: The task.
            labelled: Numbers of games in other shards; the task had other games if the records were others then.
        """
        count = TASK_POSITIONS // LABELS_PER_RECORD
        places = self.held if task.is_held else self.learned
        places = places[task.place * count : (task.place + 1) * count]
        return places[~np.isin(self.games.games["number"][places], labelled)]


def _of_size(games: GameSet, task: Task, seed: int) -> _Records:
    """Returns the games of a board size in the order of the shards, which other games do not change."""
    places = np.flatnonzero((games.games["width"] == task.width) & (games.games["height"] == task.height))
    mask = np.random.default_rng((seed, task.width, task.height)).integers(2**64, dtype=np.uint64)
    places = places[np.argsort(games.games["number"][places] ^ mask)]  # the numbers are hashes
    held = is_held(games.games["number"][places])
    return _Records(games, places[~held], places[held])


def _claim_and_make(
    settings: LabelSettings,
    folder: Path,
    task: Task,
    records: _Records,
    known: dict[str, np.ndarray],
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
        start, before = time.perf_counter(), teacher.evaluated
        walks = _walks(task, records, records.of_task(task, _labelled(folder, task, known)), settings.seed)
        labels = teacher.label(walks, is_stopped)
        if labels is None:
            return None
        evaluated, seconds = teacher.evaluated - before, time.perf_counter() - start
        notes = {"task": task.name, "teacher": settings.teacher, "labels": len(labels), "evaluated": evaluated}
        write_shard(pack(labels), path, notes | {"seconds": round(seconds, 1)})
    return f"{task.name}: {plural(len(labels), 'label')}, {evaluated / seconds:.1f} positions/s"


def _walks(task: Task, records: _Records, places: np.ndarray, seed: int) -> Iterator[Walk]:
    """Yields walks along the records at `places`; if there are none, through games that the teacher plays."""
    for place in places:
        number = int(records.games.games["number"][place])
        yield RecordWalk(records.games, int(place), np.random.default_rng((seed, number)))
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
