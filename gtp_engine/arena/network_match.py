"""A match between networks: all games of a process side by side, their positions in common batches.

This process plays them, or the workers of a pool do. Each player searches with its own network and its own tree.
"""

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..base import interrupts
from ..base.pool import Pool, Portions, Worker
from ..base.settings import setting
from ..base.system import WAIT_SECONDS
from ..engine.settings import EngineSettings
from ..engine.status import agreed_dead
from ..go.coords import BLACK, EMPTY, colour_letter
from ..go.game import Game
from ..go.sgf import GameRecord
from ..nets.library import file_or_name, find_network
from ..search.evaluate.choices import AUTO, names_file, network_on
from ..search.evaluate.features import new_workspace, position_of
from ..search.evaluate.human_profile import check_profile
from ..search.evaluate.row import EvaluationRow
from ..search.parameters import SearchParameters, default_parameters
from ..search.report import SearchReport
from ..search.scheduler import Scheduler
from ..search.search import Search
from .match_settings import MOVES_PER_POINT, MatchSettings, players_by_colour
from .openings import Opening, choose_openings
from .results import EndReason, GameResult, MatchBook, MatchResult, OnGame, match_record, open_book
from .runner import EndRules, GameInProgress, GameRunner, PlannedSearch, tree_megabytes

_END_RULES = EndRules(MOVES_PER_POINT, winrate=0.97, positions=6, earliest=0.25, resigns=True)
# Searches whose visits fit into a tree: it keeps those of earlier searches that are still below the root.
_TREE_SEARCHES = 8
_PROGRESS_SECONDS = 1.0
_HERE_SECONDS, _WORKER_SECONDS = 0.0, 0.5  # of play between two looks at the results


@dataclass(frozen=True)
class NetworkPlayer:
    """A player of a match between networks.

    Attributes:
        network: File or name of a network, "auto" for the default one for the board, or "none" for rollouts.
        parameters: How it searches; None for the parameters that suit the network.
    """

    network: str
    parameters: SearchParameters | None = None

    @property
    def description(self) -> str:
        """The network and the parameters that differ from its usual ones, as in `network value_bias=0.3`."""
        usual = default_parameters(self.network)
        chosen = asdict(self.parameters or usual)
        changed = [f"{name}={value}" for name, value in chosen.items() if value != getattr(usual, name)]
        return " ".join([self.network, *changed])

    @property
    def state(self) -> str:
        """The beginning of its file's SHA-256: training writes another network to a file of the same name."""
        if not names_file(self.network):
            return ""
        return hashlib.sha256(find_network(self.network).read_bytes()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class NetworkMatchSettings(MatchSettings):
    """Settings of a match between networks.

    A game ends by two passes, when both sides have agreed on the winner for several moves, or at the move cap. There
    it is counted if all stones stand under its rules; otherwise it is a draw.

    Attributes:
        visits: Visits of each search.
        threads: CPU threads of each evaluator.
        device: Device of the evaluators, as in `evaluate.choices`.
        precision: Precision of the evaluators, as in `evaluate.choices`.
    """

    concurrency: int = setting(64, 1)
    visits: int = setting(100, 1)
    threads: int = 1
    device: str = AUTO
    precision: str = AUTO

    kind: ClassVar[str] = "network"

    def to_dict(self, commands: dict[str, str]) -> dict[str, Any]:
        return super().to_dict(commands) | {"visits": self.visits}


@dataclass(frozen=True)
class Progress:
    """The state of a match between two results."""

    games: int = 0  # in progress
    moves: int = 0  # played so far in these games
    positions: int = 0  # evaluated since the start
    seconds: float = 0.0  # since the start

    def __add__(self, other: "Progress") -> "Progress":
        return Progress(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


NumberedOpening: TypeAlias = tuple[int, Opening]
PlayedGame: TypeAlias = tuple[GameResult, GameRecord]
_Moment: TypeAlias = tuple[list[PlayedGame], Progress]
"""The games that were finished in a moment of play, and the state after it."""


def play_networks(
    player_a: NetworkPlayer | str | os.PathLike[str],
    player_b: NetworkPlayer | str | os.PathLike[str],
    *,
    on_game: OnGame | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
    **settings: Any,
) -> MatchResult:
    """Plays a match between two networks and blocks until it is over.

    Args:
        player_a: Player "A", who has Black in the first game, or its network's file or name.
        player_b: Player "B", or its network.
        on_game: Called after each game with all results so far and that game's.
        on_progress: Called about once a second.
        pool: Workers that play the games, `concurrency` at a time each; by default this process plays them.
        **settings: The fields of `NetworkMatchSettings`: the number of `games`, the `visits` of each move; the board
            (`width`, `height`, `komi`, `rules`); `concurrency`, the number of games at a time; `threads`, `device` and
            `precision`; the `folder` in which games and results are saved; `sprt`, such as (0, 20), to stop as soon as
            the games decide whether "A" is 20 Elo stronger or no stronger; `openings`, `opening_moves` and `seed`.

    Returns:
        The results, including those of games that the folder of the match held already.

    Raises:
        UserError: The settings make no sense, a network cannot be read, a board is too large for a network, a profile
            is missing or out of place, or the folder holds another match.
        OSError: A file cannot be read or written.
    """
    given, chosen = {"A": player_a, "B": player_b}, NetworkMatchSettings.of_call("play_networks", settings)
    players = {}
    for name, player in given.items():
        player = player if isinstance(player, NetworkPlayer) else NetworkPlayer(file_or_name(player))
        players[name] = replace(player, network=network_on(player.network, chosen.width, chosen.height or chosen.width))
    openings = choose_openings(chosen)
    commands = {name: player.description for name, player in players.items()}
    with ExitStack() as stack:
        # Also for a pool: what is wrong with a network is found before the folder becomes that of this match.
        here = stack.enter_context(closing(MatchGames(players, chosen)))
        states = {f"SHA-256 of network {name}": player.state for name, player in players.items()}
        book = stack.enter_context(open_book(commands, chosen, on_game, states))
        if pool:
            here.close()
        games = ((number, openings[number // 2]) for number in book.missing)
        played = _play_on(pool, players, chosen, games) if pool else _play_here(here, games)
        _fill(book, played, on_progress)
        return book.result


def _fill(book: MatchBook, played: Iterator[_Moment], on_progress: Callable[[Progress], None] | None) -> None:
    """Adds games to the book as they are played, until the match is over."""
    started = reported = time.monotonic()
    while not book.is_over:
        interrupts.check()
        games, progress = next(played)
        for game in games:
            book.add(*game)
        now = time.monotonic()
        if on_progress and now - reported >= _PROGRESS_SECONDS:
            reported = now
            on_progress(replace(progress, seconds=now - started))


def _play_here(games: "MatchGames", openings: Iterator[NumberedOpening]) -> Iterator[_Moment]:
    """Plays the games in this process; yields what was played every moment, without end."""
    games.add(openings)
    while True:
        yield games.play(_HERE_SECONDS), games.progress


def _play_on(
    pool: Pool, players: dict[str, NetworkPlayer], settings: NetworkMatchSettings, openings: Iterator[NumberedOpening]
) -> Iterator[_Moment]:
    """Plays the games on workers of a pool; yields what was played every moment, without end.

    The games of a lost worker are played again by others.
    """
    sides, files = [], []
    for player in players.values():
        sides.append(replace(player, parameters=player.parameters or default_parameters(player.network)))
        is_file = names_file(player.network)
        files.append(pool.share(find_network(player.network)) if is_file else player.network)
    settings, key = replace(settings, threads=1, folder=None, openings=None), time.time_ns()
    games, progress = Portions(pool, openings, settings.concurrency), dict[int, Progress]()

    def call(worker: int, more: list[NumberedOpening]) -> int:
        return pool.call(worker, _play_some, key, sides, settings, more, *files)

    while True:
        for worker in pool.idle():
            games.call(worker, call)
        played: list[PlayedGame] = []
        for worker, (finished, progress[worker]) in games.results(WAIT_SECONDS):
            numbers = {result.number for result, _ in finished}
            games.due[worker] = deque(game for game in games.due[worker] if game[0] not in numbers)
            played += finished
        yield played, sum((progress[worker] for worker in games.due if worker in progress), Progress())


def _play_some(
    worker: Worker,
    key: int,
    players: list[NetworkPlayer],
    settings: NetworkMatchSettings,
    more: list[NumberedOpening],
    *files: str,
) -> _Moment:
    """Plays for a moment in a worker's process, with further games; `files` are the players' networks there."""

    def make() -> MatchGames:
        there = [replace(player, network=file) for player, file in zip(players, files, strict=True)]
        return MatchGames(dict(zip("AB", there, strict=True)), settings)

    games = worker.kept("match", key, make)
    games.add(more)
    return games.play(_WORKER_SECONDS), games.progress


@dataclass(frozen=True)
class _LoadedPlayer:
    """A player that is ready to play."""

    scheduler: Scheduler
    parameters: SearchParameters

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.scheduler.evaluator.name, self.parameters.profile)))


def _load_players(
    players: dict[str, NetworkPlayer], settings: NetworkMatchSettings, evaluators: ExitStack
) -> dict[str, _LoadedPlayer]:
    """Loads the networks, which `evaluators` closes; players with the same network share its evaluator."""
    board = settings.empty_game()
    schedulers: dict[str, Scheduler] = {}
    loaded = {}
    for name, player in players.items():
        network = player.network
        if network not in schedulers:
            machine = {name: getattr(settings, name) for name in ("threads", "seed", "device", "precision")}
            worker = EngineSettings(network, strict=True, **machine).new_worker()
            evaluators.callback(worker.close)
            evaluator = worker.evaluator_on(board.width, board.height)
            # In about half of the games this network's player is to move: with this size each has a leaf or two in a
            # batch.
            size = max(evaluator.batch_size, settings.concurrency // 2)
            schedulers[network] = Scheduler(evaluator, settings.concurrency, size)
        evaluator, parameters = schedulers[network].evaluator, player.parameters or default_parameters(network)
        check_profile(evaluator.name, evaluator.takes_profile, parameters.profile)
        megabytes = tree_megabytes(_TREE_SEARCHES, settings.visits, board.area, parameters, evaluator)
        parameters = replace(parameters, tree_megabytes=min(parameters.tree_megabytes, megabytes))
        loaded[name] = _LoadedPlayer(schedulers[network], parameters)
    return loaded


@dataclass(eq=False)
class _MatchGame(GameInProgress):
    """A game in progress."""

    number: int
    players: dict[int, str]  # by colour
    searches: dict[str, Search]  # by player


class MatchGames(GameRunner[_MatchGame]):
    """Plays games of a match in this process, those that `add` has given it.

    Raises:
        UserError: A network cannot be read, the board is too large for it, or a profile is missing or out of place.
    """

    def __init__(self, players: dict[str, NetworkPlayer], settings: NetworkMatchSettings) -> None:
        super().__init__(_END_RULES, settings.concurrency)
        with ExitStack() as stack:
            self._players = _load_players(players, settings, stack)
            self._evaluators = stack.pop_all()
        self._settings = settings
        self._waiting: Iterator[NumberedOpening] = iter(())
        self._finished: list[PlayedGame] = []

    @property
    def schedulers(self) -> Collection[Scheduler]:
        return dict.fromkeys(player.scheduler for player in self._players.values())

    def close(self) -> None:
        """Frees the evaluators' memory."""
        self._evaluators.close()

    def add(self, games: Iterable[NumberedOpening]) -> None:
        """Adds games to play: their numbers and openings."""
        self._waiting = chain(self._waiting, games)

    def play(self, seconds: float) -> list[PlayedGame]:
        """Plays for some seconds, or until all games have been played; returns those that were finished."""
        end = time.monotonic() + seconds
        self.step()
        while self.games and time.monotonic() < end:
            self.step()
        finished, self._finished = self._finished, []
        return finished

    @property
    def progress(self) -> Progress:
        """The games in progress, and the work done so far."""
        moves = sum(len(game.game.moves) for game in self.games)
        return Progress(len(self.games), moves, sum(scheduler.positions for scheduler in self.schedulers))

    def _begin_game(self) -> _MatchGame | None:
        number, opening = next(self._waiting, (None, ()))
        if number is None:
            return None
        game = self._settings.empty_game()
        for move in opening:
            game.play(*move)
        searches = {
            name: Search(each.scheduler.evaluator, each.parameters, self._settings.seed + 2 * number + (name == "B"))
            for name, each in self._players.items()
        }
        return _MatchGame(game, number, players_by_colour(number), searches)

    def _plan_search(self, game: _MatchGame) -> PlannedSearch:
        name = game.players[game.game.to_move]
        return PlannedSearch(game.searches[name], self._players[name].scheduler, self._settings.visits)

    def _choose_move(self, game: _MatchGame, search: Search, report: SearchReport) -> int:
        return search.choose(report)

    def _end_game(self, game: _MatchGame, reason: EndReason) -> None:
        stones_stand = game.game.rules.stones_stand
        if reason is EndReason.MOVE_CAP and stones_stand:
            reason = EndReason.SCORE
        if reason is EndReason.SCORE:
            # Both networks together decide which stones are dead.
            dead = set() if stones_stand else agreed_dead(game.game, self._ownership(game.game))
            score = game.game.score(dead)
            winner, text = score.winner, str(score)
        elif reason is EndReason.RESIGNATION:
            winner = game.decided_for
            text = f"{colour_letter(winner)}+R"
        else:
            winner, text = EMPTY, "Void"
        result = GameResult(
            number=game.number,
            black=game.players[BLACK],
            winner=game.players.get(winner),
            result=text,
            reason=reason.value,
            moves=len(game.game.moves),
            names={name: player.name for name, player in self._players.items()},
            seconds={},
            claims={},
        )
        self._finished.append((result, match_record(game.game, result)))

    def _ownership(self, game: Game) -> np.ndarray:
        """Returns the mean of both networks' ownership, float [height, width] in -1..1, + for Black."""
        position = position_of(game, new_workspace(), conservative_pass=True)
        each = []
        for player in self._players.values():
            evaluator = player.scheduler.evaluator
            rows = evaluator.collect(evaluator.submit(position, np.arange(1), profile=player.parameters.profile))
            each.append(EvaluationRow(rows[0], game.area).ownership)
        mean = np.mean(each, 0).reshape(game.height, game.width)
        return mean if game.to_move == BLACK else -mean
