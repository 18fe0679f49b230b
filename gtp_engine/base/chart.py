"""Curves drawn as SVG, for pages, files and notebooks.

A chart places everything in percent of its area. A page can thus stretch it without its texts, and its script can add
to it. What the caller adds has the caller's look, as attributes: colours, or the class that a style sheet knows. The
rest has the colour of the text around it, so that it suits a light and a dark page.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

Points = Iterable[tuple[float, float]]

# In pixels, as are the sizes of drawings.
_FONT, _CHARACTER = 12, 6.8  # the size of texts, and the mean width of their characters
_ROW, _GAP, _RIGHT = 20, 8, 16  # of a text; between a text and the area; beside the area, for half of the last text
_SAMPLE = 24  # of a line in the legend
_HALF_HEAD = 1.5  # of an arrowhead, in percent: at the edges of the area it stays whole
_LEAST_LEAD = 10.0  # points each way that a graph of leads shows: else a quiet game would look wild
_GRID = 'class="tick" stroke="currentColor" opacity=".2"'


@dataclass(frozen=True)
class Axis:
    """The values that an axis shows.

    Attributes:
        low, high: The first and the last one.
        label: What they are.
        ticks: Those with a line through the chart, and their texts.
    """

    low: float
    high: float
    label: str = ""
    ticks: Mapping[float, str] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Collection[float], label: str = "", steps: int = 5, *, is_whole: bool = False) -> "Axis":
        """Returns the axis of at least one finite value with ticks at round ones.

        Args:
            values: What it shows.
            label: What they are.
            steps: Between ticks, at most.
            is_whole: Whether ticks are whole numbers.
        """
        low, high = min(values), max(values)
        if low == high:
            low, high = low - (abs(low) / 10 or 1), high + (abs(high) / 10 or 1)
        power = 10 ** math.floor(math.log10((high - low) / steps))
        step = next(factor * power for factor in (1, 2, 5, 10) if (high - low) / (factor * power) <= steps)
        step = max(step, 1) if is_whole else step
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        return cls(low, high, label, {number * step: f"{number * step:,.{digits}f}" for number in numbers})

    def percent(self, value: float) -> float:
        """Returns where a value is, in percent of the axis."""
        return 100 * (value - self.low) / (self.high - self.low)


def drawn_leads(leads: Sequence[float], board_points: int) -> tuple[list[float], float]:
    """Returns leads as a graph shows them, and the highest that it shows.

    That is at most a quarter of the board, which decides a game: beside the capture of everything, small leads would
    not be seen.
    """
    highest = max(_LEAST_LEAD, min(board_points // 4, max(map(abs, leads))))
    return [min(max(lead, -highest), highest) for lead in leads], highest


class Chart:
    """Lines, areas and dots over two axes. What is added later covers what was added before."""

    def __init__(self, x: Axis, y: Axis) -> None:
        self.x, self.y = x, y
        self._below: list[str] = []  # under the lines of the ticks
        self._above: list[str] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Returns the place of a value in percent from the left and from the top."""
        return self.x.percent(x), 100 - self.y.percent(y)

    def add(self, svg: str) -> None:
        """Adds elements whose coordinates are in percent."""
        self._above.append(svg)

    def line(self, points: Points, look: str) -> None:
        """Adds a line."""
        self.add(_stretched(f'd="M{"L".join(self._places(points))}" fill="none" {look}'))

    def dots(self, points: Points, look: str) -> None:
        """Adds many dots, lines without length whose width is that of the look."""
        marks = "".join(f"M{place}h0" for place in self._places(points))
        self.add(_stretched(f'd="{marks}" stroke-linecap="round" {look}'))

    def arrows(self, points: Points, limit: float, look: str) -> None:
        """Adds an arrowhead to the middle of each part of a line that is cut off at a value, up or down."""
        for side, group in groupby(points, lambda point: (point[1] > limit) - (point[1] < -limit)):
            if side:
                part = [*group]
                left, top = self.place(part[len(part) // 2][0], side * limit)
                left = min(100 - _HALF_HEAD, max(_HALF_HEAD, left))
                head, inside = ("▲", "1.2em") if side > 0 else ("▼", "-.5em")
                where = f'x="{left:.2f}%" y="{top:.2f}%" dy="{inside}" text-anchor="middle"'
                self.add(f'<text {where} aria-hidden="true" {look}>{head}</text>')

    def area(self, points: Points, look: str) -> None:
        """Adds a polygon, below the lines of the ticks."""
        self._below.append(_stretched(f'd="M{"L".join(self._places(points))}Z" {look}'))

    def areas(self, points: Sequence[tuple[float, float]], base: float, above: str, below: str) -> None:
        """Adds the areas between a line and a value, with a look for the line above it, and one for below."""
        closed = [(points[0][0], base), *points, (points[-1][0], base)]
        path, middle = f'd="M{"L".join(self._places(closed))}Z"', 100 - self.y.percent(base)
        self._below += [_stretched(f"{path} {above}", 0, middle), _stretched(f"{path} {below}", middle, 100)]

    def dot(self, x: float, y: float, radius: float, look: str = "") -> None:
        """Adds a dot; its radius is in pixels."""
        left, top = self.place(x, y)
        self.add(f'<circle cx="{left:.2f}%" cy="{top:.2f}%" r="{radius:.1f}" {look}/>')

    def _places(self, points: Points) -> list[str]:
        return [f"{left:.2f} {top:.2f}" for left, top in (self.place(x, y) for x, y in points)]

    def stretched(self, height: int, look: str) -> str:
        """Returns a drawing as wide as the page, with the texts of the vertical axis on the chart and no others."""
        return f'<svg {look} width="100%" height="{height}">{self._content(is_inside=True)}</svg>'

    def _content(self, *, is_inside: bool) -> str:
        """Returns what was added, with the lines and texts of the vertical axis: inside the area, or beside it."""
        lines, texts = list[str](), list[str]()
        for value, text in self.y.ticks.items():
            top = 100 - self.y.percent(value)
            lines.append(f'<line {_GRID} x2="100%" y1="{top:.2f}%" y2="{top:.2f}%"/>')
            inside = f'x="6" dy="{_FONT if top < _FONT else -3}" class="value"'  # above its line, if there is room
            look = inside if is_inside else f'x="-{_GAP}" dy=".35em" text-anchor="end"'
            texts.append(f'<text y="{top:.2f}%" {look}>{escape(text)}</text>')
        return "".join([*self._below, *lines, *self._above, *texts])  # no mark covers a text

    def at(self, x: float, y: float, width: float, height: float, *, is_last: bool = True) -> str:
        """Returns a part of a larger drawing: the area at a place and of a size in pixels, with texts beside it.

        The label of the vertical axis stands above the area; those of the horizontal one are shown if it is the last.
        """
        parts = [f'<text dy="-{_GAP}">{escape(self.y.label)}</text>']
        parts.append(_stretched('d="M0 0V100H100" fill="none" stroke="currentColor"'))
        texts = [f'<text x="50%" y="100%" dy="{2 * _ROW}" text-anchor="middle">{escape(self.x.label)}</text>']
        for value, text in self.x.ticks.items():
            left = f"{self.x.percent(value):.2f}%"
            parts.append(f'<line {_GRID} x1="{left}" x2="{left}" y2="100%"/>')
            texts.append(f'<text x="{left}" y="100%" dy="{_ROW - 2}" text-anchor="middle">{escape(text)}</text>')
        parts += texts if is_last else []
        parts.append(self._content(is_inside=False))
        return f'<svg x="{x}" y="{y}" width="{width:g}" height="{height:g}" overflow="visible">{"".join(parts)}</svg>'

    def to_svg(self, legend: Sequence[tuple[str, str]] = (), width: int = 480, height: int = 300) -> str:
        """Returns a drawing with texts beside the area, and above it a legend: texts, and the looks of their lines."""
        x = left = 2 * _GAP + round(_CHARACTER * max(map(len, self.y.ticks.values()), default=0))
        top, parts = _ROW * (2 if legend else 1) + _GAP, []
        for text, look in legend:
            parts.append(f'<path d="M{x} {_ROW / 2}h{_SAMPLE}" fill="none" {look}/>')
            parts.append(f'<text x="{x + _SAMPLE + 6}" y="{_ROW / 2}" dy=".35em">{escape(text)}</text>')
            x += round(2 * _SAMPLE + _CHARACTER * len(text))
        parts.append(self.at(left, top, width - left - _RIGHT, height - top - 2 * _ROW - _GAP))
        look = f'fill="currentColor" font-family="system-ui, sans-serif" font-size="{_FONT}"'
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>{"".join(parts)}</svg>'


def _stretched(path: str, top: float = 0, bottom: float = 100) -> str:
    """Returns a path in percent that is stretched with the chart, unlike the width of its line, between two heights."""
    box = f'viewBox="0 {top:.2f} 100 {bottom - top:.2f}" y="{top:.2f}%" width="100%" height="{bottom - top:.2f}%"'
    overflow = ' overflow="visible"' if (top, bottom) == (0, 100) else ""
    path = f'<path vector-effect="non-scaling-stroke" {path}/>'
    return f'<svg {box} preserveAspectRatio="none"{overflow}>{path}</svg>'
