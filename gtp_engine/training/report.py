"""The curves of runs as one self-contained HTML file."""

import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.files import write_text
from ..base.messages import plural
from .run_folder import RunFolder, value_of
from .settings_toml import to_toml
from .summary import summary

# Each plot: its title, its vertical axis, and the fields of a log line that it shows; "losses.x" is a field of a table.
_PLOTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Strength", "Elo over the first network", ("elo",)),
    ("Policy", "loss (nats)", ("losses.policy", "losses.opponent")),
    ("Value", "loss (nats)", ("losses.value",)),
    ("Score", "loss", ("losses.score",)),
    ("Ownership", "loss", ("losses.ownership",)),
    ("Held-back games: losses", "loss", ("validation.policy", "validation.value", "validation.ownership")),
    ("Held-back games: accuracy", "share", ("validation.top1", "validation.top5", "validation.winner")),
    ("Off the teacher", "nats, share", ("validation.off_policy", "validation.off_winrate", "validation.off_ownership")),
    ("Games", "moves", ("length",)),
    ("Balance", "share of games", ("black_wins", "decided", "false_decisions")),
    ("Self-play", "evaluations/s", ("evaluations_per_s",)),
    ("Learning", "samples/s", ("rate",)),
)
_SHOWN = ("cycle", "games_in_all", "samples_in_all", "length", "black_wins", "window", "samples", "elo", "seconds")


def write_report(folders: Sequence[RunFolder], path: Path) -> None:
    """Draws the logs of runs into the same plots and writes them to an HTML file.

    Args:
        folders: The runs; repeated ones are drawn once.
        path: The file to write.

    Raises:
        UserError: A folder contains no run, or a log contains nothing to draw.
    """
    folders = list({folder.path: folder for folder in folders}.values())
    runs = {}
    for folder in folders:
        if not folder.exists:
            raise UserError(f"{folder.path}: there is no run in this folder")
        lines = folder.log()
        if not lines:
            raise UserError(f"{folder.path}: nothing to report yet: {summary(folder)}")
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
    games = ""
    if "cycle" in last:
        games = f"{plural(len(lines), 'cycle')}, {last['games_in_all']:,} games, {last['samples_in_all']:,} samples, "
    return f"{games}{last['samples']:,} learned, {last['seconds'] / 3600:.2f} hours"


def _curves(runs: Mapping[str, Sequence[dict[str, Any]]]) -> str:
    """Returns the plots of the runs over time, as SVG."""
    from matplotlib.figure import Figure

    drawn = [
        plot
        for plot in _plots(runs)
        if any(value_of(line, name) is not None for name in plot[2] for line in _all_lines(runs))
    ]
    if not drawn:
        raise UserError(f"{', '.join(runs)}: the log contains nothing to draw")
    rows = -(-len(drawn) // 3)
    figure = Figure(figsize=(15, 3.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 3, squeeze=False).reshape(-1)
    for (title, unit, names), axis in zip(drawn, axes, strict=False):
        for run, lines in runs.items():
            for name in names:
                points = [(line["seconds"] / 3600, value_of(line, name)) for line in lines]
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


def _plots(runs: Mapping[str, Sequence[dict[str, Any]]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Returns _PLOTS and a plot for each other loss."""
    shown = {name for _, _, names in _PLOTS for name in names}
    losses = dict.fromkeys(f"losses.{name}" for line in _all_lines(runs) for name in line.get("losses", {}))
    others = [(f"Loss: {name.partition('.')[2]}", "loss", (name,)) for name in losses if name not in shown]
    return [*_PLOTS, *others]


def _all_lines(runs: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for lines in runs.values() for line in lines]


def _table(lines: Sequence[dict[str, Any]]) -> str:
    shown = [name for name in _SHOWN if any(name in line for line in lines)]
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in shown)
    rows = ("".join(f"<td>{line.get(name, '')}</td>" for name in shown) for line in lines)
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
