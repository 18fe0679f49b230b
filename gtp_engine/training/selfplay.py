"""Self-play: many games side by side, their searches' leaves in common batches, and what is learned of each game.

What is random about a game (`settings.GameSettings`, `SearchSettings`) keeps the games apart and the samples varied:
board, rules and komi; first moves drawn from the policy; the search's noise; full searches for some moves, cheap ones
for the others (Wu 2019, section 3.1). A game that is decided is played to its end, cheaply: each has a true result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..evaluate.interface import Evaluator
from ..game.coords import EMPTY
from ..game.game import Game
from ..game.scoring import Score
from ..search.certainty import Certainty
from ..search.report import SearchReport
from ..search.scheduler import Job, Scheduler
from ..search.search import Limits, Search, parts_of
from ..search.tree import bytes_per_node
from ..sgf import GameRecord
from .endings import ending_of
from .random_games import new_game
from .samples import SampleGame
from .settings import RunSettings

_TREE_VISITS = 4  # how many searches' visits a tree has room for: what it keeps of earlier ones
# Leaves of a game in a batch, where its search may choose so many at once: a network takes less time for each position
# of a larger batch. Gumbel's root gives all of a round's moves their visits anyway.
_LEAVES = 2
_LEAST_SHARE = 1e-3  # of a policy target; less is not worth its bytes


@dataclass(frozen=True)
class FinishedGame:
    """A game, as a sample and as SGF.

    is_decided: a side was sure to win (`GameSettings.sure_winrate`). is_checked: then too it was played on as before.
    is_upset: that side did not win.
    """

    sample: SampleGame
    sgf: str
    is_decided: bool
    is_checked: bool
    is_upset: bool


@dataclass(frozen=True)
class Counts:
    """What has been done. room: positions that the batches had room for."""

    moves: int = 0
    positions: int = 0
    batches: int = 0
    room: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) - getattr(other, name) for name in vars(self)))


@dataclass
class _Table:
    """A game under way, and what is known of its positions so far.

    opening: moves still to be drawn from the policy. decided: the colour for which the game was decided, EMPTY before.
    is_checked: see FinishedGame.
    """

    game: Game
    search: Search
    opening: int
    is_checked: bool
    certainty: Certainty = field(default_factory=Certainty)
    decided: int = EMPTY
    is_full: bool = False
    weights: list[float] = field(default_factory=list)
    policies: list[tuple[np.ndarray, np.ndarray] | None] = field(default_factory=list)
    values: list[tuple[float, float]] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)


class SelfPlay:
    """So many games side by side; finished ones are given to `on_game` and replaced by new ones.

    make_evaluator: gives one for the present network. Boards of different sizes cannot share a batch, and an evaluator
    has no more than two batches under way: each size has its own.
    """

    def __init__(
        self,
        settings: RunSettings,
        make_evaluator: Callable[[], Evaluator],
        on_game: Callable[[FinishedGame], None],
        *,
        games: int,
        seed: int | tuple[int, ...],
        cycle: int = 0,
    ) -> None:
        self.settings = settings
        self._make_evaluator = make_evaluator
        self._on_game = on_game
        self._random = np.random.default_rng(seed)
        self._games = games
        self._schedulers: dict[tuple[int, int], Scheduler] = {}
        self._sizes: dict[tuple[int, int], int] = {}  # of their batches
        self._tables: dict[int, _Table] = {}
        self._free: dict[tuple[int, int], list[Search]] = {}
        self._errors: list[Exception] = []
        self._begun = 0
        self._moves = 0
        self._full = settings.search.full(cycle)
        self._cheap = settings.search.cheap()

    @property
    def counts(self) -> Counts:
        """Since the beginning."""
        schedulers = self._schedulers.values()
        room = sum(scheduler.batches * self._sizes[board] for board, scheduler in self._schedulers.items())
        positions = sum(scheduler.positions for scheduler in schedulers)
        return Counts(self._moves, positions, sum(scheduler.batches for scheduler in schedulers), room)

    def begin_cycle(self, cycle: int) -> None:
        """Goes on with a cycle's settings: games under way too."""
        self._full = self.settings.search.full(cycle)

    def change_network(self, make_evaluator: Callable[[], Evaluator]) -> None:
        """Goes on with another network: games under way too."""
        self._make_evaluator = make_evaluator
        for board, scheduler in self._schedulers.items():
            old, new = scheduler.evaluator, make_evaluator()
            scheduler.change_evaluator(new)
            for table in self._tables.values():
                if (table.game.width, table.game.height) == board:
                    table.search.evaluator = new
            for search in self._free.get(board, ()):
                search.evaluator = new
            old.close()

    def step(self) -> None:
        """Works on a batch of each size, and begins games where there is room."""
        while len(self._tables) < self._games:
            self._begin()
        for scheduler in self._schedulers.values():
            if not scheduler.is_idle:
                scheduler.step()
        if self._errors:
            raise self._errors[0]

    def close(self) -> None:
        """Gives the evaluators' memory back."""
        for scheduler in self._schedulers.values():
            scheduler.evaluator.close()

    def _begin(self) -> None:
        """Begins a game."""
        games = self.settings.games
        game = new_game(games, self._random)
        board = game.width, game.height
        scheduler = self._scheduler(board, game.area)
        free = self._free.setdefault(board, [])
        search = free.pop() if free else self._new_search(scheduler.evaluator, game.area)
        opening = int(self._random.exponential(games.opening_share * game.area))
        table = _Table(game, search, opening, bool(self._random.random() < games.check_share))
        self._tables[self._begun] = table
        self._think(self._begun)
        self._begun += 1

    def _scheduler(self, board: tuple[int, int], area: int) -> Scheduler:
        """Of that size; made when it is first needed."""
        if board not in self._schedulers:
            evaluator = self._make_evaluator()
            share = self.settings.games.boards[board] / sum(self.settings.games.sizes.values())
            # Where two batches are under way at a time, each game has its leaves in one of them.
            size = max(1, round(_LEAVES * self._games * share) // evaluator.overlap)
            self._sizes[board] = size
            self._schedulers[board] = Scheduler(evaluator, self._games, size)
        return self._schedulers[board]

    def _new_search(self, evaluator: Evaluator, area: int) -> Search:
        """One with room for the largest searches of the run; noise and visits are set for each move."""
        search, (_, parameters) = self.settings.search, self._full
        visits = max(search.cheap_visits, *search.visits.values())
        megabytes = _TREE_VISITS * (visits + 1) * bytes_per_node(area, parts_of(parameters, evaluator)) / 1e6
        parameters = replace(parameters, tree_megabytes=max(0.1, megabytes))
        return Search(evaluator, parameters, int(self._random.integers(2**62)))

    def _think(self, number: int) -> None:
        """Has the side to move searched."""
        table = self._tables[number]
        search, search_settings = table.search, self.settings.search
        is_calm = table.decided == EMPTY or table.is_checked
        table.is_full = not table.opening and bool(self._random.random() < search_settings.full_share)
        visits, parameters = self._full if table.is_full and is_calm else self._cheap
        if table.opening:
            visits = 1
        search.parameters = parameters

        def start() -> Search:
            search.set_position(table.game)
            return search

        def done(report: SearchReport | None) -> None:
            assert report is not None  # nobody cancels it
            self._play(number, table, report)

        scheduler = self._schedulers[table.game.width, table.game.height]
        scheduler.add(Job(start, Limits(visits), done, self._errors.append))

    def _play(self, number: int, table: _Table, report: SearchReport) -> None:
        """Plays the move that a search found, and goes on or ends the game."""
        game, games, search = table.game, self.settings.games, table.search
        if table.opening:
            table.opening -= 1
            temperature = games.opening_temperature
        else:
            temperature = self.settings.search.temperature_at(len(game.moves))
        self._keep(table, report)
        game.play(game.to_move, search.choose(report, temperature))
        self._moves += 1
        if self.settings.cycle.comments:
            table.comments[len(game.moves)] = report.as_comment()
        self._see_who_is_sure(table, report)
        if game.is_over or len(game.moves) >= games.moves_per_point * game.area:
            self._end(number, table)
        else:
            self._think(number)

    def _keep(self, table: _Table, report: SearchReport) -> None:
        """Notes what is to be learned of the position."""
        decided = table.decided != EMPTY and not table.is_checked
        weight = (self.settings.games.sure_weight if decided else 1.0) if table.is_full else 0.0
        table.weights.append(weight)
        table.values.append((2 * report.winrate - 1, np.nan))
        target = None
        if weight > 0:
            shares = table.search.policy_target(report)
            moves = np.flatnonzero(shares >= min(_LEAST_SHARE, shares.max()))
            target = moves.astype(np.uint16), shares[moves]
        table.policies.append(target)

    def _see_who_is_sure(self, table: _Table, report: SearchReport) -> None:
        games, certainty = self.settings.games, table.certainty
        certainty.see(report, games.sure_winrate)
        if table.decided == EMPTY and certainty.positions >= games.sure_moves:
            table.decided = certainty.colour

    def _end(self, number: int, table: _Table) -> None:
        del self._tables[number]
        game = table.game
        self._free[game.width, game.height].append(table.search)
        ending = ending_of(game)
        name = table.search.evaluator.name
        identity = int(self._random.integers(2**63))
        sample = SampleGame.from_game(
            game,
            winner=ending.winner,
            margin=ending.margin,
            ownership=ending.ownership,
            number=identity,
            source=name,
            weights=np.array(table.weights, np.float32),
            policies=table.policies,
            values=np.array(table.values, np.float32).reshape(-1, 2),
        )
        record = GameRecord.from_game(
            game, black=name, white=name, result=str(Score(ending.margin)), comments=table.comments
        )
        record.texts["GN"] = str(identity)
        is_decided = table.decided != EMPTY
        self._on_game(
            FinishedGame(
                sample,
                record.to_sgf(),
                is_decided,
                is_decided and table.is_checked,
                is_decided and table.decided != ending.winner,
            )
        )
