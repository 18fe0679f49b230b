"""Playing and editing: moves, undoing, the count, walking, and the tree of variations."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...base.errors import UserError
from ...base.languages.texts import Phrase
from ...engine.captures import Capture
from ...engine.engine import Decision
from ...go.coords import BLACK, WHITE, as_colour, colour_name, opponent
from ...go.life import area_map
from ...go.regions import chain_at
from ...go.sgf import TreeNode, read_result
from ...table.played_game import Mode
from .session import Document, Drawn, Message, Part, Session, Task, text_of, whole_number
from .studying import Searches, values_of

T = TypeVar("T")


class Playing(Part):
    """Playing and walking."""

    name, draws = "play", True

    def __init__(self, session: Session, searches: Searches) -> None:
        super().__init__(session)
        self.searches = searches
        self._captures: tuple[frozenset[int], list[Capture]] | None = None  # of these dead stones
        session.next_task = self._next_task

    def _next_task(self) -> Task | None:
        """Returns the count of the game, the judgement of a move, a move or an analysis, whatever comes first."""
        played, engine = self.played, self.played.engine
        if played.result is None and played.game.is_over:
            return Task("count", engine.dead_stones, self._counted)
        if (task := self.searches.judgement()) is not None:
            return task
        if played.result is None and not played.is_humans_turn:
            return Task("move", played.genmove, self._decided)
        return self.searches.analysis()

    def _decided(self, decision: Decision) -> None:
        session, played, values = self.session, self.played, self.values
        session.check_time()
        if played.result is not None:
            return
        before = played.node
        played.commit(decision)
        values.opinion = None
        # At a rank the report is what a weaker player saw, which is no judgement of the position.
        if decision.report is not None and played.engine.settings.rank is None:
            values.note(decision.report, before)
            # Who resigns plays no move: the node is still that of the other player's.
            if not decision.resign and (found := decision.report.move_at(decision.point)) is not None:
                values.opinion = found, played.node
        session.changed()

    def _counted(self, dead: set[int]) -> None:
        self.played.count(dead)
        self.session.changed()

    def on_play(self, message: Message) -> None:
        """Plays a person's move."""
        session, played = self.session, self.played
        self.check_shown(message)
        if not session.is_latest:
            raise UserError(Phrase("error.earlierShown"))
        if not played.is_humans_turn:
            raise UserError(Phrase("error.engineTurn"))
        played.play(played.game.point(text_of(message, "point")))
        session.tell("move")
        session.changed()

    def on_undo(self, _: Message) -> None:
        """Takes back a person's last change, and forgets what was found about a position with other stones."""
        session, played = self.session, self.played
        if not played.can_undo:
            raise UserError("you have no move to take back" if played.mode is Mode.GAME else "there is nothing to undo")
        if (annotated := played.annotation_to_undo) is not None:  # the engine goes on with what it does
            played.undo()
            if annotated is session.node:
                session.show()
            else:
                session.look_at(annotated)
            return
        session.cancel()
        edits = played.editor.edits
        node = edits[-1].node if edits else played.node
        properties = node.properties
        played.undo()
        if node.move is None and node.properties is not properties:
            self.values.forget(node)
        session.tell("undo")
        session.changed()

    def on_resign(self, message: Message) -> None:
        """Resigns for the person to move, or for the only one."""
        self.node_of(message)  # the engine may have moved meanwhile, in the same game
        to_move = self.played.game.to_move
        self.played.resign(to_move if self.played.is_humans_turn else opponent(to_move))
        self.session.changed()

    def on_dead(self, message: Message) -> None:
        """Counts again with the stones of one chain dead instead of alive, or the other way round."""
        played = self.played
        if not played.is_counted:
            raise UserError("the game has not been counted")
        chain = chain_at(played.game.board[0], played.game.point(text_of(message, "point")))
        if chain is None:
            raise UserError("there is no stone")
        played.count(played.dead ^ chain.stones)
        self.session.show()

    def on_captures(self, _: Message) -> None:
        """Looks how the dead stones of the count would be captured."""
        dead, engine = self.played.dead, self.played.engine
        if not dead:
            raise UserError("there are no dead stones")

        def found(captures: list[Capture]) -> None:
            self._captures = dead, captures
            self.session.resume()

        self.session.cancel()
        self.session.go_on(Task("count", lambda: engine.capture_lines(dead), found))

    def on_stop(self, _: Message) -> None:
        """Ends the search at once; what it has found counts."""
        self.session.stop()

    def on_go(self, message: Message) -> None:
        """Shows a node by its number, the one at a place of the line that is shown, or the next or previous one."""
        session = self.session
        if "node" in message:
            session.look_at(self.node_of(message))
        elif "step" in message:  # from where the game is, which the page may not know yet
            step = whole_number(message, "step", -1, 1)
            session.look_at((session.node.next if step > 0 else session.node.parent) or session.node)
        else:
            session.look_at(session.line[whole_number(message, "move", 0, len(session.line) - 1)])

    def on_variation(self, message: Message) -> None:
        """Shows the same place of the next or of the previous variation."""
        step = whole_number(message, "step", -1, 1)
        self.session.look_at(self.played.tree.beside(self.session.node, step))

    # What pages see.

    @property
    def _shows_count(self) -> bool:
        return self.session.is_latest and self.played.is_counted

    def document(self) -> Document:
        session, played = self.session, self.played
        is_over = played.result is not None
        opinion, node = self.values.opinion or (None, None)
        move = node.move if node is not None and node in session.line else None
        return {
            "isYourTurn": session.is_latest and not is_over and not played.game.is_over and played.is_humans_turn,
            "canUndo": played.can_undo and (session.is_latest or played.annotation_to_undo is not None),
            "isOver": is_over,
            "isCounted": self._shows_count,
            "result": result_in_parts(played.result),
            "count": self._count(),
            "dead": sorted(played.game.vertex(point) for point in played.dead),
            # What the engine thinks of its last move, if that is in the line shown: values of the position after it.
            "opinion": values_of(move.colour, opinion) if opinion and move else None,
        }

    def _count(self) -> Document | None:
        """Returns both sums of the count that is shown, and how each dead chain would be captured, once that is known.

        A chain is its stones and the moves with their colours, none if no line was found.
        """
        if not self._shows_count:
            return None
        game, dead = self.played.game, self.played.dead
        count, (known, captures) = game.count(dead), self._captures or (None, [])

        def moves(capture: Capture) -> list[list[str]]:
            return [[colour_name(move.colour), game.vertex(move)] for move in capture.moves]

        lines = [{"stones": sorted(map(game.vertex, each.stones)), "moves": moves(each)} for each in captures]
        return {**asdict(count), "captures": lines if known == dead else None}

    def draw(self, drawn: Drawn) -> None:
        if self._shows_count and self.session.report is None:
            drawn.ownership = ownership_of(area_map(self.played.game, self.played.dead))


def ownership_of(owners: NDArray[np.int8]) -> NDArray[np.floating]:
    """Returns the owners of points (EMPTY, BLACK or WHITE) as they are drawn: + for Black."""
    return (owners == BLACK) * 1.0 - (owners == WHITE) * 1.0


def result_in_parts(text: str | None) -> Document | None:
    """Returns the winner and the reason: {"winner": "black", "by": "points", "points": 3.5}; None without a result.

    One that cannot be read is by "other", with its `text`.
    """
    if not text:
        return None
    result = read_result(text)
    if result is None:
        return {"winner": None, "by": "other", "points": 0.0, "text": text}
    winner = None if result.winner is None else colour_name(result.winner)
    return {"winner": winner, "by": result.by, "points": float(result.points or 0)}


class Editing(Part):
    """Edits to the tree at the position on display; all of them can be undone."""

    follows_position = False  # it has no document

    def on_tree(self, _: Message) -> Document:
        """Returns the tree: for each node its number, its parent's, what it is, whether it has a comment."""

        def kind(node: TreeNode) -> str:
            if node.move is not None:
                return colour_name(node.move.colour)
            return "setup" if node.setup else "other"

        nodes = [
            [node.number, node.parent.number if node.parent else -1, kind(node), bool(node.comment)]
            for node in self.played.tree
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
            self.played.editor.set_comment(node, text.strip())
            self._save()
        return {"type": "comment", "node": message.get("node"), "tree": message.get("tree"), "text": text}

    def on_mark(self, message: Message) -> None:
        """Puts a mark on a point, or removes it."""
        self.check_shown(message)
        point = self.session.position().point(text_of(message, "point"))
        self.played.editor.mark(self.session.node, point, text_of(message, "mark"))
        self._save()

    def on_stone(self, message: Message) -> None:
        """Puts a stone on a point, or removes it."""
        self._check_free(message)
        played = self.played
        point = played.game.point(text_of(message, "point"))
        colour = as_colour(text_of(message, "colour"))
        node = played.editor.set_stone(played.node, point, colour, played.engine.rules)
        self.values.forget(node)
        self._show(node)

    def on_turn(self, message: Message) -> None:
        """Makes it the other player's turn."""
        self._check_free(message)
        self._show(self.played.editor.change_turn(self.played.node, self.played.game.to_move))

    def on_delete(self, message: Message) -> None:
        """Deletes the position that is shown with everything that follows it."""
        self._show(self._restructured(message, self.played.editor.remove))

    def on_promote(self, message: Message) -> None:
        """Makes the line that is shown the main line."""
        self._restructured(message, self.played.editor.promote)
        self._save()

    def _restructured(self, message: Message, change: Callable[[TreeNode], T]) -> T:
        """Changes the tree, unless the main line could not be played then: no program could read the file."""
        self._check_free(message)
        played = self.played
        edits = len(played.editor.edits)
        changed = change(self.session.node)
        try:
            played.tree.position(played.tree.main_line[-1], played.engine.rules, played.engine.komi)
        except UserError:
            played.editor.undo_to(edits)
            raise
        return changed

    def _check_free(self, message: Message) -> None:
        """Raises UserError for another position, and in a game against the engine, whose moves are not edited."""
        self.check_shown(message)
        if self.played.mode is Mode.GAME:
            raise UserError("this is a game against the engine: save it, and open the file to change its moves")

    def _show(self, node: TreeNode) -> None:
        """Shows a node after an edit."""
        self.session.cancel()
        self.played.has_content = True
        self.played.show(node)
        self.played.save_soon()
        self.session.changed()

    def _save(self) -> None:
        self.played.has_content = True
        self.played.save_soon()
        self.session.show()
