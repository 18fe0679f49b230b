"""The curves of runs: what their logs contain over time, samples, games or cycles, as SVG for a page.

Each run has one colour in all plots, and each quantity of a plot one line style.
"""

import io
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..base.errors import UserError
from .log import value_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Lines = Sequence[Mapping[str, Any]]

# Okabe and Ito's colours, which the colour-blind can tell apart, on a light or a dark page.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
Style: TypeAlias = Literal["-", "--", ":", "-."]
_STYLES: tuple[Style, ...] = ("-", "--", ":", "-.")
_INK = "#010203"  # stands for the page's own text colour while a plot is drawn
_SIZE = (5.0, 3.0)  # inches
# What a matplotlib SVG says about itself and its size: in the page, the style says how large it is.
_HEADER = re.compile(r'(<svg[^>]*?) (?:height="[^"]*"|width="[^"]*")')
_SCORE_UNIT = "half squared points, then linear"
_LABELS = {"top1": "first choice", "top5": "first five", "black_wins": "Black wins"}


class Plot(NamedTuple):
    """A plot of fields of the log's lines; "losses.x" is a field of a table."""

    title: str
    unit: str  # of its vertical axis
    names: tuple[str, ...]
    factor: float = 1.0  # what the values are multiplied by
    is_log: bool = False  # whether its vertical axis is logarithmic


def _of_score(table: str) -> tuple[str, ...]:
    return f"{table}.score", f"{table}.stdev", f"{table}.lead"


_PLOTS = (
    Plot("Strength, with 95% interval", "Elo over network 0", ("elo",)),
    Plot("Policy loss", "nats", ("losses.policy", "losses.opponent")),
    Plot("Value loss", "nats", ("losses.value",)),
    Plot("Losses of score, its deviation and lead", _SCORE_UNIT, _of_score("losses"), is_log=True),
    Plot("Ownership loss", "nats", ("losses.ownership",)),
    Plot(
        "Unseen games: policy loss and entropies",
        "nats",
        ("validation.policy", "validation.target_entropy", "validation.policy_entropy"),
    ),
    Plot("Unseen games: value loss", "nats", ("validation.value",)),
    Plot("Unseen games: losses of the score", _SCORE_UNIT, _of_score("validation"), is_log=True),
    Plot("Unseen games: ownership loss", "nats", ("validation.ownership",)),
    Plot("Unseen games: accuracy", "%", ("validation.top1", "validation.top5", "validation.winner"), 100),
    Plot("Unseen games: calibration error", "% of win rate", ("validation.calibration_error",), 100),
    Plot("Off the teacher: policy", "nats", ("validation.off_policy",)),
    Plot("Off the teacher: win rate", "0 to 1", ("validation.off_winrate",)),
    Plot("Off the teacher: ownership", "0 to 2", ("validation.off_ownership",)),
    Plot("Length of games", "moves", ("length",)),
    Plot("Balance", "% of games", ("black_wins", "decided", "false_decisions"), 100),
    Plot("Learning rate", "", ("learning_rate",)),
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
    runs = {name: _with_network_0(lines) for name, lines in runs.items()}
    drawn = [plot for plot in _plots(runs) if _shown(runs, plot)]
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
        figures = (_figure(plot.title, _draw(runs, plot, axis)) for plot in drawn)
        groups.append(f'<div class="curves by-{axis.name}">{"".join(figures)}</div>')
        rules.append(f"body:has(#by-{axis.name}:checked) .by-{axis.name}{{display:grid}}")
    return f'<style>{"".join(rules)}</style><h2>Curves</h2><p class="axes">over{"".join(buttons)}</p>{"".join(groups)}'


def calibration(runs: Mapping[str, Lines]) -> str:
    """Returns a plot of the last calibration of each run's win rates; "" if none was measured."""
    measured = [[value_of(line, "validation.calibration") for line in reversed(lines)] for lines in runs.values()]
    last: list[Sequence[Sequence[float]]] = [next(filter(None, of_run), []) for of_run in measured]
    if not any(last):
        return ""

    def draw(axes: "Axes") -> None:
        axes.plot([0, 100], [0, 100], ":", color=_INK, linewidth=1)
        for parts, colour in zip(last, itertools.cycle(COLOURS), strict=False):
            if parts:
                expected, true, shares = 100 * np.array(parts).T
                axes.plot(expected, true, "-", color=colour, linewidth=1)
                axes.scatter(expected, true, 4 * shares, color=colour, alpha=0.6, linewidth=0)

    drawn = _svg("win rate of the network, %", "points won, %", draw)
    about = (
        "<p>The win rates of the last measurement on unseen games, in ten parts: well calibrated ones lie on the "
        "dotted line. The larger a dot, the more positions it stands for; those of a game share its result, so that "
        "small dots stray by chance.</p>"
    )
    return f'<h2>Calibration</h2>{about}<div class="calibration">{_figure("", drawn)}</div>'


def _figure(title: str, drawn: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>"


def _with_network_0(lines: Lines) -> Lines:
    """Returns the lines of a log after one for the network before the first cycle, whose Elo is 0 by definition."""
    first = lines[0]
    if first.get("cycle") != 1 or "cycle_samples" not in first or not any("elo" in line for line in lines):
        return lines
    begun = {name: first[name] - first[f"cycle_{name}"] for name in ("seconds", "samples")}
    return [{"cycle": 0, "games_in_all": 0, "elo": 0.0, **begun}, *lines]


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


def _shown(runs: Mapping[str, Lines], plot: Plot) -> list[str]:
    """Returns the fields of a plot that have a value in any run."""
    return [name for name in plot.names if any(_points(lines, plot, name) for lines in runs.values())]


def _points(lines: Lines, plot: Plot, name: str) -> list[tuple[Mapping[str, Any], float]]:
    """Returns the lines that have a value, and the value."""
    values = ((line, value_of(line, name)) for line in lines)
    return [(line, plot.factor * value) for line, value in values if value is not None]


def _draw(runs: Mapping[str, Lines], plot: Plot, axis: _Axis) -> str:
    """Returns a plot as SVG."""
    styles = dict(zip(plot.names, _STYLES, strict=False))

    def draw(axes: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator, ScalarFormatter

        for lines, colour in zip(runs.values(), itertools.cycle(COLOURS), strict=False):
            for name, style in styles.items():
                points = _points(lines, plot, name)
                x, values = [axis.value(line) for line, _ in points], [value for _, value in points]
                axes.plot(x, values, style, color=colour, marker=".", linewidth=1.5)
                if name == "elo" and points:
                    low = np.minimum(values, [line.get("elo_low", value) for line, value in points])
                    high = np.maximum(values, [line.get("elo_high", value) for line, value in points])
                    errors = np.subtract(values, low), np.subtract(high, values)
                    axes.errorbar(x, values, errors, fmt="none", color=colour, capsize=3, linewidth=1)
                    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        if plot.is_log:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(ScalarFormatter())
            axes.yaxis.set_minor_formatter(ScalarFormatter())
        if axis.name != "time":
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))

    shown = _shown(runs, plot)
    return _svg(axis.label, plot.unit, draw, [(_label(name), styles[name]) for name in shown] if shown[1:] else ())


def _svg(xlabel: str, ylabel: str, draw: "Callable[[Axes], None]", legend: Iterable[tuple[str, Style]] = ()) -> str:
    """Returns what `draw` draws as SVG; the legend's entries have a text and a line style."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
    look: Any = {"svg.fonttype": "none", "font.size": 9, "axes.facecolor": "none", **dict.fromkeys(inked, _INK)}
    with matplotlib.rc_context(look):
        figure = Figure(figsize=_SIZE, layout="constrained", facecolor="none")
        axes = figure.subplots()
        draw(axes)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.grid(alpha=0.2)
        axes.spines[["top", "right"]].set_visible(False)
        handles = [Line2D([], [], color=_INK, linestyle=style, label=text) for text, style in legend]
        if handles:  # above the plot, where it covers nothing
            figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)
        content = io.StringIO()
        figure.savefig(content, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = content.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    return _HEADER.sub(r"\1", _HEADER.sub(r"\1", text, count=1), count=1)


def _label(name: str) -> str:
    last = name.split(".")[-1]
    return _LABELS.get(last, last.replace("off_", "").replace("_", " "))
