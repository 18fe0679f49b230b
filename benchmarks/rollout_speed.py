"""Speed of random games and of the rollouts made of them, on an empty board.

Games and rollouts: one thread, per second of its CPU time. Evaluations: positions/s of the evaluator as the search uses
it, with priors, by the clock, with one thread and with two.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from gtp_engine.base.jit import njit
from gtp_engine.evaluate.rollouts.evaluator import ROLLOUTS_PER_EVALUATION, RolloutEvaluator
from gtp_engine.evaluate.rollouts.rollout import MAX_CANDIDATES, play_rollout
from gtp_engine.game.board import MAX_POINTS, copy_board, new_board

SECONDS = 0.5  # about, for each repeat


@njit
def play_games(boards: np.ndarray, games: int, heavy: bool, state: np.ndarray, candidates: np.ndarray) -> None:
    """Plays `games` times from boards[0]; boards[1] is scratch."""
    amaf_colours = np.empty(MAX_POINTS, np.int8)
    for _ in range(games):
        copy_board(boards[1], boards[0])
        play_rollout(boards[1], state, heavy, candidates, amaf_colours)


def rates(work: Callable[[int], object], clock: Callable[[], float], repeats: int) -> list[float]:
    """Returns the amounts of work per second, sorted; a repeat lasts about SECONDS."""
    amount = 1
    while True:
        start = clock()
        work(amount)
        if clock() - start > 0.05 and amount > 1:
            break
        amount *= 2
    amount = max(1, round(amount * SECONDS / (clock() - start)))
    found = []
    for _ in range(repeats):
        start = clock()
        work(amount)
        found.append(amount / (clock() - start))
    return sorted(found)


def show(what: str, found: list[float]) -> float:
    """Prints a line with the median and the range; returns the median."""
    median = statistics.median(found)
    print(f"{what:44} {median:9,.0f} /s  ({found[0]:,.0f} to {found[-1]:,.0f})", flush=True)
    return median


def measure_games(size: int, repeats: int) -> None:
    """Measures random games with both policies on one thread."""
    boards = np.repeat(new_board(size, size), 2)
    state, candidates = np.ones(1, np.uint64), np.zeros(MAX_CANDIDATES, np.int16)
    for name, heavy in (("random games", False), ("heavy rollouts", True)):
        found = rates(
            lambda games, heavy=heavy: play_games(boards, games, heavy, state, candidates),  # type: ignore[misc]
            time.thread_time,
            repeats,
        )
        show(f"{size}x{size} {name}", found)


def measure_evaluator(size: int, threads: int, repeats: int) -> float:
    """Measures evaluations with `threads` threads; returns the median rate."""
    evaluator = RolloutEvaluator(threads=threads, seed=1)
    boards = np.repeat(new_board(size, size), evaluator.batch_size)
    indices = np.arange(evaluator.batch_size)

    def evaluate(batches: int) -> None:
        for _ in range(batches):
            evaluator.collect(evaluator.submit(boards, indices))

    found = [rate * evaluator.batch_size for rate in rates(evaluate, time.perf_counter, repeats)]
    evaluator.close()
    return show(f"{size}x{size} evaluations of {ROLLOUTS_PER_EVALUATION} rollouts, threads: {threads}", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="default: 7")
    options = parser.parse_args()
    for size in (9, 19):
        measure_games(size, options.repeats)
        one, two = (measure_evaluator(size, threads, options.repeats) for threads in (1, 2))
        print(f"{size}x{size} two threads against one: {two / one:.2f}")


if __name__ == "__main__":
    main()
