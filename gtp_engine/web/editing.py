"""Editing a record: comments, marks, stones that are set up, and its variations. All of it can be undone."""

from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..game.coords import as_colour
from ..sgf import TreeNode
from .messages import text_of
from .part import Message, Part

if TYPE_CHECKING:
    from .session import Session


class Editing(Part):
    """Changes of the tree at the position that is shown; each message names its `tree` and its `node`."""

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

    def _comment(self, message: Message) -> dict[str, Any]:
        """Changes a comment; the page keeps what was typed until it gets this answer, with the text as it sent it."""
        text = text_of(message, "text")
        try:
            node = self.node_of(message)
        except UserError as error:
            if text.strip():
                raise UserError(f"{error}; your comment stays in its field: copy it, then empty the field") from None
        else:
            self.session.played.tree.set_comment(node, text.strip())
            self._save()
        return {"type": "comment", "node": message.get("node"), "tree": message.get("tree"), "text": text}

    def _mark(self, message: Message) -> None:
        self.check_shown(message)
        point = self.session.position().point(text_of(message, "point"))
        self.session.played.tree.mark(self.session.node, point, text_of(message, "mark"))
        self._save()

    def _set_stone(self, message: Message) -> None:
        self._check_free(message)
        played = self.session.played
        point = played.game.point(text_of(message, "point"))
        colour = as_colour(text_of(message, "colour"))
        node = played.tree.set_stone(played.node, point, colour, played.engine.rules)
        self.session.values.forget(node)
        self._show(node)

    def _change_turn(self, message: Message) -> None:
        self._check_free(message)
        played = self.session.played
        self._show(played.tree.change_turn(played.node, played.game.to_move))

    def _delete(self, message: Message) -> None:
        """Deletes the position that is shown with everything that follows it."""
        self._check_free(message)
        tree = self.session.played.tree
        edits = len(tree.edits)
        node = tree.remove(self.session.node)
        self._check_main_line(edits)
        self._show(node)

    def _promote(self, message: Message) -> None:
        """Makes the line that is shown the main line."""
        self._check_free(message)
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

    def _check_free(self, message: Message) -> None:
        """Raises UserError for another position, and in a game against the engine, whose moves are not edited."""
        self.check_shown(message)
        if not self.session.played.is_study:
            raise UserError("this is a game against the engine: save it, and open the file to change its moves")

    def _show(self, node: TreeNode) -> None:
        """Shows a node after an edit."""
        session = self.session
        session.cancel()
        session.played.has_content = True
        session.played.show(node)
        session.played.save()
        session.changed()

    def _save(self) -> None:
        self.session.played.has_content = True
        self.session.played.save()
        self.session.publish()
