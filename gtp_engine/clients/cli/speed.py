"""How fast this machine searches and evaluates networks, by threads and batch size."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...base.system import available_cpus
from ...engine.settings import DEFAULT_SECONDS, EngineSettings
from ...go.coords import point_of_index
from ...go.game import Game
from ...search.evaluate.choices import LARGEST_BOARD
from ...search.evaluate.features import NO_LADDERS, Inputs, new_workspace, position_of, write_batch
from ...search.parameters import SearchParameters
from ...search.request import Limits, SearchRequest
from ...search.scheduler import run_search
from ...search.search import Search

if TYPE_CHECKING:
    from ...search.evaluate.network_evaluator import NetworkEvaluator

CPU_BATCHES = (1, 2, 4, 8, 16, 32)
GPU_BATCHES = (*CPU_BATCHES, 64, 128, 256)
BARE_SECONDS = 0.5
WARM_SHARE = 0.25  # of the measured search's time: torch prepares for every size of batch that it has not seen
SLOWEST_BATCH = 2.0  # seconds; larger batches are not tried
# A smaller batch that is nearly as fast finds better moves: its leaves are chosen with more recent knowledge.
NEARLY = 0.95
ENOUGH_VISITS = 100  # a move, in the engine's usual time: what a network that is recommended must make
ENOUGH = ENOUGH_VISITS / DEFAULT_SECONDS  # a second


@dataclass(frozen=True)
class Speed:
    """One measurement of a network."""

    threads: int  # CPU threads used
    batch: int  # positions per batch
    network: float  # positions/s of the network alone
    search: float  # visits/s of a search that starts with an empty tree and an empty cache


def random_position(width: int, height: int, moves: int) -> Game:
    """Returns a game of random moves, the same ones every time."""
    game = Game(width, height)
    random = np.random.default_rng(1)
    for _ in range(moves):
        legal = game.legal_moves()[:-1].nonzero()[0]
        game.play(game.to_move, point_of_index(int(random.choice(legal)), width, height))
    return game


def thread_counts(threads: int) -> list[int]:
    """Returns the numbers of threads to try: the powers of two below `threads`, and `threads`."""
    powers = [1 << power for power in range(threads.bit_length())]
    return sorted({*(count for count in powers if count < threads), threads})


def natural_position(evaluator: "NetworkEvaluator", width: int, height: int, profile: str) -> Game:
    """Returns an opening in which every move is the network's first choice, a sixth of the board full."""
    game = Game(width, height)
    search = Search(evaluator, SearchParameters(profile=profile), seed=0)
    for _ in range(game.area // 6):
        game.play(game.to_move, search.choose(run_search(search, SearchRequest(game, Limits(visits=1)))))
    return game


def measure(evaluator: "NetworkEvaluator", game: Game, settings: EngineSettings) -> Iterator[Speed]:
    """Measures batches of growing size in one position, for each number of threads.

    The evaluator, of the network of `settings`, names the device and the precision; it is not used itself. The threads
    of the settings are the most that are tried on a CPU, and the only ones on a GPU; a batch size among the parameters
    is the only one tried; the limits apply to each search.
    """
    from ...search.evaluate.network_evaluator import NetworkEvaluator

    path, device, precision = Path(settings.network), evaluator.device, evaluator.precision
    on_cpu = device == "cpu"
    parameters = settings.search_parameters(settings.network)
    batches = (parameters.batch_size,) if parameters.batch_size else CPU_BATCHES if on_cpu else GPU_BATCHES
    for threads in thread_counts(settings.threads) if on_cpu else [settings.threads]:
        with closing(NetworkEvaluator(path, threads=threads, device=device, precision=precision)) as used:
            used.prepare(game.width, game.height)
            for batch in batches:
                search = Search(used, replace(parameters, batch_size=batch), settings.seed)
                # Before and after the search: the machine may have become faster or slower.
                before = bare_rate(used, game, batch, threads)
                visits = search_rate(search, game, settings)
                bare = (before + bare_rate(used, game, batch, threads)) / 2
                yield Speed(threads, batch, bare, visits)
                if batch / bare > SLOWEST_BATCH:
                    break


def network_rate(path: Path) -> tuple[str, float]:
    """Returns the device that computes a network, and its positions a second there on 19x19, with all threads."""
    from ...search.evaluate.network_evaluator import NetworkEvaluator

    threads = available_cpus()
    with closing(NetworkEvaluator(path, threads=threads)) as evaluator:
        game = random_position(LARGEST_BOARD, LARGEST_BOARD, 60)
        return evaluator.device, bare_rate(evaluator, game, 8 * threads if evaluator.device == "cpu" else 64, threads)


def bare_rate(evaluator: "NetworkEvaluator", game: Game, batch: int, threads: int) -> float:
    """Returns the positions/s of the network alone.

    It is computed as the evaluator does it: on a CPU every thread evaluates its own part of the batch.
    """
    runner, count = evaluator.runner, -(-batch // evaluator.parts)
    inputs, positions = network_inputs(evaluator, game, count), np.arange(count)

    def work(seconds: float) -> int:
        end, done = time.perf_counter() + seconds, 0
        while time.perf_counter() < end or not done:
            runner.run(inputs, positions)
            runner.mark()()
            done += count
        return done

    workers = threads if evaluator.device == "cpu" else 1
    with ThreadPoolExecutor(workers, "bare", runner.prepare_thread) as pool:
        list(pool.map(work, [0.0] * workers))
        start = time.perf_counter()
        done = sum(pool.map(work, [BARE_SECONDS] * workers))
        return done / (time.perf_counter() - start)


def network_inputs(evaluator: "NetworkEvaluator", game: Game, count: int) -> Inputs:
    """Returns `count` copies of the position as inputs of the network, with the metadata of no profile."""
    workspace = new_workspace()
    inputs = evaluator.runner.new_inputs(count, game.width, game.height)
    position, rows = position_of(game, workspace), np.zeros(count, np.intp)
    areas, keys = evaluator.config.suicide_areas, np.empty(count, np.uint64)
    write_batch(position, rows, rows, areas, workspace, inputs.planes, inputs.scalars, keys, 0, NO_LADDERS)
    if inputs.metadata is not None:
        inputs.metadata[:] = 0
    return inputs


def search_rate(search: Search, game: Game, settings: EngineSettings) -> float:
    """Returns the visits/s from an empty tree and an empty cache."""
    warming = Limits(settings.visits, None if settings.seconds is None else settings.seconds * WARM_SHARE)
    run_search(search, SearchRequest(game, warming))
    search.clear()
    search.evaluator.clear_cache()
    report = run_search(search, SearchRequest(game, Limits(settings.visits, settings.seconds)))
    return report.new_visits / report.seconds


def recommended(speeds: list[Speed]) -> Speed:
    """Returns the measurement with the smallest batch that is nearly as fast as the fastest."""
    fastest = max(speed.search for speed in speeds)
    good = [speed for speed in speeds if speed.search >= NEARLY * fastest]
    return min(good, key=lambda speed: (speed.batch, -speed.search))
