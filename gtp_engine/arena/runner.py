"""Plays many games side by side, so that the leaves of their searches share batches.

Each game has one search at a time, that of the side to move. When it is done, its move is played and the next search
is queued, until the game ends. Self-play (`training.selfplay`) and matches between networks (`arena.network_match`)
run their games this way; they differ in how a move is searched and chosen and in what they keep of a game.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from ..go.coords import EMPTY, opponent
from ..go.game import Game
from ..search.evaluate.evaluator import Evaluator
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from ..search.scheduler import Scheduler
from ..search.search import Search, layout_for
from ..search.tree import bytes_per_node
from .results import EndReason

_SMALLEST_TREE = 0.1  # megabytes


@dataclass(frozen=True)
class EndRules:
    """When a game ends other than by two passes, and when it counts as decided."""

    moves_per_point: float  # a game is stopped after this many moves for each point
    winrate: float  # 0.5..1, from which a side counts as winning; with 1 no side does
    positions: int  # consecutive ones at which a side must be winning for the game to be decided
    earliest: float = 0.0  # moves before which no game is decided, as a share of the board's points
    resigns: bool = False  # whether a game ends as soon as it is decided


@dataclass(eq=False)
class GameInProgress:
    """A game that is being played."""

    game: Game  # the position and the moves so far
    # The side that was ahead at the last position; EMPTY before the first one.
    leader: int = field(default=EMPTY, kw_only=True)
    # For how many consecutive positions it has been winning, each judged by the search of the side to move there.
    won_positions: int = field(default=0, kw_only=True)
    decided_for: int = field(default=EMPTY, kw_only=True)  # the colour that the game was decided for; EMPTY before

    def update(self, report: SearchReport, rules: EndRules) -> None:
        """Adds the next position, by the report of its search."""
        leader = report.to_move if report.winrate > 0.5 else opponent(report.to_move)
        is_winning = rules.winrate < 1 and max(report.winrate, 1 - report.winrate) >= rules.winrate
        self.won_positions = (self.won_positions + 1 if leader == self.leader else 1) if is_winning else 0
        self.leader = leader
        is_late = len(self.game.moves) >= rules.earliest * self.game.area
        if self.decided_for == EMPTY and self.won_positions >= rules.positions and is_late:
            self.decided_for = leader


class PlannedSearch(NamedTuple):
    """How the side to move of a game is searched."""

    search: Search  # with its parameters; it gets the game's position when its turn comes
    scheduler: Scheduler  # that of the search's evaluator
    visits: int  # of the root, at which the search ends


G = TypeVar("G", bound=GameInProgress)


class GameRunner(ABC, Generic[G]):
    """Plays up to `concurrency` games at a time; `step` advances all of them.

    A subclass decides which games are begun (`_begin_game`), how they are searched (`_plan_search`), how a move is
    chosen (`_choose_move`) and what becomes of a finished game (`_end_game`).
    """

    def __init__(self, end_rules: EndRules, concurrency: int) -> None:
        self.games: list[G] = []  # in progress
        self.moves = 0  # played so far, in all games
        self._end_rules = end_rules
        self._concurrency = concurrency
        self._errors: list[Exception] = []

    @property
    @abstractmethod
    def schedulers(self) -> Collection[Scheduler]:
        """The schedulers of all searches, one for each evaluator in use."""

    def step(self) -> None:
        """Begins games as long as there is room, then submits or collects one batch of each evaluator.

        Raises the first error of a search or of an evaluator.
        """
        while len(self.games) < self._concurrency and (game := self._begin_game()) is not None:
            self.games.append(game)
            self._queue_search(game)
        for scheduler in self.schedulers:
            if not scheduler.is_idle:
                scheduler.step()
        if self._errors:
            raise self._errors[0]

    @abstractmethod
    def _begin_game(self) -> G | None:
        """Returns the next game to play; None if there is none left."""

    @abstractmethod
    def _plan_search(self, game: G) -> PlannedSearch:
        """Decides how the side to move is searched."""

    @abstractmethod
    def _choose_move(self, game: G, search: Search, report: SearchReport) -> int:
        """Returns the point to play after a search, and keeps what is wanted of the position."""

    @abstractmethod
    def _end_game(self, game: G, reason: EndReason) -> None:
        """Handles a game that has ended. The stones of a game that ended by two passes are not counted yet."""

    def _queue_search(self, game: G) -> None:
        search, scheduler, visits = self._plan_search(game)

        def done(report: SearchReport | None) -> None:
            assert report is not None  # no search is cancelled
            self._play_move(game, search, report)

        scheduler.add(search, SearchRequest(game.game, Limits(visits)), done, self._errors.append)

    def _play_move(self, game: G, search: Search, report: SearchReport) -> None:
        """Plays the move that a search found, then queues the next search or ends the game."""
        point = self._choose_move(game, search, report)
        game.game.play(game.game.to_move, point)
        self.moves += 1
        game.update(report, self._end_rules)
        if game.game.is_over:
            reason = EndReason.SCORE
        elif game.decided_for != EMPTY and self._end_rules.resigns:
            reason = EndReason.RESIGNATION
        elif len(game.game.moves) >= self._end_rules.moves_per_point * game.game.area:
            reason = EndReason.MOVE_CAP
        else:
            self._queue_search(game)
            return
        self.games.remove(game)
        self._end_game(game, reason)


def tree_megabytes(searches: int, visits: int, area: int, parameters: SearchParameters, evaluator: Evaluator) -> float:
    """Returns the megabytes (10^6 bytes) of a tree that keeps the visits of several searches of a game.

    Parameters and evaluator decide what a node holds; `visits` are those of each search.
    """
    node_bytes = bytes_per_node(area, layout_for(parameters, evaluator)._replace(ownership=True))
    return max(_SMALLEST_TREE, searches * (visits + 1) * node_bytes / 1e6)
