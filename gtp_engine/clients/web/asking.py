"""Why the move that is shown is a mistake, and what another one in its place would have brought."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...base.errors import UserError
from ...base.languages.texts import Phrase
from ...go.game import Game, Move
from ...go.sgf import TreeNode
from ...study.move_review import LONGEST_VARIATION
from .position import line_shown
from .reviewing import Reviewing
from .session import Document, Message, Part, Session, Task, phrase_parts, text_of, whole_number
from .studying import Searches

if TYPE_CHECKING:
    from ...engine.worker import SearchWorker
    from ...search.request import SearchRequest
    from ...study.move_review import Mistake, MoveReview
    from ...study.questions import Explanation


@dataclass(eq=False)
class _Question:
    """What was asked about a mistake.

    Attributes:
        shown: The node that was shown then; with another one the question is dropped.
        node: The node of the mistake.
        game: The position before it.
        mistake: The mistake, if a review has found it.
        answer: What was found; None as long as that is searched.
        tried: Another move in its place; None if none was tried, or while that is searched.
        task: What the engine does for it; None once that has ended.
    """

    shown: TreeNode
    node: TreeNode
    game: Game
    mistake: "Mistake | None" = None
    answer: "Explanation | None" = None
    tried: "MoveReview | None" = None
    task: Task | None = None


class Asking(Part):
    """Questions about a mistake."""

    name = "asking"

    def __init__(self, session: Session, searches: Searches, reviewing: Reviewing) -> None:
        super().__init__(session)
        self._searches, self._reviewing = searches, reviewing
        self._asked: _Question | None = None

    @property
    def is_studying(self) -> bool:
        return self._question is not None

    @property
    def _question(self) -> _Question | None:
        """What was asked about the position that is shown, unless the search for the answer has been ended."""
        asked = self._asked
        if asked is not None:
            is_lost = asked.answer is None and (asked.task is None or asked.task is not self.session.task)
            if asked.shown is not self.session.node or asked.shown.is_gone or is_lost:
                self._asked = None
        return self._asked

    @property
    def _node(self) -> TreeNode | None:
        """The node of the mistake that is shown, by a review or while moves are marked; None if there is none.

        There is none, either, for a network that imitates people, and so their mistakes as well.
        """
        if self.played.engine.parameters.profile:
            return None
        if self._reviewing.mistake() is not None:
            return self.session.node
        is_marked = self.played.engine.network is not None and self._searches.loss() is not None
        return self._searches.last_own_move if is_marked else None

    def on_why(self, message: Message) -> None:
        """Asks why the mistake that is shown is one: a review has found out, or the engine searches for a moment."""
        self.check_shown(message)
        node, session = self._node, self.session
        if node is None or node.move is None:
            raise UserError(Phrase("error.noMistake"))
        asked = _Question(session.node, node, session.before(node), self._reviewing.mistake())
        if asked.mistake is None:
            self._search(asked, node.move, partial(self._note, asked))
            return
        from ...study.questions import Explanation  # later than the first board

        asked.answer, self._asked = Explanation(asked.mistake.worst), asked
        session.show()

    def on_what_if(self, message: Message) -> None:
        """Asks what a move on another point would have brought."""
        self.check_shown(message)
        asked = self._question
        if asked is None or asked.answer is None:
            raise UserError(Phrase("error.noMistake"))
        game, move = asked.game.copy(), Move(asked.game.to_move, asked.game.point(text_of(message, "point")))
        game.play(*move)  # which refuses an illegal one
        self._search(asked, move, partial(setattr, asked, "tried"))

    def on_leave_why(self, _: Message) -> None:
        """Goes back to the game."""
        if self._question is not None and self._question.task is not None:
            self.session.cancel()
        self._asked = None
        self.session.resume()

    def after_beginning(self, *, is_aside: bool) -> None:
        self._asked = None

    def _search(self, asked: _Question, move: Move, keep: Callable[[Any], None]) -> None:
        """Has the engine judge a move, and explain it too if nothing is known about the mistake yet."""
        from ...study.questions import explanation, judge, searches_of

        session, known = self.session, self._reviewing.known
        session.make_way()
        number = len(asked.node.moves)

        def question(worker: "SearchWorker", request: "SearchRequest") -> "Explanation | MoveReview | None":
            searches = searches_of(worker, request, known)
            if asked.answer is None:
                return explanation(searches, asked.game, move, number)
            return judge(searches, asked.game, move, number, asked.answer.move.before)

        def finish(found: "Explanation | MoveReview | None") -> None:
            asked.task = None
            if found is not None:
                keep(found)
            session.resume()

        asked.tried, asked.task = None, Task("why", partial(self.played.engine.ask, question), finish)
        self._asked = asked
        session.resume(asked.task)

    def _note(self, asked: _Question, answer: "Explanation") -> None:
        """Keeps an answer. From now on the page shows its figure, which comes from longer searches."""
        asked.answer = answer
        for node, report in ((asked.node.parent, answer.move.before), (asked.node, answer.move.after)):
            if node is not None:
                self.values.note(report, node)
                self.values.agree(node, report)

    # What pages see.

    def document(self) -> Document:
        asked = self._question
        return {"why": {"canAsk": self._node is not None, "asked": asked and self._described(asked)}}

    def _described(self, asked: _Question) -> Document:
        answer, tried = self._answer(asked), asked.tried
        described: Document = {"isSearching": asked.task is not None and asked.task is self.session.task}
        if answer is None:
            return described
        from ...study.questions import told

        lines = {name: list(map(asked.game.vertex, line)) for name, line in self._lines(asked).items()}
        said = [phrase_parts(phrase) for phrase in told(tried)] if tried else []
        return {**described, "sentence": phrase_parts(answer.sentence), "lines": lines, "tried": said}

    def _answer(self, asked: _Question) -> "Explanation | None":
        """Returns what is known about the mistake; a review may still find reasons."""
        if asked.answer is None or asked.mistake is None or self._reviewing.job is None:
            return asked.answer
        return replace(asked.answer, reasons=self._reviewing.job.reasons(asked.mistake.worst))

    def _lines(self, asked: _Question) -> dict[str, Sequence[int]]:
        """Returns the lines that the board can show in the place of the mistake, each with a first move of its own."""
        answer, tried = self._answer(asked), asked.tried
        if answer is None:
            return {}
        from ...study.questions import Explanation

        lines: dict[str, Sequence[int]] = {"refutation": answer.refutation, "better": answer.move.better_line}
        if tried is None:
            return lines
        others = {name: line for name, line in lines.items() if line[:1] != (tried.move.point,)}
        return {**others, "tried": Explanation(tried).refutation}

    def on_why_line(self, message: Message) -> Document:
        """Returns the board after some moves of a line, or none if the line is gone."""
        name, asked = text_of(message, "line"), self._question
        count = whole_number(message, "moves", 0, LONGEST_VARIATION)
        line = self._lines(asked).get(name) if asked is not None else None
        shown = {} if asked is None or line is None else line_shown(asked.game, line[:count])
        return {"type": "line", "of": f"why {name} {count}", **shown}
