"""The tables of the report: settings that differ, and the lines of a run's log."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ...base.settings import settings_of
from ..log_table import log_table
from ..new_run import RECORDS
from ..run_settings import RunSettings, sections_of
from ..settings_toml import value_text

_ROWS = 40  # of the log: the first and the last ones of a longer log


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


def table_of_log(lines: Sequence[Mapping[str, Any]]) -> str:
    """Returns the lines of a log as a table, without columns that are empty."""
    chosen = list(lines) if len(lines) <= _ROWS else [*lines[: _ROWS // 2], *lines[-_ROWS // 2 :]]
    titles, rows = log_table(chosen, report=True)
    if len(chosen) < len(lines):
        rows.insert(_ROWS // 2, ["..."] * len(titles))
    return _table(titles, rows, "")


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], kind: str) -> str:
    kind = f' class="{kind}"' if kind else ""
    head = "".join(f"<th{kind}>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
