"""KataGo's JSON analysis protocol: queries come in line by line, many positions are searched side by side, each answer
is a line. Facts from KataGo's docs/Analysis_Engine.md.

Positions that wait are kept as the text of their query: a million of them must not fill the memory with boards.
"""

import heapq
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..game.game import Game
from ..log import log
from ..search.report import SearchReport
from ..search.scheduler import Job, Scheduler
from ..search.search import Search
from ..wording import reason
from .answers import answer, no_results
from .inbox import LONGEST_LINE, Inbox
from .query import Defaults, Query, QueryError, parse_query, turn_numbers

# Reading queries must not hold up the searches for longer, in seconds.
_READING_TIME = 0.05
# Bytes that a position which waits takes beside its query's text.
_PER_POSITION = 400
_ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


@dataclass(eq=False, slots=True)
class _Line:
    """A query as it came, and how many of its positions are not done."""

    text: bytes
    id: str
    left: int
    scheduler: Scheduler


@dataclass(eq=False, slots=True)
class _Position:
    """One position of a query that has its turn."""

    line: _Line
    turn: int
    query: Query
    game: Game
    search: Search | None = None
    job: Job | None = None


class Conversation:
    """Answers the lines of an inbox by `write`, which takes a whole line and may raise what ends it all.

    scheduler_on: gives what searches on boards of that width and height, always the same for the same; ValueError or
    OSError where nothing can. All of it belongs to one thread. models: gives what `query_models` says.
    """

    def __init__(
        self,
        scheduler_on: Callable[[int, int], Scheduler],
        defaults: Defaults,
        inbox: Inbox,
        write: Callable[[str], None],
        *,
        seed: int | None = None,
        models: Callable[[], list[dict[str, Any]]] = list,
    ) -> None:
        self.defaults = defaults
        self.inbox = inbox
        self.models = models
        self._write = write
        self._seed = seed
        self._scheduler_on = scheduler_on
        self._schedulers: dict[Scheduler, None] = {}  # those in use, in order
        self._waiting: list[tuple[int, int, int, _Line]] = []  # a heap: priority, number, turn, query
        self._numbers = itertools.count()
        self._at_work: set[_Position] = set()
        self._recent: _Position | None = None  # the last one begun: the next may be a move or two later

    def run(self, *, wait_for_all: bool = True) -> None:
        """Answers until the end of the input, and then all that waits; without `wait_for_all` it ends at once."""
        while True:
            self._read()
            if self.inbox.is_over and (not wait_for_all or not (self._waiting or self._at_work)):
                return
            self._feed()
            busy = [scheduler for scheduler in self._schedulers if not scheduler.is_idle]
            for scheduler in busy:
                scheduler.step()
            if not busy:
                self.inbox.wait()

    def _send(self, fields: dict[str, Any]) -> None:
        self._write(json.dumps(fields, sort_keys=True, separators=(",", ":")) + "\n")

    # What comes in.

    def _read(self) -> None:
        end = time.perf_counter() + _READING_TIME
        while (line := self.inbox.take()) is not None:
            self._take(line)
            if time.perf_counter() >= end:
                return

    def _take(self, line: bytes) -> None:
        """Answers a line, or puts its positions in the queue."""
        positions = 0
        try:
            if line.strip():
                positions = self._understand(line)
        except _LineError as error:
            self._send({"error": str(error)})
        if positions:
            self.inbox.keep(positions * _PER_POSITION)
        else:
            self.inbox.release(line)

    def _understand(self, line: bytes) -> int:
        """How many positions a line asks for; _LineError where it is no request."""
        fields = _parse(line)
        try:
            if isinstance(fields.get("action"), str):
                self._act(fields)
                return 0
            return self._enqueue(line, fields)
        except QueryError as error:
            self._send({"error": str(error), "field": error.field, "id": fields["id"]})
        return 0

    def _enqueue(self, line: bytes, fields: dict[str, Any]) -> int:
        query = parse_query(fields, self.defaults)
        query.check_moves()
        try:
            scheduler = self._scheduler_on(query.start.width, query.start.height)
        except (ValueError, OSError) as error:  # of a network's file: other boards have others
            raise QueryError("boardXSize", reason(error)) from error
        for field, text in query.warnings:
            self._send({"warning": text, "field": field, "id": query.id})
        self._schedulers[scheduler] = None
        entry = _Line(line, query.id, len(query.turns), scheduler)
        for turn, priority in zip(query.turns, query.priorities, strict=True):
            heapq.heappush(self._waiting, (-priority, next(self._numbers), turn, entry))
        return len(query.turns)

    def _act(self, fields: dict[str, Any]) -> None:
        action = fields["action"]
        if action not in _ACTIONS:
            raise _LineError(f"'action' field must be {' or '.join(map(repr, _ACTIONS))}")
        extra: dict[str, Any] = {}
        if action == "query_version":
            extra = {"version": __version__, "git_hash": "<omitted>"}
        elif action == "query_models":
            extra = {"models": self.models()}
        elif action == "clear_cache":
            for scheduler in self._schedulers:
                scheduler.evaluator.clear_cache()
        elif action == "terminate":
            if not isinstance(fields.get("terminateId"), str):
                raise QueryError(
                    "terminateId", 'Requests for a terminate action must have a string "terminateId" field'
                )
            self._terminate(fields["terminateId"], turn_numbers(fields))
        else:
            self._terminate(None, turn_numbers(fields))
        self._send(fields | extra)

    def _terminate(self, query_id: str | None, turns: frozenset[int] | None) -> None:
        """Ends the positions of queries of that id, None for all, with what is known of them."""

        def is_meant(line: _Line, turn: int) -> bool:
            return query_id in (None, line.id) and (turns is None or turn in turns)

        for position in self._at_work:
            if is_meant(position.line, position.turn) and position.job is not None:
                position.line.scheduler.cancel(position.job)
        ended = [entry for entry in self._waiting if is_meant(entry[3], entry[2])]
        if ended:
            self._waiting = [entry for entry in self._waiting if not is_meant(entry[3], entry[2])]
            heapq.heapify(self._waiting)
        for _, _, turn, line in ended:
            self._send(no_results(line.id, turn))
            self._done_with(line)

    # What is searched.

    def _feed(self) -> None:
        """Hands positions to their schedulers as far as they would have their turn at once."""
        while self._waiting and self._waiting[0][3].scheduler.has_place_for(-self._waiting[0][0]):
            rank, _, turn, line = heapq.heappop(self._waiting)
            position = self._position(line, turn)
            self._at_work.add(position)
            position.job = self._job(position, -rank)
            line.scheduler.add(position.job)

    def _position(self, line: _Line, turn: int) -> _Position:
        """The position of a query that was found to be good."""
        recent = self._recent
        if recent is not None and recent.line is line and recent.turn <= turn:
            query, game, number = recent.query, recent.game.copy(), recent.turn
        else:
            query = parse_query(_parse(line.text), self.defaults)
            game, number = query.start.copy(), 0
        for played in range(number, turn):
            query.play(game, played)
        self._recent = _Position(line, turn, query, game)
        return self._recent

    def _job(self, position: _Position, priority: int) -> Job:
        query = position.query

        def start() -> Search:
            position.search = Search(position.line.scheduler.evaluator, query.parameters, self._seed)
            position.search.set_position(position.game)
            return position.search

        return Job(
            start,
            query.limits,
            on_done=lambda report: self._finish(position, report),
            on_error=lambda error: self._fail(position, error),
            on_report=lambda report: self._report(position, report, during=True),
            interval=query.interval,
            root_moves=query.root_moves,
            ownership=not query.wanted.isdisjoint({"includeOwnership", "includeOwnershipStdev"}),
            moves_ownership=not query.wanted.isdisjoint({"includeMovesOwnership", "includeOwnershipStdev"}),
            priority=priority,
        )

    def _report(self, position: _Position, report: SearchReport, *, during: bool) -> None:
        assert position.search is not None
        root = position.search.root_outputs
        self._send(answer(position.query, position.turn, position.game, report, root, during=during))

    def _finish(self, position: _Position, report: SearchReport | None) -> None:
        if report is None:
            self._send(no_results(position.line.id, position.turn))
        else:
            self._report(position, report, during=False)
        self._leave(position)

    def _fail(self, position: _Position, error: Exception) -> None:
        text = f"{type(error).__name__}: {reason(error)}"
        log(f"query {position.line.id}, turn {position.turn}: {text}")
        self._send({"error": text, "id": position.line.id, "turnNumber": position.turn})
        self._leave(position)

    def _leave(self, position: _Position) -> None:
        position.search = position.job = None
        self._at_work.discard(position)
        self._done_with(position.line)

    def _done_with(self, line: _Line) -> None:
        """Frees what a position of the query took, and the query with its last one."""
        self.inbox.keep(-_PER_POSITION)
        line.left -= 1
        if not line.left:
            self.inbox.release(line.text)


class _LineError(ValueError):
    """A line that is no request at all."""


def _parse(line: bytes) -> dict[str, Any]:
    """The fields of a request, its `id` a text; _LineError where it is none."""
    if len(line) > LONGEST_LINE:
        raise _LineError(f"a line of more than {LONGEST_LINE} bytes is no request")
    try:
        fields = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        shown = line[:200].decode("utf-8", "replace").strip()
        raise _LineError(f"{reason(error)} - could not parse input line as json request: {shown}") from None
    if not isinstance(fields, dict):
        shown = line[:200].decode("utf-8", "replace").strip()
        raise _LineError(f"Request line was valid json but was not an object, ignoring: {shown}")
    if not isinstance(fields.get("id"), str):
        raise _LineError('Request must have a string "id" field')
    return fields


def _refuse(name: str) -> Iterator[None]:
    raise ValueError(f"{name} is no number of JSON")
