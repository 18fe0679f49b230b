"""A run's log as event files for TensorBoard, if that is installed (the extra `train`)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


class EventFiles:
    """Writes the numbers in a log's lines, by cycle or else by samples; TensorBoard shows the run's duration as time.

    The files are written again when a run starts or resumes, so that no line is missing or duplicated after a kill.

    Args:
        folder: Folder for the event files.
        lines: The lines of the log so far.
    """

    def __init__(self, folder: Path, lines: Iterable[Mapping[str, Any]]) -> None:
        self._writer = None
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
        step = "cycle" if "cycle" in line else "samples"
        for name, value in _numbers(line):
            if name not in (step, "seconds"):
                self._writer.add_scalar(name, value, line[step], walltime=line["seconds"])
        self._writer.flush()


def _numbers(line: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, float]]:
    """Yields names and values of the numbers; those in tables are named `table/name`."""
    for name, value in line.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{parent}{name}/")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{parent}{name}", value
