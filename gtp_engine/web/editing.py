"""Editing a record: comments, marks, stones that are set up, and its variations. All of it can be undone."""

from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..game.coords import as_colour
from ..sgf import TreeNode
from .messages import text_of
from .part import Message, Part

if TYPE_CHECKING:
    from .session import Session


class Editing(Part):
    """Changes of the tree at the position that is shown."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.methods = {
            "comment": self._comment,
            "mark": self._mark,
            "stone": self._set_stone,
            "turn": self._change_turn,
            "delete": self._delete,
            "promote": self._promote,
        }

    def _comment(self, message: Message) -> None:
        self.session.played.tree.set_comment(self.session.node, text_of(message, "text").strip())
        self._save()

    def _mark(self, message: Message) -> None:
        point = self.session.position().point(text_of(message, "point"))
        self.session.played.tree.mark(self.session.node, point, text_of(message, "mark"))
        self._save()

    def _set_stone(self, message: Message) -> None:
        self._check_free()
        played = self.session.played
        point = played.game.point(text_of(message, "point"))
        colour = as_colour(text_of(message, "colour"))
        self._show(played.tree.set_stone(played.node, point, colour, played.engine.rules))

    def _change_turn(self, _: Message) -> None:
        self._check_free()
        played = self.session.played
        self._show(played.tree.change_turn(played.node, played.game.to_move))

    def _delete(self, _: Message) -> None:
        """Deletes the position that is shown with everything that follows it."""
        self._check_free()
        tree = self.session.played.tree
        edits = len(tree.edits)
        node = tree.remove(self.session.node)
        self._check_main_line(edits)
        self._show(node)

    def _promote(self, _: Message) -> None:
        """Makes the line that is shown the main line."""
        self._check_free()
        tree = self.session.played.tree
        edits = len(tree.edits)
        tree.promote(self.session.node)
        self._check_main_line(edits)
        self._save()

    def _check_main_line(self, edits: int) -> None:
        """Undoes what was edited since then if the main line cannot be played: no program could read the file."""
        played = self.session.played
        try:
            played.tree.position(played.tree.main_line[-1], played.engine.rules, played.engine.komi)
        except UserError:
            while len(played.tree.edits) > edits:
                played.tree.undo()
            raise

    def _check_free(self) -> None:
        """Raises UserError in a game against the engine, whose moves are not edited."""
        if not self.session.played.is_study:
            raise UserError("this is a game against the engine: save it, and open the file to change its moves")

    def _show(self, node: TreeNode) -> None:
        """Shows a node whose position is another one than before."""
        session = self.session
        session.cancel()
        session.values.forget(node if node.move is None else None)
        session.played.has_content = True
        session.played.show(node)
        session.played.save()
        session.changed()

    def _save(self) -> None:
        self.session.played.has_content = True
        self.session.played.save()
        self.session.publish()
