"""Studying a game: hints, estimates of the score, analyses, and the judgement of moves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...base.errors import UserError
from ...base.fields import Words
from ...base.languages.texts import Phrase
from ...go.coords import BLACK, PASS, colour_name, opponent, vertex
from ...go.drawing import Candidate
from ...go.game import Game, Move
from ...go.sgf import TreeNode
from ...search.report import MoveReport, SearchReport
from ...search.request import Limits
from .session import Document, Drawn, Message, Part, Session, Task, line_shown, text_of, visits_of

if TYPE_CHECKING:
    from ...study.move_review import Worth

JUDGED_VISITS = 100  # a person waits for them: about a second on two cores with the bundled networks, or less
LEAST_LOSS = 1.5  # points; the second class of the mistakes of `review`, which are KaTrain's
_LEAST_SHOWN = 0.5  # points on a stone, which are written without decimals
_LAYERS = ("candidates", "losses", "ownership", "policy")
_REPORT_SECONDS = 0.25  # between reports: enough to watch, and costs little beside the search
_LISTED = 9  # candidates
_PRIORS, _LEAST_PRIOR = 40, 0.005  # drawn at most, and from which on
_PRIOR_COLOUR = (120, 130, 235)  # of a certain move: red, green, blue


@dataclass(frozen=True)
class Value:
    """What a search has found about a position: Black's win rate and lead in points, and the best move, "" for none.

    `losses` is what each move that was searched loses in points against the best one, by vertex.
    """

    to_move: int
    winrate: float
    lead: float
    visits: int
    best: str
    losses: Mapping[str, float] = field(default_factory=dict)


class Values:
    """The values of the positions of a game, by node.

    Who moves at a node may change, with the variation that is looked at and with edits: a value counts only while it is
    the turn of the player for whom it was found.

    Attributes:
        opinion: What the engine has found about its last move, and the node after that move; None if there is none.
        reviewed: What the moves of nodes have lost by a review, in points.
    """

    def __init__(self, to_move: Callable[[TreeNode], int]) -> None:
        """Begins without values; `to_move` returns the player to move at a node."""
        self._to_move = to_move
        self._values: dict[TreeNode, Value] = {}
        self.opinion: tuple[MoveReport, TreeNode] | None = None
        self.reviewed: dict[TreeNode, float] = {}

    def note(self, report: SearchReport, node: TreeNode) -> None:
        """Keeps what a search has found, unless a value counts that has more visits or is for the other player.

        It also holds for the node that led to the position: the move, if only comments or empty nodes stand in between.
        """
        is_black = report.to_move == BLACK
        winrate = report.winrate if is_black else 1 - report.winrate
        lead = report.lead if is_black else -report.lead
        losses = {move.vertex: max(0.0, report.moves[0].lead - move.lead) for move in report.moves}
        best = report.moves[0].vertex if report.moves else ""
        value = Value(report.to_move, winrate, lead, report.visits, best, losses)
        for each in (node, node.first_with_position):
            known = self.get(each)
            if known is None or (known.to_move == report.to_move and known.visits <= report.visits):
                self.set(each, value)

    def set(self, node: TreeNode, value: Value) -> None:
        """Keeps a value whatever was known before."""
        self._values[node] = value

    def agree(self, node: TreeNode, worth: "Worth") -> None:
        """Gives a position that was searched the value that a review tells."""
        for each in (node, node.first_with_position):
            if (known := self.get(each)) is not None:
                self.set(each, replace(known, winrate=worth.winrate, lead=worth.lead))

    def get(self, node: TreeNode) -> Value | None:
        """Returns what is known about a position; None if it has not been searched for the player to move."""
        value = self._values.get(node)
        return value if value is not None and value.to_move == self._to_move(node) else None

    def forget(self, node: TreeNode | None = None) -> None:
        """Forgets a position; all of them, and the engine's opinion, if None."""
        if node is None:
            self.move_to(())
        else:
            self._values.pop(node, None)
            self.reviewed.pop(node, None)

    def move_to(self, nodes: Iterable[tuple[TreeNode, TreeNode]]) -> None:
        """Keeps only what is known about these nodes, as the values of others: pairs of old and new."""
        self._values = {new: self._values[old] for old, new in nodes if old in self._values}
        self.opinion, self.reviewed = None, {}

    def is_judged(self, node: TreeNode) -> bool:
        """Whether a position has been searched well enough to judge a move by it."""
        value = self.get(node)
        return value is not None and value.visits >= JUDGED_VISITS

    def curve(self, line: Sequence[TreeNode]) -> list[tuple[int, float, float]]:
        """Returns the place, Black's win rate and Black's lead of each position of a line that was searched."""
        found = ((place, self.get(node)) for place, node in enumerate(line))
        return [(place, round(value.winrate, 3), round(value.lead, 1) + 0.0) for place, value in found if value]

    def loss(self, node: TreeNode, width: int, height: int) -> tuple[float, str] | None:
        """Returns how many points the move of a node has lost, and the best one; None if few, or not known.

        The passes that end a game lose none, as in `study.move_review.MoveReview`.
        """
        if node.move is None or node.parent is None or not (self.is_judged(node) and self.is_judged(node.parent)):
            return None
        if node.ends_game:
            return None
        best, points = self._values[node.parent].best, self.lost(node)
        if points is None or points < LEAST_LOSS or best in ("", vertex(node.move.point, width, height)):
            return None
        return points, best

    def lost(self, node: TreeNode) -> float | None:
        """Returns how many points the move of a node has lost, below 0 for a gain; None if that is not known."""
        before, after = self.get(node.parent) if node.parent else None, self.get(node)
        if node.move is None or before is None or after is None:
            return None
        lost = before.lead - after.lead if node.move.colour == BLACK else after.lead - before.lead
        return round(lost, 1) + 0.0  # as it is shown, and as in a review: nothing is no -0.0

    def on_stones(self, game: Game, path: Sequence[TreeNode]) -> dict[str, str]:
        """Returns the points lost by the moves that have placed the stones of a position, if half a point or more.

        Only the losses count that a review has found, or two searches of `JUDGED_VISITS`.
        """
        losses = dict[int, tuple[int, float]]()
        for node in path:
            if node.move is not None:
                is_judged = node.parent is not None and self.is_judged(node) and self.is_judged(node.parent)
                lost = self.reviewed.get(node, self.lost(node) if is_judged else None)
                losses[node.move.point] = node.move.colour, 0.0 if lost is None or node.ends_game else lost
        losses.pop(PASS, None)
        found = {point: lost for point, (colour, lost) in losses.items() if game.stone_at(point) == colour}
        return {game.vertex(point): _whole(lost) for point, lost in found.items() if lost >= _LEAST_SHOWN}


class Searches(Part):
    """What is searched, and what is drawn of it."""

    def __init__(self, session: Session, values: Values) -> None:
        super().__init__(session, values)
        self.layer = _LAYERS[0]  # of what is found, on the board
        self.analysis_visits: int | None = None  # after which an analysis ends; None while nothing is analysed
        self.is_teaching = False  # moves that lose points are marked

    @property
    def is_studying(self) -> bool:
        return self.analysis_visits is not None

    def forget_game(self, *, is_aside: bool) -> None:
        self.analysis_visits = None

    @property
    def shown_moves(self) -> tuple[MoveReport, ...]:
        """The moves of the report that pages show; none of an estimate of the score, also while moves are guessed."""
        session = self.session
        return () if session.report is None or session.shown == "score" else session.report.moves

    def on_analyse(self, message: Message) -> None:
        """Begins to analyse whatever is shown, or ends that."""
        session = self.session
        visits = visits_of(message)
        if visits is not None and session.is_guessing:
            raise UserError("an analysis would show the move to guess: stop guessing first")
        self.analysis_visits = visits
        if session.task is not None and not session.task.is_of_the_game:
            session.cancel()
        if visits is None and session.shown == "analysis":
            session.report, session.shown = None, ""
        session.go_on()

    def analysis(self) -> Task | None:
        """Returns the search of the position that is shown if pages want that."""
        if self.analysis_visits is None:
            return None
        return self._search("analysis", Limits(visits=self.analysis_visits))

    def on_teach(self, message: Message) -> None:
        """Begins or ends marking the moves that lose points."""
        self.is_teaching = message.get("on") is True
        self.session.go_on()

    def on_layer(self, message: Message) -> None:
        """Chooses what an analysis draws."""
        self.layer = Words(_LAYERS).parse("layer", message.get("layer"))
        self.session.publish()

    def _next_to_judge(self) -> TreeNode | None:
        """Returns the position to be searched so that a person's move can be judged; None if there is none.

        It is that of the game, but first the one before a person's move that came before its search had ended.
        """
        session, played = self.session, self.played
        is_wanted = (self.is_teaching or session.is_guessing) and played.result is None
        if not is_wanted or (played.is_humans_turn and not session.is_latest):
            return None
        node = played.node
        last = node.first_with_position
        is_persons = last.move is not None and last.move.colour in played.humans
        # Guesses are about the position alone.
        before = last.parent if is_persons and not session.is_guessing else None
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
            session.go_on()

        request = replace(engine.request(limits=Limits(visits=visits)), game=session.position(node).copy())
        return Task(kind, lambda: engine.analyze(request), note)

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
            raise UserError(Phrase("error.thinking"))
        session.cancel()
        self.analysis_visits = None  # its report gives way to this one
        session.go_on(self._search(kind, self.played.engine.settings.limits()))

    def _search(self, kind: str, limits: Limits) -> Task:
        """Returns the search of the position that is shown; an analysis shows meanwhile what has been found."""
        session, engine, node = self.session, self.played.engine, self.session.node

        def show(report: SearchReport) -> None:
            session.report, session.shown = report, kind
            self.values.note(report, node)
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
        while node.parent is not None and (node.move is None or node.move.colour not in self.played.humans):
            node = node.parent
        return node

    def loss(self) -> tuple[Move, float, str] | None:
        """Returns a person's last move before the position that is shown, with `Values.loss`, while teaching."""
        node, tree = self.last_own_move, self.played.tree
        loss = self.values.loss(node, tree.width, tree.height) if self.is_teaching else None
        return None if loss is None or node.move is None else (node.move, *loss)

    def state(self) -> Document:
        report, loss, game = self.session.report, None, self.session.position()
        moves = report.table()[:_LISTED] if report is not None and self.shown_moves else []
        if (lost := self.loss()) is not None:
            move, points, best = lost
            can_undo = self.session.is_latest and self.played.takes_back(self.last_own_move)
            loss = {"move": game.vertex(move.point), "points": round(points, 1), "best": best, "canUndo": can_undo}
        return {
            "report": report and {"kind": self.session.shown, **values_of(report.to_move, report), "moves": moves},
            "layer": self.layer,
            "analysisVisits": self.analysis_visits,
            "curve": self.values.curve(self.session.line),
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
        drawn.labels[move.point] = _whole(points)


def _whole(points: float) -> str:
    """Returns points as a whole number, for a stone. Half a point is rounded up, so that it does not read as 0."""
    return str(int(points + 0.5))


def _losses(report: SearchReport) -> list[Candidate]:
    """Returns the discs of the best moves with the points that each loses compared with the first one."""
    losses: dict[int | str, float] = {each.point: report.moves[0].lead - each.lead for each in report.moves}
    return [replace(disc, text=(f"{round(losses[disc.point], 1) + 0.0:.1f}",)) for disc in report.candidates()]


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
