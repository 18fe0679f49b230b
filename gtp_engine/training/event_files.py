"""A run's log as event files for TensorBoard, where that is installed (the extra `train`)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = "tensorboard"  # in a run's


class EventFiles:
    """Every number of the log's lines, by `step`, a line's number; the time shown is that of the run.

    The folder's files are made anew from the lines so far: nothing is there twice, or missing, after a kill.
    """

    def __init__(self, folder: Path, step: str, lines: Iterable[Mapping[str, Any]]) -> None:
        self._step, self._writer = step, None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        self._writer = SummaryWriter(str(folder))
        for line in lines:
            self.add(line)

    def add(self, line: Mapping[str, Any]) -> None:
        """Writes the numbers of a line."""
        if self._writer is None:
            return
        for name, value in _numbers(line):
            if name not in (self._step, "seconds"):
                self._writer.add_scalar(name, value, line[self._step], walltime=line["seconds"])
        self._writer.flush()


def _numbers(line: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, float]]:
    """The numbers by their names, those in tables as table/name."""
    for name, value in line.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{parent}{name}/")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{parent}{name}", value
