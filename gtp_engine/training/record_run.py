"""A run that learns game records, or a teacher's outputs for positions."""

import math
import time
from dataclasses import replace
from pathlib import Path

from ..base.errors import UserError
from ..base.messages import plural
from ..base.system import configure_torch
from ..nets.katago_file import write_katago_file
from ..nets.library import load_network, network_name
from ..nets.model import Model
from .data.game_records import is_held
from .data.loader import Samples
from .data.samples import GameSet
from .data.sgf_dataset import has_other_filters, read_sgf_dataset
from .distillation.labels import fill_labels, read_labels
from .learner import playing_network
from .losses import distances
from .run import Run

# Seconds between two validations, whatever the settings say: slow machines need hours for `validate` samples.
_VALIDATION_SECONDS = 120.0
# Validations, and the files of the network, are this many times as far apart as the last one took.
_LEAST_INTERVAL = 20


class RecordRun(Run):
    """A run of `learn`: all samples are there before it learns, and some games are held back for validation."""

    command = "learn"
    _averaged: tuple[int, Model] | None = None  # the averaged network after this many samples
    _written_at, _writing_took = -math.inf, 0.0  # the last file of the network
    _validated_at, _validation_took = 0.0, 0.0  # the last validation; 0 before the records are read

    @property
    def network(self) -> Path:
        start = self.state.start
        return self.folder.network(network_name(Path(start)) if start else self.settings.begin.network)

    def _work(self) -> None:
        records, learn = self.settings.records, self.settings.learn
        kind = "label" if records.has_labels else "game"
        status = f"resuming after {plural(self.learner.samples, 'sample')}" if self.learner.samples else "starting"
        self.observer.begin(f"{self.network.name} from {kind}s, in {self.folder.path}: {status}", self.state.lines)
        games = self._labels() if records.has_labels else self._records()
        held = is_held(games.games["number"])
        if held.all():
            remedy = "ask for more with --teacher and --positions" if records.has_labels else "add more games"
            raise UserError(f"nothing to learn: {plural(len(held), kind)} read, all held back for validation; {remedy}")
        areas = self.learner.model.config.suicide_areas
        self._samples, self._validation = (
            Samples(games.choose(chosen), searched_share=learn.searched_share, suicide_areas=areas)
            for chosen in (~held, held)
        )
        learned = self._samples.games.game_count
        self.observer.message(f"{plural(learned, kind)} to learn, {games.game_count - learned:,} held back")
        # A folder of labels may have grown meanwhile.
        if self.state.available not in (0, len(self._samples)) and not records.has_labels:
            raise UserError(
                f"{self.folder.path}: its run learned from other games, {self.state.available:,} positions instead of "
                f"{len(self._samples):,}: restore the records, or start a new run in another folder with "
                f"--from {self.network}"
            )
        self.state.available = len(self._samples)
        wanted = learn.samples or learn.epochs * len(self._samples)
        self.learner.settings = replace(self.learner.settings, total=wanted)
        self._start_clock()
        self._validated_at = time.monotonic()
        if not self.state.lines:
            self._measure()  # what the run starts from
        with self._saved_if_stopped():
            self._learn(self._samples, wanted, "learning", lambda: self._report_if_due(wanted))

    def _records(self) -> GameSet:
        """Returns the games of the records."""
        records = self.settings.records
        if self.state.available and has_other_filters(self.folder.games, records):
            raise UserError(
                f"{self.folder.settings_file}: board_sizes, rank, since, until or least_moves differ from those of the "
                "games that the run has learned from; restore them, or start a new run in another folder"
            )
        games = read_sgf_dataset(records, self.folder.games, self.observer, self.limit)
        self.limit.restart()  # else a short piece would only read, and learn nothing
        return games

    def _labels(self) -> GameSet:
        """Returns the labels; a teacher makes those that are missing."""
        records = self.settings.records
        folder = self.folder.labels_of(self.settings)
        if records.teacher:
            if Path(records.teacher).exists():  # it is not needed any more if it has labelled everything
                self._warn_of_size(Path(records.teacher))
            fill_labels(self.settings, folder, self.observer, self.limit, self._pool)
            configure_torch(self._group.thread_share(self._threads))
        with self.limit.not_counted():
            return read_labels(folder, self.observer.skipped)

    def _warn_of_size(self, teacher: Path) -> None:
        mine, others = (model.config.parameter_count for model in (self.learner.model, load_network(teacher)))
        if mine > others:
            sizes = f"{mine:,} parameters, not {others:,}"
            self.observer.message(f"warning: the network is larger than its teacher: {sizes}")

    def _report_if_due(self, wanted: int) -> None:
        """Adds a line to the log if the last batch was the last one, or passed a multiple of the settings.

        The last line takes what is left over: a mean over a few samples would look like a jump.
        """
        records, left = self.settings.records, wanted - self.learner.samples
        is_validated = left <= 0 or self._is_due(records.validate)
        if is_validated or (self._is_due(records.report) and left >= records.report / 2):
            line = self._new_line(self.learner.take_losses())
            if is_validated:
                line["validation"] = self._validate()
            self._publish(line)
        elif time.monotonic() - self._validated_at > max(_VALIDATION_SECONDS, _LEAST_INTERVAL * self._validation_took):
            self._measure()

    def _is_due(self, interval: int) -> bool:
        """Whether the last batch passed a multiple of `interval` samples."""
        return self.learner.samples // interval > (self.learner.samples - self.settings.learn.batch_size) // interval

    def _validate(self) -> dict[str, float]:
        """Measures the network that plays on games that are held back."""
        records, start = self.settings.records, time.monotonic()
        also = distances if records.has_labels else None
        model = self._averaged_network(self._samples)
        found = self._measured(model, self._validation, records.validation_samples, also)
        self._validated_at = time.monotonic()
        self._validation_took = self._validated_at - start
        return found

    def _measure(self) -> None:
        """Adds a line to the log between two regular ones, which alone have means of losses, each over an interval."""
        self._publish(self._new_line({}) | {"validation": self._validate()})

    def _measure_piece(self) -> None:
        if not self._validated_at:  # the records were not read
            return
        last = self.state.lines[-1]
        if last["samples"] != self.learner.samples or "validation" not in last:
            self._measure()
            super().save()

    def _averaged_network(self, samples: Samples) -> Model:
        if self._averaged is None or self._averaged[0] != self.learner.samples:
            self._averaged = self.learner.samples, super()._averaged_network(samples)
        return self._averaged[1]

    def save(self) -> None:
        super().save()  # first: a kill must not cost more than the network's file, which takes longer
        start = time.monotonic()
        write_katago_file(playing_network(self._averaged_network(self._samples)).stored(), self.network)
        self._written_at = time.monotonic()
        self._writing_took = self._written_at - start

    def _save_meanwhile(self) -> None:
        # A kill costs what the state lacks, whereas the network's file may be older. It needs statistics of its batch
        # norms, from MEASURED_SAMPLES evaluations: with b6c96 on 19x19 they take a thread as long as 1,500 samples to
        # learn, a fifth of SAVE_SECONDS.
        if time.monotonic() - self._written_at > _LEAST_INTERVAL * self._writing_took:
            self.save()
        else:
            super().save()
