"""First steps in the terminal, for somebody who has never played."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property

from ...base.errors import UserError, error_text
from ...base.languages.texts import DEFAULT, ISOLATES, LANGUAGES, Phrase, texts
from ...engine.engine import Decision, Engine
from ...go.coords import BLACK, EMPTY, PASS, parse_vertex
from ...go.drawing import Marks
from ...go.game import Game
from ...study.ataris import find_ataris, what_to_do
from ...study.first_steps import GAME
from ...study.learner import ASKED, RIGHT, Learner, ask_opponent, opponent_move
from ...table.played_game import PlayedGame
from .board import board_view
from .screen import Screen
from .words import example_point, parse_line

_MOVE = {True: "!", False: "+"}  # that saves own stones in atari, and that takes others
# What is typed in the place of a point; Enter does as `next` after a right answer.
_WORDS = ("undo", "hint", "again", "next", "back", "quit")
_LANGUAGES = {word: code for code in LANGUAGES for word in (code, texts(code).name.lower())}


def terminal_language() -> str:
    """Returns the language of the terminal, by POSIX's variables, as far as there are texts in it."""
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    code = next(filter(None, names), "").partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else DEFAULT


class Lessons:
    """The steps on a screen, one after the other, and the ataris of a game after them, in one language."""

    def __init__(self, screen: Screen, engine: Engine, language: str, learner: Callable[[], Learner]) -> None:
        self._screen, self._engine, self._new_learner = screen, engine, learner
        self._speak(language)

    def _speak(self, language: str) -> None:
        self._language, self._texts = language, texts(language)
        self._names = {self._texts(name).lower(): name for name in ("pass", "undo", "hint")}

    @cached_property
    def learner(self) -> Learner:
        """Where the person is who learns; the file is read when it is needed."""
        return self._new_learner()

    def offer(self) -> str:
        """Returns what the first question says of the steps."""
        return self._said(Phrase("steps.offer"))

    def run(self, wait: "Callable[[Future[Decision], str], Decision]") -> bool:
        """Shows the steps until the person leaves them; returns whether the game of the last one is to begin.

        `wait` waits for the opponent, and says what it does meanwhile.
        """
        learner = self.learner
        learner.again()
        self._describe(learner)
        while True:
            line = self._screen.ask(f"{self._said(Phrase('steps.title'))} {learner.number + 1}> ")
            word = "quit" if line is None else line.lower()
            if (command := self._names.get(word, word)) == "quit":
                return False
            if command in ("next", "") and learner.step.goal == GAME:
                return True
            if command in _LANGUAGES:
                self._speak(_LANGUAGES[command])
                self._describe(learner)
                continue
            try:
                if command in _WORDS or not command:
                    self._do(learner, command)
                else:
                    self._play(learner, command, wait)
            except UserError as error:
                self._screen.say(error_text(error), "yellow")

    def helps(self, played: PlayedGame) -> bool:
        """Whether ataris are marked in a game that is continued."""
        return played.saved is not None and self.learner.continues(played)

    def marks(self, game: Game) -> Marks:
        """Returns marks on the moves that take stones, or save own ones."""
        ataris = (atari for atari in find_ataris(game) if atari.move != PASS)
        return Marks(labels={move: _MOVE[chain.colour == BLACK] for chain, move in ataris})

    def ataris(self, game: Game) -> str:
        """Returns the sentences about ataris in a game."""
        return "\n".join(map(self._said, what_to_do(game)))

    def _describe(self, learner: Learner) -> None:
        """Shows the step as it stands, and what it is about."""
        self._draw(learner)
        step = learner.step
        own = step.texts[self._language]
        place = Phrase("steps.place", {"number": learner.number + 1, "count": len(learner.steps)})
        self._screen.say(f"{self._said(place)} · {own['title']}", "bold")
        self._screen.say(own["text"])
        self._say(learner)
        self._screen.say(self._said(Phrase("steps.enterGame")) if step.goal == GAME else self._typed(learner), "dim")

    def _typed(self, learner: Learner) -> str:
        """Returns what can be typed."""
        languages = ", ".join(f"{texts(code).name} ({code})" for code in LANGUAGES)
        point = example_point(learner.game.width, learner.game.height)
        return self._said(Phrase("steps.typed", {"point": point, "languages": languages}))

    def _do(self, learner: Learner, command: str) -> None:
        """Executes a word; Enter continues after an answer, and before one shows the step as it stands."""
        if command == "hint":
            advice = learner.hint()
            self._draw(learner)
            for phrase in advice:
                self._screen.say(self._said(phrase))
            return
        if command == "undo" or (not command and learner.state == ASKED):
            if command:
                learner.undo()
            self._draw(learner)
            self._say(learner)
            return
        step = {"next": 1, "back": -1, "": learner.state == RIGHT}.get(command)
        if step is None:
            learner.again()
        else:
            learner.go(min(max(learner.number + step, 0), len(learner.steps) - 1))
        self._describe(learner)

    def _play(self, learner: Learner, line: str, wait: "Callable[[Future[Decision], str], Decision]") -> None:
        learner.play(self._point(learner, line))
        if learner.needs_reply:
            self._draw(learner)
            thinking = self._said(Phrase("thinking", {"colour": Phrase("white")}))
            learner.reply(opponent_move(learner.game, wait(ask_opponent(self._engine, learner.game), thinking)))
        self._draw(learner)
        self._say(learner)

    def _point(self, learner: Learner, line: str) -> int:
        """Returns the point that somebody has typed, or has named by its label on the board."""
        game = learner.step.start
        labelled = {label.lower(): point for point, label in learner.step.labels.items()}
        if line in labelled:
            return labelled[line]
        try:
            command, vertex = parse_line(line, game.width, game.height)
        except UserError:
            command, vertex = "", ""
        if command not in ("play", "pass"):  # a point that the board does not have, too
            raise UserError(self._typed(learner))
        return PASS if command == "pass" else parse_vertex(vertex, game.width, game.height)

    def _draw(self, learner: Learner) -> None:
        step, game = learner.step, learner.game
        labels = {point: text for point, text in step.labels.items() if game.stone_at(point) == EMPTY}
        marks = Marks(labels=labels, territory=learner.owners) if step.is_task else self.marks(game)
        self._screen.show(board_view(game, self._screen.console, marks))

    def _say(self, learner: Learner) -> None:
        own = learner.step.texts[self._language]
        lines = [own[learner.said]] if learner.said else []
        for line in [*lines, *map(self._said, learner.remarks)]:
            self._screen.say(line, {"right": "green", "wrong": "yellow", "refused": "yellow"}.get(learner.said, ""))
        if learner.state == RIGHT:
            self._screen.say(self._said(Phrase("steps.enter")), "dim")

    def _said(self, phrase: Phrase) -> str:
        return self._texts.say(phrase).translate(ISOLATES)
