"""The folder of a run, from which it resumes after any interruption.

- `settings.toml`: all settings with explanations; may be edited while the run is stopped
- `state.pt`: the state of the learner and of the run (`RunState`); work that is not in it is done again
- `networks/`: networks in KataGo's format. A run from records keeps the latest one, named after its architecture
  (`b6c96.bin.gz`), which may be older than the state; self-play keeps one for each cycle (`0012.bin.gz`), and 0000 is
  the first one
- `games/`: game records as samples (`data.sgf_dataset`); `labels/`: a teacher's outputs (`distillation.labels`)
- `shards/`, `sgf/`: the games of self-play, as samples and as game records (`storage`)
- `log.jsonl`: the log, a line for each report or cycle, written from the state
- `lock`: locked while a program trains in the folder (`files.folder_lock`)

Every file is written atomically. Games count once their shard exists, everything else once it is in the state.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.files import LOCK, folder_lock, write_text
from ..base.nesting import parse_json
from ..nets.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from ..nets.model import Model
from .run_settings import RunSettings
from .settings_toml import read_settings, to_toml

FORMAT = "gtp_engine run 1"
_IN_EVERY_LINE = {"samples", "seconds"}  # of the log


@dataclass
class RunState:
    """The state of a run, in addition to that of its learner."""

    cycle: int = 0  # the present cycle of self-play; 0 before the first one, and in runs from records
    begun: int = 0  # samples that the learner had seen when it began to learn in this cycle
    player: int = 0  # the cycle whose network plays
    seconds: float = 0.0  # duration of the run, without interruptions
    cycle_began: float = 0.0  # `seconds` when the present cycle began
    lines: list[dict[str, Any]] = field(default_factory=list)  # the lines of the log, as plain data
    start: str = ""  # file of the network that the run started from; "" for random weights
    precision: str = ""  # precision of the training; "" before it is chosen
    available: int = 0  # number of samples in the records; 0 before they are read, and with self-play
    # With self-play, what was measured on the games of the cycle before they were learned.
    validation: dict[str, Any] = field(default_factory=dict)


def _is_state(values: Mapping[str, Any], seen: int) -> bool:
    """Whether these can be the attributes of a `RunState` whose learner has seen so many samples."""
    new = asdict(RunState())
    kinds = {name: (int, float) if isinstance(value, float) else type(value) for name, value in new.items()}
    known = values.keys() <= new.keys() and all(isinstance(value, kinds[name]) for name, value in values.items())
    if not known or not all(0 <= value < math.inf for value in values.values() if isinstance(value, int | float)):
        return False
    expected = _IN_EVERY_LINE | ({"cycle"} if values.get("cycle") else set())
    lines = (line if isinstance(line, dict) else {} for line in values.get("lines", ()))
    has_lines = all(isinstance(line.get(name), int | float) for line in lines for name in expected)
    return has_lines and values.get("begun", 0) <= seen and values.get("player", 0) <= values.get("cycle", 0)


class RunFolder:
    """The folder `path` and the files in it, which the module describes; `records` are those of self-play in `sgf/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file, self.state_file, self.log_file = (
            path / name for name in ("settings.toml", "state.pt", "log.jsonl")
        )
        self.networks, self.games, self.labels, self.shards, self.records = (
            path / name for name in ("networks", "games", "labels", "shards", "sgf")
        )

    @property
    def exists(self) -> bool:
        """Whether the folder contains a run."""
        return self.settings_file.exists()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder for a `with` block; it is made if it is missing.

        Raises:
            UserError: Something else is in it, or another program works there.
        """
        self.check_place()
        self.path.mkdir(parents=True, exist_ok=True)
        with folder_lock(self.path):
            yield

    def check_place(self) -> None:
        """Raises UserError unless the folder contains a run, is empty or does not exist."""
        if self.exists or not self.path.exists():
            return
        if not self.path.is_dir() or any(entry.name != LOCK for entry in self.path.iterdir()):
            raise UserError(f"{self.path}: neither a run's folder nor empty; choose another folder")

    def create(self, settings: RunSettings) -> None:
        """Makes a run of these settings, or replaces them; UserError if something else is in the folder."""
        self.check_place()
        self.path.mkdir(parents=True, exist_ok=True)
        text = to_toml(settings)
        try:
            text.encode()
        except UnicodeEncodeError as error:  # Linux has file names of any bytes
            line = text[: error.start].count("\n")
            raise UserError(
                f"{text.splitlines()[line]}: a name that is not UTF-8 cannot be kept in the settings; rename the file"
            ) from error
        read_settings(self.settings_file, text)  # what could not be read again is reported now
        write_text(self.settings_file, text)  # from now on the run exists

    def make_ready(self, command: str) -> None:
        """Makes the folders of runs of `learn` or `train`, and removes what a program that was killed has left."""
        own = [self.networks, *((self.games,) if command == "learn" else (self.shards, self.records))]
        for folder in own:
            folder.mkdir(exist_ok=True)
        left = [path for folder in (self.path, *own) for path in folder.glob(".*.tmp.*")]
        left += [path for folder in own for path in folder.glob(".*.lock")]  # of `files.claim`
        for path in left:
            path.unlink(missing_ok=True)

    def settings(self, command: str | None = None) -> RunSettings:
        """Reads the settings of a run of `learn` or `train`, with None of either.

        Raises:
            UserError: They are invalid, of another version, or of a run of the other command.
        """
        settings = read_settings(self.settings_file)
        if command not in (None, settings.command):
            raise UserError(f"{self.path}: a run of `{settings.command}`; resume it with that command")
        return settings

    def labels_of(self, settings: RunSettings) -> Path:
        """Returns the folder of a teacher's outputs: the one that the settings name, or the run's own."""
        return Path(settings.records.labels) if settings.records.labels else self.labels

    def network(self, name: str | int) -> Path:
        """Returns the file of a network, by its name or by its cycle."""
        return self.networks / f"{name if isinstance(name, str) else f'{name:04d}'}.bin.gz"

    def load(self) -> tuple[RunState, Checkpoint | None]:
        """Returns the state and the learner's checkpoint; a new state and None if there is none.

        Raises:
            UserError: The file is damaged or of another version.
        """
        if not self.state_file.exists():
            return RunState(), None
        try:
            checkpoint = read_checkpoint(self.state_file)
        except UserError as error:
            raise UserError(
                f"{error}; start a new run, in another folder, from a network in {self.networks}: --from NETWORK"
            ) from error
        known = dict(checkpoint.card) if isinstance(checkpoint.card, Mapping) else {}
        if known.pop("format", None) != FORMAT:
            raise UserError(
                f"{self.state_file}: written by another version ({FORMAT!r} is missing); resume with the program that "
                f"made it, or start a new run from its last network: --from {self.network('NNNN')}"
            )
        seen = checkpoint.training.get("samples") if isinstance(checkpoint.training, Mapping) else None
        if not _is_state(known, seen if isinstance(seen, int) else 0):
            raise UserError(f"{self.state_file}: damaged; start a new run from its last network: --from NETWORK")
        return RunState(**known), checkpoint

    def save(self, state: RunState, average: Model, learner: dict[str, Any]) -> None:
        """Writes the state, the learner's averaged network and its state, and the log."""
        card = {"format": FORMAT, **asdict(state)}
        write_checkpoint(Checkpoint(average, learner, card), self.state_file)
        self.write_log(state)

    def write_log(self, state: RunState) -> None:
        """Writes the log from the state."""
        write_text(self.log_file, "".join(json.dumps(line) + "\n" for line in state.lines))

    def log(self) -> list[dict[str, Any]]:
        """Reads the lines of the log; damaged ones are skipped."""
        lines, is_there = [], self.log_file.exists()
        for text in self.log_file.read_text("utf-8", "replace").splitlines() if is_there else ():
            with contextlib.suppress(ValueError):
                line = parse_json(text)
                if isinstance(line, dict) and line.keys() >= _IN_EVERY_LINE:
                    lines.append(line)
        return lines
