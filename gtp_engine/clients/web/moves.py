"""Playing: moves of people and of the engine, undoing, resigning, the count, and walking through the game."""

from typing import Any

from ...base.errors import UserError
from ...engine.engine import Decision
from ...go.coords import BLACK, WHITE, colour_name, opponent
from ...go.drawing import DrawingOptions
from ...go.life import area_map
from ...go.regions import chain_at
from ...go.sgf import read_result
from .guessing import Guessing
from .messages import text_of, whole_number
from .searches import Searches, values_of
from .session import Message, Part, Session


class Moves(Part):
    """Playing and walking."""

    def __init__(self, session: Session, searches: Searches, guessing: Guessing) -> None:
        super().__init__(session)
        self.searches = searches
        self.guessing = guessing
        session.next_task = self._begin_task

    def _begin_task(self) -> None:
        """Has the engine count the game, judge a move, play or analyse, whatever comes first."""
        session, played = self.session, self.session.played
        if played.result is None and played.game.is_over:
            session.begin("count", played.engine.dead_stones(), self._counted)
        elif (node := self.searches.next_to_judge()) is not None:
            self.searches.judge(node)
        elif played.result is None and not played.is_humans_turn:
            session.begin("move", played.genmove(), self._decided)
        else:
            self.searches.analyse()

    def _decided(self, decision: Decision) -> None:
        session, played = self.session, self.session.played
        session.check_time()
        if played.result is not None:
            return
        before = played.node
        played.commit(decision)
        session.values.opinion = None
        if decision.report is not None:
            session.values.opinion = decision.report, played.node
            session.values.note(decision.report, before)
        session.changed()

    def _counted(self, dead: set[int]) -> None:
        self.session.played.count(dead)
        self.session.changed()

    def on_play(self, message: Message) -> None:
        """Plays a person's move, or compares it with the game's while moves are guessed."""
        session, played = self.session, self.session.played
        self.check_shown(message)
        if not session.is_latest:
            raise UserError("an earlier position is shown: go to the last move to play on")
        if not played.is_humans_turn:
            raise UserError("it is the engine's turn")
        point = played.game.point(text_of(message, "point"))
        if self.guessing.is_on:
            self.guessing.guess(point)
            return
        played.play(point)
        session.changed()

    def on_undo(self, _: Message) -> None:
        """Takes back a person's last change."""
        session, played = self.session, self.session.played
        if not played.can_undo:
            raise UserError("there is nothing to undo" if played.is_study else "you have no move to take back")
        if (annotated := played.annotation_to_undo) is not None:  # the engine goes on with what it does
            played.undo()
            if annotated is session.node:
                session.publish()
            else:
                session.look_at(annotated)
            return
        session.cancel()
        self._undo_change()
        session.changed()

    def _undo_change(self) -> None:
        """Undoes a change of moves or stones, and forgets what was found about a position with other stones."""
        played = self.session.played
        edits = played.editor.edits
        node = edits[-1].node if edits else played.node
        properties = node.properties
        played.undo()
        if node.move is None and node.properties is not properties:
            self.session.values.forget(node)

    def on_resign(self, message: Message) -> None:
        """Resigns for the person to move, or for the only one."""
        self.node_of(message)  # the engine may have moved meanwhile, in the same game
        played = self.session.played
        played.resign(played.game.to_move if played.is_humans_turn else opponent(played.game.to_move))
        self.session.changed()

    def on_dead(self, message: Message) -> None:
        """Counts again with the stones of one chain dead instead of alive, or the other way round."""
        played = self.session.played
        if not played.is_counted:
            raise UserError("the game has not been counted")
        chain = chain_at(played.game.board[0], played.game.point(text_of(message, "point")))
        if chain is None:
            raise UserError("there is no stone")
        played.count(played.dead ^ chain.stones)
        self.session.publish()

    def on_stop(self, _: Message) -> None:
        """Ends the search at once; what it has found counts."""
        self.session.played.engine.stop()

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
        self.session.look_at(self.session.played.tree.beside(self.session.node, step))

    @property
    def _shows_count(self) -> bool:
        return self.session.is_latest and self.session.played.is_counted

    def state(self) -> dict[str, Any]:
        session, played = self.session, self.session.played
        is_over = played.result is not None
        opinion, node = session.values.opinion or (None, None)
        return {
            "isYourTurn": session.is_latest and not is_over and not played.game.is_over and played.is_humans_turn,
            "canUndo": played.can_undo and (session.is_latest or played.annotation_to_undo is not None),
            "isOver": is_over,
            "isCounted": self._shows_count,
            "result": result_in_parts(played.result),
            "dead": sorted(played.game.vertex(point) for point in played.dead),
            # What the engine thought when it made its last move, if that move is in the line shown.
            "opinion": values_of(opinion) if opinion and node in session.line else None,
            "clock": self._clock(),
        }

    def _clock(self) -> dict[str, Any]:
        """Returns the clocks; what is left of each is seconds and count as in GTP's `time_left`."""
        clock = self.session.played.clock
        return {
            "running": colour_name(clock.running) if clock.running else None,
            "system": clock.settings.system,
            "main": clock.settings.main,
            "increment": clock.settings.increment,
            "period": clock.settings.period,
            "periods": clock.settings.count,
            "used": {colour_name(colour): clock.used(colour) for colour in (BLACK, WHITE)},
            "left": {colour_name(colour): clock.left(colour) for colour in (BLACK, WHITE)},
        }

    def drawn(self) -> DrawingOptions:
        if not self._shows_count or self.session.report is not None:
            return {}
        owners = area_map(self.session.played.game, self.session.played.dead)
        return {"ownership": (owners == BLACK) * 1.0 - (owners == WHITE) * 1.0}


def result_in_parts(text: str | None) -> dict[str, Any] | None:
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
