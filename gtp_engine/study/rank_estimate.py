"""Estimates of players' ranks by Bayes' rule from the kinds of their moves: what each loses, and how likely it is.

The shares of the kinds by rank are in `weights/rank_moves.toml`, which `benchmarks/rank_moves.py` prints.
"""

import functools
import itertools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import UserError
from ..base.languages.texts import DEFAULT, texts
from ..engine.ranks import Rank, as_rank
from ..go.coords import BLACK, PASS, WHITE, index_of_point
from ..go.game import Game, Move
from ..go.sgf import GameRecord
from ..nets.library import bundled_folder

if TYPE_CHECKING:
    from ..search.evaluate.batch import Evaluation

MODELS_FILE = "rank_moves.toml"
CONFIDENCE = 0.95
FEWEST_MOVES = 10  # that tell something about a rank. Chosen by judgement
# The loss of a move is measured this many moves later, or at the end of the game: the same player is to move again, so
# that what the network thinks of the right to move cancels out. Chosen by measurement (docs/ranks.md), as the limits
# between the kinds are.
HORIZON = 2
LOSSES = (-6.0, -3.0, -1.0, 0.3, 1.5, 4.0, 8.0)  # points
PRIORS = (0.02, 0.1, 0.4, 0.7)
KINDS = (len(LOSSES) + 1) * (len(PRIORS) + 1)
BATCH = 64  # positions of a game that are in memory at once


@dataclass(frozen=True, eq=False)
class RankModel:
    """How often players of each rank make moves of each kind, with one network on one board.

    Attributes:
        shares: The shares of the kinds in the moves of each rank, float [KINDS], which sum to 1; the ranks ascend.
        spread: How many times as much as independent moves the evidence of games varies, at least 1.
    """

    shares: Mapping[Rank, np.ndarray]
    spread: float


@dataclass(frozen=True)
class RankEstimate:
    """An estimate of a player's rank.

    Attributes:
        rank: The rank nearest to the mean.
        low: The lower end of the interval that holds the rank with a probability of 95 %.
        high: Its upper end.
        moves: The number of moves that it is made from.
        or_weaker: Whether the interval reaches the weakest rank that was measured: the player may be weaker.
        or_stronger: The same for the strongest one.
    """

    rank: Rank
    low: Rank
    high: Rank
    moves: int
    or_weaker: bool
    or_stronger: bool

    def interval(self, language: str = DEFAULT) -> str:
        """Returns the interval as text: "14k to 9k", "25k or weaker to 22k", or "4d or stronger" for a single rank."""
        text = texts(language)
        low = text("players.orWeaker", rank=str(self.low)) if self.or_weaker else str(self.low)
        high = text("players.orStronger", rank=str(self.high)) if self.or_stronger else str(self.high)
        if self.low == self.high:
            return high if self.or_stronger else low
        return text("players.interval", low=low, high=high)

    def text(self, language: str = DEFAULT) -> str:
        """Returns the rank and the interval, "12k (14k to 9k)"; the interval alone if it is a single rank."""
        interval = self.interval(language)
        if self.low == self.high:
            return interval
        return texts(language)("players.rankInterval", rank=str(self.rank), interval=interval)

    def __str__(self) -> str:
        return self.text()


def estimate_as_data(found: RankEstimate | None) -> dict[str, Any] | None:
    """Returns an estimate as data for JSON."""
    if found is None:
        return None
    return {
        "rank": str(found.rank),
        "low": str(found.low),
        "high": str(found.high),
        "or_weaker": found.or_weaker,
        "or_stronger": found.or_stronger,
        "moves": found.moves,
    }


def estimate(model: RankModel, counts: np.ndarray) -> RankEstimate | None:
    """Estimates the rank of a player; each rank of the model is equally likely before the moves are seen.

    Args:
        model: Of the network that found the evidence, on the same board.
        counts: How many moves of each kind the player made, int [KINDS].

    Returns:
        The estimate; None with fewer than FEWEST_MOVES moves.
    """
    if counts.sum() < FEWEST_MOVES:
        return None
    ranks = list(model.shares)
    log_likelihoods = np.log(np.array([*model.shares.values()])) @ counts / model.spread
    weights = np.exp(log_likelihoods - log_likelihoods.max())
    cumulative = np.cumsum(weights) / weights.sum()
    tail = (1 - CONFIDENCE) / 2
    low, high = (ranks[int(np.searchsorted(cumulative, share))] for share in (tail, 1 - tail))
    mean = float(np.array([rank.number for rank in ranks]) @ weights / weights.sum())
    nearest = min(ranks, key=lambda rank: abs(rank.number - mean))
    return RankEstimate(nearest, low, high, int(counts.sum()), low == ranks[0], high == ranks[-1])


# The moves.


def count_kinds(
    positions: Iterable[Game], moves: Sequence[Move], evaluate: "Callable[[Iterable[Game]], Sequence[Evaluation]]"
) -> dict[int, np.ndarray]:
    """Counts the moves of each kind that both players made in a game.

    A move's loss is the fall of the lead that the network gives its player, without a search, from the position before
    it to the one `HORIZON` moves later; its prior is the probability that the network gives it. Passes are left out.

    Args:
        positions: The positions before each move and the one after the last; they may be one game that is played on in
            between, such as `GameRecord.positions`.
        moves: Consecutive moves of the game.
        evaluate: Evaluates up to `BATCH` of the positions, and copies each before it takes the next one, as
            `Network.evaluate` does.

    Returns:
        The counts by colour, int [KINDS].
    """
    leads: list[float] = []  # of Black
    priors: list[float] = []
    rest = iter(positions)
    while part := evaluate(itertools.islice(rest, BATCH)):
        for evaluation in part:
            if len(leads) < len(moves):
                game, point = evaluation.game, moves[len(leads)].point
                priors.append(float(evaluation.priors[index_of_point(point, game.width, game.height)]))
            leads.append(evaluation.lead if evaluation.game.to_move == BLACK else -evaluation.lead)
    found = {colour: np.zeros(KINDS, np.int64) for colour in (BLACK, WHITE)}
    for number, (move, prior) in enumerate(zip(moves, priors, strict=True)):
        if move.point != PASS:
            loss = leads[number] - leads[min(number + HORIZON, len(moves))]
            of_loss = np.digitize(loss if move.colour == BLACK else -loss, LOSSES)
            found[move.colour][of_loss * (len(PRIORS) + 1) + np.digitize(prior, PRIORS)] += 1
    return found


def why_unusable(record: GameRecord) -> str:
    """Returns why a record says nothing about its players' ranks; empty if it does.

    The losses are those of players who move in turns, in a game that nobody changes by hand.
    """
    played = 0
    for node in record.main_line:
        if played and node.setup:
            return f"stones are set up after move {played}"
        played += node.move is not None
    pairs = enumerate(itertools.pairwise(record.moves), 2)
    number = next((number for number, (one, other) in pairs if one.colour == other.colour), None)
    if number is None:
        return ""
    as_moves = " (handicap stones have to be set up, not played)" if number == 2 else ""
    return f"the players do not alternate at move {number}{as_moves}"


# The models.


def rank_models() -> dict[str, dict[tuple[int, int], RankModel]]:
    """Returns the models of `weights/rank_moves.toml` by the network's name and the board's width and height."""
    return read_models(bundled_folder() / MODELS_FILE)


def find_model(network: str, width: int, height: int) -> RankModel | None:
    """Returns the model for a network, by its name, and a board; None if ranks were not measured with it there."""
    return rank_models().get(network, {}).get((width, height))


def measured_with(width: int, height: int) -> str | None:
    """Returns the name of a network with which ranks were measured on a board; None if there is none."""
    return next((name for name, boards in rank_models().items() if (width, height) in boards), None)


def unmeasured(what: str) -> UserError:
    """Returns the error for what ranks were not measured with, such as "on 13x13"."""
    known = ", or ".join(f"on {_boards(boards)} with {name}" for name, boards in rank_models().items())
    return UserError(f"no rank can be estimated {what}, only {known}")


def measured_boards(network: str | None = None) -> str:
    """Returns the boards on which ranks were measured, and the networks, as text: "9x9 (b4c32-9x9)".

    Args:
        network: Only the boards of this network; None for all.
    """
    models = {name: boards for name, boards in rank_models().items() if network in (None, name)}
    return ", ".join(f"{_boards(boards)} ({name})" for name, boards in models.items())


def _boards(boards: Mapping[tuple[int, int], object]) -> str:
    return " and ".join(f"{width}x{height}" for width, height in boards)


@functools.cache
def read_models(path: Path) -> dict[str, dict[tuple[int, int], RankModel]]:
    """Returns the models in a file by the network's name and the board's width and height."""
    table = tomllib.loads(path.read_text("utf-8"))
    models: dict[str, dict[tuple[int, int], RankModel]] = {}
    for network, boards in table.items():
        for board, entry in boards.items():
            width, _, height = board.partition("x")
            models.setdefault(network, {})[int(width), int(height)] = _model(entry)
    return models


def _model(entry: Mapping[str, Any]) -> RankModel:
    """Returns the model of an entry, whose ranks ascend."""
    shares = {as_rank(name): np.array(values) / sum(values) for name, values in entry["shares"].items()}
    return RankModel({rank: array for rank, array in shares.items() if rank is not None}, entry["spread"])
