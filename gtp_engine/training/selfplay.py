"""Self-play: plays many games at the same time and makes a sample of each of them.

Random choices (`run_settings`) make the games and the samples varied: board, rules and komi; first moves drawn from the
policy; noise in the search; full searches for some moves, cheap ones for the others (Wu 2019, section 3.1). A decided
game is played to its end with cheap searches, so that every game has a true result, from the board alone.

A network that decided which stones are dead would learn its own mistakes. Under rules by which dead stones must be
captured, the count is Tromp and Taylor's. Under rules by which players agree on dead stones, only those count as
dead that are proven to be: stones inside the territory of chains that cannot be captured even if their owner always
passes (Benson 1976). The search counts its own two passes in the first way only, so that it captures what is not proven
dead before it passes.
"""

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arena.results import EndReason
from ..arena.runner import EndRules, GameInProgress, GameRunner, PlannedSearch, tree_megabytes
from ..go.coords import BLACK, EMPTY, WHITE
from ..go.game import Game
from ..go.life import area_map, dead_stones
from ..go.scoring import Score
from ..go.sgf import GameRecord
from ..search.evaluate.evaluator import Evaluator
from ..search.evaluate.factory import make_evaluator
from ..search.report import SearchReport
from ..search.scheduler import Scheduler
from ..search.search import Search
from .data.random_games import new_game
from .data.samples import GameSet, SampleGame, pack
from .run_settings import RunSettings

# Searches whose visits fit into a tree: it keeps those of earlier searches that are still below the root.
_TREE_SEARCHES = 4
# Leaves of a game in a batch, if its search may select several at a time: larger batches are faster per position. In a
# round of Gumbel search all considered moves get the same number of visits anyway.
_LEAVES_PER_GAME = 2
_LEAST_SHARE = 1e-3  # in a policy target; smaller shares are not worth their bytes
_CALL_SECONDS = 0.5  # how long `SelfPlay.play` takes

BoardSize = tuple[int, int]  # width, height


@dataclass(frozen=True)
class FinishedGame:
    """A finished game, as a sample and as SGF text.

    The process that has played it packs it: a process that writes the games of many has no time for that.
    """

    sample: GameSet  # of this game alone
    sgf: str
    is_decided: bool  # whether one side reached `GameSettings.resign_winrate` for long enough
    is_checked: bool  # whether the game was decided but continued with full searches, to check the decision
    is_upset: bool  # whether the game was decided for the side that did not win it


@dataclass(frozen=True)
class Counts:
    """The work done so far: moves played, positions evaluated, and positions that the batches could have held."""

    moves: int = 0
    positions: int = 0
    capacity: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) - getattr(other, name) for name in vars(self)))

    def speed_text(self, seconds: float) -> str:
        """Describes the speed of work that took some seconds."""
        seconds = max(seconds, 1e-9)
        fill = f", batches {self.positions / self.capacity:.0%} full" if self.capacity else ""
        return f"{self.moves / seconds:,.0f} moves/s, {self.positions / seconds:,.0f} evaluations/s{fill}"


Played: TypeAlias = tuple[list[FinishedGame], Counts]
"""The games that were finished since the last call, and all the work done so far."""


class _Position(NamedTuple):
    """The training targets of a position, as in `SampleGame.weights`, `policies`, `values` and `surprises`."""

    weight: float
    policy: tuple[np.ndarray, np.ndarray] | None
    value: tuple[float, float]
    surprise: float


@dataclass(eq=False)
class _SelfPlayGame(GameInProgress):
    """A game in progress; `search` is that of both sides."""

    search: Search
    opening_moves: int  # that are still to be drawn from the policy
    is_checked: bool  # whether it continues with full searches once it is decided
    is_full: bool = False  # whether the search of the present position is a full one
    positions: list[_Position] = field(default_factory=list)  # the training targets
    comments: dict[int, str] = field(default_factory=dict)  # by move number

    @property
    def is_settled(self) -> bool:
        """Whether it is played to its end with cheap searches."""
        return self.decided_for != EMPTY and not self.is_checked


class SelfPlay(GameRunner[_SelfPlayGame]):
    """Plays games side by side; each finished one is replaced by a new one, up to `total`.

    With a `total` every game that is begun is finished. Without it, taking the first games that finish favours short
    ones.

    Boards of different sizes cannot share a batch, and an evaluator has at most two batches in flight: each size has
    its own evaluator.
    """

    def __init__(self, settings: RunSettings, seed: tuple[int, ...], total: int | None = None) -> None:
        rules = settings.games
        end_rules = EndRules(rules.moves_per_point, rules.resign_winrate, rules.resign_moves)
        super().__init__(end_rules, settings.machine.concurrency)
        self.settings = settings
        self._left = math.inf if total is None else total
        self._random = np.random.default_rng(seed)
        self._evaluator_seed = int(np.random.default_rng(seed).integers(2**62))
        self._network = ""
        self._finished: list[FinishedGame] = []
        self._schedulers: dict[BoardSize, Scheduler] = {}
        self._batch_sizes: dict[BoardSize, int] = {}
        self._free_searches: dict[BoardSize, list[Search]] = {}
        self._cheap = settings.search.cheap()

    def play(self, network: str, cycle: int = 0, more: int = 0) -> Played:
        """Begins or resumes the games, and plays for a moment.

        Args:
            network: The network's file, or "none" for rollouts; another one takes over the games in progress too.
            cycle: The cycle of the run, which decides the visits of a full search.
            more: Games to add to the total.
        """
        self._left += more
        self._full = self.settings.search.full(cycle)
        if network != self._network:
            self._change_network(network)
        end = time.monotonic() + _CALL_SECONDS
        while time.monotonic() < end and not self.is_done:
            self.step()
        finished, self._finished = self._finished, []
        return finished, self.counts

    @property
    def schedulers(self) -> Collection[Scheduler]:
        return self._schedulers.values()

    @property
    def counts(self) -> Counts:
        """The work done since the beginning."""
        capacity = sum(scheduler.batches * self._batch_sizes[board] for board, scheduler in self._schedulers.items())
        return Counts(self.moves, sum(scheduler.positions for scheduler in self.schedulers), capacity)

    @property
    def is_done(self) -> bool:
        """Whether all games have been played."""
        return self._left == 0 and not self.games

    def _change_network(self, network: str) -> None:
        self._network = network
        for board, scheduler in self._schedulers.items():
            old, new = scheduler.evaluator, self._new_evaluator()
            scheduler.change_evaluator(new)
            playing = [game.search for game in self.games if (game.game.width, game.game.height) == board]
            for search in (*playing, *self._free_searches.get(board, ())):
                search.evaluator = new
            old.close()

    def _new_evaluator(self) -> Evaluator:
        """Makes an evaluator of the network, without a cache: repeated positions come in another symmetry."""
        machine, seed = self.settings.machine, self._evaluator_seed
        return make_evaluator(
            self._network, seed=seed, device=machine.device, precision=machine.precision, cache_megabytes=0.0
        )

    def close(self) -> None:
        """Frees the evaluators' memory."""
        for scheduler in self.schedulers:
            scheduler.evaluator.close()

    def _begin_game(self) -> _SelfPlayGame | None:
        if self._left == 0:
            return None
        self._left -= 1
        settings = self.settings.games
        game = new_game(settings, self._random)
        scheduler = self._scheduler(game)
        free = self._free_searches.setdefault((game.width, game.height), [])
        search = free.pop() if free else self._new_search(scheduler.evaluator, game.area)
        opening_moves = int(self._random.exponential(settings.opening_share * game.area))
        return _SelfPlayGame(game, search, opening_moves, bool(self._random.random() < settings.check_share))

    def _scheduler(self, game: Game) -> Scheduler:
        """Returns the scheduler of the game's board size; the first game of a size makes it."""
        board = game.width, game.height
        if board not in self._schedulers:
            evaluator = self._new_evaluator()
            share = self.settings.games.boards[board] / sum(self.settings.games.sizes.values())
            # With two batches in flight at a time, each game has its leaves in one of them.
            size = max(1, round(_LEAVES_PER_GAME * self._concurrency * share) // evaluator.overlap)
            self._batch_sizes[board] = size
            self._schedulers[board] = Scheduler(evaluator, self._concurrency, size)
        return self._schedulers[board]

    def _new_search(self, evaluator: Evaluator, area: int) -> Search:
        """Returns a search whose tree has room for the largest searches of the run; each move sets noise and visits."""
        search, (_, parameters) = self.settings.search, self._full
        visits = max(search.cheap_visits, *search.visits.values())
        megabytes = tree_megabytes(_TREE_SEARCHES, visits, area, parameters, evaluator)
        return Search(evaluator, replace(parameters, tree_megabytes=megabytes), int(self._random.integers(2**62)))

    def _plan_search(self, game: _SelfPlayGame) -> PlannedSearch:
        game.is_full = not game.opening_moves and bool(self._random.random() < self.settings.search.full_share)
        visits, game.search.parameters = self._full if game.is_full and not game.is_settled else self._cheap
        return PlannedSearch(game.search, self._scheduler(game.game), 1 if game.opening_moves else visits)

    def _choose_move(self, game: _SelfPlayGame, search: Search, report: SearchReport) -> int:
        played = len(game.game.moves)
        temperature = self.settings.search.temperature_at(played)
        if game.opening_moves:
            game.opening_moves -= 1
            temperature = self.settings.games.opening_temperature
        game.positions.append(self._position(game, report))
        if self.settings.cycle.comments:
            game.comments[played + 1] = report.as_comment()
        return search.choose(report, temperature)

    def _position(self, game: _SelfPlayGame, report: SearchReport) -> _Position:
        """Returns the training targets of the position that was searched."""
        weight, policy, surprise = 0.0, None, 0.0
        if game.is_full:
            weight = self.settings.games.resign_weight if game.is_settled else 1.0
        if weight > 0:
            shares = report.policy_target()
            moves = np.flatnonzero(shares >= min(_LEAST_SHARE, shares.max()))
            policy = moves.astype(np.uint16), shares[moves]
            surprise = surprise_of(shares, report.priors)
        return _Position(weight, policy, (2 * report.winrate - 1, np.nan), surprise)

    def _end_game(self, game: _SelfPlayGame, reason: EndReason) -> None:
        self._free_searches[game.game.width, game.game.height].append(game.search)
        score, ownership = score_game(game.game)
        name = game.search.evaluator.name
        number = int(self._random.integers(2**63))
        weights, policies, values, surprises = zip(*game.positions, strict=True)
        sample = SampleGame.from_game(
            game.game,
            winner=score.winner,
            margin=score.points,
            ownership=ownership,
            number=number,
            weights=np.array(weights, np.float32),
            policies=policies,
            values=np.array(values, np.float32),
            surprises=np.array(surprises, np.float32),
        )
        record = GameRecord.from_game(game.game, black=name, white=name, result=str(score), comments=game.comments)
        record.set_text("GN", str(number))
        is_decided = game.decided_for != EMPTY
        is_upset = is_decided and game.decided_for != score.winner
        is_checked = is_decided and game.is_checked
        self._finished.append(FinishedGame(pack([sample]), record.to_sgf(), is_decided, is_checked, is_upset))


def surprise_of(shares: np.ndarray, priors: np.ndarray) -> float:
    """Returns the Kullback-Leibler divergence of a policy target from the priors, in nats, at least 0."""
    known = shares > 0
    ratios = shares[known] / np.maximum(priors[known], 1e-30)
    return max(0.0, float(shares[known] @ np.log(ratios)))


def score_game(game: Game) -> tuple[Score, np.ndarray]:
    """Counts a finished game as it stands, under area scoring.

    Returns:
        The score, and the ownership: int8 [area] in move-index order, 1 for Black, -1 for White, 0 for neither.
    """
    # Without an ownership only those are dead that are proven to be.
    dead = set() if game.rules.stones_stand else dead_stones(game, np.zeros((game.height, game.width)))
    owner = area_map(game, dead).reshape(-1)
    return game.score(dead), (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
