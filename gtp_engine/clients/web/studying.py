"""Studying a game: hints, estimates of the score, analyses, and the judgement of moves."""

from dataclasses import replace
from typing import Any

from ...base.fields import Words
from ...engine.settings import ANSWER_SECONDS
from ...go.coords import BLACK, PASS, colour_name, opponent
from ...go.drawing import Candidate
from ...go.game import Game, Move
from ...go.sgf import TreeNode
from ...search.report import MoveReport, SearchReport
from ...search.request import Limits
from ...study.move_review import whole
from .position import line_shown
from .session import Document, Drawn, Message, Part, Session, Task, text_of, visits_of
from .values import JUDGED_VISITS

_LAYERS = ("candidates", "losses", "ownership", "policy")
_REPORT_SECONDS = 0.25  # between reports: enough to watch, and costs little beside the search
_LISTED = 9  # candidates
_PRIORS, _LEAST_PRIOR = 40, 0.005  # drawn at most, and from which on
_PRIOR_COLOUR = (120, 130, 235)  # of a certain move: red, green, blue


class Searches(Part):
    """What is searched, and what is drawn of it."""

    name, draws = "search", True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.layer = _LAYERS[0]  # of what is found, on the board
        self.analysis_visits: int | None = None  # after which an analysis ends; None while nothing is analysed
        self.is_teaching = False  # moves that lose points are marked
        self.is_asking = False  # a problem is shown, to which marks would give the answer

    @property
    def is_studying(self) -> bool:
        return self.analysis_visits is not None

    def after_beginning(self, *, is_aside: bool) -> None:
        self.analysis_visits = None

    def after_steps(self) -> None:
        self.analysis_visits = None  # the engine has to answer there
        if self.session.task is not None and self.session.task.kind == "analysis":
            self.session.cancel()

    @property
    def shown_moves(self) -> tuple[MoveReport, ...]:
        """The moves of the report that pages show; none of an estimate of the score."""
        session = self.session
        return () if session.report is None or session.shown == "score" else session.report.moves

    def on_analyse(self, message: Message) -> None:
        """Begins to analyse whatever is shown, or ends that."""
        session = self.session
        self.analysis_visits = visits_of(message)
        if session.task is not None and not session.task.is_of_the_game:
            session.cancel()
        if self.analysis_visits is None and session.shown == "analysis":
            session.report, session.shown = None, ""
        session.resume()

    def analysis(self) -> Task | None:
        """Returns the search of the position that is shown if pages want that."""
        if self.analysis_visits is None:
            return None
        return self._search("analysis", Limits(visits=self.analysis_visits))

    def on_teach(self, message: Message) -> None:
        """Begins or ends marking the moves that lose points."""
        self.is_teaching = message.get("on") is True
        self.session.resume()

    def on_layer(self, message: Message) -> None:
        """Chooses what an analysis draws."""
        self.layer = Words(_LAYERS).parse("layer", message.get("layer"))
        self.session.show()

    def _next_to_judge(self) -> TreeNode | None:
        """Returns the position to be searched so that a person's move can be judged; None if there is none.

        It is that of the game, but first the one before a person's move that came before its search had ended.
        """
        session, played = self.session, self.played
        if not self.is_teaching or played.result is not None or (played.is_humans_turn and not session.is_latest):
            return None
        node = played.node
        last = node.first_with_position
        is_persons = last.move is not None and last.move.colour in played.humans
        before = last.parent if is_persons else None
        nodes = [node] if before is None else [before, node]
        untried = (node for node in nodes if (node, session.to_move(node)) not in session.tried)
        return next((node for node in untried if not self.values.is_judged(node)), None)

    def judgement(self) -> Task | None:
        """Returns the search of a position by which a person's move can be judged; None if there is none to search."""
        session, node = self.session, self._next_to_judge()
        if node is None:
            return None
        session.tried.add((node, session.to_move(node)))
        return self.search_of(node, JUDGED_VISITS, "preparation" if self.played.is_humans_turn else "judgement")

    def search_of(self, node: TreeNode, visits: int, kind: str) -> Task:
        """Returns a search of a position, whose values are kept."""
        session, engine = self.session, self.played.engine

        def note(report: SearchReport) -> None:
            self.values.note(report, node)
            session.resume()

        request = replace(engine.request(limits=Limits(visits=visits)), game=session.position(node).copy())
        return Task(kind, lambda: engine.analyze(request), note)

    def on_hint(self, _: Message) -> None:
        """Looks for the best move."""
        self._ask("hint")

    def on_score(self, _: Message) -> None:
        """Estimates who leads, and who will own each point."""
        self._ask("score")

    def _ask(self, kind: str) -> None:
        """Searches for a short time unless the settings have limits, at full strength whatever the rank."""
        session = self.session
        session.make_way()
        self.analysis_visits = None  # its report gives way to this one
        session.resume(self._search(kind, self.played.engine.settings.limits(ANSWER_SECONDS)))

    def _search(self, kind: str, limits: Limits) -> Task:
        """Returns the search of the position that is shown; an analysis shows meanwhile what has been found."""
        session, engine, node = self.session, self.played.engine, self.session.node

        def show(report: SearchReport) -> None:
            session.report, session.shown = report, kind
            self.values.note(report, node)
            session.touch()
            if kind == "analysis" or self._next_to_judge() is None:
                session.publish()
            else:  # this search has taken the place of one that judges a move
                session.go_on()

        def show_soon(report: SearchReport) -> None:
            session.call(lambda: show(report) if session.task is task else None)

        options: dict[str, Any] = {"ownership": True, "limits": limits}
        if kind == "analysis":
            options |= {"on_report": show_soon, "interval": _REPORT_SECONDS}
        request = replace(engine.request(**options), game=session.position().copy())
        task = Task(kind, lambda: engine.analyze(request), show)
        return task

    def on_line(self, message: Message) -> Document:
        """Returns the board with the main line of one of the moves that are shown; no board if it is none now."""
        vertex = text_of(message, "move")
        line = next((move.pv for move in self.shown_moves if move.vertex == vertex), ())
        shown = line_shown(self.session.position(), line) if line else {}
        return {"type": "line", "of": vertex, **shown}

    # What pages see.

    @property
    def last_own_move(self) -> TreeNode:
        """The node of a person's last move before the position that is shown; the root if there is none."""
        node = self.session.node
        while node.parent is not None and (node.move is None or node.move.colour not in self.played.humans):
            node = node.parent
        return node

    def loss(self) -> tuple[Move, float, str] | None:
        """Returns a person's last move before the position that is shown, with `Values.loss`, while teaching."""
        node, tree = self.last_own_move, self.played.tree
        loss = self.values.loss(node, tree.width, tree.height) if self.is_teaching and not self.is_asking else None
        return None if loss is None or node.move is None else (node.move, *loss)

    def document(self) -> Document:
        report, loss, game = self.session.report, None, self.session.position()
        moves = report.table()[:_LISTED] if report is not None and self.shown_moves else []
        if (lost := self.loss()) is not None:
            move, points, best = lost
            can_undo = self.session.is_latest and self.played.takes_back(self.last_own_move)
            loss = {"move": game.vertex(move.point), "points": whole(points), "best": best, "canUndo": can_undo}
        return {
            "report": report and {"kind": self.session.shown, **values_of(report.to_move, report), "moves": moves},
            "layer": self.layer,
            "analysisVisits": self.analysis_visits,
            "losses": self.values.on_stones(game, self.session.node.path),
            "isTeaching": self.is_teaching,
            "loss": loss,
        }

    def draw(self, drawn: Drawn) -> None:
        report = self.session.report
        if (lost := self.loss()) is not None:
            label_loss(drawn, self.session.position(), lost[0], lost[1])
        if report is None:
            return
        layer = {"score": "ownership", "hint": "hint"}.get(self.session.shown, self.layer)
        if layer == "ownership":
            drawn.ownership = report.ownership_of(BLACK)
        else:
            found = {"hint": report.candidates()[:1], "losses": _losses(report), "policy": _priors(report)}
            drawn.candidates += found.get(layer, report.candidates())


def label_loss(drawn: Drawn, game: Game, move: Move, points: float) -> None:
    """Draws the points that a move has lost on its stone, if it stands in this position."""
    if move.point != PASS and game.stone_at(move.point):
        drawn.labels[move.point] = f"\u2212{whole(points)}"


def _losses(report: SearchReport) -> list[Candidate]:
    """Returns the discs of the best moves with the points that each loses compared with the first one."""
    losses: dict[int | str, float] = {each.point: report.moves[0].lead - each.lead for each in report.moves}
    texts = {point: f"{round(loss, 1) + 0.0:.1f}".replace("-", "\u2212") for point, loss in losses.items()}
    return [replace(disc, text=(texts[disc.point],)) for disc in report.candidates()]


def _priors(report: SearchReport) -> list[Candidate]:
    """Returns the priors as discs, darker the larger they are, with their percentages."""
    discs = []
    for name, prior in report.policy.top(_PRIORS):
        if prior < _LEAST_PRIOR:
            break
        share = prior**0.5  # so that small ones differ too
        colour = "#" + "".join(f"{round(255 + share * (full - 255)):02x}" for full in _PRIOR_COLOUR)
        discs.append(Candidate(name, colour, (f"{100 * prior:.0f}",)))
    return discs


def values_of(colour: int, found: SearchReport | MoveReport) -> Document:
    """Returns the values of a position, or of a move there; win rate and lead are those of the side to move."""
    return {
        "toMove": colour_name(colour),
        "winrate": round(found.winrate, 4),
        "lead": round(found.lead, 1) + 0.0,
        "leader": colour_name(colour if found.lead >= 0 else opponent(colour)),
        "visits": found.visits,
    }
