"""The players of game records, and estimates of their ranks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..game.coords import BLACK, colour_name
from ..sgf import GameRecord, SgfError
from .rank_estimate import RankEstimate, estimate, find_model
from .rank_evidence import find_evidence

if TYPE_CHECKING:
    from ..evaluate.batch import Network

MOVES = 20  # of both players: a shorter game says nothing


@dataclass
class Player:
    """A player's games on one board.

    Attributes:
        name: The name in the records; the colour and the file if there is none.
        size: The board's columns and rows.
        stated: The ranks that the records state, each once.
        evidence: The kinds of moves (`rank_evidence`) of each game.
    """

    name: str
    size: tuple[int, int]
    stated: list[str] = field(default_factory=list)
    evidence: list[np.ndarray] = field(default_factory=list)

    def estimate(self, network: str) -> RankEstimate | None:
        """Estimates the rank with the measurements for a network; None without moves.

        Raises:
            UserError: There are no measurements for the network or the board.
        """
        return estimate(find_model(network, *self.size), self.evidence)


def gather(
    records: Iterable[GameRecord], network: "Network", on_error: Callable[[SgfError], object]
) -> Iterator[dict[tuple[str, tuple[int, int]], Player]]:
    """Evaluates games one after the other; yields the players after each.

    Args:
        records: The games.
        network: Evaluates the positions.
        on_error: Called with the error of a game whose moves cannot all be played; it does not count.

    Raises:
        UserError: There are no measurements for the network or a board.
    """
    players: dict[tuple[str, tuple[int, int]], Player] = {}
    for record in records:
        size = (record.width, record.height)
        find_model(network.name, *size)  # before the work
        try:
            evidence = evidence_of(record, network)
        except SgfError as error:
            on_error(error)
            continue
        for colour, counts in evidence.items():
            named = record.black if colour == BLACK else record.white
            name = named or f"{colour_name(colour)} of {record.source}"
            player = players.setdefault((name, size), Player(name, size))
            rank = record.black_rank if colour == BLACK else record.white_rank
            if rank and rank not in player.stated:
                player.stated.append(rank)
            player.evidence.append(counts)
        yield players


def evidence_of(record: GameRecord, network: "Network") -> dict[int, np.ndarray]:
    """Returns the kinds of moves of both players of a record; none of a short game.

    Raises:
        SgfError: A move cannot be played.
    """
    count = len(record.moves)
    if count < MOVES:
        return {}
    games = [record.to_game(number) for number in range(count + 1)]
    return find_evidence(network, games)
