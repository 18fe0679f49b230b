"""The curves of runs: what their logs contain over time, samples, games or cycles, as SVG for a page.

Each run has one colour in all plots, and each quantity of a plot one kind of line.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..base.chart import Axis, Chart
from ..base.errors import UserError
from .log import value_of

Lines = Sequence[Mapping[str, Any]]

# Okabe and Ito's colours, which the colour-blind can tell apart, on a light or a dark page.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("", "6 3", "1.5 2.5", "7 2.5 1.5 2.5")  # of lines, for each quantity of a plot
_DOTS, _DIAMETER = 60, 5  # a line of so many points at most has dots, of so many pixels
_DOT = 16  # pixels of radius in the plot of calibration, for all positions
_MARGIN = 0.05  # of a plot above and below its values
_SCORE_UNIT = "half squared points, then linear"
_LABELS = {"top1": "first choice", "top5": "first five", "black_wins": "Black wins"}


class Plot(NamedTuple):
    """A plot of fields of the log's lines; "losses.x" is a field of a table."""

    title: str
    unit: str  # of its vertical axis
    names: tuple[str, ...]
    factor: float = 1.0  # what the values are multiplied by


_PLOTS = (
    Plot("Strength, with 95% interval", "Elo over network 0", ("elo",)),
    Plot("Policy loss", "nats", ("losses.policy", "losses.opponent")),
    Plot("Value loss", "nats", ("losses.value",)),
    Plot("Loss of the score", _SCORE_UNIT, ("losses.score",)),
    Plot("Losses of the score's deviation and the lead", _SCORE_UNIT, ("losses.stdev", "losses.lead")),
    Plot("Ownership loss", "nats", ("losses.ownership",)),
    Plot("Unseen games: policy loss", "nats", ("validation.policy", "validation.target_entropy")),
    Plot("Unseen games: entropy of the policy", "nats", ("validation.policy_entropy",)),
    Plot("Unseen games: value loss", "nats", ("validation.value",)),
    Plot("Unseen games: loss of the score", _SCORE_UNIT, ("validation.score",)),
    Plot("Unseen games: losses of deviation and lead", _SCORE_UNIT, ("validation.stdev", "validation.lead")),
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
    """A horizontal axis: its name in the page, its label, and the field of the log's lines, in a unit."""

    name: str
    label: str
    field: str
    unit: float = 1


def curves(runs: Mapping[str, Lines]) -> dict[str, list[tuple[str, str]]]:
    """Returns the titles and the drawings of the plots of runs, for each horizontal axis that they have in common.

    Raises:
        UserError: The logs contain nothing to draw.
    """
    runs = {name: _with_network_0(lines) for name, lines in runs.items()}
    drawn = [plot for plot in _plots(runs) if _shown(runs, plot)]
    if not drawn:
        raise UserError(f"{', '.join(runs)}: the log contains nothing to draw")
    return {axis.name: [(plot.title, _draw(runs, plot, axis)) for plot in drawn] for axis in _axes(runs)}


def calibration(runs: Mapping[str, Lines]) -> str:
    """Returns a plot of the last calibration of each run's win rates; "" if none was measured."""
    measured = [[value_of(line, "validation.calibration") for line in reversed(lines)] for lines in runs.values()]
    last: list[Sequence[Sequence[float]]] = [next(filter(None, of_run), []) for of_run in measured]
    if not any(last):
        return ""

    values = [0, 100]
    chart = Chart(Axis.of(values, "win rate of the network, %"), Axis.of(values, "points won, %"))
    chart.line([(0, 0), (100, 100)], f'stroke="currentColor" stroke-dasharray="{_DASHES[2]}"')
    for parts, colour in zip(last, itertools.cycle(COLOURS), strict=False):
        if parts:
            chart.line([(100 * expected, 100 * won) for expected, won, _ in parts], f'stroke="{colour}"')
        for expected, won, share in parts:
            chart.dot(100 * expected, 100 * won, _DOT * math.sqrt(share), f'fill="{colour}" opacity=".6"')
    return chart.to_svg()


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
    axes = [_Axis("time", unit, "seconds", seconds), _Axis("samples", "samples", "samples")]
    axes += [_Axis("games", "games", "games_in_all"), _Axis("cycles", "cycles", "cycle")]
    return [axis for axis in axes if all(axis.field in line for line in lines)]


def _shown(runs: Mapping[str, Lines], plot: Plot) -> list[str]:
    """Returns the fields of a plot that have a value in any run."""
    return [name for name in plot.names if any(_points(lines, plot, name) for lines in runs.values())]


def _points(lines: Lines, plot: Plot, name: str) -> list[tuple[Mapping[str, Any], float]]:
    """Returns the lines that have a finite value, and the value."""
    values = ((line, value_of(line, name)) for line in lines)
    return [(line, plot.factor * value) for line, value in values if value is not None and math.isfinite(value)]


def _draw(runs: Mapping[str, Lines], plot: Plot, axis: _Axis) -> str:
    """Returns a plot as SVG."""
    names = _shown(runs, plot)
    drawn = [
        (colour, dashes, [(line[axis.field] / axis.unit, value, *_ends(line, name, value)) for line, value in found])
        for lines, colour in zip(runs.values(), itertools.cycle(COLOURS), strict=False)
        for name, dashes in zip(names, _DASHES, strict=False)
        if (found := _points(lines, plot, name))
    ]
    every = [point for *_, points in drawn for point in points]
    low, high = min(low for *_, low, _ in every), max(high for *_, high in every)
    room = _MARGIN * (high - low)
    x = Axis.of([x for x, *_ in every], axis.label, is_whole=axis.name != "time")
    chart = Chart(x, Axis.of([low - room, high + room], plot.unit, 6))
    for colour, dashes, points in drawn:
        if names == ["elo"]:
            edge = [(x, low) for x, _, low, _ in points] + [(x, high) for x, _, _, high in reversed(points)]
            chart.area(edge, f'fill="{colour}" opacity=".2"')
        curve = [(x, value) for x, value, *_ in points]
        chart.line(curve, f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"')
        if len(curve) <= _DOTS:
            chart.dots(curve, f'stroke="{colour}" stroke-width="{_DIAMETER}"')
    looks = [f'stroke="currentColor" stroke-dasharray="{dashes}"' for dashes in _DASHES]
    return chart.to_svg(list(zip(map(_label, names), looks, strict=False)) if names[1:] else ())


def _ends(line: Mapping[str, Any], name: str, value: float) -> tuple[float, float]:
    """Returns the ends of the interval of a value, which an Elo has; otherwise the value itself."""
    return line.get(f"{name}_low", value), line.get(f"{name}_high", value)


def _label(name: str) -> str:
    last = name.split(".")[-1]
    return _LABELS.get(last, last.replace("off_", "").replace("_", " "))
