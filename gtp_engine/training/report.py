"""The curves of runs as one HTML file that needs no other."""

import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import write_text
from .run_folder import RunFolder
from .settings import to_toml

# Each picture: its title, its vertical axis, and the fields of a log line in it; "losses." is inside that table.
_PICTURES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Strength", "Elo over the first network", ("elo",)),
    ("Policy", "loss (nats)", ("losses.policy", "losses.opponent")),
    ("Value", "loss (nats)", ("losses.value",)),
    ("Score", "loss", ("losses.score",)),
    ("Ownership", "loss", ("losses.ownership",)),
    ("Games", "moves", ("length",)),
    ("Balance", "share of games", ("black_wins", "decided", "false_decisions")),
    ("Self-play", "evaluations/s", ("evaluations_per_s",)),
    ("Learning", "samples/s", ("learned_per_s",)),
)
_SHOWN = ("cycle", "games_in_all", "samples_in_all", "length", "black_wins", "window", "learned", "elo", "seconds")


def write_report(folders: Sequence[RunFolder], path: Path) -> None:
    """Draws the logs of runs into the same pictures; ValueError where there is none, or nothing in it."""
    folders = list({folder.path: folder for folder in folders}.values())
    runs = {}
    for folder in folders:
        if not folder.exists:
            raise ValueError(f"{folder.path}: no run has begun there")
        lines = folder.log()
        if not lines:
            raise ValueError(f"{folder.path}: no cycle is over yet")
        runs[str(folder.path)] = lines
    title = html.escape(", ".join(runs))
    parts = [f"<h1>{title}</h1>", _curves(runs)]
    for folder, (name, lines) in zip(folders, runs.items(), strict=True):
        parts += [f"<h2>{html.escape(name)}</h2>", f"<p>{html.escape(_summary(lines))}</p>", _table(lines)]
        parts.append(f"<h3>Settings</h3><pre>{html.escape(to_toml(folder.settings()))}</pre>")
    style = "body{font-family:sans-serif;margin:2em}td,th{padding:0 .8em;text-align:right}svg{max-width:100%}"
    head = f'<meta charset="utf-8"><title>{title}</title><style>{style}</style>'
    write_text(path, f"<!doctype html>\n<html><head>{head}</head><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def _summary(lines: Sequence[dict[str, Any]]) -> str:
    last = lines[-1]
    hours = last["seconds"] / 3600
    return f"{len(lines)} cycles, {last['games_in_all']:,} games, {last['samples_in_all']:,} samples, {hours:.2f} hours"


def _curves(runs: Mapping[str, Sequence[dict[str, Any]]]) -> str:
    """Pictures of the runs as SVG, over the hours."""
    from matplotlib.figure import Figure

    drawn = [
        picture
        for picture in _PICTURES
        if any(_value(line, name) is not None for name in picture[2] for line in _all(runs))
    ]
    if not drawn:
        raise ValueError(f"{', '.join(runs)}: the log holds nothing that can be drawn")
    rows = -(-len(drawn) // 3)
    figure = Figure(figsize=(15, 3.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 3, squeeze=False).reshape(-1)
    for picture, axis in zip(drawn, axes, strict=False):
        title, unit, names = picture
        for run, lines in runs.items():
            for name in names:
                points = [(line["seconds"] / 3600, _value(line, name)) for line in lines]
                known = [(hours, value) for hours, value in points if value is not None]
                label = name.split(".")[-1].replace("_", " ")
                axis.plot(*zip(*known, strict=True), marker=".", label=f"{run}: {label}" if len(runs) > 1 else label)
        axis.set(title=title, xlabel="hours", ylabel=unit)
        axis.grid(alpha=0.3)
        if len(names) * len(runs) > 1:
            axis.legend(fontsize=8)
    for axis in axes[len(drawn) :]:
        axis.set_axis_off()
    content = io.StringIO()
    figure.savefig(content, format="svg")
    return content.getvalue()[content.getvalue().index("<svg") :]


def _all(runs: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for lines in runs.values() for line in lines]


def _value(line: dict[str, Any], name: str) -> float | None:
    value: Any = line
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return None if value is None else float(value)


def _table(lines: Sequence[dict[str, Any]]) -> str:
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in _SHOWN)
    rows = ("".join(f"<td>{line.get(name, '')}</td>" for name in _SHOWN) for line in lines)
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
