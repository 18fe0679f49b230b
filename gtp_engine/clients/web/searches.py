"""Searches that pages ask for: hints, the score, analyses, and the judgement of a person's moves."""

from dataclasses import replace
from typing import Any

from ...base.errors import UserError
from ...base.fields import parse_word
from ...go.coords import BLACK, colour_name, opponent
from ...go.drawing import Candidate
from ...go.sgf import TreeNode
from ...search.report import MoveReport, SearchReport
from ...search.request import Limits
from .part import Document, Drawn, Message, Part, line_shown, text_of, visits_of
from .session import Session
from .values import JUDGED_VISITS, Loss

LAYERS = ("candidates", "ownership", "policy")
# Reports a second are enough to watch, and cost little beside the search.
_REPORT_SECONDS = 0.25
_LISTED = 9  # candidates
_PRIORS, _LEAST_PRIOR = 40, 0.005  # drawn at most, and from which on
_PRIOR_COLOUR = (120, 130, 235)  # of a certain move: red, green, blue


class Searches(Part):
    """What is searched, and what is drawn of it.

    Attributes:
        layer: What an analysis draws on the board, one of `LAYERS`.
        analysis_visits: Visits after which an analysis ends; None while nothing is analysed.
        is_teaching: Whether moves that lose points are marked.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.layer = LAYERS[0]
        self.analysis_visits: int | None = None
        self.is_teaching = False
        self._tried: set[tuple[TreeNode, int]] = set()  # the positions that were to be judged, and their turns

    @property
    def is_studying(self) -> bool:
        return self.analysis_visits is not None

    @property
    def shown_moves(self) -> tuple[MoveReport, ...]:
        """The moves of the report that pages show; none of an estimate of the score, also while moves are guessed."""
        session = self.session
        return () if session.report is None or session.shown == "score" else session.report.moves

    def on_analyse(self, message: Message) -> None:
        """Begins to analyse whatever is shown, or ends that."""
        session = self.session
        visits = visits_of(message)
        if visits is not None and self.session.is_guessing:
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
            self.on_analyse({"visits": None})

    def analyse(self) -> None:
        """Searches the position that is shown if pages want that."""
        if self.analysis_visits is not None:
            self._search("analysis", Limits(visits=self.analysis_visits))

    def on_teach(self, message: Message) -> None:
        """Begins or ends marking the moves that lose points."""
        self.is_teaching = message.get("on") is True
        self.session.go_on()

    def on_layer(self, message: Message) -> None:
        """Chooses what an analysis draws."""
        self.layer = parse_word("layer", message.get("layer"), LAYERS)
        self.session.publish()

    def forget_task(self) -> None:
        self._tried.clear()  # the present position may be judged, also if that failed before

    def next_to_judge(self) -> TreeNode | None:
        """Returns the position to be searched so that a person's move can be judged; None if there is none.

        It is that of the game, but first the one before a person's move that came before its search had ended.
        """
        session, played = self.session, self.session.played
        is_wanted = (self.is_teaching or self.session.is_guessing) and played.result is None
        if not is_wanted or (played.is_humans_turn and not session.is_latest):
            return None
        node = played.node
        last = node.first_with_position
        is_persons = last.move is not None and last.move.colour in played.humans
        # Guesses are about the position alone.
        before = last.parent if is_persons and not self.session.is_guessing else None
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

    def on_hint(self, _: Message) -> None:
        """Looks for the best move."""
        if self.session.is_guessing:
            raise UserError("a hint would show the move to guess: stop guessing first")
        self._ask("hint")

    def on_score(self, _: Message) -> None:
        """Estimates who leads, and who will own each point."""
        self._ask("score")

    def _ask(self, kind: str) -> None:
        """Searches as long as for a move, at full strength whatever the rank."""
        session = self.session
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

    def on_line(self, message: Message) -> Document:
        """Returns the board with the main line of one of the moves that are shown; without a line if it is none now."""
        vertex = text_of(message, "move")
        line = next((move.pv for move in self.shown_moves if move.vertex == vertex), ())
        shown = line_shown(self.session.position(), line) if line else self.session.shown_position()
        return {"type": "line", "of": vertex, **shown}

    # What pages see.

    @property
    def last_own_move(self) -> TreeNode:
        """The node of a person's last move before the position that is shown; the root if there is none."""
        node = self.session.node
        while node.parent is not None and (node.move is None or node.move.colour not in self.session.played.humans):
            node = node.parent
        return node

    def _loss(self) -> Loss | None:
        """Returns what the last move of a person before the position that is shown has lost, while teaching."""
        tree = self.session.played.tree
        return self.session.values.loss(self.last_own_move, tree.width, tree.height) if self.is_teaching else None

    def state(self) -> Document:
        session, report, loss = self.session, self.session.report, self._loss()
        moves = report.table()[:_LISTED] if report is not None and self.shown_moves else []
        can_undo = session.is_latest and session.played.takes_back(self.last_own_move)
        return {
            "report": report and {"kind": session.shown, **values_of(report), "moves": moves},
            "layer": self.layer,
            "analysisVisits": self.analysis_visits,
            "curve": session.values.curve(session.line),
            "isTeaching": self.is_teaching,
            "loss": loss
            and {
                "move": session.position().vertex(loss.point),
                "points": round(loss.points, 1),
                "best": loss.best,
                "canUndo": can_undo,
            },
        }

    def drawn(self) -> Drawn:
        report, loss = self.session.report, self._loss()
        labels = {} if loss is None else self.loss_label(loss.point, loss.points)
        if report is None:
            return Drawn(labels)
        layer = {"score": "ownership", "hint": "hint"}.get(self.session.shown, self.layer)
        if layer == "ownership":
            return Drawn(labels, ownership=report.ownership_of(BLACK))
        found = {"hint": report.candidates()[:1], "policy": _priors(report)}
        return Drawn(labels, found.get(layer, report.candidates()))


def _priors(report: SearchReport) -> list[Candidate]:
    """Returns the priors as discs, darker the larger they are, with their percentages."""
    discs = []
    for vertex, prior in report.policy.top(_PRIORS):
        if prior < _LEAST_PRIOR:
            break
        share = prior**0.5  # so that small ones differ too
        colour = "#" + "".join(f"{round(255 + share * (full - 255)):02x}" for full in _PRIOR_COLOUR)
        discs.append(Candidate(vertex, colour, (f"{100 * prior:.0f}",)))
    return discs


def values_of(report: SearchReport) -> Document:
    """Returns the values of a search; win rate and lead are those of the side to move."""
    winrate, lead = report.winrate, report.lead
    return {
        "toMove": colour_name(report.to_move),
        "winrate": round(winrate, 4),
        "lead": round(lead, 1) + 0.0,
        "leader": colour_name(report.to_move if lead >= 0 else opponent(report.to_move)),
        "visits": report.visits,
    }
