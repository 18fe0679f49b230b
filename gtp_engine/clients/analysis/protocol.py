"""KataGo's JSON analysis protocol: queries and answers are one line each, and many positions are searched side by side.

The protocol is described in KataGo's docs/Analysis_Engine.md.

A waiting position is stored as the text of its query, so that many of them do not fill the memory with boards.
"""

import heapq
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, Queue
from typing import Any

import numpy as np

from ...base import VERSION
from ...base.errors import EXPECTED, UserError, answer_text, error_text
from ...base.nesting import parse_json
from ...base.system import WAIT_SECONDS
from ...engine.settings import EngineSettings
from ...engine.worker import SearchWorker, as_katago
from ...go.game import Game
from ...nets.library import find_network
from ...search.evaluate.choices import LARGEST_BOARD, names_file
from ...search.evaluate.evaluator import Evaluator
from ...search.evaluate.factory import make_evaluator
from ...search.evaluate.root import evaluate_root
from ...search.report import SearchReport
from ...search.scheduler import QueuedSearch, Scheduler
from ...search.search import Search
from .answers import answer, no_results
from .query import Defaults, Query, QueryError, parse_query, turn_numbers

logger = logging.getLogger(__name__)

# Bytes. A longer line is not a query; the rest of it is dropped.
LONGEST_LINE = 16 * 2**20
# Reading pauses while this many positions wait for a search. A query with a game of its own takes some 4 kB.
MOST_WAITING = 100_000
# Seconds for which reading queries may hold up the searches.
_READING_TIME = 0.05
_ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


@dataclass(eq=False, slots=True)
class _Line:
    """A query as it was received."""

    text: bytes
    id: str
    scheduler: Scheduler


@dataclass(eq=False, slots=True)
class _Position:
    """One position of a query that has its turn."""

    line: _Line
    turn: int
    query: Query
    game: Game


class Schedulers:
    """One scheduler for each network, since the settings may choose another one for each board size."""

    def __init__(self, settings: EngineSettings, human_model: str | None = None) -> None:
        """Loads the human model, a second network in this file.

        Raises UserError if it does not imitate humans, and OSError if its file cannot be read.
        """
        self._settings = settings
        self._by_network: dict[str, tuple[SearchWorker, Scheduler]] = {}
        self._human_model = human_model or ""
        self._human: Evaluator | None = None
        if human_model is not None:
            self._human = make_evaluator(
                human_model, seed=settings.seed, device=settings.device, precision=settings.precision
            )
            if not self._human.takes_profile:
                self.close()
                raise UserError(f"-human-model {human_model}: this network was not trained on the games of humans")

    def on_board(self, width: int, height: int) -> Scheduler:
        """Returns the scheduler for boards of that size; the first call for a network loads it."""
        settings = self._settings.on_board(width, height)
        if settings.network not in self._by_network:
            worker = settings.new_worker()
            worker.warm_up()
            worker.announce(settings.search_parameters(settings.network))
            self._by_network[settings.network] = worker, Scheduler(worker.evaluator())
        return self._by_network[settings.network][1]

    def human_policy(self, game: Game, profile: str) -> np.ndarray | None:
        """Returns the human model's policy, float32 [area + 1] in move-index order; None if it has none here."""
        if self._human is None or max(game.width, game.height) > LARGEST_BOARD:
            return None
        return evaluate_root(self._human, game, profile=profile).policy

    def models(self) -> list[dict[str, Any]]:
        """Returns the loaded networks as KataGo's `query_models` reports them."""
        networks: list[tuple[str, Any]] = [
            (name, scheduler.evaluator) for name, (_, scheduler) in self._by_network.items()
        ]
        networks += [] if self._human is None else [(self._human_model, self._human)]
        return [as_katago(each, str(find_network(name))) for name, each in networks if names_file(name)]

    def close(self) -> None:
        """Closes all evaluators."""
        for worker, _ in self._by_network.values():
            worker.close()
        if self._human is not None:
            self._human.close()


class Conversation:
    """Answers the `lines` up to None at their end (`lines_ahead`). It belongs to one thread.

    An error that `write` raises ends the conversation. Once nobody reads the answers any more (`is_closed`), they are
    not finished after the input.
    """

    def __init__(
        self,
        schedulers: Schedulers,
        defaults: Defaults,
        lines: "Queue[bytes | None]",
        write: Callable[[str], None],
        *,
        is_closed: Callable[[], bool] = lambda: False,
        seed: int | None = None,
    ) -> None:
        self.defaults = defaults
        self._lines = lines
        self._has_ended = False
        self._write = write
        self._is_closed = is_closed
        self._seed = seed
        self._schedulers = schedulers
        self._in_use: dict[Scheduler, None] = {}  # in the order of their first query
        self._waiting: list[tuple[int, int, int, _Line]] = []  # a heap: negated priority, number, turn, query
        self._numbers = itertools.count()
        self._at_work: dict[_Position, QueuedSearch] = {}
        self._recent: _Position | None = None  # the last one started: the next may be few moves later

    def run(self, *, wait_for_all: bool = True) -> None:
        """Answers queries until the input ends; with `wait_for_all` also those that are not finished then."""
        while True:
            self._read()
            is_idle = not (self._waiting or self._at_work)
            if self._has_ended and (is_idle or not wait_for_all or self._is_closed()):
                return
            self._feed()
            busy = [scheduler for scheduler in self._in_use if not scheduler.is_idle]
            for scheduler in busy:
                scheduler.step()
            if not busy:
                self._read(WAIT_SECONDS)

    def _send(self, fields: dict[str, Any]) -> None:
        self._write(json.dumps(fields, sort_keys=True, separators=(",", ":")) + "\n")

    # What comes in.

    def _read(self, wait: float = 0.0) -> None:
        """Takes the lines that are there; waits up to some seconds for the first one."""
        if self._has_ended or len(self._waiting) >= MOST_WAITING:
            return
        with suppress(Empty):
            line = self._lines.get(wait > 0, wait)
            end = time.perf_counter() + _READING_TIME
            while line is not None:
                if line.strip():
                    self._understand(line)
                if len(self._waiting) >= MOST_WAITING or time.perf_counter() >= end:
                    return
                line = self._lines.get_nowait()
            self._has_ended = True

    def _understand(self, line: bytes) -> None:
        """Queues the positions that a line asks for; answers it if it asks for none."""
        fields: dict[str, Any] = {}
        try:
            fields = _parse(line)
            answers = self._act(fields) if isinstance(fields.get("action"), str) else self._enqueue(line, fields)
        except QueryError as error:
            place = {"field": error.field, "id": fields["id"]} if error.field else {}
            answers = [{"error": str(error)} | place]
        except Exception as error:  # whatever it is, the other queries get their answers
            answers = [_failure(error, fields["id"])]
        for each in answers:
            self._send(each)

    def _enqueue(self, line: bytes, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Queues the positions of a query; returns warnings about it."""
        query = parse_query(fields, self.defaults)
        query.check_moves()
        try:
            scheduler = self._schedulers.on_board(query.request.game.width, query.request.game.height)
        except (UserError, OSError) as error:  # in the network's file: other board sizes may have another
            raise QueryError("boardXSize", error_text(error)) from error
        self._in_use[scheduler] = None
        entry = _Line(line, query.id, scheduler)
        for turn, priority in query.turns.items():
            heapq.heappush(self._waiting, (-priority, next(self._numbers), turn, entry))
        return [{"warning": text, "field": name, "id": query.id} for name, text in query.warnings]

    def _act(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Does what is asked for instead of a search; returns the answers."""
        action, ended = fields["action"], list[dict[str, Any]]()
        if action not in _ACTIONS:
            raise QueryError("", f"'action' field must be {' or '.join(map(repr, _ACTIONS))}")
        extra: dict[str, Any] = {}
        if action == "query_version":
            extra = {"version": VERSION, "git_hash": "<omitted>"}
        elif action == "query_models":
            extra = {"models": self._schedulers.models()}
        elif action == "clear_cache":
            for scheduler in self._in_use:
                scheduler.evaluator.clear_cache()
        elif action == "terminate" and not isinstance(fields.get("terminateId"), str):
            raise QueryError("terminateId", 'Requests for a terminate action must have a string "terminateId" field')
        else:
            ended = self._terminate(fields["terminateId"] if action == "terminate" else None, turn_numbers(fields))
        return [*ended, fields | extra]

    def _terminate(self, query_id: str | None, turns: frozenset[int] | None) -> list[dict[str, Any]]:
        """Ends searches of a query and its turns, None for all; they are answered with what was found until then.

        Returns the answers about those that had not begun.
        """

        def is_meant(line: _Line, turn: int) -> bool:
            return query_id in (None, line.id) and (turns is None or turn in turns)

        for position, queued in self._at_work.items():
            if is_meant(position.line, position.turn):
                position.line.scheduler.cancel(queued)
        ended = [entry for entry in self._waiting if is_meant(entry[3], entry[2])]
        if ended:
            self._waiting = [entry for entry in self._waiting if not is_meant(entry[3], entry[2])]
            heapq.heapify(self._waiting)
        return [no_results(line.id, turn) for _, _, turn, line in ended]

    # What is searched.

    def _feed(self) -> None:
        """Adds positions to their schedulers as long as these would start them at once."""
        while self._waiting and self._waiting[0][3].scheduler.has_slot_for(-self._waiting[0][0]):
            negated_priority, _, turn, line = heapq.heappop(self._waiting)
            position, scheduler = self._position(line, turn), line.scheduler
            request = position.query.request_for(position.game)
            search = Search(scheduler.evaluator, request.parameters, self._seed)
            request = replace(request, on_report=partial(self._report, position, during=True))
            finish, fail = partial(self._finish, position), partial(self._fail, position)
            self._at_work[position] = scheduler.add(search, request, finish, fail, priority=-negated_priority)

    def _position(self, line: _Line, turn: int) -> _Position:
        """Returns a position of a query that has been checked."""
        recent = self._recent
        if recent is not None and recent.line is line and recent.turn <= turn:
            query, game, number = recent.query, recent.game.copy(), recent.turn
        else:
            query = parse_query(_parse(line.text), self.defaults)
            game, number = query.request.game.copy(), 0
        for played in range(number, turn):
            query.play(game, played)
        self._recent = _Position(line, turn, query, game)
        return self._recent

    def _report(self, position: _Position, report: SearchReport, *, during: bool) -> None:
        query, game = position.query, position.game
        try:
            humans = None
            if query.human_profile and not during and "includePolicy" in query.wanted:
                humans = self._schedulers.human_policy(game, query.human_profile)
            fields = answer(query, position.turn, game, report, during=during, humans=humans)
        except Exception as error:  # a bug: the other queries get their answers
            fields = _failure(error, position.line.id, position.turn)
        self._send(fields)

    def _finish(self, position: _Position, report: SearchReport | None) -> None:
        if report is None:
            self._send(no_results(position.line.id, position.turn))
        else:
            self._report(position, report, during=False)
        del self._at_work[position]

    def _fail(self, position: _Position, error: Exception) -> None:
        self._send(_failure(error, position.line.id, position.turn))
        del self._at_work[position]


def _failure(error: Exception, query_id: str, turn: int | None = None) -> dict[str, Any]:
    """Returns the answer to a query that failed, or to one of its turns, and logs the error."""
    where = f"query {query_id}" if turn is None else f"query {query_id}, turn {turn}"
    is_bug = not isinstance(error, EXPECTED)
    logger.error(f"{where}: {answer_text(error)}", exc_info=is_bug and error)
    fields = {"error": answer_text(error), "id": query_id}
    return fields if turn is None else fields | {"turnNumber": turn}


def _parse(line: bytes) -> dict[str, Any]:
    """Returns the fields of a request, whose `id` is a text; raises QueryError if the line is not a request."""
    if len(line) > LONGEST_LINE:
        raise QueryError("", f"request too long: more than {LONGEST_LINE:,} bytes")
    shown = line[:200].decode("utf-8", "replace").strip()
    try:
        fields = parse_json(line, parse_constant=_refuse)
    except ValueError as error:
        raise QueryError("", f"{error_text(error)} - could not parse input line as json request: {shown}") from None
    if not isinstance(fields, dict):
        raise QueryError("", f"Request line was valid json but was not an object, ignoring: {shown}")
    if not isinstance(fields.get("id"), str):
        raise QueryError("", 'Request must have a string "id" field')
    return fields


def _refuse(name: str) -> Iterator[None]:
    raise UserError(f"{name} is not a number in JSON")
