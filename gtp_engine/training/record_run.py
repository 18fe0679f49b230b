"""A run that learns game records, or a teacher's outputs for positions."""

from dataclasses import replace
from pathlib import Path

from ..base.errors import UserError
from ..base.messages import plural
from ..network.katago_file import write_katago_file
from ..network.library import load_network, network_name
from .data.loader import Samples, fixed_batches
from .data.samples import GameSet
from .data.sgf_dataset import read_sgf_dataset
from .distillation.labels import fill_labels, read_labels
from .learner import playing_network
from .limit import Stopped
from .losses import distances
from .observer import reading_progress
from .run import Run, rounded
from .validation import VALIDATION_SEED, is_held


class RecordRun(Run):
    """A run of `learn`: all samples are there before it learns, and some games are held back for validation."""

    command = "learn"

    @property
    def network(self) -> Path:
        start = self.state.start
        return self.folder.network(network_name(Path(start)) if start else self.settings.network)

    def _work(self) -> bool:
        records, learn = self.settings.records, self.settings.learn
        kind = "label" if records.has_labels else "game"
        status = f"resuming after {self.learner.samples:,} samples" if self.learner.samples else "starting"
        self.observer.begin(f"{self.network.name} from {kind}s, in {self.folder.path}: {status}", self.state.lines)
        try:
            games = self._labels() if records.has_labels else self._records()
        except Stopped:
            return False  # nothing was learned
        held = is_held(games.games["number"])
        if held.all():
            raise UserError(f"no games to learn from: all {len(held)} are held back for validation")
        areas = self.learner.model.config.suicide_areas
        self._samples, self._validation = (
            Samples(games.choose(chosen), searched_share=learn.searched_share, suicide_areas=areas)
            for chosen in (~held, held)
        )
        learned = self._samples.games.game_count
        self.observer.message(f"{plural(learned, kind)} to learn, {games.game_count - learned:,} held back")
        # A folder of labels may have grown meanwhile.
        if self.state.available not in (0, len(self._samples)) and not records.has_labels:
            raise UserError(f"{self.folder.path}: its run learned from other games; choose another folder")
        self.state.available = len(self._samples)
        wanted = learn.samples or learn.epochs * len(self._samples)
        self.learner.settings = replace(self.learner.settings, total=wanted)
        self._start_clock()
        self._learn(self._samples, wanted, "learning", lambda: self._report_if_due(wanted))
        return True

    def _records(self) -> GameSet:
        """Returns the games of the records."""
        records = self.settings.records
        found = read_sgf_dataset(
            [Path(source) for source in records.games],
            self.folder.games,
            records.filters(),
            on_error=self.observer.skipped,
            on_progress=reading_progress(self.observer, self.limit.is_over),
        )
        if found is None:
            raise Stopped
        self.observer.message(f"{plural(found.read, 'record')} read")
        if found.skipped:
            reasons = ", ".join(f"{reason}: {times:,}" for reason, times in found.skipped.items())
            self.observer.message(f"skipped: {reasons}")
        return found.games

    def _labels(self) -> GameSet:
        """Returns the labels; a teacher makes those that are missing."""
        records = self.settings.records
        folder = Path(records.labels) if records.labels else self.folder.labels
        if records.teacher:
            self._warn_of_size(Path(records.teacher))
            if not fill_labels(self.settings, folder, self.observer, self.limit.is_over):
                raise Stopped
        return read_labels(folder, self.observer.skipped)

    def _warn_of_size(self, teacher: Path) -> None:
        mine, others = (model.config.parameter_count for model in (self.learner.model, load_network(teacher)))
        if mine > others:
            sizes = f"{mine:,} parameters, not {others:,}"
            self.observer.message(f"warning: the network is larger than its teacher: {sizes}")

    def _report_if_due(self, wanted: int) -> None:
        """Adds a line to the log if the last batch was the last one, or passed a multiple of the settings."""
        records, is_last = self.settings.records, self.learner.samples >= wanted
        if is_last or self._is_due(records.report):
            line = self._new_line(self.learner.take_losses())
            if is_last or self._is_due(records.validate):
                line["validation"] = self._validate()
            self._publish(line)

    def _is_due(self, interval: int) -> bool:
        """Whether the last batch passed a multiple of `interval` samples."""
        return self.learner.samples // interval > (self.learner.samples - self.settings.learn.batch_size) // interval

    def _validate(self) -> dict[str, float]:
        """Measures the network that plays on games that are held back."""
        records = self.settings.records
        batches = fixed_batches(self._validation, records.validation_samples, VALIDATION_SEED)
        also = distances if records.has_labels else None
        return rounded(self.learner.evaluate(self._averaged_network(self._samples), batches, also))

    def save(self) -> None:
        self.learner.check()
        write_katago_file(playing_network(self._averaged_network(self._samples)).stored(), self.network)
        super().save()
