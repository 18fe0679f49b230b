"""What share of a GPU one game's search uses, with a simulated GPU, on a machine that has none.

The network is replaced by a runner that computes nothing: a batch is done after the time that an H100 takes for it
(docs/results.md), one batch after the other as in a CUDA stream. All else is the program's code for a GPU: the search,
the inputs, the cache, decoding. The outputs are drawn at random in advance, as uneven as a network's.

The clock is the processor time of the searching thread plus its waits for the device, which pass at once, so that other
programs do not disturb it. With `--real-time` the thread sleeps instead.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from katago_speed import GAMES, SAMPLES

from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf
from gtp_engine.nets.library import find_network
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.search import scheduler
from gtp_engine.search.evaluate import network_evaluator
from gtp_engine.search.evaluate.cuda_graphs import SIZES
from gtp_engine.search.evaluate.features import Inputs
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.runner import Runner
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.search import Search

# Positions a second on an H100 by the size of the batch, float16, 19x19 (docs/results.md).
BATCHES = (1, 8, 16, 32, 64, 128)
RATES = {
    "b18c384nbt": (647, 3_230, 4_708, 6_639, 9_426, 10_558),
    "b7c96h3tfrs-taught": (1_065, 7_610, 12_721, 20_977, 27_323, 33_165),
    "b6c96": (2_151, 17_668, 28_692, 50_273, 84_391, 116_608),
}
SIDE, MOVES = 19, 60
ROWS = 4096  # outputs drawn in advance
# Seconds of the processor to start a batch: chosen by judgement, since a GPU is needed to measure them.
LAUNCH = 0.2e-3
SLEEP_ERROR = 0.1e-3  # seconds by which a sleep may end late, which are spent in a loop
WARM_VISITS = 300


class Clock:
    """The time of the searching thread, in seconds; `real` is whether its waits take time."""

    def __init__(self, real: bool) -> None:
        self._real, self._waited = real, 0.0

    def now(self) -> float:
        return time.perf_counter() if self._real else time.thread_time() + self._waited

    def wait_until(self, moment: float) -> None:
        left = moment - self.now()
        if not self._real:
            self._waited += max(left, 0.0)
            return
        if left > SLEEP_ERROR:
            time.sleep(left - SLEEP_ERROR)
        self.work_until(moment)

    def work_until(self, moment: float) -> None:
        while self.now() < moment:
            pass


@dataclass
class Device:
    """The simulated GPU: until when it has something to do, and what it has done."""

    seconds: Callable[[int], float]  # for a number of positions
    clock: Clock
    busy_until: float = 0.0
    busy: float = 0.0
    batches: int = 0
    positions: int = 0

    def begin(self, count: int) -> None:
        seconds = self.seconds(count)
        self.busy_until = max(self.busy_until, self.clock.now()) + seconds
        self.busy += seconds
        self.batches += 1
        self.positions += count


def seconds_by(rates: tuple[int, ...]) -> Callable[[int], float]:
    """Returns the seconds of a batch: of its CUDA graph, interpolated; of a larger one in proportion to the largest."""
    known = [batch / rate for batch, rate in zip(BATCHES, rates, strict=True)]

    def seconds(count: int) -> float:
        size = next((size for size in SIZES if size >= count), count)
        return float(np.interp(size, BATCHES, known)) * max(1.0, size / BATCHES[-1])

    return seconds


class SimulatedRunner(Runner):
    """Returns outputs that were drawn in advance; they count as done once the device has had the time for them."""

    device, precision, largest_batch = "cuda", "float16", sys.maxsize

    def __init__(self, device: Device) -> None:
        self._device, self._next = device, 0
        random, area = np.random.default_rng(1), SIDE * SIDE
        # AlphaZero's concentration: a handful of moves take most of the policy.
        policy = np.log(random.dirichlet(np.full(area + 1, 10.83 / area), ROWS) + 1e-9)[:, None]
        value = random.normal(0, 0.3, ROWS)
        values, scores = np.stack([value, -value, np.full(ROWS, -9.0)], 1), np.zeros((ROWS, 6))
        scores[:, 0] = scores[:, 2] = value / 2
        outputs = policy, values, scores, random.normal(0, 1, (ROWS, area))
        self._outputs = RawOutputs(*(output.astype(np.float32) for output in outputs))

    def new_inputs(self, size: int, width: int, height: int) -> Inputs:
        return Inputs(size, width, height, False)

    def run(self, inputs: Inputs, positions: np.ndarray) -> RawOutputs[np.ndarray]:
        self._device.clock.work_until(self._device.clock.now() + LAUNCH)
        self._device.begin(len(positions))
        start = self._next if self._next + len(positions) <= ROWS else 0
        self._next = start + len(positions) + 1  # never in step with the batches
        return RawOutputs(*(output[start : start + len(positions)] for output in self._outputs))

    def mark(self) -> Callable[[], None]:
        done = self._device.busy_until
        return lambda: self._device.clock.wait_until(done)

    def close(self) -> None:
        return


def measure(device: Device, search: Search, game: Game, seconds: float) -> tuple[float, float, float]:
    """Returns positions/s, the share of the time in which the device was busy, and processor us a visit."""
    search.clear()
    search.evaluator.clear_cache()
    device.busy, device.batches, device.positions = 0.0, 0, 0
    worked, begun = time.thread_time(), device.clock.now()
    report = scheduler.run_search(search, SearchRequest(game, Limits(None, seconds), early_stop=False))
    took = device.clock.now() - begun
    return device.positions / took, device.busy / took, (time.thread_time() - worked) / report.new_visits * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=list(RATES), choices=list(RATES), help="default: all")
    parser.add_argument("--seconds", type=float, nargs="+", default=[2.0, 10.0], help="of a search (default: 2 10)")
    parser.add_argument("--batch", type=int, default=0, help="the largest batch (default: the evaluator's own)")
    parser.add_argument("--repeats", type=int, default=3, help="default: 3")
    parser.add_argument("--real-time", action="store_true", help="waits take time")
    options = parser.parse_args()
    clock = Clock(options.real_time)
    patched: Any = scheduler
    patched.time = SimpleNamespace(perf_counter=clock.now)
    game = read_sgf(SAMPLES / GAMES[SIDE]).to_game(MOVES)
    for name in options.networks:
        device = Device(seconds_by(RATES[name]), clock)
        patched, runner = network_evaluator, SimulatedRunner(device)
        patched.make_runner = lambda *_, runner=runner: runner
        evaluator = NetworkEvaluator(find_network("b6c64-19x19"), device="cuda")
        parameters = default_parameters("network").with_value("batch_size", options.batch)
        search = Search(evaluator, parameters, seed=1)
        scheduler.run_search(search, SearchRequest(game, Limits(visits=WARM_VISITS)))
        for seconds in options.seconds:
            # The first search of a length asks the system for memory.
            found = [measure(device, search, game, seconds) for _ in range(options.repeats + 1)][1:]
            rate, busy, worked = (statistics.median(column) for column in zip(*found, strict=True))
            lowest, highest = min(found)[0], max(found)[0]
            print(
                f"{name}, {seconds:g} s: {rate:,.0f} positions/s ({lowest:,.0f} to {highest:,.0f}), "
                f"device busy {busy:.0%}, {worked:.0f} us of the processor a visit",
                flush=True,
            )


if __name__ == "__main__":
    main()
