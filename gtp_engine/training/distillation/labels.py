"""A folder of labels: a program makes it once, with workers of a pool if need be; any number of students learn from it.

The folder contains

- `labels.json`: the teacher, the records and the seed that determine the labels
- `games/`: the records as shards (`data.sgf_dataset`)
- `19x19-00012.shard`: the labels of a task, numbered for each board size; existing ones are kept
- `lock`: locked while labels are made (`files.folder_lock`)

One game in 20 is held back for validation by its number, as among records (`game_records.is_held`).
"""

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...base.errors import UserError
from ...base.files import folder_lock, remove_leftovers, write_text
from ...base.messages import plural
from ...base.nesting import parse_json
from ...base.pool import Pool, Worker
from ...base.system import available_cpus
from ...nets.library import load_network, network_name
from ..data.samples import GameSet, join, pack
from ..data.sgf_dataset import read_sgf_dataset
from ..data.shards import SUFFIX, ShardError, read_notes, read_shard, read_shards, shard_files, write_shard
from ..progress import Limit, Observer, Stopped
from ..run_settings import RecordSettings, RunSettings, parse_size
from .teacher import PlayedWalk, RecordWalk, Teacher, Walk, load_teacher

FACTS, GAMES = "labels.json", "games"
FORMAT = "gtp_engine labels 1"
TASK_POSITIONS = 1000  # approximate number of labels per shard: the most work that a kill can cost
LABELS_PER_RECORD = 6  # approximately, including the positions after random moves
# Weights: humans play mostly on 19x19, and also on 9x9 and 13x13.
BOARD_SIZES: Mapping[tuple[int, int], float] = {(side, side): 2.0 for side in range(7, 19)} | {
    (9, 9): 12.0,
    (13, 13): 12.0,
    (19, 19): 40.0,
}


class Task(NamedTuple):
    """The labels of one shard: the size of the board, and a number among the tasks of that size."""

    width: int
    height: int
    number: int

    @property
    def name(self) -> str:
        """The name of the shard, such as 19x19-00012."""
        return f"{self.width}x{self.height}-{self.number:05d}"


Labelled: TypeAlias = tuple[Task, GameSet, float]
"""A task, its labels, and how many were made a second."""


def tasks_for(positions: int, sizes: Mapping[tuple[int, int], float]) -> list[Task]:
    """Returns the tasks for about a number of labels, given the weights of the board sizes.

    Any initial part of the list has about the same mixture of board sizes.
    """
    total = sum(sizes.values())
    tasks = []
    for (width, height), weight in sizes.items():
        count = -(-positions * weight / total // TASK_POSITIONS)
        tasks += [((number + 0.5) / count, Task(width, height, number)) for number in range(int(count))]
    return [task for _, task in sorted(tasks, key=lambda entry: (entry[0], entry[1].name))]


def facts_of(records: RecordSettings) -> dict[str, Any]:
    """Returns what determines the labels of a run with a teacher, as FACTS contains it; OSError without its file."""
    with open(records.teacher, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    teacher = {"format": FORMAT, "teacher": network_name(Path(records.teacher)), "checksum": checksum}
    sources = [str(Path(source).absolute()) for source in records.games]
    return {**teacher, "sources": sources, **records.filters, "seed": records.seed}


def fill_labels(
    settings: RunSettings, folder: Path, observer: Observer, limit: Limit, pool: Pool | None = None
) -> None:
    """Makes the labels that a run's settings ask for and the folder lacks; see `make_labels`.

    If it lacks none, the teacher's file may be gone.
    """
    records = settings.records
    sizes = {parse_size(name): weight for name, weight in records.label_sizes.items()}
    tasks = tasks_for(records.positions, sizes or BOARD_SIZES)
    if _missing(folder, tasks) or Path(records.teacher).exists():
        make_labels(settings, folder, tasks, observer, limit, pool)
    count = sum(int(read_notes(shard_of(folder, task))["labels"]) for task in tasks)
    observer.message(
        f"{plural(count, 'label')} in {plural(len(tasks), 'shard')}, {records.positions:,} were asked for: a shard "
        f"has about {TASK_POSITIONS:,}, fewer if its games are short or soon decided"
    )


def check_labels(folder: Path, facts: Mapping[str, Any]) -> None:
    """Raises UserError if the folder contains labels for which other `facts_of` hold.

    The teacher's file may have another name.
    """
    path = folder / FACTS
    if not path.exists():
        _refuse_other_shards(folder)
        return
    try:
        before = dict(parse_json(path.read_text()))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: damaged ({error}); choose another folder") from error
    is_same_file = before.get("checksum") == facts["checksum"]
    for name, now in facts.items():
        if before.get(name) != now and not (name == "teacher" and is_same_file):
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
    settings: RunSettings,
    folder: Path,
    tasks: Sequence[Task],
    observer: Observer,
    limit: Limit,
    pool: Pool | None = None,
) -> None:
    """Makes the missing and damaged shards of some tasks.

    Workers of a pool label the positions, or this process does. The teacher is loaded only if a shard is missing. The
    limit ends the work: its minutes, which begin when all files are read and the teacher is loaded, after a shard, and
    a stop at once.

    Raises:
        Stopped: The limit is reached, and shards are still missing.
        UserError: The folder contains other labels, another program makes some there, or the records contain no games.
    """
    records = settings.records
    facts = facts_of(records)
    check_labels(folder, facts)
    _remove_damaged(folder, tasks, observer.skipped)
    if not _missing(folder, tasks):
        observer.progress("labels", len(tasks), len(tasks))
        limit.restart()  # else many labels would leave a short piece no time to learn
        return
    games = pack([])
    if records.games:
        games = read_sgf_dataset(records, folder / GAMES, observer, limit, with_ownership=False)
    labeller = _PoolLabeller(settings, games, pool) if pool else _Labeller(settings, games)
    folder.mkdir(parents=True, exist_ok=True)  # only now: without games or a usable teacher it stays as it was
    with closing(labeller), folder_lock(folder):
        remove_leftovers(folder, SUFFIX)
        if not (folder / FACTS).exists():
            write_text(folder / FACTS, json.dumps(facts, indent=1) + "\n")
        limit.restart()  # else a short piece would only read, and label nothing
        waiting = _missing(folder, tasks)
        others = itertools.takewhile(lambda _: not limit.is_over(), waiting[1:])  # the first one in any case
        for task, labels, rate in labeller.label(itertools.chain(waiting[:1], others), limit):
            notes = {"teacher": network_name(Path(records.teacher)), "labels": labels.game_count}
            write_shard(labels, shard_of(folder, task), notes)
            done = len(tasks) - len(_missing(folder, tasks))
            observer.progress("labels", done, len(tasks))
            count = plural(labels.game_count, "label")
            observer.message(f"{task.name}: {count}, {rate:.1f} positions/s; {done} of {plural(len(tasks), 'shard')}")
        if _missing(folder, tasks):
            raise Stopped


def shard_of(folder: Path, task: Task) -> Path:
    """Returns the file of a task's labels."""
    return folder / f"{task.name}{SUFFIX}"


def _missing(folder: Path, tasks: Sequence[Task]) -> list[Task]:
    return [task for task in tasks if not shard_of(folder, task).exists()]


def _remove_damaged(folder: Path, tasks: Sequence[Task], on_error: Callable[[str], None]) -> None:
    """Reports and removes damaged shards."""
    for path in (shard_of(folder, task) for task in tasks):
        try:
            read_shard(path)
        except FileNotFoundError:
            continue
        except ShardError as error:
            on_error(f"{error}; made again")
            path.unlink(missing_ok=True)


class _Labeller:
    """Labels tasks in this process."""

    def __init__(self, settings: RunSettings, games: GameSet) -> None:
        machine, records = settings.machine, settings.records
        self._teacher = load_teacher(Path(records.teacher), machine.device, machine.threads or available_cpus())
        self._games, self._seed = games, records.seed

    def close(self) -> None:
        """Frees the teacher's memory."""
        self._teacher.close()

    def label(self, tasks: Iterator[Task], limit: Limit) -> Iterator[Labelled]:
        """Yields tasks with their labels; Stopped if the limit is stopped."""
        for task in tasks:
            places = _places_of(task, self._games, self._seed)
            yield task, *_label(self._teacher, _walks(task, self._games, places, self._seed), limit.is_stopped)


class _PoolLabeller:
    """Has workers of a pool label tasks, each with the records of its task."""

    def __init__(self, settings: RunSettings, games: GameSet, pool: Pool) -> None:
        records, self._device = settings.records, settings.machine.device
        load_network(Path(records.teacher))  # raises its errors
        pool.prepare(with_gpus=self._device != "cpu")
        self._pool, self._teacher = pool, pool.share(Path(records.teacher))
        self._games, self._seed = games, records.seed

    def close(self) -> None:
        """Does nothing: the pool belongs to somebody else."""

    def label(self, tasks: Iterator[Task], limit: Limit) -> Iterator[Labelled]:
        """Yields tasks with their labels; Stopped if the limit is stopped."""
        for task, (labels, rate) in self._pool.results(tasks, self._call, partial(_check_stop, limit)):
            yield task, labels, rate

    def _call(self, worker: int, task: Task) -> int:
        chosen = np.zeros(self._games.game_count, np.bool_)
        chosen[_places_of(task, self._games, self._seed)] = True
        arguments = task, self._games.choose(chosen), self._seed, self._device, self._teacher
        return self._pool.call(worker, _label_there, *arguments)


def _check_stop(limit: Limit) -> None:
    if limit.is_stopped():
        raise Stopped


def _label_there(
    worker: Worker, task: Task, games: GameSet, seed: int, device: str, path: str
) -> tuple[GameSet, float]:
    """Labels a task in a worker's process, given its own games; returns the labels, and how many a second."""
    teacher = worker.kept("teacher", path, lambda: load_teacher(Path(path), device))
    places = _places_of(task._replace(number=0), games, seed)
    return _label(teacher, _walks(task, games, places, seed), lambda: False)


def _label(teacher: Teacher, walks: Iterator[Walk], is_stopped: Callable[[], bool]) -> tuple[GameSet, float]:
    """Returns the labels of walks, and how many a second; Stopped if it is stopped."""
    start = time.perf_counter()
    labels = teacher.label(walks, is_stopped)
    if labels is None:
        raise Stopped
    return pack(labels), len(labels) / (time.perf_counter() - start)


def _walks(task: Task, games: GameSet, places: list[int], seed: int) -> Iterator[Walk]:
    """Yields walks along the records of a task, by their indices; if there are none, through games of the teacher."""
    for place in places:
        yield RecordWalk(games, place, np.random.default_rng((seed, int(games.games["number"][place]))))
    if places:
        return
    random = np.random.default_rng((seed, *task))
    count = max(1, TASK_POSITIONS // (task.width * task.height))
    for number in random.integers(2**64, size=count, dtype=np.uint64).tolist():
        yield PlayedWalk(task.width, task.height, number, np.random.default_rng((seed, number)))


def _places_of(task: Task, games: GameSet, seed: int) -> list[int]:
    """Returns the indices of a task's games; none if all are used by other tasks.

    The games of a board size are in an order that other games do not change.
    """
    records, numbers = games.games, games.games["number"]
    places = np.flatnonzero((records["width"] == task.width) & (records["height"] == task.height))
    mask = np.random.default_rng((seed, task.width, task.height)).integers(2**64, dtype=np.uint64)
    places = places[np.argsort(numbers[places] ^ mask)]  # the numbers are hashes
    count = TASK_POSITIONS // LABELS_PER_RECORD
    return places[task.number * count : (task.number + 1) * count].tolist()


def read_labels(folder: Path, on_error: Callable[[str], None]) -> GameSet:
    """Reads all labels of a folder; `on_error` is called with a message for each damaged shard, which is skipped.

    Raises:
        UserError: The folder contains no labels, or shards that are not known to be labels.
    """
    _refuse_other_shards(folder)
    sets = list(read_shards(shard_files(folder), lambda error: on_error(str(error))))
    if not sets:
        raise UserError(f"{folder}: it contains no labels; make some with --teacher")
    return join(sets)
