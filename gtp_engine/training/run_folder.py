"""The folder of a run, from which it goes on after any end.

- `settings.toml`: all settings with their meanings; may be edited between two pieces of the run
- `state.pt`: the learner and all else that a run knows (`RunState`): what is not in it has not happened
- `networks/0012.bin.gz`: the network after each cycle, in KataGo's format; 0000 is the one that began
- `shards/`, `sgf/`: the games, as samples and to look at (`storage`)
- `log.jsonl`: a line a cycle, written from the state; `tensorboard/`: the same for TensorBoard (`event_files`)
- `lock`: held by the program that is at work (`lock.only_one_in`)

Every file is written whole or not at all; games count once their shard is there, a cycle once the state says so.
"""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..files import write_text
from ..network.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from ..network.model import Model
from .settings import RunSettings, read_settings, to_toml

FORMAT = "gtp_engine run 1"


@dataclass
class RunState:
    """What a run knows.

    cycle: the one under way, 0 for what is before the first. begun: samples that the learner had seen when this cycle
    began to learn. player: the cycle whose network plays. seconds: of all pieces so far. lines: of the log, plain data.
    start: the network's file that it began with, "" for none.
    """

    cycle: int = 0
    begun: int = 0
    player: int = 0
    seconds: float = 0.0
    lines: list[dict[str, Any]] = field(default_factory=list)
    start: str = ""


class RunFolder:
    """Where a run's files lie, and what is read from them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file, self.state_file, self.log_file = (
            path / name for name in ("settings.toml", "state.pt", "log.jsonl")
        )
        self.shards, self.records, self.networks = (path / name for name in ("shards", "sgf", "networks"))

    @property
    def exists(self) -> bool:
        """Whether a run has begun here."""
        return self.settings_file.exists()

    def create(self, settings: RunSettings) -> None:
        """Makes the folder; ValueError where another thing is there."""
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ValueError(f"{self.path}: neither a run's folder nor empty; give another one")
        self.path.mkdir(parents=True, exist_ok=True)
        write_text(self.settings_file, to_toml(settings))  # with it the run has begun

    def make_ready(self) -> None:
        """Makes the folders that are missing, and removes what a program left that was killed while it wrote."""
        for folder in (self.shards, self.records, self.networks):
            folder.mkdir(exist_ok=True)
        for path in self.path.rglob(".*.tmp.*"):
            path.unlink(missing_ok=True)

    def settings(self) -> RunSettings:
        """As they stand in the folder; ValueError for wrong ones and those of another version."""
        return read_settings(self.settings_file)

    def network(self, cycle: int) -> Path:
        """The file of the network after a cycle."""
        return self.networks / f"{cycle:04d}.bin.gz"

    def load(self) -> tuple[RunState, Checkpoint | None]:
        """The state, and the learner's checkpoint; a new state and None where there is none. ValueError for a damaged
        file and another version's."""
        if not self.state_file.exists():
            return RunState(), None
        checkpoint = read_checkpoint(self.state_file)
        known = dict(checkpoint.card)
        if known.pop("format", None) != FORMAT:
            raise ValueError(
                f"{self.state_file}: of another version ({FORMAT!r} is not in it); go on with the program that made "
                f"it, or begin a new run from its last network: --from {self.path / 'networks' / 'NNNN.bin.gz'}"
            )
        names = {item.name for item in fields(RunState)}
        state = RunState(**{name: value for name, value in known.items() if name in names})
        return state, checkpoint

    def save(self, state: RunState, average: Model, learner: dict[str, Any]) -> None:
        """Writes the state; what is done counts from now on."""
        card = {"format": FORMAT, **asdict(state)}
        write_checkpoint(Checkpoint(average, learner, card), self.state_file)
        self.write_log(state)

    def write_log(self, state: RunState) -> None:
        """Makes the log say what the state says."""
        text = "".join(json.dumps(line) + "\n" for line in state.lines)
        if not self.log_file.exists() or self.log_file.read_text(encoding="utf-8") != text:
            write_text(self.log_file, text)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log; a damaged one is left out."""
        lines = []
        for line in self.log_file.read_text(encoding="utf-8").splitlines() if self.log_file.exists() else ():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
        return lines
