"""Fits the rank estimate of reviews (`study/rank_estimate.py`) on games of people, and measures how far it is off.

    python benchmarks/people_ranks.py ogs-19x19.sgfs [--also dan19.zip --member kgs6d-handicap-01 --games 120]

The file has one SGF of 19x19 a line, with the players' ranks. Each player is estimated with weights that were fitted
without that player's games. Shown are the errors by groups of ranks, how often the rank is in the interval, and the
constants for `rank_estimate.py`, fitted on all. `--also` estimates games of other people with these constants.
"""

import argparse
import itertools
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import records_of, share

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.study import rank_estimate
from gtp_engine.study.searches import Positions

GROUPS = {"20k and weaker": (-99, -20), "10k to 19k": (-19, -10), "1k to 9k": (-9, -1), "dan": (0, 99)}
# How much the mean error of each group of ranks counts beside the errors of its games: without it a fit pulls both ends
# of the scale towards its middle.
GROUP_WEIGHT, RIDGE = 50.0, 1.0
SHARE = 0.9  # of the games in which the rank is to be in the interval


class Side(NamedTuple):
    """One player's part in a game: the name, the number of the game, the stated rank (1d is 0), and the figures."""

    player: str
    game: int
    rank: int
    figures: tuple[float, ...]


class Fit(NamedTuple):
    """A constant, and the weight of each figure."""

    constant: float
    weights: np.ndarray

    def __call__(self, figures: np.ndarray) -> np.ndarray:
        """Returns the ranks of rows of figures."""
        limits = rank_estimate.WEAKEST, rank_estimate.STRONGEST
        return np.clip(self.constant + figures @ self.weights, *limits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="a file with one SGF per line")
    parser.add_argument("--also", type=Path, help="a zip archive of other people's games, one SGF per line")
    parser.add_argument("--member", default="", help="only its members whose names begin with this")
    parser.add_argument("--games", type=int, default=120, help="games of it (default: 120)")
    options = parser.parse_args()
    worker = SearchWorker(EngineSettings(rank_estimate.NETWORK, threads=1, seed=1))
    sides = sides_of(worker, read_lines(options.records))
    ranks = np.array([side.rank for side in sides], float)
    estimates = left_out_estimates(sides)
    show("players left out", sides, estimates, left_out_halves(sides, estimates))
    fit, interval = fit_on(sides), interval_of(estimates, estimates - ranks)
    print(f"CONSTANT = {fit.constant:.2f}\nWEIGHTS = ({', '.join(f'{weight:.2f}' for weight in fit.weights)})")
    print(f"INTERVAL = ({interval[0]:.3f}, {interval[1]:.3f})")
    if options.also:
        records = (record for _, record in records_of(options.also, options.member))
        others = sides_of(worker, itertools.islice((one for one in records if is_ranked(one)), options.games))
        estimates = fit(np.array([side.figures for side in others]))
        show(f"{options.also.name} {options.member}", others, estimates, half_widths(interval, estimates))
        for rank in sorted({side.rank for side in others}):
            own = [estimate for side, estimate in zip(others, estimates, strict=True) if side.rank == rank]
            print(f"  stated {rank:+}: {len(own):3} sides, mean estimate {np.mean(own):+.1f}")
    worker.close()


def read_lines(path: Path) -> list[GameRecord]:
    """Returns the records of a file."""
    return [read_sgf(line) for line in path.read_bytes().splitlines()]


def is_ranked(record: GameRecord) -> bool:
    """Whether a game is of 19x19 with ranks in kyu or dan."""
    ranks = record.black_rank, record.white_rank
    return record.width == record.height == 19 and all(rank[-1:] in {"k", "d"} for rank in ranks)


def sides_of(worker: SearchWorker, records: Iterable[GameRecord]) -> list[Side]:
    """Returns both sides of each game, those with enough moves."""
    evaluator = worker.evaluator_on(19, 19)
    found = []
    for number, record in enumerate(records):
        try:
            positions = Positions(record)
        except SgfError:
            continue
        players = {BLACK: (record.black, record.black_rank), WHITE: (record.white, record.white_rank)}
        for colour, figures in rank_estimate.figures_by_player(evaluator, positions).items():
            name, rank = players[colour]
            found.append(Side(name, number, as_number(rank), astuple(figures)))
    return found


def as_number(rank: str) -> int:
    """Returns a rank such as "8k" as a number: 1d is 0, 1k is -1."""
    number = int(rank[:-1])
    return number - 1 if rank.endswith("d") else -number


def group_of(rank: int) -> str:
    """Returns the name of the group of a rank."""
    return next(name for name, (low, high) in GROUPS.items() if low <= rank <= high)


def fit_on(sides: list[Side]) -> Fit:
    """Returns the fit by least squares, in which the mean error of each group counts too."""
    figures, ranks = np.array([side.figures for side in sides]), np.array([side.rank for side in sides], float)
    mean, scale = figures.mean(axis=0), figures.std(axis=0)
    rows = np.column_stack([np.ones(len(sides)), (figures - mean) / scale])
    groups = np.array([group_of(side.rank) for side in sides])
    a, b = [rows], [ranks]
    for name in GROUPS:
        chosen = groups == name
        if chosen.any():
            weight = np.sqrt(GROUP_WEIGHT * chosen.sum())
            a.append(weight * rows[chosen].mean(axis=0, keepdims=True))
            b.append(weight * ranks[chosen].mean(keepdims=True))
    matrix, target = np.vstack(a), np.concatenate(b)
    penalty = RIDGE * np.diag([0.0] + [1.0] * len(scale))
    solution = np.linalg.solve(matrix.T @ matrix + penalty, matrix.T @ target)
    weights = solution[1:] / scale
    return Fit(float(solution[0] - weights @ mean), weights)


def interval_of(estimates: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Returns the line over the estimate that the share of the errors are within."""
    sizes = np.abs(errors)
    line = np.polyfit(estimates, sizes, 1)
    factor = np.quantile(sizes / np.maximum(np.polyval(line, estimates), 1), SHARE)
    return float(factor * line[0]), float(factor * line[1])


def half_widths(interval: tuple[float, float], estimates: np.ndarray) -> np.ndarray:
    """Returns half of the interval of each estimate."""
    return np.maximum(np.polyval(interval, estimates), rank_estimate.LEAST_INTERVAL)


def left_out_estimates(sides: list[Side]) -> np.ndarray:
    """Returns for each side the estimate by games without its player."""
    estimates = np.empty(len(sides))
    for player in {side.player for side in sides}:
        games = {side.game for side in sides if side.player == player}
        fit = fit_on([side for side in sides if side.game not in games])
        for number, side in enumerate(sides):
            if side.player == player:
                estimates[number] = fit(np.array(side.figures))
    return estimates


def left_out_halves(sides: list[Side], estimates: np.ndarray) -> np.ndarray:
    """Returns half of the interval of each side by the errors of the other players."""
    ranks, players = np.array([side.rank for side in sides]), np.array([side.player for side in sides])
    halves = np.empty(len(sides))
    for player in set(players):
        others = players != player
        interval = interval_of(estimates[others], (estimates - ranks)[others])
        halves[~others] = half_widths(interval, estimates[~others])
    return halves


def show(title: str, sides: list[Side], estimates: np.ndarray, halves: np.ndarray) -> None:
    """Prints the errors by groups, and how many ranks are in their intervals."""
    ranks = np.array([side.rank for side in sides])
    errors = estimates - ranks
    print(f"{title}: median error {np.median(np.abs(errors)):.2f}; in the interval {share_in(errors, halves)}")
    groups = np.array([group_of(rank) for rank in ranks])
    for name in GROUPS:
        own = groups == name
        if own.any():
            print(
                f"  {name:15} {own.sum():3} sides: mean error {errors[own].mean():+.1f}, "
                f"median {np.median(np.abs(errors[own])):.1f}, in the interval {share_in(errors[own], halves[own])}, "
                f"half of it {halves[own].mean():.1f}"
            )


def share_in(errors: np.ndarray, halves: np.ndarray) -> str:
    """Returns the share of the errors that are within the interval."""
    return share(int((np.abs(errors) <= halves).sum()), len(errors))


if __name__ == "__main__":
    main()
