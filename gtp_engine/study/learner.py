"""Somebody who takes the first steps: the step, the position on its board, and what there is to say about it."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.languages.texts import DEFAULT, Phrase
from ..engine.engine import Decision, Engine
from ..engine.ranks import WEAKEST
from ..go.coords import BLACK, PASS, WHITE
from ..go.game import Game
from ..go.life import area_map
from ..search.request import Limits
from ..table.database import Change, Database
from ..table.played_game import Mode, PlayedGame, check_move
from .ataris import find_ataris, shapes_of, what_to_do, what_to_win
from .first_steps import FIRST_CAPTURE, GAME, REFUSED, WIN, Step

_BY_THE_RULES = ("error.ko", "error.suicide")  # refusals that a text of the step explains
ASKED, RIGHT, WRONG, DRAWN = "asked", "right", "wrong", "drawn"


@dataclass
class Learner:
    """Where somebody is in the steps.

    Args:
        steps: The steps.
        database: Where the step is kept; None for nowhere.
    """

    steps: Sequence[Step]
    database: Database | None = None
    number: int = 0  # of the step, from 0
    game: Game = field(init=False)  # the position on its board
    refusal: tuple[Phrase, ...] = ()  # why the last move was refused

    def __post_init__(self) -> None:
        rows = self.database.rows("SELECT step FROM first_steps") if self.database is not None else []
        self._begin(min(rows[0][0], len(self.steps) - 1) if rows else 0)

    @property
    def step(self) -> Step:
        """The present step."""
        return self.steps[self.number]

    def _begin(self, number: int) -> None:
        self.number = number
        self._changed(self.step.start.copy())

    def _changed(self, game: Game) -> None:
        self.game, self.refusal = game, ()
        self.__dict__.pop("state", None)

    def go(self, number: int) -> None:
        """Begins a step, and remembers it."""
        self._begin(number)
        if self.database is not None:
            self.database.change(Change("INSERT OR REPLACE INTO first_steps VALUES (1, ?)", (number,)))

    def again(self) -> None:
        """Begins the step anew."""
        self._begin(self.number)

    @property
    def _played(self) -> int:
        """How many moves the learner has played."""
        return sum(move.colour == BLACK for move in self.game.moves[len(self.step.start.moves) :])

    @property
    def can_undo(self) -> bool:
        """Whether there is a move to take back."""
        return self._played > 0

    @cached_property
    def state(self) -> str:
        """ASKED while the learner may go on, RIGHT or WRONG after that; DRAWN if nobody has captured."""
        step, game, start = self.step, self.game, self.step.start
        if step.goal == FIRST_CAPTURE:
            taken = [game.captures(colour) > start.captures(colour) for colour in (BLACK, WHITE)]
            return RIGHT if taken[0] else WRONG if taken[1] else DRAWN if game.is_over else ASKED
        if not self._played:
            return ASKED
        if step.is_reached(game):
            return RIGHT
        left = step.moves - self._played
        return ASKED if left > 0 and not game.is_over and step.solution(game, left) is not None else WRONG

    @property
    def needs_reply(self) -> bool:
        """Whether the opponent has to move in a game that the first capture ends."""
        return self.step.goal == FIRST_CAPTURE and self.state == ASKED and self.game.to_move == WHITE

    def play(self, point: int) -> None:
        """Plays the learner's move, and the answer to it on a board with a task; a task that was failed begins anew.

        A move that the rules forbid is refused: `refusal` says why. A game that is over stays on the board.
        """
        if self.state == WRONG and self.step.is_task:
            self.again()
        if self.state != ASKED or self.game.to_move != BLACK or self.step.goal == GAME:
            return
        game = self.game.copy()
        try:
            check_move(game, point)
        except UserError as error:
            assert error.phrase is not None, "the rules say why"
            is_occupied = error.phrase.name == "error.occupied"
            self.refusal = (Phrase("steps.occupied", error.phrase.values) if is_occupied else error.phrase,)
            return
        game.play(BLACK, point)
        if self.step.is_task and not self.step.is_reached(game) and not game.is_over:
            self.step.answer(game)
        self._changed(game)

    def reply(self, point: int) -> None:
        """Plays the opponent's move."""
        self._changed(self.game.after(WHITE, point))

    def undo(self) -> None:
        """Takes back the learner's last move, with what followed it."""
        if self._played:
            game = self.game.copy()
            while game.moves[-1].colour != BLACK:
                game.undo()
            game.undo()
            self._changed(game)

    def continues(self, played: PlayedGame) -> bool:
        """Whether a game was saved after the last step: it goes on with ataris marked."""
        is_weakest = played.mode is Mode.GAME and played.engine.settings.rank == WEAKEST
        return is_weakest and played.saved is not None and played.saved.is_own and self.step.goal == GAME

    def begin_game(self, played: PlayedGame) -> None:
        """Begins the game of the last step, against the weakest rank; raises UserError if the engine refuses it."""
        played.engine.settings = replace(played.engine.settings, rank=WEAKEST, seconds=None, visits=None)
        played.begin(self.step.start, frozenset((BLACK,)))

    # What there is to say, besides the texts of the step.

    @property
    def _is_explained(self) -> bool:
        """Whether a text of the step says why the last move was refused."""
        return REFUSED in self.step.texts[DEFAULT] and any(phrase.name in _BY_THE_RULES for phrase in self.refusal)

    @property
    def said(self) -> str:
        """The name of the text of the step that is to be said now; "" for none."""
        if self._is_explained:
            return REFUSED
        if self.state == ASKED and self.step.goal == FIRST_CAPTURE and self.remarks:
            return ""  # which say what to do
        return {ASKED: "task", RIGHT: "right", WRONG: "wrong", DRAWN: ""}[self.state]

    @property
    def remarks(self) -> list[Phrase]:
        """What the rules say: why a move was refused, which stones are in atari, the count, a draw."""
        if self.refusal:
            return [] if self._is_explained else [*self.refusal]
        if self.state == DRAWN:
            return [Phrase("steps.nobody")]
        if (owners := self.owners) is not None:
            counts = {name: int((owners == colour).sum()) for name, colour in (("black", BLACK), ("white", WHITE))}
            return [Phrase("steps.count", counts)]
        if self.state != ASKED or self.game.to_move != BLACK or not self._played:
            return []
        last = self.game.last_point
        name, said = "passes" if last == PASS else "plays", list[Phrase]()
        if self.step.is_task or last == PASS:
            said.append(Phrase(name, {"colour": Phrase("white"), "move": self.game.vertex(last)}))
        return said if self.step.is_task else [*said, *what_to_win(self.game)]

    @property
    def owners(self) -> NDArray[np.int8] | None:
        """Who owns each point once the points are counted, as in `area_map`; None before."""
        return area_map(self.game) if self.step.goal == WIN and self.game.is_over else None

    def hint(self) -> list[Phrase]:
        """Returns advice: in a game the ataris, on a board with a task a move that solves it."""
        if not self.step.is_task:
            return what_to_win(self.game) or what_to_do(self.game)
        if self.state != ASKED:
            self.again()
        point = self.step.solution(self.game, self.step.moves - self._played)
        assert point is not None, "a task that can be solved"
        return [Phrase("steps.tryPass") if point == PASS else Phrase("steps.try", {"move": self.game.vertex(point)})]

    def marks(self) -> dict[int, str]:
        """Returns shapes by point: the stones that the task is about, or those in atari."""
        if self.step.is_task:
            return dict.fromkeys(self.step.target(self.game), "triangle")
        return shapes_of(find_ataris(self.game))


# The opponent, who sees ataris.


def ask_opponent(engine: Engine, game: Game) -> "Future[Decision]":
    """Has the engine, at its weakest rank, look for a move in a game that the first capture ends."""
    request = replace(engine.request(limits=Limits(visits=1)), game=game.copy())
    return engine.genmove(request, rank=WEAKEST)


def opponent_move(game: Game, decision: Decision) -> int:
    """Returns the opponent's move: a capture if there is one, otherwise what the engine has decided on."""
    captures = (atari.move for atari in find_ataris(game, game.to_move) if atari.chain.colour != game.to_move)
    return next(captures, decision.point)
