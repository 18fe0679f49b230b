"""Learning from game records: one folder a run, which the same command goes on with, killed or not.

The folder holds

- `settings.json`: what decides the run
- `games/`: the records as shards (`gather`)
- `checkpoint.pt`: the network that plays and all of the learner's state
- `NAME.bin.gz`: the network that plays, in KataGo's format
- `log.jsonl`: a line for each report; what was written after the checkpoint that a run goes on from is cut off
- `tensorboard/`: the same for TensorBoard (`event_files`)
- `lock`: held by the program that is at work (`lock.only_one_in`).
"""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from ..files import write_text
from ..lock import LOCK
from ..network.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from ..network.config import parse_config
from ..network.katago_file import write_katago_file
from ..network.library import load_network
from ..network.model import Model
from .event_files import FOLDER, EventFiles
from .gather import Gathered, gather
from .learner import MEASURED_SAMPLES, Learner, LearnerSettings, playing_network, rate_at
from .loader import Batch, Loader, Samples, fixed_batches
from .ranks import Ranks
from .records import Filters
from .samples import GameSet
from .together import begin_lesson

SETTINGS, GAMES, CHECKPOINT, LOG = "settings.json", "games", "checkpoint.pt", "log.jsonl"
FORMAT = "gtp_engine learn 1"
VALIDATION_SHARE = 20  # one game of so many
VALIDATION_SEED = 1
_CHANGEABLE = ("learner.total", "validate")  # a run may be prolonged, and measured more often
SAVE_SECONDS = 120.0  # between checkpoints: what a kill costs at most


@dataclass(frozen=True, kw_only=True)
class SupervisedSettings:
    """What decides a run. config: a network's short name, and that of its file. start: the file of a network to begin
    with, whatever config says; None: a fresh one. report, validate: samples between two of them. validation_samples:
    positions of games that are not learned from."""

    sources: tuple[str, ...]
    config: str = "b6c96"
    start: str | None = None
    filters: Filters = field(default=Filters())
    learner: LearnerSettings = field(default=LearnerSettings())
    seed: int = 1
    report: int = 25_600
    validate: int = 256_000
    validation_samples: int = 8192

    def __post_init__(self) -> None:
        if self.start is None:
            parse_config(self.config)  # a wrong name is told before the games are read

    def to_data(self) -> dict[str, Any]:
        """Plain data, as JSON gives it back."""
        data: dict[str, Any] = json.loads(json.dumps({"format": FORMAT} | asdict(self)))
        return data


@dataclass(frozen=True)
class Report:
    """samples: learned so far. rate: samples a second since the last report. learning, validation: mean losses (and
    accuracies); validation is empty but where it was measured."""

    samples: int
    seconds: float
    rate: float
    learning_rate: float
    learning: Mapping[str, float]
    validation: Mapping[str, float]


class Limit:
    """When a piece of a run is over: `minutes` after now, or once somebody has stopped it."""

    def __init__(self, minutes: float | None = None) -> None:
        self._end = None if minutes is None else time.monotonic() + 60 * minutes
        self.stopped = False
        """Set it to end the piece soon."""

    def is_over(self) -> bool:
        return self.stopped or (self._end is not None and time.monotonic() >= self._end)


class Observer(Protocol):
    """Whom a run tells how it goes on."""

    def damaged(self, message: str) -> None:
        """A record or file that was left out."""

    def gathering(self, done: int, portions: int, games: int) -> None:
        """Portions of the records that are read."""

    def gathered(self, found: Gathered, learned: int, validated: int) -> None:
        """All records are read: games to learn from, and to validate with."""

    def step(self, samples: int, total: int) -> None:
        """A batch was learned."""

    def report(self, report: Report) -> None:
        """A line of the log."""


def learn(
    settings: SupervisedSettings,
    folder: Path,
    observer: Observer,
    *,
    device: torch.device | None = None,
    loader_threads: int = 1,
    limit: Limit | None = None,
    save_seconds: float = SAVE_SECONDS,
    ranks: Ranks | None = None,
) -> bool:
    """Learns until all samples are learned (True), or the limit is reached (False). ranks: of the processes that learn
    together this is the first.

    Raises ValueError where the folder holds another run, the network to begin with cannot be learned, no game is left
    or the batches cannot be shared by `ranks`, LossNotFinite, and OSError.
    """
    limit = limit or Limit()
    ranks = ranks or Ranks.alone()
    ranks.check_batch(settings.learner.batch_size)
    if settings.start is not None and not (folder / CHECKPOINT).exists():
        _first_model(settings)  # a wrong one is told before the games are read, and leaves no run behind
    settings = begin_or_resume(folder, settings)

    def go_on(done: int, portions: int, games: int) -> bool:
        observer.gathering(done, portions, games)
        return done == portions or not limit.is_over()

    sources = [Path(source) for source in settings.sources]
    on_error = observer.damaged
    found = gather(sources, folder / GAMES, settings.filters, on_error=on_error, on_progress=go_on)
    if found is None:
        return False
    held = is_held(found.games.games["number"])
    if held.all():
        raise ValueError(f"there is no game to learn from: all {len(held)} are of the validation's share")
    learned, validated = found.games.choose(~held), found.games.choose(held)
    observer.gathered(found, len(learned), len(validated))
    machine = device or torch.device("cpu"), loader_threads, ranks
    run = Run(settings, folder, learned, validated, *machine)
    return run.go(limit, save_seconds, observer)


def is_held(numbers: np.ndarray) -> np.ndarray:
    """bool: whether games, by their numbers (uint64), are held back to validate with."""
    return (numbers & np.uint64(0xFFFFFFFF)) % np.uint64(VALIDATION_SHARE) == 0


def begin_or_resume(folder: Path, settings: SupervisedSettings) -> SupervisedSettings:
    """Makes the run's folder, or checks that it holds the same run: the same settings but for those of `_CHANGEABLE`,
    or any where nothing was learned yet.

    Raises ValueError that says what differs, or that another thing is there.
    """
    path = folder / SETTINGS
    data = settings.to_data()
    if not path.exists():
        if folder.exists() and any(entry.name != LOCK for entry in folder.iterdir()):
            raise ValueError(f"{folder}: neither a folder of learn nor empty; give another one")
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(data, indent=1) + "\n")
        return settings
    for unfinished in folder.rglob(".*.tmp*"):  # of a program that was killed
        unfinished.unlink(missing_ok=True)
    try:
        before = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: damaged ({error}); give another folder") from error
    if not isinstance(before, dict) or before.get("format") != FORMAT:
        raise ValueError(f"{path}: not a run of this version ({FORMAT!r} is not in it); give another folder")
    others = {name: pair for name, pair in differences(before, data).items() if name not in _CHANGEABLE}
    if others and not (folder / CHECKPOINT).exists():  # it failed before it began to learn: that binds nobody
        shutil.rmtree(folder / GAMES, ignore_errors=True)
        others = {}
    for name, (old, new) in others.items():
        raise ValueError(f"{folder} holds a run with {name} = {old!r}, not {new!r}: give another folder, or the same")
    write_text(path, json.dumps(data, indent=1) + "\n")
    return settings


def recorded_precision(folder: Path) -> str | None:
    """That of the run in the folder, which goes on with it."""
    try:
        precision = json.loads((folder / SETTINGS).read_text())["learner"]["precision"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(precision)


def differences(old: Any, new: Any, name: str = "") -> dict[str, tuple[Any, Any]]:
    """Where plain data differ: both values by the path of names."""
    if isinstance(old, dict) and isinstance(new, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in sorted({*old, *new}):
            found |= differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
        return found
    return {} if old == new else {name: (old, new)}


class Run:
    """A run whose games are at hand: learner, loader, log."""

    def __init__(
        self,
        settings: SupervisedSettings,
        folder: Path,
        learned: GameSet,
        validated: GameSet,
        device: torch.device,
        loader_threads: int,
        ranks: Ranks | None = None,
    ) -> None:
        self.settings, self.folder = settings, folder
        checkpoint = folder / CHECKPOINT
        saved = read_checkpoint(checkpoint) if checkpoint.exists() else None
        model = saved.model if saved is not None else _first_model(settings)
        areas = model.config.suicide_areas
        self.learned, self.validated = (Samples(games, suicide_areas=areas) for games in (learned, validated))
        self.total = settings.learner.total or len(self.learned)  # all of them once
        self._ranks = ranks or Ranks.alone()
        self.learner = Learner(model, replace(settings.learner, total=self.total), device, self._ranks)
        self.seconds = 0.0  # of learning, over all pieces
        if saved is not None:
            state = saved.training or {}
            if state.get("samples_of") != len(self.learned):
                raise ValueError(f"{folder}: its run learned from other games; give another folder")
            self.learner.load_state(state)
            self.seconds = float(state["seconds"])
        self.log = Log(folder / LOG, self.learner.samples)
        self.events = EventFiles(folder / FOLDER, "samples", self.log.entries)
        self.loader = Loader(
            self.learned,
            settings.learner.batch_size,
            seed=settings.seed,
            drawn=self.learner.samples,
            threads=loader_threads,
            pinned=device.type == "cuda",
            part=(self._ranks.rank, self._ranks.count),
        )

    @property
    def network_file(self) -> Path:
        return self.folder / f"{self.settings.config}.bin.gz"

    def go(self, limit: Limit, save_seconds: float, observer: Observer) -> bool:
        """Learns until all is done (True) or the time is up (False); what is learned is saved either way."""
        total = self.total
        saved = started = time.monotonic()
        begin_lesson(self._ranks, self.learner, self.loader)
        try:
            while self.learner.samples < total and not limit.is_over():
                self.learner.step(next(self.loader))
                now = time.monotonic()
                self.seconds, started = self.seconds + now - started, now
                observer.step(self.learner.samples, total)
                if self._is_due(self.settings.report) or self.learner.samples >= total:
                    is_last = self.learner.samples >= total
                    observer.report(self._report(validate=is_last or self._is_due(self.settings.validate)))
                    started = time.monotonic()
                if time.monotonic() - saved >= save_seconds:
                    self.save()
                    saved = started = time.monotonic()
        finally:
            self.loader.close()
        self.save()
        return self.learner.samples >= total

    def _is_due(self, interval: int) -> bool:
        """Whether the last batch passed a multiple of `interval` samples."""
        return self.learner.samples // interval > (self.learner.samples - self.settings.learner.batch_size) // interval

    def _report(self, *, validate: bool) -> Report:
        """Takes the losses, measures the network that plays where asked, and writes a line of the log."""
        learning = self.learner.take_losses()
        validation = self.learner.evaluate(self._averaged_network(), self._validation()) if validate else {}
        samples, seconds = self.learner.samples, self.seconds
        before, seconds_before = self.log.last
        report = Report(
            samples=samples,
            seconds=round(seconds, 1),
            rate=round((samples - before) / max(seconds - seconds_before, 1e-9), 1),
            learning_rate=rate_at(self.learner.settings, samples),
            learning={name: round(value, 5) for name, value in learning.items()},
            validation={name: round(value, 5) for name, value in validation.items()},
        )
        self.log.write(asdict(report))
        self.events.add(asdict(report))
        return report

    def _averaged_network(self) -> Model:
        return self.learner.averaged_network(fixed_batches(self.learned, MEASURED_SAMPLES, self.settings.seed))

    def _validation(self) -> Iterator[Batch]:
        return fixed_batches(self.validated, self.settings.validation_samples, VALIDATION_SEED)

    def save(self) -> None:
        """Writes checkpoint and network, each whole or not at all. Raises LossNotFinite before anything is written."""
        self.learner.check()
        model = playing_network(self._averaged_network()).to("cpu")
        state = self.learner.state() | {"samples_of": len(self.learned), "seconds": self.seconds}
        card = {"made_by": "gtp_engine learn", "settings": self.settings.to_data(), "samples": self.learner.samples}
        write_katago_file(model, self.network_file)
        write_checkpoint(Checkpoint(model, state, card), self.folder / CHECKPOINT)


def _first_model(settings: SupervisedSettings) -> Model:
    if settings.start is not None:
        model = load_network(Path(settings.start))
        if model.config.metadata_version:
            raise ValueError(f"{settings.start}: it imitates people and has to be told whom, which learn cannot do")
        return model
    generator = torch.Generator().manual_seed(settings.seed)
    return Model(parse_config(settings.config)).initialise(generator)


class Log:
    """The lines of a run, up to the samples of the checkpoint that it goes on from; those after it come again."""

    def __init__(self, path: Path, samples: int) -> None:
        self.path = path
        self.entries: list[dict[str, Any]] = []
        """What it held at the start."""
        self.last = (0, 0.0)  # samples and seconds of the last line
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    break  # cut when the program was killed
                if entry["samples"] > samples:
                    break
                self.entries.append(entry)
                self.last = entry["samples"], entry["seconds"]
        write_text(path, "".join(json.dumps(entry) + "\n" for entry in self.entries))

    def write(self, entry: Mapping[str, Any]) -> None:
        """Adds a line."""
        self.last = entry["samples"], entry["seconds"]
        with open(self.path, "a") as file:
            file.write(json.dumps(entry) + "\n")
