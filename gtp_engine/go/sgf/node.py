"""The nodes of a game record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ...base.errors import UserError
from ..coords import BLACK, EMPTY, WHITE
from ..game import Move
from .values import Properties, escaped, read_move, read_player, read_stones, read_text

_SETUP = {"AB": BLACK, "AW": WHITE, "AE": EMPTY}
_MOVES = ("B", "W")
_CHANGES = frozenset((*_SETUP, *_MOVES, "PL"))  # properties that change the position or the turn


@dataclass(eq=False, slots=True)
class TreeNode:
    """A node: a move, a change of the position, or only something said about it.

    Attributes:
        number: Identifies it within its record.
        properties: Raw values by the name of the property, in UTF-8; never changed in place.
        parent: The node before it; None for the root.
        move: The move, if it has one.
        setup: The stones that it sets up before the move: colours by point, EMPTY where it takes one off.
        problem: Why its move or its stones cannot be read; "" if they can.
        children: The nodes that follow, that of the main line first.
        followed: The child that was last looked at; None if none was.
    """

    number: int
    properties: Properties
    parent: "TreeNode | None" = None
    move: Move | None = None
    setup: Mapping[int, int] = field(default_factory=dict)
    problem: str = ""
    children: list["TreeNode"] = field(default_factory=list)
    followed: "TreeNode | None" = None

    def set_properties(self, properties: Properties, width: int, height: int) -> None:
        """Replaces the properties, and with them the move and the stones, on a board of this size."""
        self.properties, self.move, self.setup, self.problem = properties, None, {}, ""
        try:
            if not _SETUP.keys().isdisjoint(properties):
                self.setup = _read_setup(properties, width, height)
            for name in _MOVES:
                if name in properties:
                    self.move = read_move(name, properties[name], width, height)
        except UserError as error:
            self.problem = str(error)

    @property
    def path(self) -> list["TreeNode"]:
        """The nodes from the root to this one."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]

    @property
    def next(self) -> "TreeNode | None":
        """The child that was last looked at, or else the first one; None at the end of a line."""
        if self.followed in self.children:
            return self.followed
        return self.children[0] if self.children else None

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
