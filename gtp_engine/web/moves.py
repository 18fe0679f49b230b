"""Moves and what goes with them: playing, undoing, resigning, dead stones, and walking through the game."""

from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..game.coords import EMPTY, PASS, opponent, point_at, xy
from ..game.regions import find_regions
from .messages import text_of, whole_number
from .part import Message, Part

if TYPE_CHECKING:
    from .session import Session


class Moves(Part):
    """Playing and walking."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.methods = {
            "play": self._play,
            "undo": self._undo,
            "resign": self._resign,
            "dead": self._dispute,
            "stop": self._stop,
            "go": self._go,
            "variation": self._go_beside,
        }

    def _play(self, message: Message) -> None:
        session, played = self.session, self.session.played
        self.check_shown(message)
        if not session.is_latest:
            raise UserError("an earlier position is shown: go to the last move to play on")
        if not played.is_humans_turn:
            raise UserError("it is the engine's turn")
        point = played.game.point(text_of(message, "point"))
        if session.guessing.is_on:
            session.guessing.guess(point)
            return
        played.play(point)
        session.changed()

    def _undo(self, _: Message) -> None:
        played = self.session.played
        if not played.can_undo:
            raise UserError("there is nothing to undo" if played.is_study else "you have no move to take back")
        if (annotated := played.annotation_to_undo) is not None:  # the engine goes on with what it does
            played.undo()
            if annotated is self.session.node:
                self.session.publish()
            else:
                self.session.look_at(annotated)
            return
        self.session.cancel()
        self._undo_change()
        self.session.changed()

    def _undo_change(self) -> None:
        """Undoes a change of moves or stones, and forgets what was found about a position with other stones."""
        played = self.session.played
        node = played.tree.edits[-1].node if played.tree.edits else played.node
        properties = node.properties
        played.undo()
        if node.move is None and node.properties is not properties:
            self.session.values.forget(node)

    def _resign(self, message: Message) -> None:
        self.node_of(message)  # the engine may have moved meanwhile, in the same game
        played = self.session.played
        played.resign(played.game.to_move if played.is_humans_turn else opponent(played.game.to_move))
        self.session.changed()

    def _dispute(self, message: Message) -> None:
        """Counts again with the stones of one chain dead instead of alive, or the other way round."""
        played = self.session.played
        if not played.is_counted:
            raise UserError("the game has not been counted")
        point = played.game.point(text_of(message, "point"))
        if point == PASS:
            raise UserError("there is no stone")
        column, row = xy(point, played.game.width)
        part = next(part for part in find_regions(played.game.stones()) if (row, column) in part.cells)
        if part.colour == EMPTY:
            raise UserError("there is no stone")
        played.count(played.dead ^ {point_at(x, y, played.game.width) for y, x in part.cells})
        self.session.publish()

    def _stop(self, _: Message) -> None:
        """Ends the search at once; what it has found counts."""
        self.session.played.engine.stop()

    def _go(self, message: Message) -> None:
        """Shows a node by its number, the one at a place of the line that is shown, or the next or previous one."""
        session = self.session
        if "node" in message:
            session.look_at(self.node_of(message))
        elif "step" in message:  # from where the game is, which the page may not know yet
            step = whole_number(message, "step", -1, 1)
            session.look_at((session.node.next if step > 0 else session.node.parent) or session.node)
        else:
            session.look_at(session.line[whole_number(message, "move", 0, len(session.line) - 1)])

    def _go_beside(self, message: Message) -> None:
        """Shows the same place of the next or of the previous variation."""
        step = whole_number(message, "step", -1, 1)
        self.session.look_at(self.session.played.tree.beside(self.session.node, step))
