"""Boards drawn: as SVG, in files, notebooks and on web pages, and as plain text, for `showboard` and terminals.

A drawing is made of plain data. The groups of the document have classes (`black`, `white`, `ownership`, `labels`,
`candidates`, ...), so that a web page can restyle them. Everything lies on a board of wood, which looks the same on a
light and on a dark page.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..base.fields import Range, invalid
from .coords import (
    BLACK,
    COLUMNS,
    EMPTY,
    MAX_SIZE,
    MIN_SIZE,
    PASS,
    WHITE,
    as_point,
    colour_name,
    opponent,
    point_at,
    vertex,
    xy,
)
from .handicap import star_points

# Marks as paths around the point, in units of half their size.
SHAPES = {
    "triangle": "M0 -1.1L0.95 0.6H-0.95Z",
    "square": "M-0.8 -0.8H0.8V0.8H-0.8Z",
    "circle": "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z",
    "cross": "M-0.8 -0.8L0.8 0.8M-0.8 0.8L0.8 -0.8",
}


class _Look:
    """What `drawing.js` draws with, too: colours, and lengths in units of the drawing."""

    cell, margin, stone = 20, 27, 9.5  # between two lines; around them; of a stone
    ring, ring_width = 5, 1.6  # on the stone of the last move
    label_disc = 7.5  # behind the label of an empty point, whose lines it hides
    label_font, label_room = 11, 26  # the size of one or two characters; the width that all of them may fill
    candidate_fonts = (9.5, 9, 6)  # of a single line, of the first of two lines, of the second one
    candidate_lines = (-2.6, 5)  # the places of two lines, from the point's own
    candidate_edges = (("#6b5a3a", 0.5), ("#123a63", 1.6))  # of the others, of the best one
    baseline = 0.36  # of a font's size: half the height of its capitals and digits
    shape, shape_width = 5.2, 1.4  # half the size of a mark, and the width of its lines
    least_ownership = 0.1  # below it nothing is drawn
    wood, lost = "#e3bd74", "#b3261e"
    solid = {BLACK: "#1b1b1b", WHITE: "#f7f5f0"}  # noqa: RUF012
    shapes = SHAPES
    columns = COLUMNS


# On 19x19, and less on smaller boards: from the edge of the drawing to the middle of the coordinates; their size.
_COORDINATES, _COORDINATE_FONT = 9.5, 9
# Pixels between two lines, as long as the drawing does not become wider than the second number.
_CELL_PIXELS, _WIDEST = 40, 600
_INK = "#5b3d14"
_EDGES = {BLACK: 'stroke="#000" stroke-width="0.3"', WHITE: 'stroke="#8d8577" stroke-width="0.4"'}
# Wood, and stones lit from the top left.
_GRADIENTS = """<defs>
<linearGradient id="{name}-wood" x2="0.3" y2="1">
<stop stop-color="#ecc983"/><stop offset="1" stop-color="#dcb065"/>
</linearGradient>
<radialGradient id="{name}-black" cx="0.35" cy="0.3" r="0.75">
<stop stop-color="#6a6a6a"/><stop offset="0.45" stop-color="#2b2b2b"/><stop offset="1" stop-color="#0c0c0c"/>
</radialGradient>
<radialGradient id="{name}-white" cx="0.35" cy="0.3" r="0.85">
<stop stop-color="#fff"/><stop offset="0.55" stop-color="#f3f0ea"/><stop offset="1" stop-color="#c9c4ba"/>
</radialGradient>
</defs>"""
# How a drawing shrinks to fit into a page.
SVG_STYLE = "max-width:100%;height:auto"
_FONT = 'font-family="Helvetica, Arial, sans-serif" text-anchor="middle"'


@dataclass(frozen=True)
class Candidate:
    """A move to consider, drawn as a coloured disc.

    Attributes:
        point: Where it is played; a pass is not drawn.
        colour: The colour of the disc, "#rrggbb".
        text: Up to two short lines on the disc, the first one larger.
        is_best: Whether the disc has a ring.
    """

    point: int | str
    colour: str
    text: tuple[str, ...] = ()
    is_best: bool = False


class DrawingOptions(TypedDict, total=False):
    """The fields of `BoardDrawing` without the stones, for the keyword arguments of `to_svg`."""

    last_move: int | str
    candidates: Sequence[Candidate]
    ownership: np.ndarray | None
    labels: Mapping[Any, str]
    marks: Mapping[Any, str]
    title: str
    name: str
    pixels: float | None


@dataclass(frozen=True, eq=False)
class BoardDrawing:
    """A position, and what is drawn on it.

    Points are numbers of the padded grid or vertices such as "D4" (`coords`).

    Attributes:
        stones: int8 [height, width] of EMPTY, BLACK and WHITE, row 0 at the top.
        last_move: The point of the last move, whose stone is marked.
        candidates: Moves to consider.
        ownership: float [height, width] in -1..1, + for Black. It is drawn as squares of the owner's colour, whose size
            grows with certainty, except on the owner's own stones.
        labels: Short texts by point, on stones or on empty points: letters, or the numbers of moves.
        marks: Names of `SHAPES` by point.
        title: What the drawing shows, for screen readers and as a tooltip; by default the number of stones.
        name: Makes the identifiers in the document differ from those of an equal drawing on the same page.
        pixels: The width of the drawing; by default 40 for each line, up to 600. It shrinks to fit into a page.

    Raises:
        UserError: A point is off the board, or an array does not have the board's shape.
    """

    stones: np.ndarray
    last_move: int | str = PASS
    candidates: Sequence[Candidate] = ()
    ownership: np.ndarray | None = None
    labels: Mapping[Any, str] = field(default_factory=dict)
    marks: Mapping[Any, str] = field(default_factory=dict)
    title: str = ""
    name: str = ""
    pixels: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stones", np.asarray(self.stones))
        shape = self.stones.shape
        if len(shape) != 2 or not all(MIN_SIZE <= side <= MAX_SIZE for side in shape):
            raise invalid("stones", shape, "an array of [height, width]")
        if self.ownership is not None:
            object.__setattr__(self, "ownership", np.asarray(self.ownership))
            if np.shape(self.ownership) != shape:
                raise invalid("ownership", np.shape(self.ownership), f"an array of {list(shape)}")
        if not isinstance(self.labels, Mapping):
            raise invalid("labels", self.labels, 'a text for each point, such as {"D4": "1"}')
        if not (isinstance(self.marks, Mapping) and all(shape in SHAPES for shape in self.marks.values())):
            raise invalid("marks", self.marks, 'a shape for each point, such as {"D4": "triangle"}')
        if not all(isinstance(candidate, Candidate) for candidate in self.candidates):
            raise invalid("candidates", self.candidates, 'a list such as [Candidate("D4", "#5cc48d")]')
        if self.pixels is not None:
            Range(0, above=True).parse("number of pixels", self.pixels, from_text=False)
        for point in (self.last_move, *self.labels, *self.marks, *(candidate.point for candidate in self.candidates)):
            self._point(point)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.stones.shape[1])

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.stones.shape[0])

    def _point(self, point: int | str) -> int:
        return as_point(point, self.width, self.height)

    def _stone_at(self, point: int) -> int:
        column, row = xy(point, self.width)
        return int(self.stones[row, column])

    def to_svg(self) -> str:
        """Returns a complete SVG document."""
        edge = self._edge
        width, height = (2 * (_Look.margin - edge) + _Look.cell * (side - 1) for side in (self.width, self.height))
        pixels = self.pixels or min(_CELL_PIXELS / _Look.cell * width, _WIDEST)
        # The names of gradients hold in a whole page. If drawings shared them, hiding one would spoil the others.
        content: tuple[object, ...]
        content = (self.name, self.stones.tolist(), self.last_move, self.candidates, dict(self.labels), self.ownership)
        content += (dict(self.marks),) if self.marks else ()
        name = f"go{zlib.crc32(repr(content).encode()):08x}"
        size = f'width="{width:g}" height="{height:g}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{edge:g} {edge:g} {width:g} {height:g}" '
            f'width="{pixels:.0f}" '
            f'height="{pixels * height / width:.0f}" style="{SVG_STYLE}" role="img">',
            f"<title>{escape(self.title or self._description())}</title>",
            _GRADIENTS.format(name=name),
            f'<rect class="wood" x="{edge:g}" y="{edge:g}" {size} rx="5" fill="url(#{name}-wood) {_Look.wood}"/>',
            *self._grid(),
            *self._stones(name),
            *self._owners(),
            *self._labels(),
            *self._shapes(),
            *self._last_move(),
            *self._candidates(),
            "</svg>",
        ]
        return "\n".join(parts)

    _repr_svg_ = to_svg

    def __repr__(self) -> str:
        return f"<BoardDrawing: {self.title or self._description()}>"

    @property
    def _share(self) -> float:
        """How large the coordinates, and the room for them, are in comparison with 19x19."""
        return float(min(1.0, (max(self.width, self.height) / 19) ** 0.5))

    @property
    def _edge(self) -> float:
        """How much of the margin is left out on each side: round numbers, as what is drawn has."""
        return round((1 - self._share) * (_Look.margin - _Look.stone), 1)

    def _description(self) -> str:
        counts = [f"{np.count_nonzero(self.stones == colour)} {colour_name(colour)}" for colour in (BLACK, WHITE)]
        text = f"{self.width}x{self.height} Go board, {' and '.join(counts)} stones"
        last = self._point(self.last_move)
        return text if last == PASS else f"{text}, last move {vertex(last, self.width, self.height)}"

    def _grid(self) -> Iterator[str]:
        """Yields lines, star points and coordinates."""
        left, top = _Look.margin, _Look.margin
        right, bottom = left + _Look.cell * (self.width - 1), top + _Look.cell * (self.height - 1)
        lines = [f"M{left} {top + _Look.cell * row}H{right}" for row in range(self.height)]
        lines += [f"M{left + _Look.cell * column} {top}V{bottom}" for column in range(self.width)]
        frame = f"M{left} {top}H{right}V{bottom}H{left}Z"
        grid = f'd="{"".join(lines)}{frame}" stroke="{_INK}" stroke-width="0.8" stroke-linecap="square" fill="none"'
        yield f'<path class="grid" {grid}/>'
        stars = [_circle(*_centre(point, self.width), 2) for point in sorted(star_points(self.width, self.height))]
        yield _group("stars", f'fill="{_INK}"', stars)
        font, place = _COORDINATE_FONT * self._share, self._edge + _COORDINATES * self._share
        letters = [
            _text(left + _Look.cell * column, y, font, COLUMNS[column])
            for column in range(self.width)
            for y in (place, top + bottom - place)
        ]
        numbers = [
            _text(x, top + _Look.cell * row, font, str(self.height - row))
            for row in range(self.height)
            for x in (place, left + right - place)
        ]
        yield _group("coordinates", f'{_FONT} fill="{_INK}"', [*letters, *numbers])

    def _stones(self, name: str) -> Iterator[str]:
        """Yields the stones' shadows, then the stones; `name` is that of the gradients."""
        places = {colour: np.argwhere(self.stones == colour).tolist() for colour in _Look.solid}
        # The shadows are the stones once more, at another place: drawings are smaller, and scripts add both at once.
        shadows = [f'<use href="#{name}-{colour_name(colour)}-stones"/>' for colour in places]
        yield _group("shadows", 'fill="#3a2407" opacity="0.3" transform="translate(0.7 1)"', shadows)
        for colour in places:
            fill = f'fill="url(#{name}-{colour_name(colour)}) {_Look.solid[colour]}" {_EDGES[colour]}'
            centres = [_centre(point_at(x, y, self.width), self.width) for y, x in places[colour]]
            stones = "".join(_circle(x, y, _Look.stone) for x, y in centres)
            yield _group(colour_name(colour), fill, [f'<g id="{name}-{colour_name(colour)}-stones">{stones}</g>'])

    def _owners(self) -> Iterator[str]:
        if self.ownership is None:
            return
        squares = []
        for (row, column), value in np.ndenumerate(self.ownership.astype(float)):
            owner = BLACK if value > 0 else WHITE
            if abs(value) < _Look.least_ownership or self.stones[row, column] == owner:
                continue
            side = 0.5 * _Look.cell * min(1.0, abs(value))
            x, y = _Look.margin + _Look.cell * column - side / 2, _Look.margin + _Look.cell * row - side / 2
            size = f'x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}"'
            squares.append(f'<rect {size} fill="{_Look.solid[owner]}"/>')
        yield _group("ownership", 'opacity="0.85"', squares)

    def _labels(self) -> Iterator[str]:
        texts = []
        for given, content in self.labels.items():
            point, label = self._point(given), str(content)
            if point == PASS or not label:
                continue
            x, y = _centre(point, self.width)
            stone = self._stone_at(point)
            if stone == EMPTY:
                texts.append(_circle(x, y, _Look.label_disc, f' fill="{_Look.wood}"'))  # hides the lines
            fill = _Look.solid[WHITE if stone == BLACK else BLACK]
            texts.append(_text(x, y, min(_Look.label_font, _Look.label_room / len(label)), label, f' fill="{fill}"'))
        yield _group("labels", f'{_FONT} font-weight="bold"', texts)

    def _shapes(self) -> Iterator[str]:
        """Yields the marks, if there are any."""
        shapes = []
        for given, name in self.marks.items():
            point = self._point(given)
            if point != PASS:
                x, y = _centre(point, self.width)
                stroke = _Look.solid[WHITE if self._stone_at(point) == BLACK else BLACK]
                place = f'transform="translate({x} {y}) scale({_Look.shape})"'
                shapes.append(f'<path class="{name}" d="{SHAPES[name]}" {place} stroke="{stroke}"/>')
        if shapes:
            yield _group("marks", f'fill="none" stroke-width="{_Look.shape_width / _Look.shape:.3g}"', shapes)

    def _last_move(self) -> Iterator[str]:
        """Yields a ring on the stone of the last move, unless it has a label or a mark."""
        point = self._point(self.last_move)
        if point == PASS or self._stone_at(point) == EMPTY or point in map(self._point, (*self.labels, *self.marks)):
            return
        ring = f' fill="none" stroke="{_Look.solid[opponent(self._stone_at(point))]}" stroke-width="{_Look.ring_width}"'
        yield _group("last-move", "", [_circle(*_centre(point, self.width), _Look.ring, ring)])

    def _candidates(self) -> Iterator[str]:
        discs = []
        for candidate in self.candidates:
            point = self._point(candidate.point)
            if point == PASS:
                continue
            x, y = _centre(point, self.width)
            stroke, width = _Look.candidate_edges[candidate.is_best]
            edge = f'stroke="{stroke}" stroke-width="{width}"'
            discs.append(_circle(x, y, _Look.stone, f' fill="{escape(candidate.colour)}" {edge}'))
            if len(candidate.text) == 1:
                discs.append(_text(x, y, _Look.candidate_fonts[0], candidate.text[0]))
            elif candidate.text:
                lines = zip(_Look.candidate_lines, _Look.candidate_fonts[1:], candidate.text, strict=False)
                discs += [_text(x, y + place, size, text) for place, size, text in lines]
        yield _group("candidates", f'{_FONT} fill="#141414"', discs)


def drawing_script() -> str:
    """Returns the script that draws positions in a drawing: the module `drawing.js` with the measures and colours."""
    look = {name: value for name, value in vars(_Look).items() if not name.startswith("_")}
    return f"const look = {json.dumps(look)};\n{(files(__package__) / 'drawing.js').read_text('utf-8')}"


def _centre(point: int, width: int) -> tuple[int, int]:
    """Returns the place of a point in the drawing."""
    column, row = xy(point, width)
    return _Look.margin + _Look.cell * column, _Look.margin + _Look.cell * row


def _group(name: str, attributes: str, parts: Iterable[str]) -> str:
    """Returns a group with a class; it may be empty."""
    return f'<g class="{name}"{" " if attributes else ""}{attributes}>{"".join(parts)}</g>'


def _circle(x: float, y: float, radius: float, attributes: str = "") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"{attributes}/>'


def _text(x: float, y: float, size: float, text: str, attributes: str = "") -> str:
    """Returns a text in the middle of a place."""
    return f'<text x="{x:g}" y="{y + _Look.baseline * size:g}" font-size="{size:.3g}"{attributes}>{escape(text)}</text>'


_STONES = {BLACK: "X", WHITE: "O"}
DEAD_STONES = {BLACK: "x", WHITE: "o"}
TERRITORY = {BLACK: "b", WHITE: "w"}


@dataclass(frozen=True, eq=False)
class Marks:
    """What is drawn on a board in addition to its stones and its last move."""

    # A character for each labelled point, drawn if the point is empty.
    labels: Mapping[int, str] = field(default_factory=dict)
    dead: frozenset[int] = frozenset()  # the points of dead stones
    territory: NDArray[np.int8] | None = None  # int8 [height, width], the colour that owns each point, or EMPTY

    def owner(self, point: int, width: int) -> int:
        """Returns the colour that owns a point, or EMPTY."""
        if self.territory is None:
            return EMPTY
        x, y = xy(point, width)
        return int(self.territory[y, x])


def board_text(stones: NDArray[np.int8], last: int, marks: Marks | None = None, *, compact: bool = False) -> str:
    """Draws a position in ASCII, X black and O white.

    Args:
        stones: int8 [height, width] of EMPTY, BLACK and WHITE.
        last: The point of the last move, or PASS.
        compact: Leave out the spaces between columns, and with them the parentheses around the last move.
    """
    letters = "   " + ("" if compact else " ").join(COLUMNS[: stones.shape[1]])
    rows = [_row(stones, y, last, marks or Marks(), compact) for y in range(stones.shape[0])]
    return "\n".join([letters, *rows, letters])


def _row(stones: NDArray[np.int8], y: int, last: int, marks: Marks, compact: bool) -> str:
    height, width = stones.shape
    stars = star_points(width, height)
    points = [point_at(x, y, width) for x in range(width)]
    characters = [
        _character(int(stone), point, marks, width, "+" if point in stars else ".")
        for stone, point in zip(stones[y], points, strict=True)
    ]
    number = height - y
    if compact:
        return f"{number:2} {''.join(characters)} {number}"
    gaps = gaps_in_row(points, last, " ")
    cells = [gap + character for gap, character in zip(gaps, characters, strict=False)]
    return f"{number:2}{''.join(cells)}{gaps[-1]}{number}"


def gaps_in_row(points: list[int], last: int, gap: str) -> list[str]:
    """Returns what to print before, between and after the points of a row: `gap`, or parentheses at the last move."""
    gaps = [gap] * (len(points) + 1)
    if last in points:
        column = points.index(last)
        gaps[column], gaps[column + 1] = "(", ")"
    return gaps


def _character(stone: int, point: int, marks: Marks, width: int, empty: str) -> str:
    """Returns the character of a point: its stone, label or owner, or else `empty`."""
    if stone != EMPTY:
        return (DEAD_STONES if point in marks.dead else _STONES)[stone]
    return marks.labels.get(point) or TERRITORY.get(marks.owner(point, width), empty)
