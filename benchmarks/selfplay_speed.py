"""Self-play's share of the bare network's rate, in one process of one thread, alternating.

CPU time is measured, so that other programs disturb little.

    python benchmarks/selfplay_speed.py NETWORK [--visits 32] [--games 64] [--rounds 5]
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np

from gtp_engine.base.system import configure_process
from gtp_engine.evaluate.network import NetworkEvaluator
from gtp_engine.game.game import Game
from gtp_engine.network.library import find_network
from gtp_engine.training.selfplay import SelfPlay
from gtp_engine.training.settings import GameSettings, RunSettings, SearchSettings
from gtp_engine.training.workers import evaluator_for

SECONDS = 4.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--board-size", default="9")
    parser.add_argument("--visits", type=int, default=32)
    parser.add_argument("--games", type=int, default=64, help="side by side: the batch; as in laptop")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    configure_process()
    games = GameSettings(sizes={options.board_size: 1.0}, opening_share=0.3)
    settings = RunSettings(games=games, search=SearchSettings(visits={"0": options.visits}))
    make = partial(evaluator_for, options.network, "cpu", options.precision)
    evaluator = make()
    precision = evaluator.precision if isinstance(evaluator, NetworkEvaluator) else "auto"
    make = partial(evaluator_for, options.network, "cpu", precision)
    selfplay = SelfPlay(settings, make, lambda game: None, games=options.games, seed=1)
    bare = Bare(options.network, int(options.board_size), options.games, precision)
    for _ in range(200):
        selfplay.step()
    shares = []
    for number in range(options.rounds):
        before, began = selfplay.counts, time.process_time()
        while (used := time.process_time() - began) < SECONDS:
            selfplay.step()
        counts = selfplay.counts - before
        rate = counts.positions / used
        most = bare.rate()
        shares.append(rate / most)
        fill = counts.positions / counts.capacity
        print(f"{number + 1}: {rate:,.0f} evaluations/s, batches {fill:.0%} full; bare {most:,.0f}: {rate / most:.1%}")
    print(f"median {statistics.median(shares):.1%} ({precision})")


class Bare:
    """The network alone, on random stones."""

    def __init__(self, network: str, size: int, batch: int, precision: str) -> None:
        self._evaluator = NetworkEvaluator(find_network(network), device="cpu", precision=precision, cache_megabytes=0)
        boards = np.concatenate([Game(size).board] * batch)
        self._evaluator.collect(self._evaluator.submit(boards, np.arange(batch)))
        self._inputs = self._evaluator._free_inputs(self._evaluator._size_of(boards, 0), batch)
        self._rows = np.arange(batch)

    def rate(self) -> float:
        count, began = 0, time.process_time()
        while (used := time.process_time() - began) < SECONDS:
            self._evaluator.runner.run(self._inputs, self._rows)
            count += len(self._rows)
        return count / used


if __name__ == "__main__":
    main()
