"""The players of game records, and estimates of their ranks."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import interrupts
from ..base.errors import UserError
from ..evaluate.choices import AUTO
from ..game.coords import BLACK, WHITE, colour_name
from ..game.game import Game
from ..network.library import find_network, network_name
from ..sgf import GameRecord
from .player_names import colours_of, may_be_part, name_key, tidy
from .rank_estimate import RankEstimate, estimate, estimate_as_data
from .rank_evidence import KINDS, count_kinds, why_unusable
from .rank_models import check_network, find_model, measured_with, need_model

if TYPE_CHECKING:
    from ..evaluate.batch import Evaluation, Network

_LISTED = 10  # players named in an error


@dataclass(frozen=True)
class Seat:
    """Who is told apart: a player on boards of one size, judged by one network."""

    name: str
    width: int
    height: int
    network: str


@dataclass
class PlayerGames:
    """What is known about a player.

    Attributes:
        seat: The player.
        stated: The ranks that the records state, each once.
        games: The number of games.
        counts: How many moves of each kind (`rank_evidence`) the player made.
    """

    seat: Seat
    stated: list[str] = field(default_factory=list)
    games: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(KINDS, np.int64))

    def add_game(self) -> None:
        """Counts a game, of which `add_moves` adds the moves: twice if the player has both colours."""
        self.games += 1

    def add_moves(self, counts: np.ndarray, stated: str) -> None:
        """Adds the moves of one colour in a game, and the rank that its record states."""
        self.counts = self.counts + counts
        if stated and stated not in self.stated:
            self.stated.append(stated)

    @property
    def estimate(self) -> RankEstimate | None:
        """The estimate; None with too few moves."""
        return estimate(need_model(self.seat.network, self.seat.width, self.seat.height), self.counts)


@dataclass(frozen=True)
class ChosenGame:
    """A game, and the colours whose moves are judged."""

    record: GameRecord
    colours: tuple[int, ...] = (BLACK, WHITE)


def choose_games(records: Iterable[GameRecord], player: str | None) -> list[ChosenGame]:
    """Returns the games of a player; games of the same players with the same moves count once.

    Args:
        records: The games.
        player: Whom to judge (`player_names`); None for everybody.

    Raises:
        UserError: Nobody in the games has this name.
    """
    different: dict[Hashable, GameRecord] = {}
    for record in records:
        different.setdefault(_identity(record), record)
    unique = list(different.values())
    if player is None:
        return [ChosenGame(record) for record in unique]
    parts = may_be_part(unique, player)
    found = [ChosenGame(record, tuple(colours_of(record, player, parts=parts))) for record in unique]
    chosen = [game for game in found if game.colours]
    if unique and not chosen:
        names = dict.fromkeys(name for record in unique for name in map(tidy, (record.black, record.white)) if name)
        listed = ", ".join(list(names)[:_LISTED]) or "not named"
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise UserError(f"no player {player!r} in these games: the players are {listed}{more}")
    return chosen


def _identity(record: GameRecord) -> Hashable:
    """Returns what tells a game from others: the players, the board, the first position and the moves."""
    root = record.nodes[0]
    stones = tuple(map(tuple, (root.black, root.white)))
    return name_key(record.black), name_key(record.white), record.width, record.height, stones, tuple(record.moves)


class RankEstimator:
    """Collects the evidence of games; a context manager, which frees the networks.

    Args:
        network: The network that judges the moves, by file or name; "auto" for one that ranks were measured with.
        threads: CPU threads; None for all.

    Attributes:
        players: The players so far, in the order of their first games, by seats that have the names' keys.
        left_out: The numbers of games on boards, by width and height, on which ranks were not measured.

    Raises:
        UserError: The network cannot be used, or ranks were not measured with it.
        OSError: Its file cannot be read.
    """

    def __init__(self, network: str = AUTO, threads: int | None = None) -> None:
        self.players: dict[Seat, PlayerGames] = {}
        self.left_out: Counter[tuple[int, int]] = Counter()
        self._threads = threads
        self._networks: dict[str, Network] = {}
        self._choice = None if network == AUTO else find_network(network)
        if self._choice is not None:
            check_network(network_name(self._choice))
            self._network(self._choice)  # loaded now, so that a file that cannot be used is no error of a game

    def __enter__(self) -> "RankEstimator":
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        for network in self._networks.values():
            network.close()

    @property
    def chosen(self) -> str | None:
        """The name of the network that was asked for; None for those that ranks were measured with."""
        return None if self._choice is None else network_name(self._choice)

    def add(self, game: ChosenGame) -> None:
        """Adds a game, or counts it as left out.

        Raises:
            UserError: A move cannot be played, or the record says nothing about ranks (`rank_evidence.why_unusable`).
            KeyboardInterrupt: Ctrl-C was noted (`base.interrupts`); nothing of this game is added.
        """
        record = game.record
        path = self._path_for(record.width, record.height)
        if path is None:
            self.left_out[record.width, record.height] += 1
            return
        if problem := why_unusable(record):
            raise UserError(f"{record.source}: {problem}")
        network = self._network(path)

        def evaluate(positions: Iterable[Game]) -> "list[Evaluation]":
            interrupts.check()
            return network.evaluate(positions)

        counted = count_kinds(record.positions(), record.moves, evaluate)
        colours = {colour: self._player(record, colour, path) for colour in game.colours if counted[colour].any()}
        for player in {player.seat: player for player in colours.values()}.values():
            player.add_game()
        for colour, player in colours.items():
            player.add_moves(counted[colour], _stated(record, colour))

    def _path_for(self, width: int, height: int) -> Path | None:
        """Returns the file of the network that judges games on a board; None if ranks were not measured there."""
        if self._choice is not None:
            return self._choice if find_model(network_name(self._choice), width, height) else None
        name = measured_with(width, height)
        return None if name is None else find_network(name)

    def _player(self, record: GameRecord, colour: int, path: Path) -> PlayerGames:
        given = tidy(record.black if colour == BLACK else record.white)
        name = given or f"{colour_name(colour)} of {record.source}"
        seat = Seat(name, record.width, record.height, network_name(path))
        key = replace(seat, name=name_key(given) or name)
        return self.players.setdefault(key, PlayerGames(seat))

    def _network(self, path: Path) -> "Network":
        from ..evaluate.batch import load_network  # only once a game is to be evaluated: it takes seconds

        name = str(path)
        if name not in self._networks:
            self._networks[name] = load_network(path, threads=self._threads)
        return self._networks[name]


def _stated(record: GameRecord, colour: int) -> str:
    return tidy(record.black_rank if colour == BLACK else record.white_rank)


def as_data(player: PlayerGames) -> dict[str, Any]:
    """Returns what is known about a player as data for JSON."""
    seat = player.seat
    return {
        "player": seat.name,
        "width": seat.width,
        "height": seat.height,
        "network": seat.network,
        "games": player.games,
        "moves": int(player.counts.sum()),
        "stated_ranks": player.stated,
        "estimate": estimate_as_data(player.estimate),
    }
