"""What a training run shows: a live table on a terminal, lines elsewhere."""

import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gtp_engine.network.library import network_name
from gtp_engine.training.loop import Observer
from gtp_engine.training.run_folder import RunState
from gtp_engine.training.settings import RunSettings

_LINE_SECONDS = 30.0
_SHOWN_CYCLES = 12
_COLUMNS = ("cycle", "games", "moves", "policy", "value", "score", "Elo", "evals/s", "samples/s", "hours")


class Display(Observer):
    """A context manager, so that a terminal is left as it was."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._live: Live | None = None
        self._lines: list[dict[str, Any]] = []
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._progress = Progress(*columns, TextColumn("{task.fields[facts]}"), console=self._console)
        self._task = self._progress.add_task("", total=None, facts="")
        self._phase, self._told = "", 0.0
        self._cycles = 0

    def __enter__(self) -> "Display":
        if self._console.is_terminal:
            self._live = Live(self._view(), console=self._console, refresh_per_second=2)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()

    def begin(self, state: RunState, settings: RunSettings) -> None:
        self._lines = list(state.lines)
        self._cycles = settings.cycle.cycles
        what = f"goes on in cycle {state.cycle}" if state.cycle else "begins"
        if state.cycle > settings.cycle.cycles:
            what = "all are done; more cycles in its settings.toml prolong it"
        network = network_name(Path(state.start)) if state.start else settings.cycle.network
        self._say(f"{network}, {settings.cycle.cycles} cycles of {settings.cycle.games} games: {what}")

    def progress(self, cycle: int, phase: str, done: int, total: int, facts: str) -> None:
        text = f"cycle {cycle} of {self._cycles}: {phase}"
        if self._live:
            if phase != self._phase:
                self._progress.reset(self._task)
            self._progress.update(self._task, description=text, completed=done, total=total, facts=facts)
        elif phase != self._phase or time.monotonic() - self._told >= _LINE_SECONDS:
            self._told = time.monotonic()
            click.echo(f"{text} {done:,} of {total:,}{', ' + facts if facts else ''}")
        self._phase = phase

    def cycle(self, line: dict[str, Any]) -> None:
        self._lines.append(line)
        if self._live:
            self._live.update(self._view())
        else:
            facts = (f"{name} {value}" for name, value in zip(_COLUMNS, _row(line), strict=True) if value)
            click.echo(", ".join(facts))

    def _say(self, text: str) -> None:
        if self._live:
            self._console.print(text)
        else:
            click.echo(text)

    def _view(self) -> Group:
        table = Table(*_COLUMNS)
        for line in self._lines[-_SHOWN_CYCLES:]:
            table.add_row(*_row(line))
        return Group(table, self._progress) if self._lines else Group(self._progress)


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    losses = line["losses"]
    return (
        str(line["cycle"]),
        f"{line['games_in_all']:,}",
        f"{line['length']:.0f}",
        *(f"{losses[name]:.3f}" if name in losses else "" for name in ("policy", "value", "score")),
        f"{line['elo']:.0f}" if "elo" in line else "",
        *("" if line[name] is None else f"{line[name]:,.0f}" for name in ("evaluations_per_s", "learned_per_s")),
        f"{line['seconds'] / 3600:.2f}",
    )
