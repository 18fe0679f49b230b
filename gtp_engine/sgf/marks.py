"""Marks on the points of a node: shapes (TR, SQ, CR, MA) and labels (LB)."""

import itertools
import string
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from ..base.errors import UserError
from ..base.fields import parse_word
from ..game.coords import PASS, parse_sgf_point, sgf_point
from .values import Properties, read_stones

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
        try:
            shapes |= dict.fromkeys(read_stones(properties, identifier, width, height), name)
        except UserError:
            continue  # marks do not change the game
    labels: dict[int, str] = {}
    for value in properties.get("LB", []):
        place, text = sgf_grammar.parse_compose(value)
        try:
            point = parse_sgf_point(place.decode("utf-8", "replace").strip(), width, height)
        except UserError:
            continue
        if text and point != PASS:
            labels[point] = sgf_grammar.simpletext_value(text).decode("utf-8", "replace")
    return Marks(shapes, labels)


def with_mark(properties: Properties, point: int, kind: str, width: int, height: int) -> Properties:
    """Returns the properties of a node's marks with another one, or without it if the point has this one.

    Args:
        properties: The node's properties.
        point: The point; whatever other mark it has is replaced.
        kind: A name in `SHAPES`, "letter" or "number": the next one that is not in use.
        width: The number of columns.
        height: The number of rows.

    Returns:
        A list of values for each property of marks; it may be empty.

    Raises:
        UserError: The kind is unknown, or there is no point to mark.
    """
    kind = parse_word("mark", kind, (*SHAPES, *_TEXTS))
    if point == PASS:
        raise UserError("a mark needs a point of the board")
    marks = read_marks(properties, width, height)
    shape, label = marks.shapes.pop(point, None), marks.labels.pop(point, None)
    if kind in _TEXTS:
        if label is None or label.isdecimal() != (kind == "number"):
            marks.labels[point] = _next_label(kind, set(marks.labels.values()))
    elif shape != kind:
        marks.shapes[point] = kind
    values: Properties = {identifier: [] for identifier in (*SHAPES.values(), "LB")}
    for marked, name in marks.shapes.items():
        values[SHAPES[name]].append(sgf_point(marked, width, height).encode())
    for marked, text in marks.labels.items():
        place = sgf_point(marked, width, height).encode()
        values["LB"].append(place + b":" + sgf_grammar.escape_text(text.encode("utf-8", "replace")))
    return values


def _next_label(kind: str, used: set[str]) -> str:
    if kind == "number":
        return next(text for text in map(str, itertools.count(1)) if text not in used)
    names = itertools.chain(string.ascii_uppercase, map("".join, itertools.product(string.ascii_uppercase, repeat=2)))
    return next(text for text in names if text not in used)
