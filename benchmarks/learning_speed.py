"""How fast a network learns: the learner, the network's bare forward and backward pass, and the loader alone.

    python benchmarks/learning_speed.py [--config b6c96] [--size 9] [--batch-size 256] [--threads 1]

The games are random ones. Bare and whole steps alternate in one run. The results are medians of positions per second by
the clock, and by the CPU time of the process, which other programs disturb less.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from gtp_engine.base.system import configure_torch
from gtp_engine.game.coords import BLACK, point_of_index
from gtp_engine.game.game import Game
from gtp_engine.network.config import parse_config
from gtp_engine.network.model import Model
from gtp_engine.training.data.loader import Loader, Samples, Tensors
from gtp_engine.training.data.samples import SampleGame, pack
from gtp_engine.training.learner import PRECISIONS, Learner, LearnerSettings, faster_precision

ROUNDS, STEPS, GAMES = 5, 3, 20


def random_game(seed: int, size: int) -> SampleGame:
    choice = np.random.default_rng(seed)
    game = Game(size, komi=7)
    while len(game.moves) < size * size // 2:
        game.play(game.to_move, point_of_index(int(choice.choice(np.flatnonzero(game.legal_moves()))), size, size))
    ownership = choice.integers(-1, 2, size * size).astype(np.int8)
    return SampleGame.from_game(game, winner=BLACK, margin=5.0, ownership=ownership)


def bare_step(model: Model, batch: Tensors, precision: str) -> None:
    dtype = PRECISIONS[precision]
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        outputs = model(batch.planes.float(), batch.scalars, full_board=batch.full_board)
    torch.stack([output.float().sum() for output in outputs.raw]).sum().backward()


def rates(work: Callable[[], object], positions: int) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return positions / (time.perf_counter() - clock), positions / (time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="b6c96")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mixed", action="store_true", help="with some boards two lines smaller: masks are needed")
    options = parser.parse_args()
    configure_torch(options.threads)
    device = torch.device("cpu")
    sizes = (options.size, options.size - 2) if options.mixed else (options.size,)
    samples = Samples(pack([random_game(seed, sizes[seed % len(sizes)]) for seed in range(GAMES)]))
    settings = LearnerSettings(batch_size=options.batch_size, precision=faster_precision(device))
    learner = Learner(Model(parse_config(options.config)).initialise(), settings)
    loader = Loader(samples, options.batch_size, seed=1)
    batch = next(loader)

    def bare() -> None:
        for _ in range(STEPS):
            bare_step(learner.model, batch, settings.precision)

    def whole() -> None:
        for _ in range(STEPS):
            learner.step(next(loader))

    def load() -> None:
        samples.batch(np.arange(options.batch_size) % len(samples), np.arange(options.batch_size) % 8)

    works = {
        "forward and backward alone": (bare, STEPS),
        "the learner": (whole, STEPS),
        "loading, one thread": (load, 1),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for number in range(ROUNDS + 1):
        for name, (work, steps) in works.items():
            rate = rates(work, steps * options.batch_size)
            if number:  # the first one warms up
                found[name].append(rate)
    loader.close()
    print(
        f"{options.config}, {'and '.join(f'{size}x{size} ' for size in sizes)}batch {options.batch_size}, "
        f"{settings.precision}, {options.threads} threads"
    )
    for name, measured in found.items():
        clock, cpu = (statistics.median(values) for values in zip(*measured, strict=True))
        print(f"{name}: {clock:,.0f} positions/s, {cpu:,.0f} per second of CPU time")


if __name__ == "__main__":
    main()
