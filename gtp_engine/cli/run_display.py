"""What a run shows: a table and a progress bar where the screen is redrawn, elsewhere lines of text."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from ..training.observer import Observer
from ..training.pace import duration_text
from ..training.run_folder import value_of
from .live import can_redraw

_LINE_SECONDS = 30.0  # between two lines of progress
_SHOWN_LINES = 12
_DISTANCES = ("policy", "winrate", "lead", "ownership")
_SHOWN_ERRORS = 20  # messages about damaged records; all are in the notes of the shards
# What is shown of a line of the log: its title, the field, and how it is written. A run shows what its source has.
_COLUMNS = (
    ("cycle", "cycle", "{}"),
    ("games", "games_in_all", "{:,}"),
    ("moves/game", "length", "{:.0f}"),
    ("samples", "samples", "{:,}"),
    *((name, f"losses.{name}", "{:.3f}") for name in ("policy", "value", "score", "ownership")),
    *((f"held-back {name}", f"validation.{name}", "{:.3f}") for name in ("policy", "value", "score", "ownership")),
    ("top 1", "validation.top1", "{:.1%}"),
    ("top 5", "validation.top5", "{:.1%}"),
    ("winner", "validation.winner", "{:.1%}"),
    *((f"off the teacher's {name}", f"validation.off_{name}", "{:.3f}") for name in _DISTANCES),
    ("Elo", "elo", "{:+.0f}"),
    ("at least", "elo_low", "{:+.0f}"),
    ("at most", "elo_high", "{:+.0f}"),
    ("evals/s", "evaluations_per_s", "{:,.0f}"),
    ("samples/s", "rate", "{:,.0f}"),
    ("hours", "hours", "{:.2f}"),
)


class RunDisplay(Observer):
    """The progress of a run or of the labelling; a context manager, so that the terminal is left as it was."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, emoji=False)
        self._can_redraw = can_redraw(self._console)
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
        self._console.print(text, markup=False, soft_wrap=True)

    def skipped(self, text: str) -> None:
        self._errors += 1
        if self._errors <= _SHOWN_ERRORS:
            self.message(f"skipped: {text}")
        elif self._errors == _SHOWN_ERRORS + 1:
            self.message("skipped: more files; the notes of the shards list them")

    def progress(self, phase: str, done: int, total: int, facts: str = "", seconds_left: float | None = None) -> None:
        now = time.monotonic()
        if phase != self._phase:
            self._progress.reset(self._task)
            self._began = now, done
        began, before = self._began
        if seconds_left is None and done > before:
            seconds_left = (now - began) * (total - done) / (done - before)
        left = "" if seconds_left is None or done >= total else f"about {duration_text(seconds_left)} left"
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
            self.message(", ".join(f"{title} {text}" for title, text in _shown(line).items()))

    def _draw(self) -> None:
        if self._lines:
            self._live.update(Group(_table(self._lines[-_SHOWN_LINES:]), self._progress))


def _table(lines: Sequence[Mapping[str, Any]]) -> Table:
    """Returns the lines as a table, without empty columns."""
    rows = [_shown(line) for line in lines]
    titles = [title for title, _, _ in _COLUMNS if any(title in row for row in rows)]
    table = Table(*titles)
    for row in rows:
        table.add_row(*(row.get(title, "") for title in titles))
    return table


def _shown(line: Mapping[str, Any]) -> dict[str, str]:
    """Returns what is shown of a line of the log, by title; nothing for values that it lacks."""
    line = {**line, "hours": line["seconds"] / 3600}
    values = {title: (value_of(line, name), form) for title, name, form in _COLUMNS}
    return {title: form.format(value) for title, (value, form) in values.items() if value is not None}
