"""First steps in the browser, for somebody who has never played, and the marked ataris of a game after them."""

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial

from ...base.languages.texts import Phrase
from ...engine.engine import Decision
from ...go.coords import colour_name
from ...go.game import Game
from ...study.ataris import find_ataris, shapes_of, what_to_do
from ...study.first_steps import Step, read_steps
from ...study.learner import Learner, ask_opponent, opponent_move
from ...table.database import Database
from .opening import Opening
from .playing import ownership_of
from .position import empty_board, line_shown
from .session import Document, Drawn, Message, Part, Session, in_words, phrase_parts, text_of, whole_number


class Learning(Part):
    """The steps, which take the place of the game on the page as long as they are open."""

    # Its document follows the position only while the ataris of the game are marked.
    name, follows_position, draws = "steps", False, True

    def __init__(self, session: Session, opening: Opening, database: Database, steps: Sequence[Step] | None) -> None:
        """Begins closed; without `steps` the program's own are read when they are needed."""
        super().__init__(session)
        self._opening, self._database, self._steps = opening, database, steps
        self._learner: Learner | None = None
        self._is_open = self._begins = False
        self._hint: list[Phrase] = []
        self.follows_position = self.played.saved is not None and self.learner.continues(self.played)

    @property
    def is_studying(self) -> bool:
        return self._is_open

    @property
    def learner(self) -> Learner:
        """Where the person is who learns."""
        if self._learner is None:
            self._learner = Learner(self._steps or read_steps(), self._database)
        return self._learner

    @property
    def _is_helping(self) -> bool:
        """Whether the ataris of the position that is shown are marked."""
        return self.follows_position and self.session.is_latest and self.played.result is None

    # What pages ask for.

    def on_first_steps(self, _: Message) -> None:
        """Shows the step at which the learner is."""
        self.learner.again()
        self._is_open = True
        self.session.tell("steps")
        self._show()

    def after_learn(self) -> None:
        """Shows the steps to a person who has never played."""
        self.on_first_steps({})

    def on_leave_steps(self, _: Message) -> None:
        """Goes back to the game."""
        self._is_open = False
        self.session.touch(self)
        self.session.resume()

    def on_step(self, message: Message) -> None:
        """Begins one of the steps by its number, from 0."""
        self.learner.go(whole_number(message, "number", 0, len(self.learner.steps) - 1))
        self._show()

    def on_step_play(self, message: Message) -> None:
        """Plays the learner's move."""
        learner = self.learner
        learner.play(learner.game.point(text_of(message, "point")))
        self._show()
        if learner.needs_reply:
            game = learner.game
            self.session.follow(ask_opponent(self.played.engine, game), partial(self._replied, game))

    def _replied(self, game: Game, done: "Future[Decision]") -> None:
        """Plays the opponent's move unless the learner has taken back a move meanwhile, or has left."""
        if game is not self.learner.game:
            return
        if (error := done.exception()) is not None:
            self.session.other_problem = in_words(error)
        else:
            self.learner.reply(opponent_move(game, done.result()))
        self._show()

    def on_step_undo(self, _: Message) -> None:
        """Takes back the learner's last move."""
        self.learner.undo()
        self._show()

    def on_step_again(self, _: Message) -> None:
        """Begins the step anew."""
        self.learner.again()
        self._show()

    def on_step_hint(self, _: Message) -> None:
        """Gives advice."""
        self._show(self.learner.hint())

    def on_step_game(self, _: Message) -> None:
        """Begins the game of the step, against the weakest rank, with ataris marked."""
        self._begins = True
        try:
            self._opening.replace(self.learner.step.start, lambda: self.learner.begin_game(self.played))
        finally:
            self._begins = False

    def on_no_marks(self, _: Message) -> None:
        """Goes on with the game without marks."""
        self.follows_position = False
        self._show()

    def after_beginning(self, *, is_aside: bool) -> None:
        self._is_open, self.follows_position = False, self._begins

    def _show(self, hint: list[Phrase] | None = None) -> None:
        self._hint = hint or []
        self.session.touch(self)
        self.session.show()

    # What pages see.

    def document(self) -> Document:
        helps = self._is_helping and self.played.is_humans_turn
        said = what_to_do(self.played.game) if helps else []
        return {
            "helps": self.follows_position and self.played.result is None,
            "ataris": [*map(phrase_parts, said)],
            "step": self._described(self.learner) if self._is_open else None,
        }

    def _described(self, learner: Learner) -> Document:
        step, game = learner.step, learner.game
        last = game.moves[-1] if game.moves else None
        shown = line_shown(game, (), learner.marks())
        shown["drawn"]["labels"] = {game.vertex(point): text for point, text in step.labels.items()}
        if (owners := learner.owners) is not None:
            shown["drawn"]["ownership"] = ownership_of(owners).ravel().tolist()
        return {
            "number": learner.number,
            "count": len(learner.steps),
            "goal": step.goal,
            "isTask": step.is_task,
            "texts": step.texts,
            "state": learner.state,
            "said": learner.said,
            "remarks": [*map(phrase_parts, self._hint or learner.remarks)],
            "isThinking": learner.needs_reply,
            "canUndo": learner.can_undo,
            "board": empty_board(game.width, game.height),
            "width": game.width,
            "height": game.height,
            "lastMove": {"colour": colour_name(last.colour), "vertex": game.vertex(last)} if last else None,
            **shown,
        }

    def draw(self, drawn: Drawn) -> None:
        if self._is_helping:
            drawn.shapes = {**shapes_of(find_ataris(self.played.game)), **drawn.shapes}
