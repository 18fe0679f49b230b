"""What a run reports while it works, and the labelling of positions too."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Observer(Protocol):
    """Receives the progress; a class that overrides nothing ignores it."""

    def begin(self, title: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Called when a run starts or resumes, with its description and the lines of its log so far."""

    def message(self, text: str) -> None:
        """Called with a result of one step, such as the number of records that were read."""

    def skipped(self, text: str) -> None:
        """Called for each damaged record or file that is left out, and for each shard that is made again."""

    def progress(self, phase: str, done: int, total: int, facts: str = "") -> None:
        """Called about once a second.

        Args:
            phase: What is being done: "reading games", "cycle 3 of 30: self-play", ...
            done: How many games, shards or samples of `total` are done.
            total: How many there are in this phase.
            facts: Further information, such as speeds.
        """

    def line(self, line: Mapping[str, Any]) -> None:
        """Called with each new line of the log."""
