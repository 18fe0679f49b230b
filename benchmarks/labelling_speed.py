"""Positions/s of a teacher that labels, and of the bare network in batches as large, in CPU time.

Both take turns in one process on one thread, so that other programs disturb them alike.
"""

import argparse
import time

import numpy as np

from gtp_engine.cli.speed import natural_position, network_inputs
from gtp_engine.evaluate.network import NetworkEvaluator
from gtp_engine.evaluate.runner import Inputs
from gtp_engine.network.library import find_network
from gtp_engine.training.data.random_games import random_games
from gtp_engine.training.data.samples import GameSet, pack
from gtp_engine.training.distillation.teacher import CPU_BATCH, Teacher
from gtp_engine.training.distillation.walks import RecordWalk
from gtp_engine.training.settings import GameSettings

BATCHES = 4  # of a measurement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", help="a file or a name")
    parser.add_argument("--board-size", type=int, default=19, help="default: 19")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    options = parser.parse_args()
    side = options.board_size
    evaluator = NetworkEvaluator(find_network(options.teacher), device="cpu", cache_megabytes=1.0)
    teacher = Teacher(evaluator, CPU_BATCH)
    inputs = network_inputs(evaluator, natural_position(evaluator, side, side, ""), CPU_BATCH)
    settings = GameSettings(sizes={str(side): 1.0})
    games = pack(list(random_games(settings, CPU_BATCH, seed=1)))  # longer than others: replaying counts for more
    rates: list[tuple[float, float]] = []
    for number in range(options.rounds + 1):
        rates.append((labelling_rate(teacher, games, number), bare_rate(evaluator, inputs)))
    labelling, bare = np.array(rates[1:]).T  # the first round compiles and allocates
    shares = labelling / bare
    print(f"{evaluator.name}, {side}x{side}, {evaluator.precision}, batches of {CPU_BATCH}")
    print(f"bare: {bare.mean():.1f} positions/s; labelling: {labelling.mean():.1f} positions/s")
    print(f"share: {100 * shares.mean():.1f} % ({100 * shares.min():.1f} to {100 * shares.max():.1f})")


def labelling_rate(teacher: Teacher, games: GameSet, number: int) -> float:
    """Labels a few batches along the games, as in the middle of a task; returns the rate."""
    left = BATCHES

    def is_stopped() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    before, start = teacher.evaluated, time.thread_time()
    walks = (RecordWalk(games, place, np.random.default_rng((number, place))) for place in range(games.game_count))
    teacher.label(walks, is_stopped)
    return (teacher.evaluated - before) / (time.thread_time() - start)


def bare_rate(evaluator: NetworkEvaluator, inputs: Inputs) -> float:
    """Evaluates a few batches by the network alone; returns the rate."""
    start = time.thread_time()
    for _ in range(BATCHES):
        evaluator.runner.run(inputs, np.arange(CPU_BATCH))
    return BATCHES * CPU_BATCH / (time.thread_time() - start)


if __name__ == "__main__":
    main()
