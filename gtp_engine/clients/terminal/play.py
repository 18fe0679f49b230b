"""A game in the terminal: between a human and the engine, or two humans with the engine looking on."""

import re
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from ...base import interrupts
from ...base.errors import UserError, error_text
from ...base.folders import games_dir
from ...base.languages.texts import DEFAULT, texts
from ...base.messages import plural, printable
from ...base.system import program_line, quoted, wait_for
from ...base.warm_up import is_cold
from ...engine.clock import NO_LIMIT
from ...engine.engine import Decision
from ...engine.ranks import STRONGEST, WEAKEST, as_rank, engine_at
from ...engine.settings import ANSWER_SECONDS, EngineSettings
from ...engine.worker import SearchWorker
from ...go.coords import BLACK, WHITE, colour_name, parse_vertex
from ...go.drawing import Marks
from ...go.game import Game, Move
from ...go.life import area_map
from ...go.rules import default_komi
from ...go.sgf import GameRecord
from ...search.report import SearchReport
from ...search.request import SearchRequest
from ...study.first_steps import read_steps
from ...study.game_review import GameReview
from ...study.known_reports import KnownReports
from ...study.learner import Learner
from ...study.lesson import GameStudy, about_moves, after_game, worst_mistakes
from ...study.move_review import MoveReview
from ...study.questions import judge, searches_of
from ...study.reviewer import ReviewTask
from ...study.stored_reviews import keep_review
from ...table.database import Database
from ...table.game_index import latest_unfinished, unfinished_games
from ...table.new_game import described_game
from ...table.played_game import Mode, PlayedGame
from ...table.rated_games import RatedGames
from ...table.saved_games import HUMAN, find_game, open_game
from . import board
from .learning import Lessons
from .own_rank import OwnRank
from .screen import Screen
from .teaching import lesson_pages, what_if_lines, why_lines
from .words import RANK_STEPS, SHOWN_VALUES, asked_about, choices, example_point, meanings, parse_count, parse_line

T = TypeVar("T")

_LISTED = 5  # saved games that `load` without a file lists
_COMPILING = "the first start prepares the engine for this computer: its first answer may take a minute or two"
_FULL_STRENGTH = "the engine plays at full strength until you type a rank, as in rank 15k"
_RANK_AUTO = "rank auto is for the start, as in `gtp_engine play --rank auto`; here type a rank, as in rank 15k"
_WEAKEST = "this is the lowest rank; a better chance still: new black handicap 4"
_NOTHING_FOUND = "the search was stopped before it found anything"
_ROLLOUTS = "rollouts"  # what plays without a network
_QUOTED = 40  # characters of a wrong value that a message quotes
_HELP_COLUMNS = 13  # of a command in the help, before its meaning
_FILE_AND_MOVE = re.compile(r"(.+?)\s+(?:(?:--)?move\s+)?(\d{1,9})")


class TerminalGame:
    """Games on the engine's board, one after the other, each saved after every move.

    After moves and with hints `shown` is shown, one of `SHOWN_VALUES`. In the games of `rated` the engine's rank
    follows the person's results; None if it does not. `lessons` are the first steps. `review` shows the mistakes in a
    finished game, by its file and what has been searched in it.
    """

    def __init__(
        self,
        played: PlayedGame,
        screen: Screen,
        *,
        shown: str = "winrate",
        rated: RatedGames | None = None,
        lessons: Lessons | None = None,
        review: Callable[[Path, KnownReports], object] = lambda path, known: None,
    ) -> None:
        self._played = played
        self._engine = played.engine
        self._screen, self._print = screen, screen.say
        self._shown = shown
        self._own_rank = OwnRank(rated, played, screen)
        self._lessons = lessons or Lessons(screen, played.engine, DEFAULT, lambda: Learner(read_steps()))
        self._helped: GameRecord | None = None  # the game in which ataris are marked
        self._review = review
        self._quit = False
        self._leaving = False  # Ctrl-C was pressed, and nothing typed since
        self._is_saved: bool | None = None  # of a finished game
        self._lesson: GameReview | None = None  # about the game that has ended last
        self._page = 1  # of the lesson, the one shown last
        self._taught: int | None = None  # the number of the move before which a position is shown, for `why`
        self._known = KnownReports()  # of `why`, the lesson and the review: one figure for one mistake
        self._opening = self._greeting()

    def _greeting(self) -> str:
        """Returns what to type in a new game, or how a saved one continues, which may change the engine's limits."""
        settings, saved, is_pair = self._engine.settings, self._played.saved, self._played.mode is Mode.PAIR
        if saved is None:
            what_to_type = f"{choices(self._engine.width, self._engine.height)}; learn begins the first steps"
            if (opponent := self._own_rank.greeting()) and not is_pair:
                return f"{opponent}\n{what_to_type}"
            is_chosen = is_pair or settings.rank is not None or settings.search_parameters(settings.network).profile
            return what_to_type if is_chosen else f"{_FULL_STRENGTH}\n{what_to_type}"
        limits = settings.limits()
        parts = [] if limits.seconds is None else [f"{limits.seconds:g} s"]
        parts += [] if limits.visits is None else [plural(limits.visits, "visit")]
        limit = "" if is_pair else f"; the engine's limit is {' and '.join(parts)} a move"
        clock = "" if saved.time == NO_LIMIT else "; the clocks of the game stand still here"
        return f"{saved.in_words()}{limit}{clock}"

    def run(self) -> bool:
        """Plays until the player quits; without a person at the prompt, until the game ends.

        Returns whether the whole game is on disk, or there was nothing to save. Raises KeyboardInterrupt after Ctrl-C,
        at the prompt after two; the game has been saved.
        """
        interrupts.raise_again()  # not before: this thread has loaded compiled code until now
        try:
            self._get_ready()
            self._quit = not self._own_rank.begin_first(self._lessons.offer())
            if not self._quit:
                if self._own_rank.follows:
                    self._opening = self._greeting()
                if self._lessons.helps(self._played):
                    self._helped = self._played.tree
                if self._own_rank.has_never_played:
                    self._learn()
                self._show()
            if self._screen.is_interactive:
                self._print(self._opening, "dim")
            while not self._quit:
                self._interruptible_turn()
        except KeyboardInterrupt:
            self._engine.stop()
            self._screen.console.print()
            if self._finish():
                raise
            return False
        return self._finish()

    def _get_ready(self) -> None:
        """Waits for the engine before the first prompt; if it has to be compiled, only for the rules."""
        with self._screen.working("getting ready"):
            wait_for(self._engine.board_ready)
            if not is_cold():
                wait_for(self._engine.ready)
        if self._engine.ready.done():
            self._engine.ready.result()
        elif self._screen.is_interactive:
            self._opening = f"{self._opening}\n{_COMPILING}"

    # Turns.

    def _interruptible_turn(self) -> None:
        """Takes a turn. A player's first Ctrl-C only asks for a second one: it may have been meant for the engine."""
        try:
            self._turn()
        except KeyboardInterrupt:
            if (self._leaving and not self._screen.has_typed) or not self._screen.is_interactive:
                raise
            self._leaving = True
            self._screen.console.print()
            self._print("press Ctrl-C again to save the game and leave, or go on", "yellow")

    def _turn(self) -> None:
        if self._engine.ready.done():
            self._engine.ready.result()  # an error that came up while the first moves were played
        game = self._engine.game
        if self._played.result:
            self._finish()
            self._ask("game over> ", on_enter=self._next_page)
        elif game.is_over:
            dead = self._wait(self._engine.dead_stones(), "scoring")
            self._played.count(dead)
            self._show_count()
        elif game.to_move in self._played.humans:
            self._ask(f"{colour_name(game.to_move)}> ")
        else:
            self._engine_move()
        if self._played.result and not self._screen.is_interactive:
            self._quit = True

    def _ask(self, question: str, on_enter: str = "") -> None:
        line = self._screen.ask(question)
        self._leaving = False
        if line is None:
            self._quit = True
        elif line or self._screen.is_interactive:
            self._execute(line or on_enter)

    def _execute(self, line: str) -> None:
        """Executes one typed line; an error is reported in one line."""
        game = self._engine.game
        try:
            advice = self._choices_after_game if self._played.result else ""
            command, argument = parse_line(line, game.width, game.height, advice)
            method: Callable[[str], None] = getattr(self, f"_command_{command}")
            method(argument)
        except (ValueError, OSError) as error:
            self._print(error_text(error), "yellow")

    def _command_play(self, name: str) -> None:
        self._check_not_over()
        game = self._engine.game
        self._change(lambda: self._played.play(parse_vertex(name, game.width, game.height)))
        if not game.is_over and (self._played.mode is Mode.PAIR or self._screen.redraws):
            self._show()

    @property
    def _choices_after_game(self) -> str:
        lesson = "lesson (or press Enter), " if self._next_page else "lesson, " if self._lesson else ""
        return f"type {lesson}review, new, undo or quit"

    @property
    def _next_page(self) -> str:
        """What Enter does after a game: it shows one page of the lesson after the other, and then the board.

        A lesson needs a network and moves.
        """
        if self._lesson is None:
            return "lesson" if self._engine.network is not None and self._played.node.moves else ""
        return f"lesson {self._page + 1}" if self._page < len(lesson_pages(self._lesson)) else ""

    def _check_not_over(self) -> None:
        if self._played.result:
            raise UserError(f"the game is over; {self._choices_after_game}")

    def _engine_move(self) -> None:
        colour = self._engine.game.to_move
        doing = f"{colour_name(colour)} is thinking (Ctrl-C to move now)"
        decision: Decision = self._wait(self._engine.genmove(), doing)
        if decision.resign:
            self._played.resign()
            self._print(f"{colour_name(colour)} resigns")
            return
        self._change(lambda: self._played.commit(decision))
        self._show()
        # At a rank the report is what a weaker player saw, which is no judgement of the position.
        report = decision.report if self._engine.settings.rank is None else None
        self._screen.print(board.engine_move_line(self._engine.game, report, self._shown))
        if self._is_helping and not self._engine.game.is_over:
            self._print(self._lessons.ataris(self._engine.game))

    def _show_count(self) -> None:
        """Shows the dead stones and the territory that the count of a finished game rests on."""
        game, dead, lines = self._engine.game, self._played.dead, list[Text]()
        if dead:
            names = sorted(game.vertex(point) for point in dead)
            lines.append(Text(f"dead stones: {' '.join(names)}", "dim"))
            lines.append(Text("type dead to see how they would be captured; if you disagree, undo and play on", "dim"))
        lines += Text(board.legend(self._screen.console), "dim"), Text(str(game.count(dead)))
        marks = Marks(dead=frozenset(dead), territory=area_map(game, dead))
        if self._screen.redraws and board.side_width(game, self._screen.console) >= board.SIDE_WIDTH:
            self._show(marks, Text(), *lines)
        else:
            self._show(marks)
            self._screen.print(*lines)

    # Typed commands; each receives the rest of the line.

    def _command_pass(self, _: str) -> None:
        self._command_play("pass")

    def _command_undo(self, text: str) -> None:
        count = parse_count("number of moves", text)
        if self._played.can_undo:
            self._own_rank.end_counting("a move was taken back")
        was_only_resignation = self._change(self._played.undo)
        for _ in range(count - 1):
            if not self._played.can_undo:
                break
            self._change(self._played.undo)
            was_only_resignation = False
        self._is_saved = None
        self._show()
        if was_only_resignation:
            self._print("the resignation is taken back")

    def _command_hint(self, _: str) -> None:
        if self._is_helping:
            self._print(self._lessons.ataris(self._engine.game))
            return
        report = self._report()
        if not report.moves:  # stopped at once, or a single visit
            raise UserError("the search was too short for a hint")
        self._show(board.hint_marks(report))
        self._print(board.hint_line(report, self._shown))

    def _command_analyze(self, _: str) -> None:
        report = self._report()
        console, game = self._screen.console, self._engine.game
        marks = board.candidate_marks(report)
        side = board.side_width(game, console)
        shown_rows = game.height + len(marks.labels) + 5  # letters, headings, the summary and the prompt
        if self._screen.redraws and side >= board.SIDE_WIDTH and shown_rows > console.height:
            self._show(marks, Text(), board.candidate_table(report, side))
            self._print(f"main line: {board.main_line(report)}", "dim")
        else:
            self._show(marks)
            self._screen.print(board.candidate_table(report, console.width))
        self._print(f"win rate {report.winrate:.0%}, {plural(report.visits, 'visit')}, {report.seconds:.1f} s", "dim")

    def _command_score(self, _: str) -> None:
        if self._played.result and self._engine.game.is_over:
            self._show_count()
            self._print(f"{board.result_in_words(self._played.result)} ({self._played.result})")
            return
        report = self._report(ownership=True)
        self._show(board.territory_marks(self._engine.game, report))
        self._print(f"{board.lead_in_words(report.to_move, report.lead)}, komi included")
        self._print(board.legend(self._screen.console), "dim")

    def _command_dead(self, _: str) -> None:
        if not self._played.dead:
            counted = "no stones are dead" if self._played.is_counted else "the game has not been counted"
            raise UserError(f"{counted}: this shows how dead stones would be captured after two passes")
        game = self._engine.game
        found = self._wait(self._engine.capture_lines(self._played.dead), "looking at the dead stones (Ctrl-C to stop)")
        self._print("\n".join(capture.in_words(game) for capture in found))

    def _command_board(self, _: str) -> None:
        self._show()

    def _command_show(self, value: str) -> None:
        if value.lower() not in SHOWN_VALUES:
            problem = f"{value[:_QUOTED]!r} cannot be shown" if value else "missing value"
            raise UserError(f"{problem}: type show winrate, show score or show nothing")
        self._shown = value.lower()
        self._print(f"shown after each move: {self._shown}")

    def _command_rank(self, text: str) -> None:
        before = self._engine.settings.rank
        step = RANK_STEPS.get(text.lower())
        if text:
            chosen = self._engine.settings if step else self._at_rank(text)
            self._own_rank.end_counting("the rank was changed")
            self._engine.settings = chosen
            self._own_rank.stop_following()
        if step:
            self._engine.change_rank(step)
        rank = self._engine.settings.rank
        strength = "at full strength" if rank is None else f"at {rank}"
        ranks = "" if text else f" (ranks are {WEAKEST} to {STRONGEST}, and max is full strength)"
        self._print(f"the engine plays {strength}{ranks}")
        if step and step < 0 and rank == before:
            self._print(_WEAKEST)

    def _at_rank(self, rank: str) -> EngineSettings:
        if rank.lower() == "auto":
            raise UserError(_RANK_AUTO)
        return replace(self._engine.settings, rank=rank)

    def _command_resign(self, _: str) -> None:
        self._check_not_over()
        if self._screen.confirm("resign the game?"):
            self._played.resign()
        else:
            self._print("the game continues")

    def _command_save(self, name: str) -> None:
        if not name:
            raise UserError("missing file name: type, for example, save game.sgf")
        if not self._played.save_as(name):
            raise UserError(self._played.file.error or "")
        self._is_saved = True if self._played.result else None
        self._print(f"saved to {self._played.file.path}")

    def _command_load(self, name: str) -> None:
        if not name:
            paths = self._other_games()[:_LISTED]
            if not paths:
                raise UserError(f"no unfinished game in {self._played.folder}; for another file, type load FILE")
            self._print("unfinished games, the latest first; type load and one of these names:")
            self._print("\n".join(f"  {path.name}" for path in paths))
            return
        try:
            path, move = find_game(name, self._played.folder), None
        except UserError:
            if not (match := _FILE_AND_MOVE.fullmatch(name)):
                raise
            path, move = find_game(match[1], self._played.folder), int(match[2])
        self._load(path, move)

    def _other_games(self) -> list[Path]:
        return unfinished_games(self._played.folder, self._played.file.path)

    def _command_resume(self, _: str) -> None:
        latest, other = latest_unfinished(self._played.folder), next(iter(self._other_games()), None)
        if latest != other:  # it is the present game
            if other is not None:
                raise UserError("this is the latest unfinished game; type load to see the others")
            raise UserError("this is the only unfinished game; for another file, type load FILE")
        self._load(latest)

    def _load(self, path: Path, move: int | None = None) -> None:
        saved = open_game(path, move=move)
        self._engine.settings.check_board(saved.game.width, saved.game.height)
        self._keep()
        self._own_rank.stop_counting("another game was loaded")
        self._played.load(saved)
        self._begin_another()
        network = self._engine.network
        if saved.opponent is not None and saved.opponent.network != network:
            before = saved.opponent.network or _ROLLOUTS
            self._print(f"the engine plays with {network or _ROLLOUTS} now; this game was saved with {before}")

    def _command_new(self, text: str) -> None:
        if not text and self._played.tree is self._helped:
            text = f"komi {default_komi(self._engine.width, self._engine.height):g}"
        game, humans, rank = described_game(text, self._engine.game, self._played.humans)
        self._engine.settings.check_board(game.width, game.height)
        self._keep()
        if rank:
            self._engine.settings = self._at_rank(rank)
            self._own_rank.stop_following()
        begun = game if text else self._played.position(self._played.tree.root)  # the same game again
        if self._own_rank.follows and len(humans) == 1:
            self._own_rank.begin(begun, humans)
        else:
            self._own_rank.stop_counting("another game began")
            self._played.begin(begun, humans)
        self._begin_another()

    def _begin_another(self, opening: str = "") -> None:
        """Begins the game that has been loaded into the engine, with what to say; the one before is on disk."""
        self._forget_last(opening)
        self._get_ready()
        self._show()
        self._print(self._opening, "dim")

    def _forget_last(self, opening: str = "") -> None:
        """Forgets what was found out about the previous game, and what was said at its start."""
        self._is_saved, self._lesson, self._page, self._opening = None, None, 1, opening or self._greeting()
        self._known = KnownReports()

    def _command_learn(self, _: str) -> None:
        self._learn()
        self._show()
        self._print(self._opening, "dim")

    def _learn(self) -> None:
        """Shows the first steps, and begins the game at their end if the person gets there."""
        if self._lessons.run(self._wait):
            self._keep()
            self._lessons.learner.begin_game(self._played)
            self._helped = self._played.tree
            self._forget_last()

    @property
    def _is_helping(self) -> bool:
        """Whether ataris are marked, and hints are words."""
        return self._played.tree is self._helped and self._played.result is None

    def _command_review(self, _: str) -> None:
        if not self._played.result:
            raise UserError("the game is not over: resign or pass first; `gtp_engine review FILE` reviews any game")
        if not (self._is_saved and self._played.file.path and self._played.node.moves):
            raise UserError("there is no saved game to review")
        path = self._played.file.path
        self._screen.keep()
        self._review(path, self._known)
        self._print_command("to save the game with this review", f"review {quoted(str(path))} --sgf reviewed.sgf")
        self._print(self._choices_after_game, "dim")

    def _command_why(self, text: str) -> None:
        moves = len(self._played.node.moves)
        if not moves:
            raise UserError("no move has been played yet")
        name = asked_about(text)
        number = parse_count("number of a move", name, moves) if name else self._taught
        own = None if self._played.mode is Mode.PAIR else next(iter(self._played.humans))
        review = self._given(about_moves(self._task(), self._network_settings(), self._known, number))
        for line in why_lines(review, own):
            self._print(line)

    def _command_what(self, text: str) -> None:
        game = self._engine.game
        name, _, move_name = asked_about(text).partition(" ")
        if not name:
            raise UserError(f"missing point: type, for example, what if {example_point(game.width, game.height)}")
        moves = self._played.node.moves
        own = [number for number, move in enumerate(moves, 1) if move.colour in self._played.humans]
        if not own:
            raise UserError("you have not played a move yet")
        number = parse_count("number of a move", move_name, len(moves)) if move_name else own[-1]
        before = self._task().record.to_game(number - 1, rules=game.rules)
        move = Move(moves[number - 1].colour, parse_vertex(name, game.width, game.height))
        before.to_move = move.colour
        before.copy().play(*move)  # which refuses an illegal one
        if self._network_settings().search_parameters(self._engine.settings.network).profile:
            raise UserError("this needs a network that does not imitate people")
        self._own_rank.end_counting("the engine helped")

        def question(worker: SearchWorker, request: SearchRequest) -> MoveReview | None:
            return judge(searches_of(worker, request, self._known), before, move, number)

        tried = self._wait(self._engine.ask(question), "looking at the move (Ctrl-C to stop)")
        if tried is None:
            raise UserError(_NOTHING_FOUND)
        for line in what_if_lines(tried):
            self._print(line)

    def _command_lesson(self, text: str) -> None:
        self._lesson = self._lesson or self._find_lesson()
        pages = lesson_pages(self._lesson)
        self._page = parse_count("number of a mistake", text, len(pages))
        lines = [Text(printable(line)) for line in pages[self._page - 1]]
        if not self._played.result:  # another game is on the board
            self._screen.print(*lines)
            return
        if self._next_page:
            lines.append(Text("press Enter for the next one", "dim"))
        if mistake := self._mistake():
            self._show_mistake(*mistake, lines)
        else:
            self._screen.print(*lines)

    def _show_mistake(self, worst: MoveReview, before: Game, lines: list[Text]) -> None:
        """Shows the position before a mistake, with lines about it: next to the board if the window is too low."""
        marks, screen = board.mistake_marks(worst), self._screen
        lines = [Text(f"before the mistake ({board.mistake_legend(marks)})", "dim"), *lines]
        is_low = screen.redraws and before.height + len(lines) + 4 > screen.console.height
        is_beside = is_low and board.side_width(before, screen.console) >= board.SIDE_WIDTH
        self._show_game(before, worst.number - 1, marks, *([Text(), *lines] if is_beside else []))
        if not is_beside:
            screen.print(*lines)
        self._taught = worst.number

    def _mistake(self, text: str = "") -> tuple[MoveReview, Game] | None:
        """Returns the mistake of the lesson with this number, by default the one shown last, and the game before it.

        None if the lesson has no mistake.
        """
        mistakes = [] if self._lesson is None else worst_mistakes(self._lesson)
        if self._lesson is None or not mistakes:
            return None
        worst = mistakes[parse_count("number of a mistake", text or str(self._page), len(mistakes)) - 1].worst
        return worst, self._lesson.record.to_game(worst.number - 1, rules=self._engine.rules)

    def _find_lesson(self) -> GameReview:
        """Returns the lesson of the game that has just ended, which it keeps."""
        if not self._played.result:
            raise UserError("the game is not over: resign or pass first; why is about any move")
        if not self._played.numbers:
            raise UserError("no move has been played")
        player = None if self._played.mode is Mode.PAIR else next(iter(self._played.humans))
        task = replace(self._task(), numbers=self._played.numbers, player=player)
        lesson = self._given(after_game(task, self._network_settings(), self._known))
        database = Database()
        keep_review(database, lesson, is_lesson=True)
        if database.notice:
            self._print(database.notice, "yellow")
        return lesson

    def _task(self) -> ReviewTask:
        """Returns a review of the game so far."""
        record = self._played.update_record(is_copy=True).copy()
        return ReviewTask(record, rules=self._engine.rules, komi=self._engine.komi)

    def _network_settings(self) -> EngineSettings:
        """Returns the engine's settings; raises UserError without a network, whose judgement a lesson rests on."""
        if self._engine.network is None:
            raise UserError("this needs a network, and the engine plays without one here")
        return self._engine.settings

    def _given(self, study: GameStudy) -> GameReview:
        """Returns what a short review finds."""
        self._own_rank.end_counting("the engine helped")
        review = self._wait(study.start(), "looking at the moves (Ctrl-C to stop)", study.stop)
        if not review.is_checked:
            raise UserError(_NOTHING_FOUND)
        return review

    def _command_again(self, text: str) -> None:
        lesson, known, mistake = self._lesson, self._known, self._mistake(text)
        if mistake is None:
            raise UserError("there is no mistake to try again: the lesson after a game shows some")
        worst, before = mistake
        self._keep()
        self._played.begin(before, self._played.humans)
        self._begin_another(f"before move {worst.number}, {worst.vertex(worst.move.point)}: try another move")
        self._lesson, self._known = lesson, known

    def _command_help(self, about: str) -> None:
        game = self._engine.game
        described = meanings(about, game.width, game.height)
        lines = [f"  {usage:{_HELP_COLUMNS - 3}} {meaning}" for usage, meaning in described.items()]
        if self._screen.is_interactive:
            width, indent = self._screen.console.width, " " * _HELP_COLUMNS
            lines = [textwrap.fill(line, width, subsequent_indent=indent) for line in lines]
        self._print("\n".join(lines))

    def _command_quit(self, _: str) -> None:
        self._keep()
        self._quit = True

    # Searching.

    def _report(self, ownership: bool = False) -> SearchReport:
        """Returns a short search unless the settings have limits, at full strength whatever the rank is."""
        self._own_rank.end_counting("the engine helped")
        request = self._engine.request(ownership=ownership, limits=self._engine.settings.limits(ANSWER_SECONDS))
        return self._wait(self._engine.analyze(request), "thinking (Ctrl-C to stop)")

    def _wait(self, future: "Future[T]", doing: str, stop: Callable[[], object] | None = None) -> T:
        """Returns the future's result. The first Ctrl-C ends the search at once, a second one leaves the game."""
        with self._screen.working(doing):
            try:
                return wait_for(future)
            except KeyboardInterrupt:
                (stop or self._engine.stop)()
                self._leaving = True
                found = wait_for(future)
                self._leaving = False
                return found

    # Saving the game.

    def _change(self, change: Callable[[], T]) -> T:
        """Makes a change, which saves; reports only the first failure of saving, because the next move tries again."""
        failed_before = self._played.file.error is not None
        changed = change()
        error = self._played.file.error
        if error and not failed_before:
            self._print(f"{error}; the game continues, type 'save FILE' to save it elsewhere", "yellow")
        self._show_notice()
        return changed

    def _show_notice(self) -> None:
        if self._played.file.notice:
            self._print(self._played.file.notice, "yellow")

    def _keep(self) -> None:
        """Saves the game before it is left; raises UserError if that fails."""
        if not self._played.save():
            how = "type save FILE first; Ctrl-D leaves it"
            raise UserError(f"{self._played.file.error}; this game would be lost: {how}")
        self._show_notice()

    def _finish(self) -> bool:
        """Shows the result and saves for the last time, once; shows the record if that fails."""
        if self._is_saved is None:
            self._is_saved, self._lesson, self._page = self._finish_now(), None, 1
            if self._played.result and self._screen.is_interactive and not self._quit:
                self._print(self._choices_after_game, "dim")
        return self._is_saved

    def _finish_now(self) -> bool:
        if self._played.result:
            self._print(f"{board.result_in_words(self._played.result)} ({self._played.result})", "bold")
            self._own_rank.count()
        if not self._played.has_content:
            return True
        if not self._played.save():
            self._print(f"{self._played.file.error}; copy this record to keep the game:", "yellow")
            sys.stdout.write(self._played.update_record().to_sgf() + "\n")
            return False
        self._show_notice()
        path = self._played.file.path
        assert path is not None
        self._print(f"saved to {path}", "dim")
        if not self._played.result:  # how to come back, unless the next prompt offers it
            name = path.name if path.parent == games_dir() else path
            self._print_command("to continue", f"play {quoted(str(name))}")
        elif not self._screen.is_interactive:
            self._print_command("to find the mistakes", f"review {quoted(str(path))}")
        return True

    def _print_command(self, purpose: str, command: str) -> None:
        """Shows a command of this program in one line, however long, for copying."""
        self._screen.print(Text(printable(f"{purpose}: {program_line()} {command}"), "dim", no_wrap=True))

    # Showing.

    def _show(self, marks: Marks | None = None, *extra: RenderableType) -> None:
        """Shows the position, with the players and `extra` next to it."""
        game, self._taught = self._engine.game, None
        marks = marks or (self._lessons.marks(game) if self._is_helping else None)
        self._show_game(game, len(self._played.node.moves), marks, *extra)

    def _show_game(self, game: Game, played: int, marks: Marks | None, *extra: RenderableType) -> None:
        """Shows a position reached after `played` moves, counted from the beginning of the record."""
        rank = as_rank(self._engine.settings.rank)
        human = HUMAN if self._played.mode is Mode.PAIR else "you"
        engine = texts().say(engine_at(rank))
        names = {colour: human if colour in self._played.humans else engine for colour in (BLACK, WHITE)}
        side = [*board.side_lines(game, names, played), *extra]
        self._screen.show(board.board_view(game, self._screen.console, marks, side))
