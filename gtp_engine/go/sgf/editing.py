"""Editing a record: every change can be undone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from ...base.errors import UserError
from ..coords import EMPTY, PASS, all_points, colour_letter, opponent
from ..game import Game, Move
from ..rules import Rules
from .node import TreeNode, with_mark
from .record import GameRecord
from .values import Properties, escaped


@dataclass(frozen=True, eq=False)
class Edit:
    """A change of a record that can be undone."""

    node: TreeNode  # the node to show once it is undone
    revert: Callable[[], TreeNode | None]  # undoes it; may return another node to show
    move: Move | None = None  # the move that it added, if it added one
    is_annotation: bool = False  # whether it changed a comment or a mark, and neither moves nor stones


class Editor:
    """Changes a record.

    Attributes:
        edits: The changes since the editing began, the latest last.
        version: Grows with every change.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        self.edits: list[Edit] = []
        self.version = 0

    def add(
        self, parent: TreeNode, properties: Properties, *, move: Move | None = None, first: bool = False
    ) -> TreeNode:
        """Adds a node behind another one, as `GameRecord.add` does; if `first`, it begins the main line from there."""
        node = self.record.add(parent, properties, move=move)
        if first:
            parent.children.insert(0, parent.children.pop())
        self._note(parent, lambda: parent.children.remove(node), move)
        return node

    def remove(self, node: TreeNode) -> TreeNode:
        """Removes a node with all that follows it; returns the node before it. UserError if it is the root."""
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
        if node in self.record.main_line:
            return

        def revert() -> None:
            for each, children in before:
                each.children[:] = children

        for parent, child in pairwise(node.path):
            parent.children.remove(child)
            parent.children.insert(0, child)
        self._note(node, revert)

    def set_comment(self, node: TreeNode, text: str) -> None:
        """Changes the comment of a node; "" removes it."""
        self._set(node, {"C": [escaped(text)] if text else []}, is_annotation=True)

    def mark(self, node: TreeNode, point: int, kind: str) -> None:
        """Marks a point, or removes its mark if it has this one; `kind` as in `node.with_mark`."""
        marks = with_mark(node.properties, point, kind, self.record.width, self.record.height)
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
        before = self.record.position(node, rules)
        stones = {each: before.stone_at(each) for each in all_points(before.width, before.height)}
        stones[point] = EMPTY if stones[point] == colour else colour
        is_changed = node.move is None and not node.children
        base: Game | None = before
        if is_changed:
            base = None if node.parent is None else self.record.position(node.parent, rules)
        changed = [
            Move(stone, each)
            for each, stone in stones.items()
            if stone != (EMPTY if base is None else base.stone_at(each))
        ]
        values = self.record.stone_values(changed)
        kept = len(self.edits)
        if is_changed:
            self._set(node, {"AB": [], "AW": [], "AE": []} | values)
        else:
            node = self.add(node, values)
        try:
            self.record.position(node, rules)
        except UserError:
            self.undo_to(kept)
            raise
        return node

    def change_turn(self, node: TreeNode, to_move: int) -> TreeNode:
        """Makes it the turn of the other player than `to_move`; returns the node that says so, a new one if need be."""
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

    def undo_to(self, count: int) -> None:
        """Undoes all changes but the first ones, so many that `edits` has this length."""
        while len(self.edits) > count:
            self.undo()

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
        end = self.record.add(before)
        before.children.insert(0, before.children.pop())
        return end

    def _set(self, node: TreeNode, values: Properties, *, is_annotation: bool = False) -> None:
        """Changes properties of a node; those without values are removed."""
        before = node.properties
        changed = {name: found for name, found in (before | values).items() if name not in values or found}
        if changed != before:
            self.record.change(node, changed)
            self._note(node, lambda: self.record.change(node, before), is_annotation=is_annotation)

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
