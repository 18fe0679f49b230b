"""Fits the rank estimate of reviews (`study/rank_estimate.py`) on games of people, and measures how far it is off.

    python benchmarks/people_ranks.py ogs-19x19.sgfs [--also dan19.zip --member kgs6d-handicap-01 --games 120]

The file has one SGF of 19x19 a line, with the players' ranks. Each player is estimated without that player's games, by
figures, a scale and weights of games that were chosen without them, too: those that were the least off when the other
players were left out in turn. Shown are the choices, the errors by groups of ranks, how often what is told is right,
and the constants for `rank_estimate.py`, chosen and fitted on all. `--also` estimates games of other people with these.
"""

import argparse
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import records_of, share

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.study import rank_estimate
from gtp_engine.study.rank_estimate import rank_of, rating_of
from gtp_engine.study.searches import Positions

GROUPS = {"20k and weaker": (-99, -20), "10k to 19k": (-19, -10), "1k to 9k": (-9, -1), "dan": (0, 99)}
SHARE = 0.9  # of the games in which the rank is to be in the interval


class Side(NamedTuple):
    """One player's part in a game: the name, the number of the game, the stated rank (1d is 0), and of each move the
    ratio of its prior to the highest one, the lead before it, and the points that it lost.
    """

    player: str
    game: int
    rank: int
    ratios: np.ndarray
    leads: np.ndarray
    losses: np.ndarray


class Choice(NamedTuple):
    """What is chosen.

    Attributes:
        least_ratio: What ratios of priors are at least counted as.
        second: What the second figure is the mean of: "losses", "changes" of the lead, or "none".
        most_points: What each of these is at most counted as.
        scale: What the figures add up to: a "rank" or a "rating".
        by_player: Whether all games of a player together count as much as those of any other.
    """

    least_ratio: float
    second: str
    most_points: float
    scale: str
    by_player: bool

    def figures(self, side: Side) -> list[float]:
        """Returns the figures of a side."""
        likelihood = np.log(np.maximum(side.ratios, self.least_ratio)).mean()
        if self.second == "none":
            return [likelihood]
        points = side.losses if self.second == "losses" else np.abs(np.diff(side.leads))
        return [likelihood, np.log(np.minimum(points, self.most_points).mean())]


CHOICES = [
    Choice(least, second, most, scale, by_player)
    for least in (0.001, 0.0003, 0.0001, 0.00001)
    for second, most in (("none", 0.0), *itertools.product(("losses", "changes"), (5.0, 10.0, 20.0)))
    for scale in ("rank", "rating")
    for by_player in (False, True)
]


class Sample:
    """Sides as arrays; those of some of them are chosen by masks, bool [n].

    Attributes:
        players: The names.
        games: The numbers of the games.
        ranks: The stated ranks.
        groups: The names of their groups.
        all: The mask of all sides.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = sides
        self.players = np.array([side.player for side in sides])
        self.games = np.array([side.game for side in sides])
        self.ranks = np.array([side.rank for side in sides], float)
        self.groups = np.array([group_of(side.rank) for side in sides])
        self.all = np.ones(len(sides), bool)
        self._figures: dict[Choice, np.ndarray] = {}

    def figures(self, choice: Choice) -> np.ndarray:
        """Returns the figures of all sides, [n, figures]."""
        if choice not in self._figures:
            self._figures[choice] = np.array([choice.figures(side) for side in self._sides])
        return self._figures[choice]

    def folds(self, some: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yields for each player of some sides the player's ones, and those of games without the player."""
        for player in np.unique(self.players[some]):
            own = some & (self.players == player)
            yield own, some & ~np.isin(self.games, self.games[own])


class Fit(NamedTuple):
    """A choice, and the constant and the weights of its figures."""

    choice: Choice
    constant: float
    weights: np.ndarray

    def __call__(self, sample: Sample, some: np.ndarray) -> np.ndarray:
        """Returns the ranks that some sides are estimated at."""
        sums = self.constant + sample.figures(self.choice)[some] @ self.weights
        if self.choice.scale == "rating":
            return rank_of(sums)
        return np.clip(sums, rank_estimate.WEAKEST, rank_estimate.STRONGEST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="a file with one SGF per line")
    parser.add_argument("--also", type=Path, help="a zip archive of other people's games, one SGF per line")
    parser.add_argument("--member", default="", help="only its members whose names begin with this")
    parser.add_argument("--games", type=int, default=120, help="games of it (default: 120)")
    options = parser.parse_args()
    worker = SearchWorker(EngineSettings(rank_estimate.NETWORK, threads=1, seed=1))
    sample = Sample(sides_of(worker, read_lines(options.records)))
    tell_errors_of_the_method(sample)
    choice = best_choice(sample, sample.all)
    fit, half = fit_on(choice, sample, sample.all), half_of(choice, sample, sample.all)
    print(f"chosen on all: {choice}")
    print(f"constant {fit.constant:.3f}, weights {fit.weights.round(3)}, half of an interval {half:.3f}")
    if options.also:
        records = (record for _, record in records_of(options.also, options.member))
        ranked = itertools.islice((one for one in records if is_ranked(one)), options.games)
        others = Sample(sides_of(worker, ranked))
        estimates = fit(others, others.all)
        show(f"{options.also.name} {options.member}", others, estimates, np.full(len(estimates), half))
        for rank in np.unique(others.ranks):
            own = estimates[others.ranks == rank]
            print(f"  stated {rank:+.0f}: {len(own):3} sides, mean estimate {own.mean():+.1f}")
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
    for game, record in enumerate(records):
        try:
            positions = Positions(record)
        except SgfError:
            continue
        players = {BLACK: (record.black, record.black_rank), WHITE: (record.white, record.white_rank)}
        evaluations = rank_estimate.evaluations_of(evaluator, positions)
        for colour, numbers in rank_estimate.own_moves(positions).items():
            ratios, leads = rank_estimate.ratios_and_leads(evaluations, positions, numbers)
            after = [evaluations[number + 1] for number in numbers]
            now = [one.lead if one.game.to_move == colour else -one.lead for one in after]
            name, rank = players[colour]
            found.append(Side(name, game, as_number(rank), ratios, leads, np.maximum(leads - now, 0)))
    return found


def as_number(rank: str) -> int:
    """Returns a rank such as "8k" as a number: 1d is 0, 1k is -1."""
    number = int(rank[:-1])
    return number - 1 if rank.endswith("d") else -number


def group_of(rank: int) -> str:
    """Returns the name of the group of a rank."""
    return next(name for name, (low, high) in GROUPS.items() if low <= rank <= high)


def fit_on(choice: Choice, sample: Sample, some: np.ndarray) -> Fit:
    """Returns the fit to some sides: each figure as a line over the scale, combined by how far they are off it.

    Unlike a fit of the ranks by the figures, this does not pull both ends of the scale towards its middle.
    """
    ranks = sample.ranks[some]
    aims = rating_of(ranks) if choice.scale == "rating" else ranks
    _, places, games = np.unique(sample.players[some], return_inverse=True, return_counts=True)
    shares = 1 / games[places] if choice.by_player else np.ones(len(places))
    shares /= shares.sum()
    figures = sample.figures(choice)[some]
    middle, aim = shares @ figures, shares @ aims
    figures, aims = figures - middle, aims - aim
    slopes = (shares * aims) @ figures / (shares @ aims**2)
    rest = figures - np.outer(aims, slopes)
    weights = np.linalg.solve((rest.T * shares) @ rest, slopes)
    weights /= weights @ slopes
    return Fit(choice, float(aim - weights @ middle), weights)


def left_out_estimates(choice: Choice, sample: Sample, some: np.ndarray) -> np.ndarray:
    """Returns for each of some sides the estimate by those of games without its player, [n]; NaN for the others."""
    estimates = np.full(len(some), np.nan)
    for own, others in sample.folds(some):
        estimates[own] = fit_on(choice, sample, others)(sample, own)
    return estimates


def best_choice(sample: Sample, some: np.ndarray) -> Choice:
    """Returns what is the least off when players are left out: by the mean errors of the groups, which count alike."""

    def error(choice: Choice) -> float:
        errors = np.abs(left_out_estimates(choice, sample, some) - sample.ranks)
        return float(np.mean([errors[some & (sample.groups == name)].mean() for name in set(sample.groups[some])]))

    return min(CHOICES, key=error)


def half_of(choice: Choice, sample: Sample, some: np.ndarray) -> float:
    """Returns half of the interval, as a rating, by the errors of the estimates of players left out."""
    errors = rating_of(left_out_estimates(choice, sample, some)) - rating_of(sample.ranks)
    return float(np.quantile(np.abs(errors[some]), SHARE))


def tell_errors_of_the_method(sample: Sample) -> None:
    """Prints the errors when all is chosen and fitted without the player in question, and what is chosen how often."""
    estimates, halves = np.empty(len(sample.all)), np.empty(len(sample.all))
    choices: Counter[Choice] = Counter()
    for own, others in sample.folds(sample.all):
        choice = best_choice(sample, others)
        choices[choice] += 1
        estimates[own] = fit_on(choice, sample, others)(sample, own)
        halves[own] = half_of(choice, sample, others)
    for choice, count in choices.most_common():
        print(f"chosen for {count} players: {choice}")
    show("players left out", sample, estimates, halves)


def show(title: str, sample: Sample, estimates: np.ndarray, halves: np.ndarray) -> None:
    """Prints the errors by groups, and how often the interval is right, or the group if that is all that is told."""
    errors = estimates - sample.ranks
    within = np.abs(rating_of(estimates) - rating_of(sample.ranks)) <= halves
    estimated = np.array([group_of(round(estimate)) for estimate in estimates])
    has_interval = np.round(estimates) > rank_estimate.GROUPS[-1][1]
    right = np.where(has_interval, within, sample.groups == estimated)
    print(f"{title}: median error {np.median(np.abs(errors)):.2f}, half of an interval {halves.mean():.2f} as a rating")
    for name in GROUPS:
        own = sample.groups == name
        if own.any():
            print(
                f"  {name:15} {own.sum():3} sides: mean error {errors[own].mean():+.2f}, median "
                f"{np.median(np.abs(errors[own])):.2f}; told rightly {share(int(right[own].sum()), int(own.sum()))}"
            )
    for name, own in (("intervals", has_interval), ("groups", ~has_interval)):
        print(f"  {name} that are right: {share(int(right[own].sum()), int(own.sum()))}")


if __name__ == "__main__":
    main()
