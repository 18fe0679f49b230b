"""The nodes of a game record, and the marks on their points: shapes (TR, SQ, CR, MA) and labels (LB)."""

import itertools
import string
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from sgfmill import sgf_grammar

from ...base.errors import UserError
from ...base.fields import Words
from ...base.languages.texts import Phrase
from ...base.messages import printable
from ..coords import BLACK, EMPTY, PASS, WHITE, parse_sgf_point, sgf_point
from ..game import Move
from .values import MOST_REPEATS, Properties, escaped, read_move, read_player, read_stones, read_text

_SETUP = {"AB": BLACK, "AW": WHITE, "AE": EMPTY}
_MOVES = ("B", "W")
_CHANGES = frozenset((*_SETUP, *_MOVES, "PL"))  # properties that change the position or the turn


@dataclass(eq=False, slots=True)
class TreeNode:
    """A node: a move, a change of the position, or only something said about it."""

    number: int  # identifies it within its record
    properties: Properties  # raw values by the name of the property, in UTF-8; never changed in place
    parent: "TreeNode | None" = None  # the node before it; None for the root
    move: Move | None = None  # the move, if it has one
    # The stones that it sets up before the move: colours by point, EMPTY where it takes one off.
    setup: Mapping[int, int] = field(default_factory=dict)
    problem: UserError | None = None  # why its move or its stones cannot be read; None if they can
    children: list["TreeNode"] = field(default_factory=list)  # the nodes that follow, that of the main line first
    followed: "TreeNode | None" = None  # the child that was last looked at; None if none was
    depth: int = 0  # how many nodes come before it

    def set_properties(self, properties: Properties, width: int, height: int) -> None:
        """Replaces the properties, and with them the move and the stones, on a board of this size."""
        self.properties, self.move, self.setup, self.problem = properties, None, {}, None
        try:
            if not _SETUP.keys().isdisjoint(properties):
                self.setup = _read_setup(properties, width, height)
            for name in _MOVES:
                if name in properties:
                    self.move = read_move(name, properties[name], width, height)
        except UserError as error:
            self.problem = error.with_traceback(None)  # whose frames would be kept with the record

    @property
    def path(self) -> list["TreeNode"]:
        """The nodes from the root to this one."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]

    @property
    def moves(self) -> list[Move]:
        """The moves from the root to this node; those of a `Game` begin anew where stones are set up."""
        return [node.move for node in self.path if node.move is not None]

    @property
    def next(self) -> "TreeNode | None":
        """The child that was last looked at, or else the first one; None at the end of a line."""
        if self.followed in self.children:
            return self.followed
        return self.children[0] if self.children else None

    @property
    def ends_game(self) -> bool:
        """Whether its move is one of at least two passes in a row after which nobody plays on in its line."""
        around, following = [node.move for node in self.path if node.move], self.next
        while following is not None:
            around += [following.move] if following.move else []
            following = following.next
        passes = list(takewhile(lambda move: move.point == PASS, reversed(around)))
        return len(passes) >= 2 and any(move is self.move for move in passes)

    @property
    def is_gone(self) -> bool:
        """Whether it has been removed from its record, or a node before it."""
        return any(after not in before.children for before, after in pairwise(self.path))

    @property
    def first_with_position(self) -> "TreeNode":
        """The node that led to its position: an earlier one if this one changes neither stones nor turn."""
        node = self
        while node.parent is not None and _CHANGES.isdisjoint(node.properties):
            node = node.parent
        return node

    def place(self, played: int) -> Phrase:
        """Returns where the node is in the game, by the number of moves played before it."""
        if not self.properties.keys().isdisjoint(_MOVES):
            return Phrase("error.move", {"number": str(played + 1)})
        return Phrase("error.afterMove", {"number": str(played)}) if played else Phrase("error.start")

    @property
    def to_move(self) -> int | None:
        """The player to move next, if the node says it; with stones and a move, the player after the stones."""
        return read_player(self.properties)

    def text(self, name: str) -> str:
        """Returns the text of a property in one line, "" for none."""
        return read_text(self.properties, name)

    def set_text(self, name: str, text: str) -> None:
        """Changes a property that says something about the game or the node; "" removes it."""
        others = {each: values for each, values in self.properties.items() if each != name}
        self.properties = others | ({name: [escaped(text)]} if text else {})

    @property
    def comment(self) -> str:
        """The comment, with its lines; "" for none."""
        return read_text(self.properties, "C", lines=True)

    @comment.setter
    def comment(self, text: str) -> None:
        self.set_text("C", text)


def _read_setup(properties: Properties, width: int, height: int) -> Mapping[int, int]:
    setup: dict[int, int] = {}
    named = 0
    for name, colour in _SETUP.items():
        points = read_stones(properties, name, width, height)
        setup |= dict.fromkeys(points, colour)
        named += len(points)
    if len(setup) < named:
        raise UserError("AB, AW and AE name the same point")
    return setup


def split(properties: Properties, *, is_root: bool = False) -> list[Properties]:
    """Returns a node of a file as nodes with one move each, none in the root, which FF[1] to FF[3] allow."""
    moves = [name for name in properties if name in _MOVES]
    if len(moves) + is_root <= 1:
        return [properties]
    rest = {name: values for name, values in properties.items() if name not in (*moves, "C")}
    own = 0 if is_root else 1
    parts = [rest | {name: properties[name] for name in moves[:own]}]
    parts += [{name: properties[name]} for name in moves[own:]]
    if "C" in properties:
        parts[-1]["C"] = properties["C"]
    return parts


SHAPES = {"triangle": "TR", "square": "SQ", "circle": "CR", "cross": "MA"}
_TEXTS = ("letter", "number")


@dataclass(frozen=True)
class Marks:
    """The marks of a node, by point."""

    shapes: dict[int, str] = field(default_factory=dict)  # names in `SHAPES`
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
        point: The point; whatever other mark it has is replaced.
        kind: A name in `SHAPES`, "letter" or "number": the next one that is not in use.

    Returns:
        A list of values for each property of marks; it may be empty. Values that cannot be read stay as they are.

    Raises:
        UserError: The kind is unknown, or there is no point to mark.
    """
    kind = Words((*SHAPES, *_TEXTS)).parse("mark", kind)
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
