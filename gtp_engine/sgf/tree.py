"""Game trees: a record with all its variations and all its properties, to walk through and to edit.

`GameRecord` is one line of such a tree, as typed fields. Here every node keeps the properties of its file as they are,
so that nothing is lost when a tree is written again: variations, comments, marks, and what other programs have added.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from sgfmill import sgf_grammar

from ..base import VERSION
from ..base.errors import UserError
from ..game.coords import EMPTY, PASS, all_points, colour_letter, opponent, sgf_point
from ..game.game import Game, Move
from ..game.rules import Rules
from .charset import decode_sgf
from .errors import SgfError
from .game_info import INFO_NAMES, info_of
from .marks import Marks, read_marks, with_mark
from .reading import read_data, read_nodes, record_of
from .record import GameRecord
from .syntax import parse_games
from .values import Properties, escaped, read_text
from .writing import file_properties, serialised

_APPLICATION = f"gtp_engine:{VERSION}".encode()
_CHANGES = frozenset(("B", "W", "AB", "AW", "AE", "PL"))  # properties that change the position or the turn


@dataclass(eq=False)
class TreeNode:
    """A node: a move, a change of the position, or only something said about it.

    Attributes:
        number: Identifies it within its tree.
        properties: Raw values by the name of the property, in UTF-8; never changed in place.
        parent: The node before it; None for the root.
        move: The move, if it has one.
        children: The nodes that follow, that of the main line first.
        followed: The child that was last looked at; None if none was.
    """

    number: int
    properties: Properties
    parent: "TreeNode | None" = None
    move: Move | None = None
    children: list["TreeNode"] = field(default_factory=list)
    followed: "TreeNode | None" = None

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
        """Whether it has been removed from its tree, or a node before it."""
        return any(after not in before.children for before, after in pairwise(self.path))

    @property
    def comment(self) -> str:
        """The comment, "" for none."""
        return read_text(self.properties, "C", lines=True)

    @property
    def has_setup(self) -> bool:
        """Whether the node sets up or removes stones."""
        return any(name in self.properties for name in ("AB", "AW", "AE"))

    @property
    def first_with_position(self) -> "TreeNode":
        """The node that led to its position: an earlier one if this one changes neither stones nor turn."""
        node = self
        while node.parent is not None and _CHANGES.isdisjoint(node.properties):
            node = node.parent
        return node


@dataclass(frozen=True)
class Edit:
    """A change of a tree that can be undone.

    Attributes:
        node: The node to show once it is undone.
        revert: Undoes it; may return another node to show.
        move: The move that it added, if it added one.
        is_annotation: Whether it changed a comment or a mark, and neither moves nor stones.
    """

    node: TreeNode
    revert: Callable[[], TreeNode | None]
    move: Move | None = None
    is_annotation: bool = False


class RecordTree:
    """A record with its variations.

    Attributes:
        root: The first node.
        width: The number of columns.
        height: The number of rows.
        source: The name used in error messages.
        is_whole_file: Whether what it was read from has no other game, so that writing the tree there loses nothing.
        edits: The changes since it was read, the latest last.
        version: Grows with every change.
    """

    def __init__(self, properties: Properties, width: int, height: int, source: str = "SGF") -> None:
        self.root = TreeNode(0, properties)
        self.width = width
        self.height = height
        self.source = source
        self.is_whole_file = True
        self.edits: list[Edit] = []
        self.version = 0
        self._made = 1

    @classmethod
    def of_game(cls, game: Game, comments: Mapping[int, str] | None = None) -> "RecordTree":
        """Returns the tree of a game's moves, with comments by the number of moves."""
        return read_tree(GameRecord.from_game(game, comments=comments).to_sgf().encode())

    # Walking.

    def __iter__(self) -> Iterator[TreeNode]:
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def node(self, number: int) -> TreeNode:
        """Returns a node by its number.

        Raises:
            UserError: There is none.
        """
        found = next((node for node in self if node.number == number), None)
        if found is None:
            raise UserError("this position has been deleted")
        return found

    def line(self, node: TreeNode) -> list[TreeNode]:
        """Returns the nodes from the root through a node to the end of its line, as it was last looked at."""
        line = node.path
        while (following := line[-1].next) is not None:
            line.append(following)
        return line

    @property
    def main_line(self) -> list[TreeNode]:
        """The nodes of the main line."""
        line = [self.root]
        while line[-1].children:
            line.append(line[-1].children[0])
        return line

    def follow(self, node: TreeNode) -> None:
        """Has the line of a node be the one that its ancestors lead to."""
        path = node.path
        for before, after in pairwise(path):
            before.followed = after

    def beside(self, node: TreeNode, step: int) -> TreeNode:
        """Returns the node at the same depth of another variation, the next or the previous one.

        The variations are those of the last branching before the node; the last one is followed by the first.
        """
        siblings, place, depth = self.branching(node)
        found = siblings[(place + step) % len(siblings)]
        for _ in range(depth):
            found = found.next or found
        return found

    def branching(self, node: TreeNode) -> tuple[list[TreeNode], int, int]:
        """Returns the variations of the last branching before a node.

        Returns:
            The first nodes of the variations, the place among them of the one that leads to the node, and how many
            nodes follow that one up to the node. Without a branching it is the node alone.
        """
        for depth, each in enumerate(reversed(node.path)):
            if each.parent is not None and len(each.parent.children) > 1:
                return each.parent.children, each.parent.children.index(each), depth
        return [node], 0, 0

    def record(self, node: TreeNode) -> GameRecord:
        """Returns the record of the moves up to a node."""
        return record_of((each.properties for each in node.path), self.source)

    def position(self, node: TreeNode, rules: Rules | None = None, komi: float | None = None) -> Game:
        """Returns the position of a node; its player to move is the one who moves next in the tree.

        Args:
            node: The node.
            rules: Rules instead of the record's.
            komi: Komi instead of the record's.

        Raises:
            UserError: A node that leads there cannot be read, a move is illegal, or the board is too large or small.
        """
        game = self.record(node).to_game(rules=rules)
        if komi is not None:
            game.set_komi(komi)
        if node.next is not None and node.next.move is not None:
            game.to_move = node.next.move.colour
        return game

    def marks(self, node: TreeNode) -> Marks:
        """Returns the marks of a node."""
        return read_marks(node.properties, self.width, self.height)

    # Editing.

    def add(
        self, parent: TreeNode, properties: Properties, *, move: Move | None = None, first: bool = False
    ) -> TreeNode:
        """Adds a node behind another one.

        Args:
            parent: The node before it.
            properties: Its properties, without the move.
            move: Its move, if it has one.
            first: Whether it begins the main line from there, and not another variation.
        """
        if move is not None:
            point = sgf_point(move.point, self.width, self.height).encode()
            properties = {colour_letter(move.colour): [point], **properties}
        node = self._append(parent, properties, move)
        if first:
            parent.children.insert(0, parent.children.pop())
        self._note(parent, lambda: parent.children.remove(node), move)
        return node

    def remove(self, node: TreeNode) -> TreeNode:
        """Removes a node with all that follows it; returns the node before it.

        Raises:
            UserError: It is the root.
        """
        parent = node.parent
        if parent is None:
            raise UserError("the start of the game cannot be deleted")
        place = parent.children.index(node)
        parent.children.remove(node)
        self._note(node, lambda: parent.children.insert(place, node))
        return parent

    def promote(self, node: TreeNode) -> None:
        """Makes the line of a node the main line."""
        before = [(each, list(each.children)) for each in node.path[:-1]]
        if node in self.main_line:
            return

        def revert() -> None:
            for each, children in before:
                each.children[:] = children

        for each in node.path[1:]:
            if each.parent is not None:
                each.parent.children.remove(each)
                each.parent.children.insert(0, each)
        self._note(node, revert)

    def set_comment(self, node: TreeNode, text: str) -> None:
        """Changes the comment of a node; "" removes it."""
        self._set(node, {"C": [escaped(text)] if text else []}, is_annotation=True)

    def mark(self, node: TreeNode, point: int, kind: str) -> None:
        """Marks a point, or removes its mark if it has this one; `kind` as in `marks.with_mark`."""
        marks = with_mark(node.properties, point, kind, self.width, self.height)
        self._set(node, marks, is_annotation=True)

    def set_stone(self, node: TreeNode, point: int, colour: int, rules: Rules | None = None) -> TreeNode:
        """Puts a stone of a colour on a point, or takes it off if it is there.

        A node without a move that nothing follows changes; otherwise a new variation begins with the stone.

        Returns:
            The node with the stone.

        Raises:
            UserError: A chain would have no liberty.
        """
        if point == PASS:
            raise UserError("a stone needs a point on the board")
        before = self.position(node, rules)
        stones = {each: before.stone_at(each) for each in all_points(self.width, self.height)}
        stones[point] = EMPTY if stones[point] == colour else colour
        is_changed = node.move is None and not node.children
        parent = node.parent
        base = before if not is_changed else None if parent is None else self.position(parent, rules)
        values = self._setup(stones, base)
        kept = len(self.edits)
        if is_changed:
            self._set(node, values)
        else:
            node = self.add(node, {name: points for name, points in values.items() if points})
        try:
            self.position(node, rules)
        except UserError:
            while len(self.edits) > kept:
                self.undo()
            raise
        return node

    def _setup(self, stones: Mapping[int, int], base: Game | None) -> Properties:
        """Returns AB, AW and AE that lead from a position, or from the empty board, to these stones."""
        values: Properties = {"AB": [], "AW": [], "AE": []}
        for point, stone in stones.items():
            if stone != (EMPTY if base is None else base.stone_at(point)):
                name = "AE" if stone == EMPTY else f"A{colour_letter(stone)}"
                values[name].append(sgf_point(point, self.width, self.height).encode())
        return values

    def change_turn(self, node: TreeNode, to_move: int) -> TreeNode:
        """Makes it the other player's turn; returns the node that says so, a new variation if it has to be one.

        Args:
            node: The node.
            to_move: The player to move there so far.
        """
        values = {"PL": [colour_letter(opponent(to_move)).encode()]}
        if node.move is not None or node.children:
            return self.add(node, values)
        self._set(node, values)
        return node

    def undo(self, place: int = -1) -> TreeNode:
        """Undoes a change, by default the last one; returns the node to show.

        Args:
            place: Its place in `edits`; only an annotation can be undone after moves that follow it.

        Raises:
            UserError: There is none.
        """
        if not self.edits:
            raise UserError("there is nothing to undo")
        edit = self.edits.pop(place)
        shown = edit.revert()
        self.version += 1
        return shown or edit.node

    def allow_undo(self, node: TreeNode) -> None:
        """Lets `undo` take back the moves up to a node, as if they had been made here; what is set up first stays."""
        for before, after in pairwise(node.path):
            if after.move is not None:
                self.edits.append(Edit(before, partial(self._take_back, before, after), after.move))

    def _take_back(self, before: TreeNode, after: TreeNode) -> TreeNode:
        """Takes back a move of the main line, keeping the variations beside it; returns the end of the main line.

        Where there are such variations an empty node takes the move's place, or the first of them would become the
        main line, here and in the file.
        """
        before.children.remove(after)
        if not before.children:
            return before
        end = self._append(before, {}, None)
        before.children.insert(0, before.children.pop())
        return end

    def _set(self, node: TreeNode, values: Properties, *, is_annotation: bool = False) -> None:
        """Changes properties of a node; those without values are removed."""
        before = node.properties
        changed = {name: found for name, found in (before | values).items() if name not in values or found}
        if changed != before:
            node.properties = changed
            self._note(node, lambda: setattr(node, "properties", before), is_annotation=is_annotation)

    def _note(
        self,
        node: TreeNode,
        revert: Callable[[], TreeNode | None],
        move: Move | None = None,
        *,
        is_annotation: bool = False,
    ) -> None:
        self.edits.append(Edit(node, revert, move, is_annotation))
        self.version += 1

    def _append(self, parent: TreeNode, properties: Properties, move: Move | None) -> TreeNode:
        node = TreeNode(self._made, properties, parent, move)
        self._made += 1
        parent.children.append(node)
        return node

    # Files.

    def to_sgf(self) -> str:
        """Returns the tree as SGF text, FF[4]."""
        fixed = file_properties(self.width, self.height) | {"AP": [_APPLICATION]}
        tree = sgf_grammar.make_coarse_game_tree(
            self.root,
            lambda node: node.children,
            lambda node: node.properties | fixed if node is self.root else node.properties,
        )
        return serialised(tree)

    def set_info(self, record: GameRecord) -> None:
        """Takes over the information about the game from a record: players, result, rules, komi, date."""
        kept = {name: values for name, values in self.root.properties.items() if name not in INFO_NAMES}
        self.root.properties = kept | info_of(record)


def read_tree(source: str | os.PathLike[str] | bytes) -> RecordTree:
    """Reads the first game of a file with all its variations.

    Args:
        source: The file, or its content.

    Raises:
        SgfError: The main line cannot be read; the message names the file and the reason.
        OSError: The file cannot be opened.
    """
    data, name = (source, "SGF data") if isinstance(source, bytes) else (read_data(Path(source)), str(source))
    try:
        games = parse_games(decode_sgf(data))
        coarse = next(games, None)
        if coarse is None:
            raise UserError("no SGF game found")
        tree = _tree_of(coarse, name)
    except UserError as error:
        raise SgfError(f"{name}: {error}") from error
    tree.is_whole_file = _is_at_end(games)
    return tree


def _is_at_end(games: Iterator[sgf_grammar.Coarse_game_tree]) -> bool:
    """Whether no game follows; one that cannot be read is a game too."""
    try:
        return next(games, None) is None
    except UserError:
        return False


def _tree_of(coarse: sgf_grammar.Coarse_game_tree, source: str) -> RecordTree:
    root = record_of(coarse.sequence[:1], source)
    first, *others = _split(coarse.sequence[0], is_root=True)
    tree = RecordTree(first, root.width, root.height, source)
    waiting: deque[tuple[TreeNode, list[Properties], sgf_grammar.Coarse_game_tree, bool]] = deque()
    waiting.append((tree.root, [*others, *coarse.sequence[1:]], coarse, True))
    while waiting:
        node, sequence, branch, is_main = waiting.popleft()
        for properties in sequence:
            for part in _split(properties, is_root=False):
                node = tree._append(node, part, _move_after(node, part, tree, is_main=is_main))
        waiting.extend(
            (node, child.sequence, child, is_main and child is branch.children[0]) for child in branch.children
        )
    return tree


def _move_after(before: TreeNode, properties: Properties, tree: RecordTree, *, is_main: bool) -> Move | None:
    """Returns the move of a node that follows another one.

    Returns:
        The move, if it has one; None too for a node of a variation that cannot be read, which `position` refuses.

    Raises:
        UserError: A node of the main line cannot be read; the message says after which move.
    """
    try:
        (read,) = read_nodes(properties, tree.width, tree.height, is_root=False)
    except UserError as error:
        if is_main:
            number = sum(node.move is not None for node in before.path)
            raise UserError(f"after move {number}: {error}") from error
        return None
    return read.move


def _split(properties: Properties, *, is_root: bool) -> list[Properties]:
    """Returns a node of the file as nodes with one move each, none in the root, which FF[1] to FF[3] allow."""
    moves = [name for name in properties if name in ("B", "W")]
    if len(moves) + is_root <= 1:
        return [properties]
    rest = {name: values for name, values in properties.items() if name not in (*moves, "C")}
    own = 0 if is_root else 1
    parts = [rest | {name: properties[name] for name in moves[:own]}]
    parts += [{name: properties[name]} for name in moves[own:]]
    if "C" in properties:
        parts[-1]["C"] = properties["C"]
    return parts
