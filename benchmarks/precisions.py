"""The precisions of a network on this CPU: evaluations/s of the bare network in turns, and what each of them loses.

    python benchmarks/precisions.py b7c96h3tfrs-test5-cnorm.bin.gz --records dan19.zip pro19.zip --positions 225

One thread computes batches of one size; medians and ranges over the turns, and the ratio to the first precision. The
losses are the means over positions of held-back game records, as in `record_distance.py`, from float32.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from record_distance import distances, positions_of

from gtp_engine.base.system import configure_process
from gtp_engine.clients.cli.speed import natural_position, network_inputs
from gtp_engine.go.game import Game
from gtp_engine.nets.library import find_network
from gtp_engine.search.evaluate.batch import load_network
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator

SLICE_SECONDS = 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="a file of KataGo's, or a name")
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16", "int8"], help="default: all three")
    parser.add_argument("--size", type=int, default=19, help="default: 19")
    parser.add_argument("--batch", type=int, default=8, help="default: 8")
    parser.add_argument("--turns", type=int, default=6, help="default: 6")
    parser.add_argument(
        "--records", nargs="+", type=Path, default=[], help="zip archives of .sgfs files, for the losses"
    )
    parser.add_argument("--positions", type=int, default=225, help="of each archive (default: 225)")
    options = parser.parse_args()
    configure_process()
    path = find_network(options.network)
    works = {name: bare_work(path, name, options.size, options.batch) for name in options.precisions}
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(options.turns):
        for name, work in works.items():
            rates[name].append(rate(work, options.batch))
    for name, found in rates.items():
        ratios = [one / other for one, other in zip(found, rates[options.precisions[0]], strict=True)]
        spread = f"({min(found):,.1f} to {max(found):,.1f})"
        print(f"{name:9} {statistics.median(found):9,.1f}/s {spread:24} {statistics.median(ratios):.2f} times")
    chosen = (itertools.islice(positions_of(archive, 1), options.positions) for archive in options.records)
    if games := list(itertools.chain.from_iterable(chosen)):
        show_losses(path, options.precisions, games)


def bare_work(path: Path, precision: str, size: int, batch: int) -> Callable[[], object]:
    """Returns a function that evaluates one batch on this thread."""
    evaluator = NetworkEvaluator(path, device="cpu", precision=precision)
    game = natural_position(evaluator, size, size, "")
    inputs, positions = network_inputs(evaluator, game, batch), np.arange(batch)
    return lambda: evaluator.runner.run(inputs, positions)


def rate(work: Callable[[], object], batch: int) -> float:
    """Returns the evaluations a second."""
    start, done = time.perf_counter(), 0
    while time.perf_counter() < start + SLICE_SECONDS:
        work()
        done += batch
    return done / (time.perf_counter() - start)


def show_losses(path: Path, precisions: list[str], games: list[Game]) -> None:
    """Prints how far each precision is from float32."""
    with load_network(path, threads=1, device="cpu", precision="float32") as network:
        truth = network.evaluate(games)
    print(f"{len(games):,} positions\n{'policy':>9}{'win rate':>9}{'lead':>9}{'ownership':>10}")
    for name in precisions:
        with load_network(path, threads=1, device="cpu", precision=name) as network:
            found = network.evaluate(games)
        policy, winrate, lead, ownership = np.mean(list(map(distances, truth, found)), axis=0)
        print(f"{policy:9.4f}{winrate:9.4f}{lead:9.3f}{ownership:10.4f}  {name}")


if __name__ == "__main__":
    main()
