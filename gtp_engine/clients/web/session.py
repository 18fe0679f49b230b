"""What all open pages show: a game, what the engine is doing, and what has been found.

A session belongs to the thread that made it, as its engine does. It knows nothing of HTTP: messages come in as objects,
documents go out as objects, and what the engine has found comes back through `call`. What pages may ask for, and what
they see of it, is in its parts (`Part`), one for each subject.
"""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ...base.errors import EXPECTED, UserError, answer_text
from ...base.fields import Range, invalid
from ...base.languages.texts import Phrase
from ...base.messages import plural
from ...go.coords import BLACK, WHITE, colour_name, opponent
from ...go.drawing import Candidate
from ...go.game import Game
from ...go.sgf import TreeNode
from ...search.report import SearchReport
from ...table.played_game import Mode, PlayedGame
from .values import Values

Document = dict[str, Any]
Message = Mapping[str, Any]
T = TypeVar("T")

MOST_NODES = 10**9  # more than there are nodes or trees
_FIRST_TREES = 10**8  # far less than that
CLOSING_SECONDS = 5.0  # for which the end of the program waits for work on other threads
_PUBLISH_SECONDS = 0.3  # between looks at the progress of such work
# The page offers less; the bound only keeps a wrong message from starting a search of a week.
_VISITS = Range(1, 1_000_000, whole=True)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Task:
    """What the engine does; it does one thing at a time."""

    # "move", "count", "hint", "score" or "analysis"; "judgement" and "preparation" for judging a person's move, after
    # it and before it; "solve" for reading a problem; "why" for a question about a mistake, "life" about a group.
    kind: str
    begin: Callable[[], Future[Any]]  # has the engine begin
    finish: Callable[[Any], None]  # called with the result, unless the task has been cancelled
    stop: Callable[[], object] | None = None  # ends what does not belong to the engine; None for its own tasks
    started: float = field(default_factory=time.monotonic)  # when it was asked for, by `time.monotonic()`

    @property
    def is_of_the_game(self) -> bool:
        """Whether it goes on while an earlier position is shown."""
        return self.kind in ("judgement", "move", "count")


@dataclass(frozen=True)
class Reading:
    """What has to be read before a message can be answered, such as a file of a person's, which may take long."""

    read: Callable[[], Any]  # on any thread
    then: Callable[[Any], Document | None]  # on the session's thread; returns what only the asking page gets


Answer: TypeAlias = Document | Reading | None


@dataclass
class Drawn:
    """What is drawn on the board besides stones: texts, shapes, moves, float owners [height, width], + for Black."""

    labels: dict[int, str] = field(default_factory=dict)
    shapes: Mapping[int, str] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    ownership: np.ndarray | None = None


class Session:
    """A game in the browser.

    What changes the game ends what the engine is doing first.
    """

    def __init__(
        self, played: PlayedGame, publish: Callable[[Document], None], call: Callable[[Callable[[], object]], object]
    ) -> None:
        """Begins with a game, and without parts.

        `publish` sends documents to all pages at once, each by the name of its part; `call`, on any thread, calls a
        function soon on this one.
        """
        self.played = played
        played.keep = lambda: call(self.save_changes)  # after the pages have been sent the change
        self._publish = publish
        self.call = call
        self.values = Values(self.to_move)
        self.parts: list[Part] = []
        self._stale: set[Part] = set()  # those whose documents have to be made anew
        # Returns what the engine is to do next in the game; the part that plays sets it.
        self.next_task: Callable[[], Task | None] = lambda: None
        self.task: Task | None = None  # what the engine is doing
        # The positions that were to be judged, and their turns, since the game was changed.
        self.tried: set[tuple[TreeNode, int]] = set()
        self.node = played.node  # the position that is shown
        self.report: SearchReport | None = None  # the last search of that position that is to be shown
        self.shown = ""  # what the report is for: "hint", "score", "analysis", or "" for nothing
        self.problem: str | None = None  # what has gone wrong on the engine's side, in one line
        self.other_problem: str | None = None  # the same, although the engine can go on
        self.notice: str | None = None  # why this game, or the one before it, was saved to a new file
        self.is_watched = True  # whether a page is open
        self._period = 0  # of the running clock, as pages know it
        # Another one for each game, whose nodes are numbered anew. A page that was open before a restart must not take
        # a game of this program for one of the program before.
        self.tree_number = secrets.randbelow(_FIRST_TREES)
        self._downloaded: tuple[str, str | None] = "", None  # the version of the tree, and the result

    @property
    def is_ready(self) -> bool:
        """Whether the engine is compiled and has its network."""
        return self.played.engine.ready.done()

    @property
    def is_going_on(self) -> bool:
        """Whether a game has begun and not ended, and is saved."""
        played = self.played
        return (
            played.mode is not Mode.RECORD and played.result is None and bool(played.game.moves) and played.has_content
        )

    @property
    def is_latest(self) -> bool:
        """Whether the position of the game itself is shown, and not an earlier one."""
        return self.node is self.played.node

    @property
    def line(self) -> list[TreeNode]:
        """The nodes from the start through the one that is shown to the end of its line."""
        return self.played.tree.line(self.node)

    @property
    def tree_version(self) -> str:
        """The number of the tree and its version; it changes whenever the tree does."""
        return f"{self.tree_number}.{self.played.editor.version}"

    def position(self, node: TreeNode | None = None) -> Game:
        """Returns the position of a node, by default the one that is shown; nobody may change it.

        Raises SgfError if a move that leads to it is illegal.
        """
        return self.played.position(node or self.node)

    def before(self, node: TreeNode) -> Game:
        """Returns a copy of the position before the move of a node, with its player to move."""
        game = self.position(node.parent).copy()
        game.to_move = node.move.colour if node.move is not None else game.to_move
        return game

    def to_move(self, node: TreeNode) -> int:
        """Returns the player to move at a node; replays the game only if neither its move nor the next one tells."""
        if node is not self.played.node:
            if node.next is not None and node.next.move is not None:
                return node.next.move.colour
            if node.move is not None and "PL" not in node.properties:
                return opponent(node.move.colour)
        return self.position(node).to_move

    def reading(self, read: Callable[[], T], then: Callable[[T], None]) -> Reading:
        """Returns what is read for the present game: `then` is refused if another one has begun meanwhile."""
        number = self.tree_number

        def checked(found: T) -> None:
            self.check_game(number)
            then(found)

        return Reading(read, checked)

    def check_game(self, number: int) -> None:
        """Raises UserError unless this is still the game with a `tree_number`."""
        if number != self.tree_number:
            raise UserError(Phrase("error.otherGame"))

    # What pages see.

    def touch(self, *parts: "Part") -> None:
        """Has parts make their documents anew at the next `publish`: without any, those that follow the position."""
        self._stale.update(parts or (part for part in self.parts if part.follows_position))

    def publish(self, *parts: "Part") -> None:
        """Sends all pages the documents of these parts and of those that were touched, and what is going on now.

        The clock has been stopped or started before as that requires.
        """
        self._stale.update(parts)
        self.played.pause(not self._is_in_play)
        self._period = self.played.clock.period
        self.notice = self.played.file.notice or self.notice  # which the next save forgets
        documents = {part.name: part.document() for part in self.parts if part in self._stale}
        self._stale.clear()
        self._publish(documents | {"now": self.now()})

    def show(self) -> None:
        """Shows what has changed about the position."""
        self.touch()
        self.publish()

    def now(self) -> Document:
        """Returns what is going on: the clock, the engine's task, and any problem with the engine or the file."""
        played, clock = self.played, self.played.clock
        return {
            # What is left of each clock is seconds and count as in GTP's `time_left`.
            "clock": {
                "running": colour_name(clock.running) if clock.running else None,
                **asdict(clock.settings),
                "used": {colour_name(colour): clock.used(colour) for colour in (BLACK, WHITE)},
                "left": {colour_name(colour): clock.left(colour) for colour in (BLACK, WHITE)},
            },
            "isReady": self.is_ready,
            "task": self.task and {"kind": self.task.kind, "seconds": time.monotonic() - self.task.started},
            "file": played.file.path.name if played.file.path else None,
            "notice": self.notice,
            "problem": self.problem or played.file.error or self.other_problem,
        }

    @property
    def _is_in_play(self) -> bool:
        """Whether the clock of the player to move may run.

        The engine's does while it looks for its move. A person's stops while no page is open, and while the game is
        studied: an earlier position is shown, or something is analysed or reviewed.
        """
        if not self.played.is_humans_turn:
            return self.task is not None and self.task.kind == "move" and self.is_ready
        return self.is_watched and self.is_latest and not any(part.is_studying for part in self.parts)

    def watch(self, is_watched: bool) -> None:
        """Notes whether any page is open."""
        if is_watched != self.is_watched:
            self.is_watched = is_watched
            self.check_time()
            self.publish()

    def check_time(self) -> None:
        """Ends the game if the time of the player to move is over; pages are told when another period begins."""
        if self.played.lose_on_time():
            self.changed()
        elif self.played.clock.period != self._period:
            self.publish()

    def receive(self, message: Message) -> Answer:
        """Does what a page asks for; all pages get the new state.

        The message has a text as its `type`; its other values are checked before anything is done. Returns what only
        this page gets, or what has to be read first; raises UserError if it cannot be done.
        """
        self.check_time()
        kind = message["type"]
        for part in self.parts:
            if (respond := getattr(part, f"on_{kind.replace('-', '_')}", None)) is not None:
                answer: Answer = respond(message)
                return answer
        raise UserError(f"invalid message: unknown type {kind[:40]!r}")

    # The file.

    def title(self) -> str:
        """Returns what the file of the game is called when a page downloads it."""
        path = self.played.file.path
        return path.stem if path else f"game-{plural(len(self.played.game.moves), 'move').replace(' ', '-')}"

    def download(self) -> str:
        """Returns the game as SGF, for the person who asks for it to keep."""
        text = self.played.update_record(is_copy=True).to_sgf()
        self._downloaded = self.tree_version, self.played.result
        return text

    def check_kept(self) -> None:
        """Raises UserError unless the game is on disk, or a person has it."""
        if not self.played.save() and (self.tree_version, self.played.result) != self._downloaded:
            raise UserError(f"{self.played.file.error}; this game would be lost: download its SGF first")

    def save_changes(self) -> None:
        """Saves what has changed, and shows on all pages if the game has another file then, or could not be saved."""
        file = self.played.file
        before = file.path, file.error
        if self.played.is_unsaved:
            self.played.save()
            if (file.path, file.error) != before or file.notice:
                self.publish()

    def close(self) -> None:
        """Ends what the engine is doing, and saves the game."""
        self.cancel()
        self.tell("close")
        if not self.played.save():
            logger.error(self.played.file.error)
        elif self.played.file.notice:
            logger.warning(self.played.file.notice)

    # What the parts share: events, the position that is shown, and the engine.

    def tell(self, event: str, **values: Any) -> None:
        """Calls the method `after_...` of each part that follows this kind of event.

        "move": a person has played one; "undo": a person has taken something back; "help": the engine begins to help a
        person; "learn": a person has never played; "steps": the first steps are shown; "end": a game against the
        engine is over; "beginning": another game has taken the place of this one (`began`); "close": the program ends.
        """
        for part in self.parts:
            if (follow := getattr(part, f"after_{event}", None)) is not None:
                follow(**values)

    def look_at(self, node: TreeNode) -> None:
        """Shows another position. In a game against the engine the game itself stays as it is."""
        self.position(node)
        self.touch()
        is_game = self.played.mode is Mode.GAME
        if self.task is not None and not (is_game and self.task.is_of_the_game):
            self.cancel()
        if node is not self.played.node and not is_game:
            self.played.show(node)
            self.tried.clear()
        self.played.tree.follow(node)
        self.node = node
        self.report, self.shown, self.problem = None, "", self._loading_problem()
        self.go_on()

    def changed(self) -> None:
        """Follows a change of the game: nothing that was asked or found about the position before holds."""
        self.cancel()
        self.node = self.played.node
        self.report, self.shown, self.problem, self.other_problem = None, "", None, None
        self.tried.clear()
        self.touch()
        if self.played.mode is Mode.GAME and self.played.result is not None:
            self.tell("end")
        self.go_on()

    def began(self, *, is_aside: bool = False) -> None:
        """Follows another game that has taken the place of this one, to which people may go back if `is_aside`."""
        self.tree_number += 1
        self.tell("beginning", is_aside=is_aside)
        self.touch(*self.parts)
        self.watch_engine()
        self.changed()

    def watch_engine(self) -> None:
        """Has the pages see when the engine is ready, or why it is not."""
        self.follow(self.played.engine.ready, self._ready)

    def _ready(self, _: Future[None]) -> None:
        self.problem = self._loading_problem() or self.problem
        self.publish()

    def _loading_problem(self) -> str | None:
        """Returns why the engine could not get ready, as with a damaged network; None if it could or may yet."""
        ready = self.played.engine.ready
        error = ready.exception() if ready.done() else None
        return None if error is None else in_words(error)

    def go_on(self, asked: Task | None = None) -> None:
        """Has the engine do what is asked, or what comes next if it does nothing; the pages show that before it begins.

        Raises UserError if it cannot be done.
        """
        task = asked
        if task is None and self.task is None and self.problem is None:
            task = self.next_task()
        self.task = task or self.task
        if task is not None and task.kind not in ("move", "count"):
            self.tell("help")
        self.publish()
        if task is None:
            return
        try:
            future = task.begin()
        except UserError:
            self.task = None
            self.publish()
            raise
        self.follow(future, partial(self._finished, task))

    def follow(self, future: Future[T], then: Callable[[Future[T]], object]) -> None:
        """Calls a function with a future soon after its end, on the session's thread."""
        future.add_done_callback(lambda done: self.call(partial(then, done)))

    def resume(self, asked: Task | None = None) -> None:
        """Shows what has just been found or asked about the position, and has the engine go on."""
        self.touch()
        self.go_on(asked)

    def _finished(self, task: Task, future: Future[Any]) -> None:
        if task is not self.task:
            return
        self.task = None
        error = future.exception()
        if error is not None:
            self.problem = in_words(error)
            self.publish()
        else:
            task.finish(future.result())

    def cancel(self) -> None:
        """Ends what the engine is doing; its result is dropped."""
        if self.task is not None:
            self.stop()
            self.task = None
            self.tried.clear()

    def make_way(self) -> None:
        """Ends what the engine is doing for something else that is asked; UserError if it thinks about the game."""
        if self.task is not None and self.task.is_of_the_game:
            raise UserError(Phrase("error.thinking"))
        self.cancel()

    def stop(self) -> None:
        """Ends what the engine is doing; what it has found counts."""
        ((self.task and self.task.stop) or self.played.engine.stop)()


class Part:
    """What pages may ask for about one subject, and what they see of it.

    `on_stop_review` of one of the parts answers the message `stop-review`, `after_undo` follows the event "undo"
    (`Session.tell`).
    """

    name = ""  # of its document
    # Whether its document depends on the position that is shown, or on what was found about it.
    follows_position = True
    draws = False  # whether it draws on that position

    def __init__(self, session: Session) -> None:
        self.session, self.played, self.values = session, session.played, session.values
        session.parts.append(self)

    @property
    def is_studying(self) -> bool:
        """Whether it has people study the game instead of playing it, so that their clock stands."""
        return False

    def document(self) -> Document:
        """Returns what pages see of it."""
        return {}

    def draw(self, drawn: Drawn) -> None:
        """Adds to the drawing of the position."""

    def node_of(self, message: Message) -> TreeNode:
        """Returns the node that a message names; raises UserError if it is in another game, or has been deleted."""
        self.session.check_game(whole_number(message, "tree", 0, MOST_NODES))
        return self.played.tree.node(whole_number(message, "node", 0, MOST_NODES))

    def check_shown(self, message: Message) -> None:
        """Raises UserError if the page showed another position when it sent the message.

        The engine, or another page, may have changed what is shown meanwhile.
        """
        if self.node_of(message) is not self.session.node:
            raise UserError(Phrase("error.otherPosition"))


class Pace:
    """Tells whether pages are to see the progress of some work again; it may change far more often."""

    def __init__(self) -> None:
        self._published = 0.0

    def is_due(self) -> bool:
        """Whether the last time that this was so is long enough ago."""
        if time.monotonic() < self._published + _PUBLISH_SECONDS:
            return False
        self._published = time.monotonic()
        return True


# Values of messages. These raise UserError for what is missing, something else, or out of range.


def text_of(message: Message, name: str) -> str:
    """Returns a text of a message."""
    value = message.get(name)
    if not isinstance(value, str):
        raise invalid(name, value, "text")
    return value


def whole_number(message: Message, name: str, low: int, high: int) -> int:
    """Returns a whole number of a message."""
    return int(Range(low, high, whole=True).parse(name, message.get(name), from_text=False))


def visits_of(message: Message) -> int | None:
    """Returns the number of visits of a message; None if it has none."""
    value = message.get("visits")
    return None if value is None else int(_VISITS.parse("number of visits", value, from_text=False))


# Values of documents.


def phrase_parts(phrase: Phrase) -> Document:
    """Returns a phrase as the page's `text` takes it, to be said in the page's language."""
    values = {key: phrase_parts(value) if isinstance(value, Phrase) else value for key, value in phrase.values.items()}
    return {"name": phrase.name, "values": values}


def in_words(error: BaseException) -> str:
    """Returns an error in one line; one that nobody expected is logged with its traceback too."""
    if not isinstance(error, EXPECTED):
        logger.error("a search failed", exc_info=error)
    return answer_text(error)
