"""Whether the mistakes that a review lists are true, and whether reviews with other seeds find the same ones.

    python benchmarks/review_agreement.py GAME.sgf... [--visits 100] [--deep 1600] [--seeds 4] [--network NAME]

The ten most costly mistakes are taken twice: after the first look, and after the second. A review with many more visits
says what they cost in truth. Printed are the mean number of mistakes, the mean error of their costs in points, how many
of them lost less than half a point, the share that two seeds have in common, and the seconds of the looks.
"""

import argparse
import itertools
import time
from collections.abc import Sequence
from pathlib import Path

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.search.evaluate.choices import AUTO
from gtp_engine.study.move_review import LEAST_POINTS, LISTED, MoveReview, find_mistakes
from gtp_engine.study.reviewer import Reviewer, ReviewTask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--visits", type=int, default=100, help="per position in the first look (default: 100)")
    parser.add_argument("--deep", type=int, default=1600, help="visits per position for the true costs (default: 1600)")
    parser.add_argument("--seeds", type=int, default=4, help="reviews of each game (default: 4)")
    parser.add_argument("--network", default=AUTO, help="a file or a name (default: the bundled one)")
    options = parser.parse_args()
    print("game                      look  mistakes  error  false  shared  seconds")
    for path in options.games:
        record = read_sgf(path)
        deep = EngineSettings(options.network, visits=options.deep, seed=options.seeds + 1)
        truth = {move.number: move.points_loss for move in reviewed(record, deep, looks=1)[0][0]}
        reviews = [
            reviewed(record, EngineSettings(options.network, visits=options.visits, seed=seed))
            for seed in range(1, options.seeds + 1)
        ]
        for look, name in enumerate(("first", "both")):
            lists = [listed(moves[look]) for moves, _ in reviews]
            seconds = mean([times[look] for _, times in reviews])
            errors = [abs(move.points_loss - truth[move.number]) for moves in lists for move in moves]
            false = mean([sum(truth[move.number] < LEAST_POINTS for move in moves) for moves in lists])
            numbers = f"{mean([len(moves) for moves in lists]):8.1f}  {mean(errors):5.2f}  {false:5.1f}"
            print(f"{path.stem[:24]:24}  {name:>5}  {numbers}  {shared(lists):6.0%}  {seconds:7.1f}", flush=True)


def reviewed(
    record: GameRecord, settings: EngineSettings, looks: int = 2
) -> tuple[list[tuple[MoveReview, ...]], list[float]]:
    """Returns the moves after the first and after the second look, and the seconds until the end of each."""
    reviewer = Reviewer(settings)
    steps = reviewer.steps(ReviewTask(record))
    next(steps)  # loads the network
    began = time.perf_counter()
    moves: list[tuple[MoveReview, ...]] = []
    times = []
    for _, group in itertools.groupby(steps, lambda step: step.stage):
        if len(moves) == looks:
            break
        *_, last = group
        moves.append(last.review.moves)
        times.append(time.perf_counter() - began)
    reviewer.close()
    return moves, times


def listed(moves: Sequence[MoveReview]) -> list[MoveReview]:
    """Returns the worst moves of the mistakes that are listed, the most costly first."""
    worst = [mistake.worst for mistake in find_mistakes(moves)]
    has_second_look = any(move.is_checked for move in moves)
    return [move for move in worst if move.is_checked or not has_second_look][:LISTED]


def shared(lists: Sequence[Sequence[MoveReview]]) -> float:
    """Returns the mean share of mistakes that two lists have in common, of the shorter one."""
    numbers = [{move.number for move in moves} for moves in lists]
    return mean([len(a & b) / max(1, min(len(a), len(b))) for a, b in itertools.combinations(numbers, 2)])


def mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


if __name__ == "__main__":
    main()
