"""Fits what a lead is worth to players of a rank (`study/level.py`) to the results of games, and measures the error.

    python benchmarks/lead_worth.py ogs-19x19.sgfs ranks9.sgfs dan19.zip:kgs6d-handicap [--network NAME] [--games 200]

A file has one SGF a line; an archive may have the beginning of its members' names after a colon. Of each game with the
ranks of both players and a winner who did not win on time, positions are evaluated without a search: one for every
twentieth of the board's points. The one who is ahead wins with the probability

    u + (1 - 2 u) N(lead / spread),  spread = a exp(-b rank) points / 361

where rank is the mean of both players' ranks (1d is 0), N the normal distribution, and the lead of a handicap at the
start is not counted as far as it is expected to have been made up for. The most likely a, b and u are shown with their
standard errors, by drawing games anew; then, for parts of the leads, how often the one who was ahead lost, and how
often by the fit.
"""

import argparse
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from common import games_in, lines_of

from gtp_engine.go.coords import BLACK
from gtp_engine.go.sgf import GameRecord, SgfError, read_result
from gtp_engine.search.evaluate.batch import evaluate_games
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.factory import make_evaluator
from gtp_engine.study.level import BY_RANK, HANDICAP_ENDS, SPREAD, UPSETS, level_of, read_rank
from gtp_engine.study.rank_estimate import NETWORK
from gtp_engine.study.searches import Positions

_STEP = 0.05  # of the board's points
_SAMPLES = 30  # of games drawn anew
_LEADS = (0.0, 0.5, 1.0, 2.0, 4.0, math.inf)  # in spreads
_normal = np.vectorize(lambda value: math.erfc(-value / math.sqrt(2)) / 2)
Rows = np.ndarray  # float [n, 4]: rank, share of 361 points, Black's lead, 1 if Black has won


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="FILE[:MEMBER]")
    parser.add_argument("--network", default=NETWORK, help=f"a file or a name (default: {NETWORK})")
    parser.add_argument("--games", type=int, default=200, help="of each source (default: 200)")
    options = parser.parse_args()
    evaluator = make_evaluator(options.network, seed=1)
    games = [rows for source in options.sources for rows in itertools.islice(rows_of(source, evaluator), options.games)]
    found = fit(games)
    drawn = random.Random(1)
    errors = np.std([fit(drawn.choices(games, k=len(games))) for _ in range(_SAMPLES)], axis=0)
    for name, value, error, used in zip("abu", found, errors, (SPREAD, BY_RANK, UPSETS), strict=True):
        print(f"{name}: {value:.3f} +- {error:.3f} (level.py has {used})")
    for line in calibration(np.concatenate(games), found):
        print(line)


def rows_of(source: str, evaluator: Evaluator) -> Iterator[Rows]:
    """Yields the rows of each game of a file or an archive that counts, in an order that chance has chosen."""
    name, _, member = source.partition(":")
    path = Path(name)
    lines = list(lines_of(path, member)) if path.suffix == ".zip" else [("", each) for each in path.open("rb")]
    random.Random(1).shuffle(lines)
    for _, record in games_in(lines):
        found = read_result(record.result)
        is_ranked = read_rank(record.black_rank) is not None and read_rank(record.white_rank) is not None
        if is_ranked and found is not None and found.winner is not None and found.by not in ("time", "forfeit"):
            try:
                yield _rows(record, found.winner, evaluator)
            except SgfError:  # an illegal move
                continue


def _rows(record: GameRecord, winner: int, evaluator: Evaluator) -> Rows:
    positions = Positions(record)
    area = record.width * record.height
    numbers = range(0, positions.count, max(1, round(_STEP * area)))
    evaluations = evaluate_games(evaluator, [positions[number] for number in numbers])
    leads = [each.lead if each.game.to_move == BLACK else -each.lead for each in evaluations]
    level = level_of(record, (), leads[0])
    beyond = [
        lead - level.handicap * max(0.0, 1 - number / (HANDICAP_ENDS * area))
        for number, lead in zip(numbers, leads, strict=True)
    ]
    return np.array([(level.rank, area / 361, lead, winner == BLACK) for lead in beyond], float)


def fit(games: Sequence[Rows]) -> np.ndarray:
    """Returns the most likely a, b and u, found on grids that become finer."""
    rows = np.concatenate(games)
    centre, width = np.array([2.7, 0.05, 0.1]), np.array([1.5, 0.06, 0.1])
    for _ in range(8):
        grid = [centre + width * np.array(step) for step in itertools.product((-1, -0.5, 0, 0.5, 1), repeat=3)]
        centre = min((each for each in grid if 0 <= each[2] < 0.5), key=lambda each: _surprise(rows, each))
        width = width / 2
    return np.array([math.exp(centre[0]), *centre[1:]])


def _surprise(rows: Rows, values: np.ndarray) -> float:
    """Returns the negative logarithm of the likelihood of the results; the first value is the logarithm of a."""
    chances = _upsets(rows, np.array([math.exp(values[0]), *values[1:]]))
    lost = (rows[:, 2] > 0) != (rows[:, 3] > 0)
    return float(-np.log(np.clip(np.where(lost, chances, 1 - chances), 1e-6, 1)).sum())


def _upsets(rows: Rows, values: np.ndarray) -> np.ndarray:
    """Returns the probability that the one who is ahead loses, for each row."""
    return values[2] + (1 - 2 * values[2]) * _normal(-_in_spreads(rows, values))


def _in_spreads(rows: Rows, values: np.ndarray) -> np.ndarray:
    return np.abs(rows[:, 2]) / (values[0] * np.exp(-values[1] * rows[:, 0]) * rows[:, 1])


def calibration(rows: Rows, values: np.ndarray) -> Iterator[str]:
    """Yields how often the one who was ahead lost, and how often by the fit, for parts of the leads."""
    leads, chances = _in_spreads(rows, values), _upsets(rows, values)
    lost = (rows[:, 2] > 0) != (rows[:, 3] > 0)
    for low, high in itertools.pairwise(_LEADS):
        part = (leads >= low) & (leads < high)
        if part.any():
            where = f"{low:g} to {high:g} spreads: {part.sum()} positions"
            yield f"{where}, lost {lost[part].mean():.1%}, by the fit {chances[part].mean():.1%}"


if __name__ == "__main__":
    main()
