"""Editing a record: comments, marks, stones that are set up, and its tree of variations. All of it can be undone."""

from ...base.errors import UserError
from ...go.coords import as_colour, colour_name
from ...go.sgf import TreeNode
from ...table.played_game import Mode
from .part import Document, Message, Part, text_of


class Editing(Part):
    """Changes of the tree at the position that is shown; each message names its `tree` and its `node`."""

    def on_tree(self, _: Message) -> Document:
        """Returns the tree: for each node its number, its parent's, what it is, whether it has a comment."""
        nodes = [
            [node.number, node.parent.number if node.parent else -1, _kind(node), bool(node.comment)]
            for node in self.session.played.tree
        ]
        return {"type": "tree", "version": self.session.tree_version, "nodes": nodes}

    def on_comment(self, message: Message) -> Document:
        """Changes a comment; the page keeps what was typed until it gets this answer, with the text as it sent it."""
        text = text_of(message, "text")
        try:
            node = self.node_of(message)
        except UserError as error:
            if text.strip():
                raise UserError(f"{error}; your comment stays in its field: copy it, then empty the field") from None
        else:
            self.session.played.editor.set_comment(node, text.strip())
            self._save()
        return {"type": "comment", "node": message.get("node"), "tree": message.get("tree"), "text": text}

    def on_mark(self, message: Message) -> None:
        """Puts a mark on a point, or removes it."""
        self.check_shown(message)
        point = self.session.position().point(text_of(message, "point"))
        self.session.played.editor.mark(self.session.node, point, text_of(message, "mark"))
        self._save()

    def on_stone(self, message: Message) -> None:
        """Puts a stone on a point, or removes it."""
        self._check_free(message)
        played = self.session.played
        point = played.game.point(text_of(message, "point"))
        colour = as_colour(text_of(message, "colour"))
        node = played.editor.set_stone(played.node, point, colour, played.engine.rules)
        self.session.values.forget(node)
        self._show(node)

    def on_turn(self, message: Message) -> None:
        """Makes it the other player's turn."""
        self._check_free(message)
        played = self.session.played
        self._show(played.editor.change_turn(played.node, played.game.to_move))

    def on_delete(self, message: Message) -> None:
        """Deletes the position that is shown with everything that follows it."""
        self._check_free(message)
        editor = self.session.played.editor
        edits = len(editor.edits)
        node = editor.remove(self.session.node)
        self._check_main_line(edits)
        self._show(node)

    def on_promote(self, message: Message) -> None:
        """Makes the line that is shown the main line."""
        self._check_free(message)
        editor = self.session.played.editor
        edits = len(editor.edits)
        editor.promote(self.session.node)
        self._check_main_line(edits)
        self._save()

    def _check_main_line(self, edits: int) -> None:
        """Undoes what was edited since then if the main line cannot be played: no program could read the file."""
        played = self.session.played
        try:
            played.tree.position(played.tree.main_line[-1], played.engine.rules, played.engine.komi)
        except UserError:
            played.editor.undo_to(edits)
            raise

    def _check_free(self, message: Message) -> None:
        """Raises UserError for another position, and in a game against the engine, whose moves are not edited."""
        self.check_shown(message)
        if self.session.played.mode is Mode.GAME:
            raise UserError("this is a game against the engine: save it, and open the file to change its moves")

    def _show(self, node: TreeNode) -> None:
        """Shows a node after an edit."""
        session = self.session
        session.cancel()
        session.played.has_content = True
        session.played.show(node)
        session.played.save_soon()
        session.changed()

    def _save(self) -> None:
        self.session.played.has_content = True
        self.session.played.save_soon()
        self.session.publish()


def _kind(node: TreeNode) -> str:
    if node.move is not None:
        return colour_name(node.move.colour)
    return "setup" if node.setup else "other"
