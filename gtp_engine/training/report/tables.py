"""The tables of the report: settings that differ, and the lines of a run's log."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..new_run import RECORDS
from ..run_folder import value_of
from ..setting import settings_of
from ..settings import RunSettings, sections_of
from ..settings_toml import value_text

_ROWS = 40  # of the log: the first and the last ones of a longer log
# Each column: its title, a field of a line of the log, and how it is written.
_COLUMNS = (
    ("cycle", "cycle", "{:,}"),
    ("games", "games_in_all", "{:,}"),
    ("moves/game", "length", "{:.0f}"),
    ("Black wins", "black_wins", "{:.0%}"),
    ("window", "window", "{:,}"),
    ("samples learned", "samples", "{:,}"),
    ("policy loss", "losses.policy", "{:.3f}"),
    ("value loss", "losses.value", "{:.3f}"),
    ("held-back policy", "validation.policy", "{:.3f}"),
    ("first choice right", "validation.top1", "{:.1%}"),
    ("winner right", "validation.winner", "{:.1%}"),
    ("won", "score", "{:.0%}"),
    ("against", "against", "{}"),
    ("Elo", "elo", "{:+.0f}"),
    ("at least", "elo_low", "{:+.0f}"),
    ("at most", "elo_high", "{:+.0f}"),
    ("seconds", "cycle_seconds", "{:.0f}"),
    ("minutes in all", "seconds", "{:.1f}"),
)


def differing_settings(runs: Mapping[str, RunSettings]) -> str:
    """Returns a table of the settings in which runs differ, or those of a single run that are not the defaults."""
    columns = [(name, _values(settings, sections_of(settings.command))) for name, settings in runs.items()]
    if len(runs) == 1:
        command = next(iter(runs.values())).command
        columns.insert(0, ("default", _values(RECORDS if command == "learn" else RunSettings(), sections_of(command))))
    rows = []
    for setting in dict.fromkeys(setting for _, known in columns for setting in known):
        row = [known.get(setting, "") for _, known in columns]
        if len(set(row)) > 1:
            rows.append([setting, *row])
    title = "Settings that differ" + (" from the defaults" if len(runs) == 1 else "")
    if not rows:
        return f"<h2>{title}</h2><p>None.</p>"
    return f"<h2>{title}</h2>{_table(['setting', *(name for name, _ in columns)], rows, 'text')}"


def _values(settings: RunSettings, sections: Sequence[str] | Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for section in sections:
        values = getattr(settings, section)
        found |= {
            f"{section}.{name}": value_text(getattr(values, name)) for name in settings_of(values, settings.command)
        }
    return found


def log_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Returns the lines of a log as a table, without columns that are empty."""
    chosen = list(lines) if len(lines) <= _ROWS else [*lines[: _ROWS // 2], *lines[-_ROWS // 2 :]]
    shown = [
        (title, name, form)
        for title, name, form in _COLUMNS
        if any(value_of(line, name) is not None for line in chosen)
    ]
    rows = []
    for line in chosen:
        values = [value_of(line, name) for _, name, _ in shown]
        rows.append(
            [
                "" if value is None else form.format(value / 60 if name == "seconds" else value)
                for value, (_, name, form) in zip(values, shown, strict=True)
            ]
        )
    if len(chosen) < len(lines):
        rows.insert(_ROWS // 2, ["..."] * len(shown))
    return _table([title for title, _, _ in shown], rows, "")


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], kind: str) -> str:
    kind = f' class="{kind}"' if kind else ""
    head = "".join(f"<th{kind}>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
