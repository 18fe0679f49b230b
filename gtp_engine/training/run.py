"""A run: a network learns from games and is saved, reported on, stopped and resumed in one way, whatever the games are.

`record_run` learns game records and labels, which are there from the start; `selfplay_run` plays games in cycles.
"""

import datetime
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import torch

from ..base.errors import UserError
from ..base.pool import Pool
from ..base.system import available_cpus, configure_torch
from ..nets.config import parse_config
from ..nets.library import load_network
from ..nets.model import Model
from ..search.evaluate.choices import AUTO
from ..search.evaluate.devices import find_device
from .data.loader import VALIDATION_SEED, Loader, Samples, Tensors, fixed_batches
from .ddp import ProcessGroup
from .learner import MEASURED_SAMPLES, Learner, Measure, faster_precision, rate_at, start_followers
from .losses import calibration_error, take_calibration
from .progress import Limit, Observer, Stopped
from .run_folder import RunFolder
from .run_settings import LearnSettings

SAVE_SECONDS = 120.0  # between checkpoints: the most training that a kill can cost
_REPORT_SECONDS = 1.0  # between two reports of progress
_MEASURE_SECONDS = 20.0  # the longest measurement: a user waits for its end


class Run(ABC):
    """A run in an existing folder; `go` continues it. `group` are the processes that train together, this one rank 0.

    Workers of a `pool` play games, or label positions.

    Attributes:
        limit: When to pause.
        state: What is saved besides the learner.

    Raises:
        UserError: The settings, the state, the group and this version do not fit together.
    """

    command: ClassVar[str]  # whose runs these are

    def __init__(
        self,
        folder: RunFolder,
        observer: Observer,
        *,
        limit: Limit | None = None,
        group: ProcessGroup | None = None,
        pool: Pool | None = None,
    ) -> None:
        self.folder, self.observer, self.limit = folder, observer, limit or Limit()
        self.settings = folder.settings(self.command)
        folder.make_ready(self.command)
        self._threads = self.settings.machine.threads or available_cpus()
        self._group, self._pool = group or ProcessGroup(), pool
        self._group.check_batch(self.settings.learn.batch_size)
        self._device = self._group.device(torch.device(find_device(self.settings.machine.device)))
        self.state, checkpoint = folder.load()
        self._start_clock()
        if checkpoint is None:
            self.state.start = self.settings.begin.start
        model = checkpoint.model if checkpoint else self._first_model()
        # The names decide: a run keeps the heads that it began with, also if new networks of that name have others.
        name = self.settings.begin.network
        if not self.state.start and model.config.name != name:
            raise UserError(
                f"{folder.settings_file}: the run's network is not a {name}, and cannot become one: restore the "
                "network's name, or start a new run"
            )
        wanted = model.config.with_auxiliary_heads(self.settings.losses.trained).auxiliary_names
        if missing := [head for head in wanted if head not in model.config.auxiliary_names]:
            raise UserError(
                f"{folder.settings_file}: {missing[0]} in [losses] needs a head that the run began without: set it to "
                "0, or start a new run"
            )
        configure_torch(self._group.thread_share(self._threads))
        if self.settings.learn.precision == AUTO:
            self.state.precision = self.state.precision or faster_precision(model, self._device)
        self.learner = Learner(model, self._learner_settings(), self._device, self._group)
        if checkpoint is not None:
            try:
                self.learner.load_state(checkpoint.training or {})
            except UserError as error:
                raise UserError(f"{folder.state_file}: {error}") from error
        folder.write_log(self.state)  # without lines that are newer than the state
        self._learned, self._learning_seconds = 0, 0.0  # since the last line of the log, in this process

    def _first_model(self) -> Model:
        start = load_network(Path(self.state.start)) if self.state.start else None
        config = start.config if start else parse_config(self.settings.begin.network)
        generator = torch.Generator().manual_seed(self.settings.begin.seed)
        model = Model(config.with_auxiliary_heads(self.settings.losses.trained)).initialise(generator)
        if start:
            values = {name: torch.from_numpy(value) for name, value in start.values.items()}
            model.load_state_dict(model.state_dict() | values)  # auxiliary heads begin with random weights
        return model

    def _learner_settings(self) -> LearnSettings:
        learn = self.settings.learn
        precision = self.state.precision if learn.precision == AUTO else learn.precision
        return replace(learn, precision=precision, losses=self.settings.losses)

    @property
    @abstractmethod
    def network(self) -> Path:
        """The file of the network that plays."""

    @abstractmethod
    def _work(self) -> None:
        """Does what is left to do; or saves the state and raises Stopped."""

    @abstractmethod
    def _measure_piece(self) -> None:
        """Measures what was learned so far, when the limit was reached and the state is saved. It takes seconds."""

    def go(self) -> bool:
        """Runs until everything is done or the limit is reached, and saves the state; returns whether all is done.

        A piece that the limit ends is measured at its end, for seconds.

        Raises:
            LossNotFinite: A loss became NaN or infinite.
            ProcessLostError: A process that the run needs has ended.
            UserError: There is nothing to learn from.
            OSError: A file could not be read or written.
        """
        try:
            self._work()
        except Stopped:
            self._measure_piece()
            return False
        return True

    @contextmanager
    def _saved_if_stopped(self) -> Iterator[None]:
        """Saves the state if Stopped is raised within a `with` block.

        A second Ctrl-C ends the program, so the state has to be saved before anything else that takes time.
        """
        try:
            yield
        except Stopped:
            if self.limit.is_stopped():
                self.observer.message("stopping: the state is being saved")
            self.save()
            raise

    def _start_clock(self) -> None:
        """What was done before does not count as the run's time."""
        self._seconds_before, self._started = self.state.seconds, time.monotonic()

    @property
    def _seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._started

    def save(self) -> None:
        """Writes the state and the log. Raises LossNotFinite before anything is written."""
        self.learner.check()
        self.state.seconds = self._seconds
        self.folder.save(self.state, self.learner.average, self.learner.state())

    def _save_meanwhile(self) -> None:
        """Saves while the network learns, every SAVE_SECONDS."""
        self.save()

    def _learn(self, samples: Samples, wanted: int, phase: str, after_step: Callable[[], None] = lambda: None) -> None:
        """Learns until `wanted` samples are drawn since `state.begun`, and saves the state."""
        threads = self._group.thread_share(self._threads)
        configure_torch(threads)  # the evaluators of matches set it to one
        size, begun = self.settings.learn.batch_size, self.state.begun
        loader = Loader(
            samples,
            size,
            seed=self.settings.begin.seed + 1000 * self.state.cycle,
            drawn=self.learner.samples - begun,
            threads=threads,
            pinned=self._device.type == "cuda",
            part=(self._group.rank, self._group.count),
        )
        start_followers(self._group, self.learner, loader, self.settings.machine.threads)
        self._learned, self._learning_seconds = 0, 0.0
        saved = reported = started = time.monotonic()
        is_warm = False  # the first step compiles, and waits for the first batches
        try:
            while (drawn := self.learner.samples - begun) < wanted:
                self.limit.check()
                self.learner.step(next(loader))
                now = time.monotonic()
                if is_warm:
                    self._learned, self._learning_seconds = self._learned + size, self._learning_seconds + now - started
                if now - reported >= _REPORT_SECONDS or not is_warm:
                    reported = now
                    facts = f"{self._rate:,.0f} samples/s" if self._rate else ""
                    self.observer.progress(phase, drawn + size, wanted, facts)
                is_warm = True
                after_step()
                if now - saved >= SAVE_SECONDS:
                    self._save_meanwhile()
                    saved = now
                started = time.monotonic()
        finally:
            loader.close()
        self.save()

    @property
    def _rate(self) -> float | None:
        """Samples learned per second since the last line of the log; None if there were none."""
        return round(self._learned / max(self._learning_seconds, 1e-9), 1) if self._learned else None

    def _averaged_network(self, samples: Samples) -> Model:
        return self.learner.averaged_network(fixed_batches(samples, MEASURED_SAMPLES, self.settings.begin.seed))

    def _measured(self, model: Model, samples: Samples, most: int, also: Measure | None = None) -> dict[str, Any]:
        """Returns losses and `losses.measures` on at most `most` positions, always the same ones, and their number."""
        end, counts = time.monotonic() + _MEASURE_SECONDS, [0]

        def batches() -> Iterator[Tensors]:
            for batch in fixed_batches(samples, most, VALIDATION_SEED):
                if counts[0] and time.monotonic() > end:
                    return
                counts[0] += batch.size
                yield batch

        found = self.learner.evaluate(model, batches(), also)
        calibration = [[round(value, 4) for value in part] for part in take_calibration(found)]
        if calibration:
            found["calibration_error"] = calibration_error(calibration)
        return {**rounded(found), "positions": counts[0], "calibration": calibration}

    def _new_line(self, losses: Mapping[str, float]) -> dict[str, Any]:
        """Returns what every line of the log contains."""
        return {
            "samples": self.learner.samples,
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": round(self._seconds, 1),
            "rate": self._rate,
            "learning_rate": rate_at(self.learner.settings, self.learner.samples),
            "losses": rounded(losses),
        }

    def _publish(self, line: dict[str, Any]) -> None:
        """Adds a line to the log."""
        self._learned, self._learning_seconds = 0, 0.0
        self.state.lines.append(line)
        self.folder.write_log(self.state)
        self.observer.line(line)


def rounded(means: Mapping[str, float]) -> dict[str, float]:
    """Returns means of losses as the log contains them."""
    return {name: round(value, 5) for name, value in means.items()}
