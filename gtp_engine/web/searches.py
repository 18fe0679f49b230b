"""Searches that pages ask for: hints, the score, analyses, and the judgement of a person's moves."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..base.fields import parse_word
from ..search.report import MoveReport, SearchReport
from ..search.request import Limits
from ..sgf import TreeNode
from .messages import text_of, visits_of
from .part import Message, Part
from .values import JUDGED_VISITS
from .view import board_of

if TYPE_CHECKING:
    from .session import Session

LAYERS = ("candidates", "ownership", "policy")
# Reports a second are enough to watch, and cost little beside the search.
_REPORT_SECONDS = 0.25


class Searches(Part):
    """What is searched, and what is drawn of it.

    Attributes:
        layer: What an analysis draws on the board, one of `LAYERS`.
        analysis_visits: Visits after which an analysis ends; None while nothing is analysed.
        is_teaching: Whether moves that lose points are marked.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.layer = LAYERS[0]
        self.analysis_visits: int | None = None
        self.is_teaching = False
        self._tried: set[tuple[TreeNode, int]] = set()  # the positions that were to be judged, and their turns
        self.methods = {
            "hint": lambda _: self._ask("hint"),
            "score": lambda _: self._ask("score"),
            "analyse": self._choose_analysis,
            "layer": self._choose_layer,
            "teach": self._teach,
            "line": self._line,
        }

    @property
    def shown_moves(self) -> tuple[MoveReport, ...]:
        """The moves of the report that pages show; none of an estimate of the score, also while moves are guessed."""
        session = self.session
        return () if session.report is None or session.shown == "score" else session.report.moves

    def _choose_analysis(self, message: Message) -> None:
        """Begins to analyse whatever is shown, or ends that."""
        session = self.session
        visits = visits_of(message)
        if visits is not None and session.guessing.is_on:
            raise UserError("an analysis would show the move to guess: stop guessing first")
        self.analysis_visits = visits
        if session.task is not None and not session.task.is_of_the_game:
            session.cancel()
        if visits is None and session.shown == "analysis":
            session.report, session.shown = None, ""
        session.go_on()

    def end_analysis(self) -> None:
        """Ends the analysis, if there is one."""
        if self.analysis_visits is not None:
            self._choose_analysis({"visits": None})

    def analyse(self) -> None:
        """Searches the position that is shown if pages want that."""
        if self.analysis_visits is not None:
            self._search("analysis", Limits(visits=self.analysis_visits))

    def _teach(self, message: Message) -> None:
        """Begins or ends marking the moves that lose points."""
        self.is_teaching = message.get("on") is True
        self.session.go_on()

    def _choose_layer(self, message: Message) -> None:
        self.layer = parse_word("layer", message.get("layer"), LAYERS)
        self.session.publish()

    def forget_judgement(self) -> None:
        """Lets the present position be judged, also if that failed before."""
        self._tried.clear()

    def next_to_judge(self) -> TreeNode | None:
        """Returns the position to be searched so that a person's move can be judged; None if there is none.

        It is that of the game, but first the one before a person's move that came before its search had ended.
        """
        session, played = self.session, self.session.played
        is_wanted = (self.is_teaching or session.guessing.is_on) and played.result is None
        if not is_wanted or (played.is_humans_turn and not session.is_latest):
            return None
        node = played.node
        last = node.first_with_position
        is_persons = last.move is not None and last.move.colour in played.humans
        # Guesses are about the position alone.
        before = last.parent if is_persons and not session.guessing.is_on else None
        nodes = [node] if before is None else [before, node]
        untried = (node for node in nodes if (node, session.to_move(node)) not in self._tried)
        return next((node for node in untried if not session.values.is_judged(node)), None)

    def judge(self, node: TreeNode) -> None:
        """Searches a position so that a person's move can be judged."""
        session, engine = self.session, self.session.played.engine
        self._tried.add((node, session.to_move(node)))

        def note(report: SearchReport) -> None:
            session.values.note(report, node)
            session.go_on()

        kind = "preparation" if session.played.is_humans_turn else "judgement"
        request = replace(engine.request(limits=Limits(visits=JUDGED_VISITS)), game=session.position(node).copy())
        session.begin(kind, engine.analyze(request), note)

    def _ask(self, kind: str) -> None:
        """Searches as long as for a move, at full strength whatever the rank."""
        session = self.session
        if session.guessing.is_on and kind == "hint":
            raise UserError("a hint would show the move to guess: stop guessing first")
        if session.task is not None and session.task.is_of_the_game:
            raise UserError("the engine is thinking: ask when it is your turn")
        session.cancel()
        self.analysis_visits = None  # its report gives way to this one
        self._search(kind, session.played.engine.settings.limits())
        session.publish()

    def _search(self, kind: str, limits: Limits) -> None:
        """Searches the position that is shown; what has been found is shown meanwhile if it is an analysis."""
        session, engine = self.session, self.session.played.engine
        node = session.node

        def show(report: SearchReport) -> None:
            session.report, session.shown = report, kind
            session.values.note(report, node)
            if kind == "analysis" or self.next_to_judge() is None:
                session.publish()
            else:  # this search has taken the place of one that judges a move
                session.go_on()

        def show_soon(report: SearchReport) -> None:
            session.call(lambda: show(report) if session.task is task else None)

        options: dict[str, Any] = {"ownership": True, "limits": limits}
        if kind == "analysis":
            options |= {"on_report": show_soon, "interval": _REPORT_SECONDS}
        request = replace(engine.request(**options), game=session.position().copy())
        task = session.begin(kind, engine.analyze(request), show)

    def _line(self, message: Message) -> dict[str, Any]:
        """Returns the board with the main line of one of the moves that are shown; without a line if it is none now."""
        vertex = text_of(message, "move")
        line = next((move.pv for move in self.shown_moves if move.vertex == vertex), ())
        return {"type": "line", "of": vertex, "board": board_of(self.session, line)}
