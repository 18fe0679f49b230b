"""Estimates of players' ranks from their moves.

`weights/rank_moves.toml` holds, for a network and a board, how the kinds of moves (`rank_evidence`) depend on the rank;
`benchmarks/rank_moves.py` measures it on games of the engine's own ranks.
"""

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import UserError
from ..network.library import bundled_folder
from ..play.ranks import Rank, as_rank
from .rank_evidence import KINDS, log_shares

MOVES_FILE = "rank_moves.toml"
CONFIDENCE = 0.95
_STEPS = 10  # of a rank, in which estimates are computed


@dataclass(frozen=True)
class RankModel:
    """How the moves of players depend on their rank, with one network on one board.

    Attributes:
        lowest: The weakest rank that was measured.
        highest: The strongest one.
        spread: How many times as much as chance the evidence of games varies: moves of a game depend on each other.
        coefficients: float [KINDS, 3], see `rank_evidence.fit`.
    """

    lowest: Rank
    highest: Rank
    spread: float
    coefficients: np.ndarray


@dataclass(frozen=True)
class RankEstimate:
    """An estimate of a player's rank.

    Attributes:
        rank: The mean, as the nearest rank.
        low: The lower end of the 95 % interval.
        high: The upper end.
        moves: The number of moves that it is made from.
        is_lowest: Whether the player may be weaker than all ranks that were measured.
        is_highest: Whether the player may be stronger.
    """

    rank: Rank
    low: Rank
    high: Rank
    moves: int
    is_lowest: bool
    is_highest: bool

    def __str__(self) -> str:
        low = f"{self.low} or weaker" if self.is_lowest else str(self.low)
        high = f"{self.high} or stronger" if self.is_highest else str(self.high)
        return f"{self.rank} ({low} to {high})"


def estimate(model: RankModel, evidence: Iterable[np.ndarray]) -> RankEstimate | None:
    """Estimates the rank of a player.

    Every rank that was measured is as likely as another one before the games are seen (Bayes, with a flat prior).

    Args:
        model: Of the network that found the evidence, on the same board.
        evidence: The counts of the kinds of moves, int [KINDS], of each game.

    Returns:
        The estimate; None without moves.
    """
    counts = sum(evidence, np.zeros(KINDS, np.int64))
    if not counts.any():
        return None
    places = np.arange((model.highest.number - model.lowest.number) * _STEPS + 1) / _STEPS + model.lowest.number
    log_likelihoods = np.array([counts @ log_shares(model.coefficients, place) for place in places]) / model.spread
    weights = np.exp(log_likelihoods - log_likelihoods.max())
    cumulative = np.cumsum(weights) / weights.sum()
    tail = (1 - CONFIDENCE) / 2
    low, high = (places[int(np.searchsorted(cumulative, share))] for share in (tail, 1 - tail))
    return RankEstimate(
        _nearest(float(places @ weights / weights.sum())),
        _nearest(low),
        _nearest(high),
        int(counts.sum()),
        is_lowest=bool(low < places[0] + 1),
        is_highest=bool(high > places[-1] - 1),
    )


def _nearest(number: float) -> Rank:
    return Rank(round(number))


def find_model(network: str, width: int, height: int) -> RankModel:
    """Returns the model for a network and a board.

    Args:
        network: The network's name.
        width: The board's columns.
        height: The board's rows.

    Raises:
        UserError: Ranks were not measured with this network, or not on this board; or the file is invalid.
    """
    models = read_models(bundled_folder() / MOVES_FILE)
    if network not in models:
        raise UserError(f"ranks were not measured with {network}: choose {' or '.join(models)} by --network")
    found = models[network].get((width, height))
    if found is None:
        sizes = ", ".join(f"{across}x{down}" for across, down in models[network])
        raise UserError(f"ranks were not measured on {width}x{height} with {network}, only on {sizes}")
    return found


@functools.cache
def read_models(path: Path) -> dict[str, dict[tuple[int, int], RankModel]]:
    """Returns the models by the network's name and the board's width and height.

    Raises:
        UserError: The file is invalid.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return {
            network: {_size(board): _model(entry) for board, entry in boards.items()}
            for network, boards in table.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: {error}") from error


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def _model(entry: dict[str, object]) -> RankModel:
    lowest, highest = as_rank(entry["lowest"]), as_rank(entry["highest"])
    coefficients = np.array(entry["coefficients"], float)
    if lowest is None or highest is None or coefficients.shape != (KINDS, 3):
        raise ValueError("expected two ranks and three coefficients for each kind of moves")
    return RankModel(lowest, highest, float(entry["spread"]), coefficients)  # type: ignore[arg-type]
