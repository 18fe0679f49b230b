"""What a run shows: a table and a progress bar where the screen is redrawn, elsewhere lines of text."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from ...base.messages import duration_text
from ...training.log import cells, log_table
from ...training.progress import Observer

_LINE_SECONDS = 30.0  # between two lines of progress
_SHOWN_LINES = 12
_SHOWN_ERRORS = 20  # messages about damaged records; all are in the notes of the shards


class RunDisplay(Observer):
    """The progress of a run or of the labelling; a context manager, so that the terminal is left as it was.

    Each line begins with `about`, where the run is one of several.
    """

    def __init__(self, about: str = "") -> None:
        self._about = about
        self._console = Console(highlight=False, emoji=False)
        self._can_redraw = self._console.is_terminal and not self._console.is_dumb_terminal
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        self._progress = Progress(*columns, TextColumn("{task.fields[facts]}"), console=self._console)
        self._task = self._progress.add_task("", total=None, facts="")
        self._live = Live(self._progress, console=self._console, refresh_per_second=2)
        self._lines: list[Mapping[str, Any]] = []
        self._phase, self._last_line_at = "", 0.0
        self._began = 0.0, 0  # the present phase: the time and what was done
        self._errors = 0

    def __enter__(self) -> "RunDisplay":
        if self._can_redraw:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def begin(self, title: str, lines: Sequence[Mapping[str, Any]]) -> None:
        self._lines = list(lines)
        self._draw()
        self.message(title)

    def message(self, text: str) -> None:
        self._console.print(f"{self._about}{text}", markup=False, soft_wrap=True)

    def skipped(self, text: str) -> None:
        self._errors += 1
        if self._errors <= _SHOWN_ERRORS:
            self.message(f"skipped: {text}")
        elif self._errors == _SHOWN_ERRORS + 1:
            self.message("skipped: more files; the notes of the shards list them")

    def progress(self, phase: str, done: int, total: int, facts: str = "") -> None:
        now = time.monotonic()
        if phase != self._phase:
            self._progress.reset(self._task)
            self._began = now, done
        began, before = self._began
        left = ""
        if before < done < total:
            left = f"about {duration_text((now - began) * (total - done) / (done - before))} left"
        facts = ", ".join(filter(None, (left, facts)))
        self._progress.update(self._task, description=phase, completed=done, total=total, facts=facts)
        is_due = phase != self._phase or now - self._last_line_at >= _LINE_SECONDS
        if is_due and not self._can_redraw:
            self._last_line_at = now
            self.message(f"{phase} {done:,} of {total:,}{', ' + facts if facts else ''}")
        self._phase = phase

    def line(self, line: Mapping[str, Any]) -> None:
        self._lines.append(line)
        self._draw()
        if not self._can_redraw:
            self.message(", ".join(f"{title} {text}" for title, text in cells(line).items()))

    def _draw(self) -> None:
        if self._lines:
            titles, rows = log_table(self._lines[-_SHOWN_LINES:])
            table = Table(*titles, title=self._about.removesuffix(": ") or None)
            for row in rows:
                table.add_row(*row)
            self._live.update(Group(table, self._progress))
