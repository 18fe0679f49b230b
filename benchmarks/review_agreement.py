"""Whether the mistakes that a review lists are true, and whether reviews with other seeds find the same ones.

    python benchmarks/review_agreement.py GAME.sgf... [--visits 25 100] [--seeds 4] [--network NAME]
                                          [--judge NETWORK] [--deep 1600] [--moves 60-120] [--truth FILE.json]

The ten most costly mistakes are taken twice: after the first look, and after the second. A judge, the same network or a
stronger one with many visits, says what they cost in truth. Printed are, as means of the games and seeds: the number of
mistakes; the mean error of their costs in points; how many of them lost less than half a point in truth; the share of
the judge's ten worst moves (in the order of a review), of those that cost 1.5 points or more, that belong to a listed
mistake; the share of mistakes that two seeds have in common; and the seconds until the end of the look. --truth keeps
what the judge says, to use it again with the same options. What the lesson after a game has: `lesson_mistakes.py`.
"""

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path

from kept_results import digest_of_options

from gtp_engine.clients.cli.review import MOVE_RANGE
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.evaluate.choices import AUTO
from gtp_engine.study.move_review import CLASSES, LEAST_POINTS, LISTED, Mistake, MoveReview, find_mistakes
from gtp_engine.study.reviewer import Reviewer, ReviewTask

Truth = dict[int, tuple[float, float]]  # `MoveReview.importance` and what each move costs in points, by its number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--visits", type=int, nargs="+", default=[100], help="per position in the first look")
    parser.add_argument("--deep", type=int, default=1600, help="visits per position of the judge (default: 1600)")
    parser.add_argument("--seeds", type=int, default=4, help="reviews of each game (default: 4)")
    parser.add_argument("--network", default=AUTO, help="a file or a name (default: the bundled one)")
    parser.add_argument("--judge", help="the network that says what a move cost (default: the same one)")
    parser.add_argument("--moves", default="1-", help="which moves of the games (default: all)")
    parser.add_argument("--truth", type=Path, help="where the judge's costs are kept")
    options = parser.parse_args()
    tasks = [task_of(path, options.moves) for path in options.games]
    truths = [truth_of(task, options) for task in tasks]
    print("visits   look  mistakes  error  false  found  shared  seconds")
    for visits in options.visits:
        reviews = [
            [
                reviewed(task, EngineSettings(options.network, visits=visits, seed=seed))
                for seed in range(1, options.seeds + 1)
            ]
            for task in tasks
        ]
        for look, name in enumerate(("first", "both")):
            looked = [[moves[min(look, len(moves) - 1)] for moves, _ in own] for own in reviews]
            lists = [[listed(moves) for moves in own] for own in looked]
            seconds = mean([times[look] for own in reviews for _, times in own])
            print(f"{visits:6}  {name:>5}  {agreement(lists, truths)}  {seconds:7.1f}", flush=True)


def task_of(path: Path, moves: str) -> ReviewTask:
    """Returns what to review of a file."""
    record, (first, last) = read_sgf(path), MOVE_RANGE.parse("moves", moves)
    return ReviewTask(record, range(first, min(last or len(record.moves), len(record.moves)) + 1))


def truth_of(task: ReviewTask, options: argparse.Namespace) -> Truth:
    """Returns what the judge says about a game, as kept in the file if there is one."""
    path: Path | None = options.truth
    kept = json.loads(path.read_text()) if path and path.exists() else {}
    judge = options.judge or options.network
    by = digest_of_options(judge, options.deep, options.seeds, options.moves)
    name = f"{Path(task.record.source).stem} {by}"
    if name not in kept:
        settings = EngineSettings(judge, visits=options.deep, seed=options.seeds + 1)
        kept[name] = {
            move.number: (move.importance, move.cost.lead) for move in reviewed(task, settings, looks=1)[0][0]
        }
        if path:
            path.write_text(json.dumps(kept))
    return {int(number): (importance, points) for number, (importance, points) in kept[name].items()}


def reviewed(
    task: ReviewTask, settings: EngineSettings, looks: int = 2
) -> tuple[list[tuple[MoveReview, ...]], list[float]]:
    """Returns the moves after the first and after the second look, and the seconds until the end of each."""
    reviewer = Reviewer(settings)
    steps = reviewer.steps(task)
    next(steps)  # loads the network
    began = time.perf_counter()
    moves: list[tuple[MoveReview, ...]] = []
    times: list[float] = []
    for step in itertools.takewhile(lambda step: step.stage in ("moves", "again"), steps):
        if step.stage == "again":  # its first step has the moves of the first look
            moves, times = [*moves[:1], step.review.moves], [*times[:1], time.perf_counter() - began]
            if looks == 1:
                break
    reviewer.close()
    return moves, times


def listed(moves: Sequence[MoveReview]) -> list[Mistake]:
    """Returns the mistakes that are listed, the most important first."""
    has_second_look = any(move.is_checked for move in moves)
    return [each for each in find_mistakes(moves) if each.worst.is_checked or not has_second_look][:LISTED]


def agreement(lists: Sequence[Sequence[Sequence[Mistake]]], truths: Sequence[Truth]) -> str:
    """Returns how well lists of mistakes agree with the truth and with each other: those of each game and seed."""
    pairs = [(mistakes, truth) for own, truth in zip(lists, truths, strict=True) for mistakes in own]
    worst = [(mistake.worst, truth) for mistakes, truth in pairs for mistake in mistakes]
    error = mean([abs(move.points_loss - truth[move.number][1]) for move, truth in worst])
    false = sum(truth[move.number][1] < LEAST_POINTS for move, truth in worst) / max(1, len(pairs))
    found = mean([share for mistakes, truth in pairs if (share := found_share(mistakes, truth)) is not None])
    common = mean([shared(own) for own in lists])
    count = len(worst) / max(1, len(pairs))
    return f"{count:8.1f}  {error:5.2f}  {false:5.1f}  {found:5.0%}  {common:6.0%}"


def found_share(mistakes: Sequence[Mistake], truth: Truth) -> float | None:
    """Returns which share of the worst moves belongs to one of these mistakes; None if there are none."""
    worst = sorted(truth, key=truth.__getitem__, reverse=True)[:LISTED]
    costly = {number for number in worst if truth[number][1] >= CLASSES[1]}
    numbers = {move.number for mistake in mistakes for move in mistake.misses}
    return len(costly & numbers) / len(costly) if costly else None


def shared(lists: Sequence[Sequence[Mistake]]) -> float:
    """Returns the mean share of mistakes that two lists have in common, of the shorter one."""
    numbers = [{mistake.worst.number for mistake in mistakes} for mistakes in lists]
    return mean([len(a & b) / max(1, min(len(a), len(b))) for a, b in itertools.combinations(numbers, 2)])


def mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


if __name__ == "__main__":
    main()
