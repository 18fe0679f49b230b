"""The players of game records, and estimates of their ranks."""

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import UserError
from ..evaluate.choices import AUTO
from ..game.coords import BLACK, colour_name
from ..network.library import find_network, network_name
from ..sgf import GameRecord
from .rank_estimate import RankEstimate, estimate, estimate_as_data
from .rank_evidence import KINDS, count_kinds
from .rank_models import measured_with, need_model

if TYPE_CHECKING:
    from ..evaluate.batch import Network


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

    def add(self, counts: np.ndarray, stated: str) -> None:
        """Adds a game."""
        self.games += 1
        self.counts = self.counts + counts
        if stated and stated not in self.stated:
            self.stated.append(stated)

    @property
    def estimate(self) -> RankEstimate | None:
        """The estimate; None with too few moves."""
        return estimate(need_model(self.seat.network, self.seat.width, self.seat.height), self.counts)


class RankEstimator:
    """Collects the evidence of games; a context manager, which frees the networks.

    Args:
        network: The network that judges the moves, by file or name; "auto" for one that ranks were measured with.
        threads: CPU threads; None for all.

    Attributes:
        players: The players so far, in the order of their first games.
    """

    def __init__(self, network: str = AUTO, threads: int | None = None) -> None:
        self.players: dict[Seat, PlayerGames] = {}
        self._choice, self._threads = network, threads
        self._networks: dict[str, Network] = {}

    def __enter__(self) -> "RankEstimator":
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        for network in self._networks.values():
            network.close()

    def add(self, record: GameRecord) -> None:
        """Adds a game.

        Raises:
            UserError: Ranks were not measured on such a board with the network, or a move cannot be played.
        """
        try:
            path = self._path_for(record)
        except UserError as error:
            raise UserError(f"{record.source}: {error}") from error
        positions = [record.to_game(number) for number in range(len(record.moves) + 1)]
        counted = count_kinds(self._network(path).evaluate(positions))
        for colour, counts in counted.items():
            if counts.any():
                self._player(record, colour, network_name(path)).add(counts, _stated(record, colour))

    def _path_for(self, record: GameRecord) -> Path:
        """Returns the file of the network that judges a game; raises UserError if ranks were not measured with it."""
        size = record.width, record.height
        path = find_network(measured_with(*size) if self._choice == AUTO else self._choice)
        need_model(network_name(path), *size)
        return path

    def _player(self, record: GameRecord, colour: int, network: str) -> PlayerGames:
        name = record.black if colour == BLACK else record.white
        seat = Seat(name or f"{colour_name(colour)} of {record.source}", record.width, record.height, network)
        return self.players.setdefault(seat, PlayerGames(seat))

    def _network(self, path: Path) -> "Network":
        from ..evaluate.batch import load_network  # only once a game is to be evaluated: it takes seconds

        name = str(path)
        if name not in self._networks:
            self._networks[name] = load_network(path, threads=self._threads)
        return self._networks[name]


def _stated(record: GameRecord, colour: int) -> str:
    return record.black_rank if colour == BLACK else record.white_rank


def as_data(player: PlayerGames) -> dict[str, Any]:
    """Returns what is known about a player as data for JSON."""
    seat = player.seat
    return {
        "player": seat.name,
        "width": seat.width,
        "height": seat.height,
        "network": seat.network,
        "games": player.games,
        "stated_ranks": player.stated,
        "estimate": estimate_as_data(player.estimate),
    }
