"""The log of a run as a table: what a run shows while it goes on, and its report."""

from collections.abc import Mapping, Sequence
from typing import Any

_LOSSES = ("policy", "value", "score", "ownership")
_DISTANCES = ("policy", "winrate", "lead", "ownership")
# What is shown of a line of the log: the title, the field, and how it is written. A run has what its source has.
_COLUMNS = (
    ("cycle", "cycle", "{}"),
    ("games", "games_in_all", "{:,}"),
    ("moves/game", "length", "{:.0f}"),
    ("samples", "samples", "{:,}"),
    *((name, f"losses.{name}", "{:.3f}") for name in _LOSSES),
    *((f"held-back {name}", f"validation.{name}", "{:.3f}") for name in _LOSSES),
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
# The report has room for more.
_REPORTED = (
    ("Black wins", "black_wins", "{:.0%}"),
    ("window", "window", "{:,}"),
    ("won", "score", "{:.0%}"),
    ("against", "against", "{}"),
    ("seconds", "cycle_seconds", "{:.0f}"),
)


def value_of(line: Mapping[str, Any], name: str) -> Any:
    """Returns a value of a line of the log, None if it has none; "losses.policy" is `policy` in the table `losses`."""
    value: Any = line
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def cells(line: Mapping[str, Any], *, report: bool = False) -> dict[str, str]:
    """Returns what is shown of a line of the log, by title; nothing for values that it lacks."""
    line = {**line, "hours": line["seconds"] / 3600}
    columns = _COLUMNS + _REPORTED if report else _COLUMNS
    values = {title: (value_of(line, name), form) for title, name, form in columns}
    return {title: form.format(value) for title, (value, form) in values.items() if value is not None}


def log_table(lines: Sequence[Mapping[str, Any]], *, report: bool = False) -> tuple[list[str], list[list[str]]]:
    """Returns the titles of the columns that are not empty, and the rows."""
    rows = [cells(line, report=report) for line in lines]
    columns = _COLUMNS + _REPORTED if report else _COLUMNS
    titles = [title for title, _, _ in columns if any(title in row for row in rows)]
    return titles, [[row.get(title, "") for title in titles] for row in rows]
