"""The players of game records, and estimates of their ranks."""

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import interrupts
from ..base.errors import UserError
from ..go.coords import BLACK, WHITE, colour_name
from ..go.game import Game
from ..go.sgf import GameRecord
from ..nets.library import find_network, network_name
from ..search.evaluate.choices import AUTO
from .player_names import colours_of, may_be_part, name_key, tidy
from .rank_estimate import (
    KINDS,
    RankEstimate,
    RankModel,
    count_kinds,
    estimate,
    estimate_as_data,
    find_model,
    measured_with,
    rank_models,
    unmeasured,
    why_unusable,
)

if TYPE_CHECKING:
    from ..search.evaluate.batch import Evaluation, Network
    from .game_review import GameReview
    from .record_searches import RecordSearches

_LISTED = 10  # players named in an error


class _Stopped(Exception):
    """The user has stopped the review."""


@dataclass
class PlayerGames:
    """What is known about a player on boards of one size, judged by one network.

    Attributes:
        name: The player.
        width, height: The boards' columns and rows.
        network: The network's name.
        model: How often players of each rank make moves of each kind there.
        stated: The ranks that the records state, each once.
        games: The number of games.
        counts: How many moves of each kind the player made.
    """

    name: str
    width: int
    height: int
    network: str
    model: RankModel
    stated: list[str] = field(default_factory=list)
    games: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(KINDS, np.int64))

    @property
    def estimate(self) -> RankEstimate | None:
        """The estimate; None with too few moves."""
        return estimate(self.model, self.counts)

    def as_data(self) -> dict[str, Any]:
        """Returns what is known as data for JSON."""
        return {
            "player": self.name,
            "width": self.width,
            "height": self.height,
            "network": self.network,
            "games": self.games,
            "moves": int(self.counts.sum()),
            "stated_ranks": self.stated,
            "estimate": estimate_as_data(self.estimate),
        }


def choose_games(records: Iterable[GameRecord], player: str | None) -> list[tuple[GameRecord, list[int]]]:
    """Returns the games of a player with the player's colours; those of the same players and moves count once.

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
        return [(record, [BLACK, WHITE]) for record in unique]
    parts = may_be_part(unique, player)
    chosen = [(record, colours) for record in unique if (colours := colours_of(record, player, parts=parts))]
    if unique and not chosen:
        names = dict.fromkeys(name for record in unique for name in map(tidy, (record.black, record.white)) if name)
        listed = ", ".join(list(names)[:_LISTED]) or "not named"
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise UserError(f"no player {player!r} in these games: the players are {listed}{more}")
    return chosen


def _identity(record: GameRecord) -> Hashable:
    """Returns what tells a game from others: the players, the board, the first position and the moves."""
    stones = tuple(sorted(record.root.setup.items()))
    return name_key(record.black), name_key(record.white), record.width, record.height, stones, tuple(record.moves)


class RankEstimator:
    """Collects the evidence of games; a context manager, which frees the networks.

    Args:
        network: The network that judges the moves, by file or name; "auto" for one that ranks were measured with.
        threads: CPU threads; None for all.

    Attributes:
        players: The players so far, in the order of their first games, by the name's key, board and network.
        left_out: The numbers of games on boards, by width and height, on which ranks were not measured.

    Raises:
        UserError: The network cannot be used, or ranks were not measured with it.
        OSError: Its file cannot be read.
    """

    def __init__(self, network: str = AUTO, threads: int | None = None) -> None:
        self.players: dict[Hashable, PlayerGames] = {}
        self.left_out: Counter[tuple[int, int]] = Counter()
        self._threads = threads
        self._networks: dict[str, Network] = {}
        self._choice = None if network == AUTO else find_network(network)
        if self._choice is not None:
            if network_name(self._choice) not in rank_models():
                raise unmeasured(f"with {network_name(self._choice)}")
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

    def add(self, record: GameRecord, colours: Iterable[int] = (BLACK, WHITE)) -> None:
        """Adds a game, or counts it as left out.

        Args:
            record: The game.
            colours: Those whose moves are judged.

        Raises:
            UserError: A move cannot be played, or the record says nothing about ranks (`why_unusable`).
            KeyboardInterrupt: Ctrl-C was noted (`base.interrupts`); nothing of this game is added.
        """
        path = self._path_for(record.width, record.height)
        model = find_model(network_name(path), record.width, record.height) if path is not None else None
        if path is None or model is None:
            self.left_out[record.width, record.height] += 1
            return
        if problem := why_unusable(record):
            raise UserError(f"{record.source}: {problem}")
        network = self._network(path)

        def evaluate(positions: Iterable[Game]) -> "list[Evaluation]":
            interrupts.check()
            return network.evaluate(positions)

        counted = count_kinds(record.positions(), record.moves, evaluate)
        here = record.width, record.height, network_name(path)
        keys: set[Hashable] = set()
        for colour in (colour for colour in colours if counted[colour].any()):
            given, stated = (record.black, record.black_rank) if colour == BLACK else (record.white, record.white_rank)
            name = tidy(given) or f"{colour_name(colour)} of {record.source}"
            key = name_key(given) or name, *here
            player = self.players.setdefault(key, PlayerGames(name, *here, model))
            player.games += key not in keys  # once if the player has both colours
            player.counts = player.counts + counted[colour]
            if tidy(stated) and tidy(stated) not in player.stated:
                player.stated.append(tidy(stated))
            keys.add(key)

    def _path_for(self, width: int, height: int) -> Path | None:
        """Returns the file of the network that judges games on a board; None if ranks were not measured there."""
        if self._choice is not None:
            return self._choice
        name = measured_with(width, height)
        return None if name is None else find_network(name)

    def _network(self, path: Path) -> "Network":
        from ..search.evaluate.batch import load_network  # only once a game is to be evaluated: it takes seconds

        name = str(path)
        if name not in self._networks:
            self._networks[name] = load_network(path, threads=self._threads)
        return self._networks[name]


def estimate_ranks(review: "GameReview", searches: "RecordSearches") -> dict[int, RankEstimate]:
    """Returns the estimates of the judged players by colour.

    There are none without a model for the network and the board, if the record says nothing about ranks
    (`why_unusable`), or if the searches are stopped.

    Args:
        review: The review.
        searches: The searches by which it was made: the cache of their evaluator has the evaluations of the positions.
    """
    from ..search.evaluate.batch import evaluate_games

    record = review.record
    model = find_model(review.conditions.network, record.width, record.height)
    if model is None or not review.moves or why_unusable(record):
        return {}
    first, last = review.moves[0].number, review.moves[-1].number
    parameters = searches.parameters

    def evaluate(part: Iterable[Game]) -> "list[Evaluation]":
        if searches.is_stopped():
            raise _Stopped
        return evaluate_games(
            searches.evaluator,
            [game.copy() for game in part],
            optimism=parameters.root_policy_optimism,  # as the searches' roots, under which the cache has them
            profile=parameters.profile,
        )

    try:
        positions = itertools.islice(searches.positions(), first - 1, last + 1)
        counts = count_kinds(positions, record.moves[first - 1 : last], evaluate)
    except _Stopped:
        return {}
    found = {colour: estimate(model, counts[colour]) for colour in review.players}
    return {colour: one for colour, one in found.items() if one is not None}
