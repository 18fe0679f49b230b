"""Marks on the points of a node: shapes (TR, SQ, CR, MA) and labels (LB)."""

import itertools
import string
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from ...base.errors import UserError
from ...base.fields import parse_word
from ...base.messages import printable
from ..coords import PASS, parse_sgf_point, sgf_point
from .values import MOST_REPEATS, Properties, read_stones

SHAPES = {"triangle": "TR", "square": "SQ", "circle": "CR", "cross": "MA"}
_TEXTS = ("letter", "number")


@dataclass(frozen=True)
class Marks:
    """The marks of a node.

    Attributes:
        shapes: The name of a shape in `SHAPES`, by point.
        labels: A text, by point.
    """

    shapes: dict[int, str] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


def read_marks(properties: Properties, width: int, height: int) -> Marks:
    """Returns the marks of a node for a board of this size; those that are not on it are left out."""
    shapes: dict[int, str] = {}
    for name, identifier in SHAPES.items():
        for _, points in _shapes(properties, identifier, width, height):
            shapes |= dict.fromkeys(points, name)
    labels: dict[int, str] = {}
    for value in properties.get("LB", []):
        point = _labelled(value, width, height)
        _, text = sgf_grammar.parse_compose(value)
        if text and point is not None:
            labels[point] = printable(sgf_grammar.simpletext_value(text).decode("utf-8", "replace"))
    return Marks(shapes, labels)


def _shapes(
    properties: Properties, identifier: str, width: int, height: int
) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Yields each value of a property with its points: none for a value that cannot be read.

    Nor are values read on once they have named the whole board MOST_REPEATS times.
    """
    left = MOST_REPEATS * width * height
    for value in properties.get(identifier, []):
        points: tuple[int, ...] = ()
        if left > 0:
            with suppress(UserError):  # marks do not change the game
                points = read_stones({identifier: [value]}, identifier, width, height)
        left -= len(points)
        yield value, points


def _labelled(value: bytes, width: int, height: int) -> int | None:
    """Returns the point of a value of LB; None if it has none on this board."""
    place, _ = sgf_grammar.parse_compose(value)
    try:
        point = parse_sgf_point(place.decode("utf-8", "replace").strip(), width, height)
    except UserError:
        return None
    return None if point == PASS else point


def with_mark(properties: Properties, point: int, kind: str, width: int, height: int) -> Properties:
    """Returns the properties of a node's marks with another one, or without it if the point has this one.

    Args:
        properties: The node's properties.
        point: The point; whatever other mark it has is replaced.
        kind: A name in `SHAPES`, "letter" or "number": the next one that is not in use.
        width: The number of columns.
        height: The number of rows.

    Returns:
        A list of values for each property of marks; it may be empty. Values that cannot be read stay as they are.

    Raises:
        UserError: The kind is unknown, or there is no point to mark.
    """
    kind = parse_word("mark", kind, (*SHAPES, *_TEXTS))
    if point == PASS:
        raise UserError("a mark needs a point on the board")
    marks = read_marks(properties, width, height)
    shape, label = marks.shapes.pop(point, None), marks.labels.pop(point, None)
    values = _without(properties, point, width, height)
    place = sgf_point(point, width, height).encode()
    if kind in _TEXTS:
        if label is None or label.isdecimal() != (kind == "number"):
            values["LB"].append(place + b":" + _next_label(kind, set(marks.labels.values())).encode())
    elif shape != kind:
        values[SHAPES[kind]].append(place)
    return values


def _without(properties: Properties, point: int, width: int, height: int) -> Properties:
    """Returns the values of all properties of marks without those of a point; rectangles with it become points."""
    values: Properties = {}
    for identifier in SHAPES.values():
        values[identifier] = kept = []
        for value, points in _shapes(properties, identifier, width, height):
            others = [sgf_point(each, width, height).encode() for each in points if each != point]
            kept += others if point in points else [value]
    values["LB"] = [value for value in properties.get("LB", []) if _labelled(value, width, height) != point]
    return values


def _next_label(kind: str, used: set[str]) -> str:
    if kind == "number":
        return next(text for text in map(str, itertools.count(1)) if text not in used)
    names = itertools.chain(string.ascii_uppercase, map("".join, itertools.product(string.ascii_uppercase, repeat=2)))
    return next(text for text in names if text not in used)
