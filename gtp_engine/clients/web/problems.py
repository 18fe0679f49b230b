"""Problems: those of collections and those made of the reader's own mistakes, one shown after the other.

What is right is proved by the exact solver on a thread of its own, or judged by the search where the mistake was about
something else. Where neither knows, the page says so, and may show what the record says.
"""

import base64
import codecs
import contextlib
import datetime
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ...base.errors import UserError
from ...base.fields import invalid
from ...base.languages.texts import Phrase
from ...base.threads import in_background
from ...go.coords import PASS, colour_name
from ...go.game import Move
from ...go.sgf import GameRecord, TreeNode, split_games
from ...search.report import SearchReport
from ...search.request import Limits
from ...solver import USUAL_SECONDS
from ...solver.ahead import prepare
from ...study.kept_problems import Card, KeptProblems, Missed
from ...study.move_review import whole, worth
from ...study.problems import LOST, Goal, Problem, Verdict, find_goal, judge, judge_by_record, key_of, problem_of
from ...table.database import Database
from ...table.saved_games import SavedGame, is_own, open_tree
from .opening import Opening, read_shown, read_tree
from .reviewing import Reviewing
from .session import Document, Drawn, Message, Part, Reading, Session, Task, text_of, whole_number
from .solving import Solving
from .studying import Searches
from .values import LEAST_LOSS, Value

_VISITS = 200  # of the search that judges a move: a patient reader waits for them, about 2 s on two cores
_LARGEST_RECORD = 2 << 20  # bytes; the largest in use have a tenth of it
_LOOKED_AT = 20  # games of a collection: the first ones may be a title page
_MARKS = ("TR", "SQ", "CR", "MA", "LB")  # properties of the node of a problem: what is marked,
_SHOWN = ("C", *_MARKS)  # and said there
# Stones of White, or a mistake that was saved: what has neither is not even split.
_PROBLEM = re.compile(rb"A(?:dd)?W(?:hite)?\s*\[[A-Za-z]{2}[\]:]|" + LOST.encode() + rb"\s*\[")
T = TypeVar("T")


class _Source(NamedTuple):
    """A problem that has not been read: what it is called, its SGF, and the mistake that it was made of, if any."""

    name: str
    sgf: bytes
    missed: Missed | None = None


class _Collection(NamedTuple):
    """The problems of some files, the place of the first one among the games there, and the files without problems."""

    sources: Sequence[_Source]
    place: int
    others: Sequence[str]


@dataclass(eq=False)
class _Exercise:
    """The problem that is shown, and what has been found and tried."""

    source: _Source
    problem: Problem
    key: str
    start: TreeNode  # of its position, in the tree that is shown
    before: Card  # what was kept before it was shown
    is_read: bool = False  # whether it has been tried to find out what is sought
    goal: Goal | None = None  # what is sought, if the solver has found that
    group: tuple[int, int] | None = None  # which group the solver reads of how many, while it looks for the one meant
    verdicts: dict[TreeNode, Verdict] = field(default_factory=dict)
    pending: TreeNode | None = None  # the reader's last move, until it has been judged
    result: bool | None = None  # whether it counts as solved
    given: str = ""  # by what the solution is known that was shown: "solver", "search" or "record"

    @property
    def player(self) -> int:
        """The reader's colour."""
        return self.problem.game.to_move


# The problems, the place of the one that is shown, and that one; None if its record is shown, or it cannot be read.
_Shown: TypeAlias = tuple[Sequence[_Source], int, _Exercise | None]
_NO_PROBLEM: _Shown = (), 0, None


class Problems(Part):
    """The problem that is shown, and those that come again."""

    # Before there is a problem or a mistake the database, which may be on a slow disk, is not read at each move.
    name, follows_position = "problems", False

    def __init__(
        self,
        session: Session,
        searches: Searches,
        reviewing: Reviewing,
        solving: Solving,
        opening: Opening,
        database: Database,
    ) -> None:
        super().__init__(session)
        self._searches, self._reviewing, self._solving, self._opening = searches, reviewing, solving, opening
        self._database, self._kept = database, KeptProblems(database)
        self._sources: Sequence[_Source] = ()
        self._place = 0  # among them
        self.exercise: _Exercise | None = None
        self._coming = _NO_PROBLEM  # what takes the place of these three with the next game
        self._one_reading = threading.Lock()  # each takes 128 MB
        self._usual_task = session.next_task

    # Which problem is shown.

    def on_open(self, message: Message) -> Reading:
        """Shows problems or a record: `files`, each its name and its content in base64, or `sgf` that was pasted.

        What is played on in a record is saved as a new game.
        """
        if "files" in message:
            files = [*_decoded(message["files"])]
        else:  # text has left its charset behind, whatever its CA says
            files = [("", codecs.BOM_UTF8 + text_of(message, "sgf").encode("utf-8", "replace"))]
        return self.session.reading(partial(_read_files, files), self._opened)

    def _opened(self, found: "_Collection | SavedGame") -> None:
        """Shows what was read from files."""
        if isinstance(found, SavedGame):
            self._opening.load(found)
        else:
            self._show_collection(found)

    def _show_collection(self, found: _Collection) -> None:
        reading = self._show(found.sources, found.place)
        reading.then(reading.read())  # it has been read before, to find out whether it is a problem
        if found.others:
            self.session.notice = f"no problems in {', '.join(found.others)}"
            self.session.publish()

    def open_first(self) -> None:
        """Shows the problems of the file that the program was started with, if it has any."""
        saved = self.played.saved
        if saved is not None and saved.path is not None and not saved.is_own and not saved.is_edited:
            found = _read_collection([(saved.path.name, saved.path.read_bytes())])
            if found is None:
                self._opening.show_start()
            else:
                self._show_collection(found)

    def on_practise(self, _: Message) -> Reading:
        """Shows the problems that are due, the longest waiting first."""
        due = self._kept.due(datetime.date.today())
        if not due:
            raise UserError("no problem is due today")
        return self._show([_source(card) for card in due], 0)

    def on_drill(self, message: Message) -> Reading:
        """Shows the reader's most costly mistakes in reviewed games: of a `phase`, or `about` something, "" for any."""
        phase, kind = text_of(message, "phase"), text_of(message, "about")

        def read() -> _Collection:
            from ...study.losses import problems_of  # later than the first board

            if not (cards := problems_of(self._database, phase, kind)):
                raise UserError("there are no such mistakes")
            return _Collection([_source(card) for card in cards], 0, ())

        return self.session.reading(read, self._opened)

    def on_problem(self, message: Message) -> Reading:
        """Shows one of the problems by its number, from 0."""
        if not self._sources:
            raise UserError("no problems are open")
        return self._show(self._sources, whole_number(message, "place", 0, len(self._sources) - 1))

    def _show(self, sources: Sequence[_Source], place: int) -> Reading:
        """Returns what reads a problem and then shows it; if it cannot be read an empty board says so."""

        def read() -> Problem | UserError:
            try:
                return problem_of(read_tree(sources[place].sgf), sources[place].missed)
            except UserError as error:
                return error

        def show(found: Problem | UserError) -> None:
            self._searches.analysis_visits = None  # which would show the answer
            self.session.touch()
            if isinstance(found, UserError):
                self._load(open_tree(GameRecord()).as_record(), (sources, place, None))
                raise UserError(f"problem {place + 1}: {found}")
            saved, exercise = self._as_exercise(sources[place], found)
            self._load(saved, (sources, place, exercise))

        return Reading(read, show)

    def _as_exercise(self, source: _Source, problem: Problem) -> tuple[SavedGame, _Exercise]:
        """Returns the position of a problem as a game that is not kept, and what there is to find in it."""
        tree, key = GameRecord.from_game(problem.game), key_of(problem.game)
        end = tree.main_line[-1]
        shown = _SHOWN if problem.missed is None else _MARKS  # the page itself says what is sought of a mistake
        tree.change(end, end.properties | {n: v for n, v in problem.node.properties.items() if n in shown})
        exercise = _Exercise(source, problem, key, end, self._kept.card(key) or Card(source.name))
        return replace(open_tree(tree).as_record(), is_kept=False), exercise

    def on_problem_record(self, _: Message) -> Reading:
        """Shows the record of the problem with all that is in it, as any other record."""
        sgf = self._needed().source.sgf
        coming = self._sources, self._place, None
        return Reading(lambda: read_shown(sgf).as_record(), lambda saved: self._load(saved, coming))

    def _load(self, saved: SavedGame, coming: _Shown) -> None:
        """Has a game take the place of this one, unless this one would be lost or the engine refuses the board."""
        self._coming = coming
        try:
            self._opening.load(saved, is_aside=True)
        finally:
            self._coming = _NO_PROBLEM

    def after_beginning(self, *, is_aside: bool) -> None:
        self._sources, self._place, self.exercise = self._coming
        self._searches.is_asking = self.exercise is not None
        self.session.next_task = self._usual_task
        if self.exercise is not None:
            self.session.next_task, self.follows_position, self.draws = self._next_task, True, True

    def _needed(self) -> _Exercise:
        if self.exercise is None:
            raise UserError("no problem is shown")
        return self.exercise

    # What is read and judged.

    def _next_task(self) -> Task | None:
        """Returns the next reading or search: what is sought, then whether the reader's move is right."""
        exercise = self._needed()
        node, goal, missed = exercise.pending, exercise.goal, exercise.problem.missed
        if not exercise.is_read:

            def found(goal: Goal | None) -> None:
                exercise.is_read, exercise.goal = True, goal

            return self._reading(partial(self._find, exercise), found)
        if node is None or node.move is None:
            return self._searches.analysis()
        if goal is not None:
            judging = partial(judge, self.session.position(node).copy(), goal, USUAL_SECONDS)
            return self._reading(judging, partial(self._judged, exercise, node))
        if missed is not None:
            return self._search(exercise, missed, node, node.move)
        self._judged(exercise, node, None)
        return None

    def _reading(self, read: Callable[[threading.Event], T], finish: Callable[[T | None], object]) -> Task:
        """Returns a task of the solver: `read` runs on a thread of its own, `finish` gets what it returns."""
        stop = threading.Event()

        def run() -> T | None:
            with self._one_reading:
                try:
                    return None if stop.is_set() else read(stop)
                except UserError:  # a group has grown too large to be read
                    return None

        def ended(result: T | None) -> None:
            finish(result)
            self.session.resume()

        return Task("solve", partial(in_background, "problem", run), ended, stop.set)

    def _find(self, exercise: _Exercise, stop: threading.Event) -> Goal | None:
        """Finds what is sought, on the solver's thread."""

        def report(number: int, count: int) -> None:
            def show() -> None:
                exercise.group = number, count
                self.session.publish(self)

            self.session.call(show)

        problem = exercise.problem
        if problem.missed is not None and not problem.missed.group:
            return None
        prepare(stop.is_set)
        return find_goal(problem, USUAL_SECONDS, stop, report)

    def _search(self, exercise: _Exercise, missed: Missed, node: TreeNode, move: Move) -> Task | None:
        """Returns the next search that is needed to judge a move; judges it if there is none."""
        for each in (node.parent or node, node):
            value, tried = self.values.get(each), (each, move.colour)
            is_other = each is exercise.start and value is not None and missed.line[:1] != (value.best,)
            if (value is None or value.visits < _VISITS or is_other) and tried not in self.session.tried:
                self.session.tried.add(tried)
                search = self._search_of_better(exercise, missed) if each is exercise.start else None
                return search or self._searches.search_of(each, _VISITS, "judgement")
        game = exercise.problem.game
        lost = self.values.lost(node, game.width, game.height)
        is_best = missed.line[:1] == (game.vertex(move.point),)
        is_right = None if lost is None else is_best or not whole(lost) or lost < min(LEAST_LOSS, missed.points / 2)
        self._judged(exercise, node, Verdict("search", is_right, is_decided=True, points=0.0 if is_best else lost))
        return None

    def _search_of_better(self, exercise: _Exercise, missed: Missed) -> Task | None:
        """Returns the search of the position after the review's better move, which is what the problem's is worth.

        A search of the problem's own position may not find that move, and then takes what loses much for the best one.
        """
        game, engine, vertex = exercise.problem.game.copy(), self.played.engine, "".join(missed.line[:1])
        if not vertex or not game.is_legal(point := game.point(vertex)):
            return None
        game.play(exercise.player, point)

        def note(report: SearchReport) -> None:
            lead, winrate = worth(report)
            self.values.set(exercise.start, Value(exercise.player, winrate, lead, report.visits, vertex))
            self.session.resume()

        request = replace(engine.request(limits=Limits(visits=_VISITS)), game=game)
        return Task("judgement", lambda: engine.analyze(request), note)

    def _judged(self, exercise: _Exercise, node: TreeNode, verdict: Verdict | None) -> None:
        """Keeps what is known about a move, and plays the answer to it."""
        if verdict is None or (verdict.by == "solver" and verdict.is_right is None):
            tried = node.path[len(exercise.start.path) :]
            verdict = judge_by_record(exercise.problem, [each.move.point for each in tried if each.move is not None])
        exercise.verdicts[node], exercise.pending = verdict, None
        self.session.touch(self)
        if verdict.is_right is not None and not exercise.given:
            self._count(exercise, verdict.is_right)
        self._answer(node, verdict)

    def _answer(self, node: TreeNode, verdict: Verdict) -> None:
        """Plays the answer to a move, unless the reader looks at another position or nothing is left to play."""
        if node is self.session.node and verdict.reply is not None and not (verdict.is_right and verdict.is_decided):
            with contextlib.suppress(UserError):  # superko, of which the solver does not know
                self.played.play(verdict.reply)
                self.session.changed()

    def after_help(self) -> None:
        self.follows_position = True  # a mistake may be shown, which can be kept

    after_end = after_help

    def after_move(self) -> None:
        exercise, node = self.exercise, self.played.node
        if exercise is None or node.move is None or node.move.colour != exercise.player:
            return
        before = (exercise.verdicts.get(each) for each in node.path[:-1])
        if any(verdict.is_right and verdict.is_decided for verdict in before if verdict is not None):
            return  # it is solved: what is tried afterwards does not count
        if (known := exercise.verdicts.get(node)) is None:
            exercise.pending = node
        else:
            self.session.call(partial(self._answer, node, known))

    def after_undo(self) -> None:
        """Takes the reader's move back together with the answer to it."""
        exercise, played = self.exercise, self.played
        if exercise is not None:
            exercise.pending = None
            if played.can_undo and played.node is not exercise.start and played.game.to_move != exercise.player:
                played.undo()

    def on_solution(self, _: Message) -> None:
        """Shows the solution: the lines of the solver, or the moves of the review or of the record as a variation."""
        exercise, tree = self._needed(), self.played.tree
        problem, goal, node, line = exercise.problem, exercise.goal, exercise.start, list[int]()
        game = problem.game.copy()
        if goal is None and problem.missed is not None:
            line += map(game.point, problem.missed.line)
        elif goal is None:
            later = problem.record.main_line[len(problem.node.path) :]
            line += (each.move.point for each in later if each.move is not None)
            if not line:
                raise UserError("no solution is known: the solver has not found it, and the record has none")
        if exercise.result is None:
            self._count(exercise, False)
        for point in line:
            if point != PASS and not game.is_legal(point):
                break
            move = Move(game.to_move, point)
            game.play(*move)
            node = next((child for child in node.children if child.move == move), None) or tree.add(node, move=move)
        tree.follow(node)  # a step forward shows it, not what the reader tried
        self.played.editor.version += 1  # no edit: `undo` takes back the reader's own moves
        exercise.given = "solver" if goal is not None else "record" if problem.missed is None else "search"
        exercise.pending = None
        if goal is not None:
            self._solving.show(problem.game, goal.solution)
        self.session.look_at(exercise.start)

    # What is kept.

    def _count(self, exercise: _Exercise, is_right: bool) -> None:
        """Counts the problem as solved or not; once it is not, it stays so until it is shown again."""
        if exercise.result is None or exercise.result > is_right:
            exercise.result = is_right
            card = exercise.before.answered(is_right, datetime.date.today())
            if card.due and not card.sgf:
                card = replace(card, sgf=exercise.source.sgf.decode("utf-8-sig"), missed=exercise.source.missed)
            self._kept.keep(exercise.key, card)

    def on_keep(self, message: Message) -> None:
        """Keeps the mistake that is shown as a problem, which is due at once."""
        self.check_shown(message)
        if (found := self._mistake()) is None:
            raise UserError("no mistake is shown: choose one of the review")
        key, node, missed = found
        tree = self.played.tree
        players = " - ".join(filter(None, (tree.black, tree.white))) or self.session.title()
        name = "" if is_own(tree) or not tree.black else f"{players}, {missed.number}"
        sgf, today = GameRecord.from_game(self.session.before(node)).to_sgf(), datetime.date.today().isoformat()
        card = replace(self._kept.card(key) or Card(""), name=name, sgf=sgf, missed=missed)
        self._kept.keep(key, replace(card, days=1, due=today))
        self.session.publish(self)

    def on_forget(self, _: Message) -> None:
        """Has the problem that is shown not come again."""
        exercise = self._needed()
        exercise.result = False  # nothing counts any more, also not a look at the solution
        self._kept.forget(exercise.key)
        self.session.publish(self)

    def _mistake(self) -> tuple[str, TreeNode, Missed] | None:
        """Returns the mistake that is shown, its node, and the key of the problem it makes; None if none is shown."""
        session, node, group, job = self.session, self.session.node, "", self._reviewing.job
        if (mistake := self._reviewing.mistake()) is not None and job is not None and job.step is not None:
            from ...study.stored_reviews import missed_of  # later than the first board

            missed = missed_of(job.step.review, mistake)
            points, line, group = missed.points, missed.line, missed.group
        elif (lost := self._searches.loss()) is not None:
            node, points, line = self._searches.last_own_move, lost[1], (lost[2],)
        else:
            return None
        if self.exercise is not None or node.parent is None or node.move is None:
            return None
        played = session.position(node).vertex(node.move.point)
        number = len(node.moves)
        day = self.played.tree.date[:10] or datetime.date.today().isoformat()
        return key_of(session.before(node)), node, Missed(played, round(points, 1), line, group, number, day)

    # What pages see.

    def document(self) -> Document:
        exercise, mistake = self.exercise, self._mistake()
        kept = self._kept.card(mistake[0]) if mistake else None
        return {
            "coming": {"due": len(self._kept.due(datetime.date.today())), "problem": self._database.notice},
            # Whether the mistake that is shown is kept; None if none is shown.
            "kept": mistake and bool(kept and kept.due),
            "collection": {"place": self._place, "count": len(self._sources)},
            "exercise": exercise and self._described(exercise, self._kept.card(exercise.key) or exercise.before),
        }

    def _described(self, exercise: _Exercise, card: Card) -> Document:
        game, missed, node = exercise.problem.game, exercise.problem.missed, self.session.node
        tried = node if node in exercise.verdicts else node.parent
        verdict = exercise.verdicts.get(tried) if tried is not None else None
        goal, found = exercise.goal, exercise.goal and exercise.goal.solution
        said: Document = {
            "name": exercise.source.name,
            # A mistake in a game of the reader's own has no name.
            "game": missed
            and missed.number
            and not exercise.source.name
            and {"day": missed.day, "number": missed.number},
            "toMove": colour_name(exercise.player),
            "isRead": exercise.is_read,
            "group": exercise.group,
            "stone": found and game.vertex(found.target[0]),
            "isOwn": found and found.defender == exercise.player,
            "goal": goal and goal.outcome.value,
            "missed": missed and {"move": missed.played, "points": whole(missed.points)},
            "given": exercise.given,
            "result": exercise.result,
            "due": card.due,
            "verdict": None,
        }
        if verdict is not None and tried is not None and tried.move is not None:
            said["verdict"] = {
                "move": game.vertex(tried.move.point),
                "by": verdict.by,
                "isRight": verdict.is_right,
                "outcome": verdict.outcome.value,
                "walls": [game.vertex(chain[0]) for chain in verdict.walls],
                "isConditional": verdict.is_conditional,
                "isDecided": verdict.is_decided,
                # 0 for what a review does not call a mistake either.
                "points": verdict.points and whole(max(0.0, verdict.points)),
                "best": missed.line[0] if missed and missed.line else "",
            }
        return said

    def draw(self, drawn: Drawn) -> None:
        if self.exercise is not None and self.exercise.goal is not None:
            game = self.session.position()
            target = {point: "triangle" for point in self.exercise.goal.solution.target if game.stone_at(point)}
            drawn.shapes = {**target, **drawn.shapes}


def _source(card: Card) -> _Source:
    return _Source(card.name, card.sgf.encode(), card.missed)


def _decoded(files: Any) -> Iterator[tuple[str, bytes]]:
    """Yields the names and the contents of files that a page has sent."""
    for file in files if isinstance(files, list) and files else [files]:
        try:
            name, text = file
            yield str(name), base64.b64decode(text, validate=True)
        except (ValueError, TypeError):
            raise invalid("file", file, "its name and its content in base64") from None


def _read_files(files: Sequence[tuple[str, bytes]]) -> _Collection | SavedGame:
    """Returns the problems of files, by their names and contents, or the record of the only one."""
    if (found := _read_collection(files)) is not None:
        return found
    if len(files) > 1:
        raise UserError(Phrase("error.oneRecord"))
    ((name, data),) = files
    if len(data) > _LARGEST_RECORD:
        raise UserError(Phrase("tooLarge", {"file": name}))
    return read_shown(data).as_record()


def _read_collection(files: Sequence[tuple[str, bytes]]) -> _Collection | None:
    """Returns the problems of files, by their names and contents; None if they have none."""
    sources, others = list[_Source](), list[str]()
    for name, data in files:
        games = split_games(data) if _PROBLEM.search(data.replace(b"\0", b"")) else []
        stem = PurePath(name).stem[:80]
        sources += (_Source(f"{stem} {number}" if stem else "", game) for number, game in enumerate(games, 1))
        others += [] if games else [name]
    place = next((place for place, source in enumerate(sources[:_LOOKED_AT]) if _is_problem(source)), None)
    return None if place is None else _Collection(sources, place, others)


def _is_problem(source: _Source) -> bool:
    """Whether a game is a problem; a saved mistake is one also if White had no stones yet."""
    try:
        record = read_tree(source.sgf)
        return record.is_problem or problem_of(record).missed is not None
    except UserError:
        return False
