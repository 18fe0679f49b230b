"""The curves of runs as SVG: each run has one colour in all plots, and each quantity of a plot one line style."""

import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np

from ..base.errors import UserError
from .log import value_of

Lines = Sequence[Mapping[str, Any]]

# Okabe and Ito's colours, which the colour-blind can tell apart, on a light or a dark page.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STYLES: tuple[Literal["-", "--", ":", "-."], ...] = ("-", "--", ":", "-.")
_INK = "#010203"  # stands for the page's own text colour while a plot is drawn
_SIZE = (5.0, 3.0)  # inches
# What a matplotlib SVG says about itself and its size: in the page, the style says how large it is.
_HEADER = re.compile(r'(<svg[^>]*?) (?:height="[^"]*"|width="[^"]*")')


class Plot(NamedTuple):
    """A plot.

    Attributes:
        title: Its title.
        unit: The unit of its vertical axis.
        names: Fields of a log line; "losses.x" is a field of a table.
        factor: What the values are multiplied by.
    """

    title: str
    unit: str
    names: tuple[str, ...]
    factor: float = 1.0


_PLOTS = (
    Plot("Strength, with 95% interval", "Elo over network 0", ("elo",)),
    Plot("Policy loss", "nats", ("losses.policy", "losses.opponent")),
    Plot("Value loss", "nats", ("losses.value",)),
    Plot("Score loss", "points, squared up to 12", ("losses.score",)),
    Plot("Ownership loss", "nats", ("losses.ownership",)),
    Plot("Held-back games: policy loss", "nats", ("validation.policy",)),
    Plot("Held-back games: value loss", "nats", ("validation.value",)),
    Plot("Held-back games: ownership loss", "nats", ("validation.ownership",)),
    Plot("Held-back games: accuracy", "%", ("validation.top1", "validation.top5", "validation.winner"), 100),
    Plot("Off the teacher: policy", "nats", ("validation.off_policy",)),
    Plot("Off the teacher: win rate", "0 to 1", ("validation.off_winrate",)),
    Plot("Off the teacher: ownership", "0 to 2", ("validation.off_ownership",)),
    Plot("Length of games", "moves", ("length",)),
    Plot("Balance", "% of games", ("black_wins", "decided", "false_decisions"), 100),
    Plot("Speed of self-play", "evaluations/s", ("evaluations_per_s",)),
    Plot("Speed of learning", "samples/s", ("rate",)),
    Plot("Duration of a cycle", "seconds", ("cycle_seconds",)),
)


class _Axis(NamedTuple):
    """A horizontal axis: its name in the page, its label, and the value of a line of the log."""

    name: str
    label: str
    value: Callable[[Mapping[str, Any]], float]


def curves(runs: Mapping[str, Lines]) -> str:
    """Returns the plots of runs for each horizontal axis that they have in common, with buttons that choose one.

    Raises:
        UserError: The logs contain nothing to draw.
    """
    drawn = [
        plot
        for plot in _plots(runs)
        if any(_points(lines, plot, name) for lines in runs.values() for name in plot.names)
    ]
    if not drawn:
        raise UserError(f"{', '.join(runs)}: the log contains nothing to draw")
    axes = _axes(runs)
    # Equal times on a shared machine mislead.
    first = axes[0 if len(runs) == 1 else 1].name
    buttons, groups, rules = [], [], []
    for axis in axes:
        checked = " checked" if axis.name == first else ""
        button = f'<input type="radio" name="axis" id="by-{axis.name}"{checked}>'
        buttons.append(f'{button}<label for="by-{axis.name}">{axis.name}</label>')
        figures = (
            f"<figure><figcaption>{escape(plot.title)}</figcaption>{_draw(runs, plot, axis)}</figure>" for plot in drawn
        )
        groups.append(f'<div class="curves by-{axis.name}">{"".join(figures)}</div>')
        rules.append(f"body:has(#by-{axis.name}:checked) .by-{axis.name}{{display:grid}}")
    return f'<style>{"".join(rules)}</style><h2>Curves</h2><p class="axes">over{"".join(buttons)}</p>{"".join(groups)}'


def _plots(runs: Mapping[str, Lines]) -> list[Plot]:
    """Returns _PLOTS and a plot for each other loss."""
    shown = {name for plot in _PLOTS for name in plot.names}
    lines = [line for of_run in runs.values() for line in of_run]
    losses = dict.fromkeys(f"losses.{name}" for line in lines for name in line.get("losses", {}))
    return [*_PLOTS, *(Plot(f"Loss: {name.partition('.')[2]}", "", (name,)) for name in losses if name not in shown)]


def _axes(runs: Mapping[str, Lines]) -> list[_Axis]:
    lines = [line for of_run in runs.values() for line in of_run]
    unit, seconds = ("hours", 3600) if max(line["seconds"] for line in lines) > 7200 else ("minutes", 60)
    axes = [
        _Axis("time", unit, lambda line: line["seconds"] / seconds),
        _Axis("samples", "samples", lambda line: line["samples"]),
    ]
    for name, field in (("games", "games_in_all"), ("cycles", "cycle")):
        if all(field in line for line in lines):
            axes.append(_Axis(name, name, lambda line, field=field: line[field]))  # type: ignore[misc]
    return axes


def _points(lines: Lines, plot: Plot, name: str) -> list[tuple[Mapping[str, Any], float]]:
    """Returns the lines that have a value, and the value."""
    values = ((line, value_of(line, name)) for line in lines)
    return [(line, plot.factor * value) for line, value in values if value is not None]


def _draw(runs: Mapping[str, Lines], plot: Plot, axis: _Axis) -> str:
    """Returns a plot as SVG."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
    look: Any = {"svg.fonttype": "none", "font.size": 9, "axes.facecolor": "none", **dict.fromkeys(inked, _INK)}
    with matplotlib.rc_context(look):
        figure = Figure(figsize=_SIZE, layout="constrained", facecolor="none")
        axes = figure.subplots()
        for lines, colour in zip(runs.values(), itertools.cycle(COLOURS), strict=False):
            for name, style in zip(plot.names, _STYLES, strict=False):
                points = _points(lines, plot, name)
                x = [axis.value(line) for line, _ in points]
                axes.plot(x, [value for _, value in points], style, color=colour, marker=".", linewidth=1.5)
                if name == "elo" and points:
                    values, (below, above) = _with_errors(points)
                    axes.errorbar(x, values, [below, above], fmt="none", color=colour, capsize=3, linewidth=1)
                    low, high = np.subtract(values, below), np.add(values, above)
                    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set(xlabel=axis.label, ylabel=plot.unit)
        axes.grid(alpha=0.2)
        if axis.name != "time":
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        shown = [name for name in plot.names if any(_points(lines, plot, name) for lines in runs.values())]
        if len(shown) > 1:  # above the plot, where it covers nothing
            styles = dict(zip(plot.names, _STYLES, strict=False))
            handles = [Line2D([], [], color=_INK, linestyle=styles[name], label=_label(name)) for name in shown]
            figure.legend(handles=handles, loc="outside upper left", ncols=len(shown), frameon=False)
        content = io.StringIO()
        figure.savefig(content, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = content.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    return _HEADER.sub(r"\1", _HEADER.sub(r"\1", text, count=1), count=1)


def _with_errors(points: Sequence[tuple[Mapping[str, Any], float]]) -> tuple[list[float], list[list[float]]]:
    """Returns the values, and how far their intervals reach below and above."""
    values = [value for _, value in points]
    below = [max(0.0, value - line.get("elo_low", value)) for line, value in points]
    above = [max(0.0, line.get("elo_high", value) - value) for line, value in points]
    return values, [below, above]


def _label(name: str) -> str:
    return {"top1": "first choice", "top5": "first five", "black_wins": "Black wins"}.get(
        last := name.split(".")[-1], last.replace("off_", "").replace("_", " ")
    )
