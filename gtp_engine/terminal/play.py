"""A game in the terminal: between a human and the engine, or two humans with the engine looking on."""

import re
import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from ..engine import DEFAULT_SECONDS, Decision, Engine
from ..game.coords import BLACK, PASS, WHITE, colour_letter, colour_name, opponent, parse_vertex, vertex
from ..game.diagram import Marks
from ..game.scoring import area_map
from ..search.report import SearchReport
from ..search.search import Limits
from ..sgf import GameRecord
from ..wording import counted
from . import prompt
from .board import board_view
from .panel import (
    candidate_marks,
    candidate_table,
    engine_move_line,
    lead_in_words,
    points,
    result_in_words,
    side_lines,
    territory_marks,
)
from .saving import GameFile

T = TypeVar("T")

COMMANDS = {
    "pass": "pass; two passes in a row end the game",
    "undo": "take your last move back, and the answer to it",
    "hint": "what the engine would play here",
    "analyze": "the best moves on the board, with win rate, score and main line",
    "score": "who is ahead, and whose each point is",
    "resign": "give the game up",
    "save FILE": "save the game there, now and from then on",
    "help": "this list",
    "quit": "save the game and leave",
}
_WORDS = {usage.split()[0]: usage for usage in COMMANDS}
_VERTEX = re.compile(r"([A-Za-z]) ?(\d+)")
# Windows does not interrupt a wait without a time limit.
_WAIT_STEP = 0.2


class TerminalGame:
    """One game on the engine's board. `humans` are the colours played at the prompt; the engine plays the others.

    The record is written to a file in `folder` after every move, `comments` with the engine's win rate, score and main
    line at its moves.
    """

    def __init__(
        self, engine: Engine, *, humans: frozenset[int], folder: Path, engine_name: str, comments: bool = False
    ) -> None:
        prompt.prepare()
        self._engine = engine
        self._humans = humans
        self._names = {colour: "you" if colour in humans else engine_name for colour in (BLACK, WHITE)}
        if len(humans) == 2:
            self._names = {BLACK: "human", WHITE: "human"}
        self._console = Console(highlight=False, color_system="auto" if prompt.is_interactive() else None)
        self._file = GameFile(folder)
        self._commenting = comments
        self._comments: dict[int, str] = {}  # what the engine thought at its moves, by number
        self._result: str | None = None
        self._left = False

    def run(self) -> bool:
        """Plays until the game ends or is left; whether all of it is on disk (or there was nothing to save).

        Ctrl-C at the prompt saves the game; then KeyboardInterrupt passes through.
        """
        try:
            self._get_ready()
            self._show()
            if prompt.is_interactive():
                self._say("type a move such as D4, or help", "dim")
            while not (self._left or self._result):
                self._turn()
        except KeyboardInterrupt:
            self._engine.stop()
            self._console.print()
            if self._keep():
                raise
            return False
        return self._keep()

    def _get_ready(self) -> None:
        """Waits for the engine before anything is asked: the first start compiles it for up to a minute."""
        with self._status("getting ready"):
            _wait_for(self._engine.ready)
        self._engine.ready.result()

    # What happens in turn.

    def _turn(self) -> None:
        if self._engine.game.is_over:
            self._count()
        elif self._engine.game.to_move in self._humans:
            line = prompt.read_line(f"{colour_name(self._engine.game.to_move)}> ")
            if line is None:
                self._left = True
            elif line:
                self._obey(line)
        else:
            self._engine_move()

    def _obey(self, line: str) -> None:
        """One typed line; what is wrong with it is said in one line."""
        try:
            if match := _VERTEX.fullmatch(line):
                self._human_move(match[1] + match[2])
                return
            word, _, argument = line.partition(" ")
            usage = _WORDS.get(word.lower())
            if usage is None:
                raise ValueError(
                    f"unknown command {word[:40]!r}{prompt.nearest(word, _WORDS)} (a move is typed like D4)"
                )
            if argument and " " not in usage:
                raise ValueError(f"{usage!r} takes nothing after it: {argument.strip()[:40]!r}")
            method: Callable[[str], None] = getattr(self, f"_command_{word.lower()}")
            method(argument.strip())
        except ValueError as error:
            self._say(str(error), "yellow")

    def _human_move(self, name: str) -> None:
        game = self._engine.game
        point = parse_vertex(name, game.width, game.height)
        colour = game.to_move
        legal = game.is_legal(point)
        if not legal and point != PASS:
            game.copy().play(colour, point)  # says why, where the simple rules forbid it
            raise ValueError(f"illegal move: {vertex(point, game.width, game.height)} repeats an earlier position")
        self._engine.play(colour, point)
        self._save_quietly()
        if len(self._humans) == 2 and not game.is_over:
            self._show()

    def _engine_move(self) -> None:
        colour = self._engine.game.to_move
        decision: Decision = self._wait(
            self._engine.genmove(colour), f"{colour_name(colour)} is thinking; Ctrl-C: move now"
        )
        if decision.resign:
            self._result = f"{colour_letter(opponent(colour))}+R"
            self._say(f"{colour_name(colour)} resigns")
            return
        self._engine.commit(decision)
        if self._commenting and decision.report is not None:
            self._comments[len(self._engine.game.moves)] = decision.report.as_comment()
        self._save_quietly()
        self._show()
        self._console.print(engine_move_line(self._engine.game, decision.report))

    def _count(self) -> None:
        """After two passes: the dead stones, whose the points are, and who won."""
        dead = self._wait(self._engine.dead_stones(), "counting")
        score = self._wait(self._engine.final_score(), "counting")
        game = self._engine.game
        self._result = str(score)
        self._show(Marks(dead=frozenset(dead), territory=area_map(game, dead)))
        if dead:
            names = sorted(vertex(point, game.width, game.height) for point in dead)
            self._say(f"dead stones: {' '.join(names)}", "dim")

    # What can be typed; each gets the rest of the line.

    def _command_pass(self, _: str) -> None:
        self._human_move("pass")

    def _command_undo(self, _: str) -> None:
        game = self._engine.game
        if not any(move.colour in self._humans for move in game.moves):
            raise ValueError("there is no move of yours to take back")
        self._engine.undo()
        while game.to_move not in self._humans:
            self._engine.undo()
        self._comments = {number: text for number, text in self._comments.items() if number <= len(game.moves)}
        self._save_quietly()
        self._show()

    def _command_hint(self, _: str) -> None:
        best = self._report().moves[0]
        name = vertex(best.point, self._engine.game.width, self._engine.game.height)
        self._say(f"hint: {name} (win rate {best.winrate:.0%}, score {points(best.lead)})")

    def _command_analyze(self, _: str) -> None:
        report = self._report()
        self._show(candidate_marks(report))
        self._console.print(candidate_table(report, self._console.width))
        self._say(f"win rate {report.winrate:.0%}, {counted(report.visits, 'visit')}, {report.seconds:.1f} s", "dim")

    def _command_score(self, _: str) -> None:
        report = self._report(ownership=True)
        self._show(territory_marks(self._engine.game, report))
        self._say(f"{lead_in_words(report)}, komi counted")

    def _command_resign(self, _: str) -> None:
        self._result = f"{colour_letter(opponent(self._engine.game.to_move))}+R"

    def _command_save(self, name: str) -> None:
        if not name:
            raise ValueError("save where? save FILE, for example: save game.sgf")
        if self._file.save_as(self._record(), name):
            self._say(f"saved to {self._file.path}")
        else:
            raise ValueError(self._file.error)

    def _command_help(self, _: str) -> None:
        self._console.print(f"  {'D4':10} play there (letters without I, the lowest row is 1)")
        for usage, meaning in COMMANDS.items():
            self._console.print(f"  {usage:10} {meaning}")

    def _command_quit(self, _: str) -> None:
        self._left = True

    # Thinking.

    def _report(self, ownership: bool = False) -> SearchReport:
        """A search as long as for a move, at full strength whatever the level."""
        settings = self._engine.settings
        seconds = DEFAULT_SECONDS if settings.visits is None and settings.seconds is None else settings.seconds
        limits = Limits(settings.visits, seconds)
        return self._wait(self._engine.analyze(ownership=ownership, limits=limits), "thinking; Ctrl-C: stop now")

    def _wait(self, future: "Future[T]", doing: str) -> T:
        """The future's result. The first Ctrl-C makes the search end at once, a second one leaves the game."""
        with self._status(doing):
            try:
                _wait_for(future)
            except KeyboardInterrupt:
                self._engine.stop()
                _wait_for(future)
        return future.result()

    def _status(self, doing: str) -> AbstractContextManager[object]:
        interactive = self._console.color_system is not None
        return self._console.status(Text(doing, "dim")) if interactive else nullcontext()

    # Keeping the game.

    def _record(self) -> GameRecord:
        names = {colour: "human" if colour in self._humans else name for colour, name in self._names.items()}
        return GameRecord.from_game(
            self._engine.game,
            black=names[BLACK],
            white=names[WHITE],
            result=self._result or "",
            comments=self._comments,
        )

    def _save_quietly(self) -> None:
        """Saves after a move; a failure is said once, since the next move tries again."""
        failed_before = self._file.error is not None
        if not self._file.save(self._record()) and not failed_before:
            self._say(f"{self._file.error}; the game goes on, 'save FILE' saves it elsewhere", "yellow")

    def _keep(self) -> bool:
        """Says the result and saves for the last time, offering another file as long as that fails."""
        if self._result:
            self._say(f"{result_in_words(self._result)} ({self._result})", "bold")
        if not self._engine.game.moves:
            return True
        try:
            saved = self._file.save(self._record()) or self._save_elsewhere()
        except KeyboardInterrupt:
            saved = False
        if saved:
            self._say(f"saved to {self._file.path}", "dim")
        else:
            self._say("not saved; the record:", "yellow")
            sys.stdout.write(self._record().to_sgf() + "\n")
        return saved

    def _save_elsewhere(self) -> bool:
        while True:
            self._say(str(self._file.error), "yellow")
            line = prompt.read_line("save FILE, or quit without saving> ")
            if line is None or line.lower() == "quit":
                return False
            word, _, name = line.partition(" ")
            if word.lower() == "save" and name and self._file.save_as(self._record(), name.strip()):
                return True

    # Showing.

    def _show(self, marks: Marks | None = None) -> None:
        game = self._engine.game
        self._console.print()
        view = board_view(game, self._console, marks, side_lines(game, self._names))
        self._console.print(view, soft_wrap=True)  # the console joins texts and forgets that they must not wrap

    def _say(self, text: str, style: str = "") -> None:
        """One line, however long."""
        self._console.print(Text(text, style), soft_wrap=True)


def _wait_for(future: "Future[T]") -> None:
    while not future.done():
        wait([future], timeout=_WAIT_STEP)
