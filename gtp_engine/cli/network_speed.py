"""How fast a network is evaluated here, bare and under the search, by threads and batch size."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..evaluate.inputs import PLANES, SCALARS, new_workspace, position_of, write_batch
from ..evaluate.network import NetworkEvaluator
from ..game.game import Game
from ..network.records import METADATA
from ..search.parameters import SearchParameters
from ..search.search import Limits, Search

if TYPE_CHECKING:
    import torch

    from ..engine import EngineSettings
    from ..network.model import Model

CPU_BATCHES = (1, 2, 4, 8, 16, 32)
GPU_BATCHES = (*CPU_BATCHES, 64, 128, 256)
BARE_SECONDS = 0.5
WARM_SHARE = 0.25  # of the measured search's time: torch prepares for every size of batch that it has not seen
SLOWEST_BATCH = 2.0  # seconds; larger ones are not tried
# A smaller batch that is nearly as fast finds better moves: its leaves are chosen by what is known at the time.
NEARLY = 0.95


@dataclass(frozen=True)
class Speed:
    """One measurement. network: positions/s of the bare network; search: visits/s, tree and cache empty at first."""

    threads: int
    batch: int
    network: float
    search: float


def thread_counts(threads: int) -> list[int]:
    """The numbers of threads to try: powers of two, and all."""
    powers = [1 << power for power in range(threads.bit_length())]
    return sorted({*(count for count in powers if count < threads), threads})


def natural_position(evaluator: NetworkEvaluator, width: int, height: int, profile: str) -> Game:
    """A sixth of the board full, with the moves that the network likes best, by `profile` where it takes one."""
    game = Game(width, height)
    search = Search(evaluator, SearchParameters(profile=profile), seed=0)
    for _ in range(game.area // 6):
        search.set_position(game)
        game.play(game.to_move, search.choose(search.run(Limits(visits=1))))
    return game


def measure(evaluator: NetworkEvaluator, game: Game, settings: "EngineSettings") -> Iterator[Speed]:
    """The speeds of batches of growing size in the game's position, by threads.

    evaluator: of the settings' network. Their threads are the most that are tried, on a GPU the only ones; where the
    parameters have a batch size it is the only one. Their limits are those of one search.
    """
    path, device, precision = Path(settings.network), evaluator.device.type, evaluator.precision
    on_cpu = device == "cpu"
    parameters = settings.search_parameters(settings.network)
    batches = (parameters.batch_size,) if parameters.batch_size else CPU_BATCHES if on_cpu else GPU_BATCHES
    for threads in thread_counts(settings.threads) if on_cpu else [settings.threads]:
        used = NetworkEvaluator(path, threads=threads, device=device, precision=precision)
        for batch in batches:
            search = Search(used, replace(parameters, batch_size=batch), settings.seed)
            # Before and after the search: the machine may have become faster or slower.
            before = bare_rate(used, game, batch, threads)
            visits = search_rate(search, game, settings)
            bare = (before + bare_rate(used, game, batch, threads)) / 2
            yield Speed(threads, batch, bare, visits)
            if batch / bare > SLOWEST_BATCH:
                break
        used.close()


def bare_rate(evaluator: NetworkEvaluator, game: Game, batch: int, threads: int) -> float:
    """Positions/s of the network alone, computed as the evaluator does: on a CPU on every thread, each with parts of
    batches for itself.
    """
    import torch

    model, on_gpu = evaluator.model, evaluator.device.type == "cuda"
    inputs = network_inputs(model, game, -(-batch // evaluator.parts))

    @torch.inference_mode()
    def work(seconds: float) -> int:
        end, count = time.perf_counter() + seconds, 0
        while time.perf_counter() < end or not count:
            model(*inputs, full_board=True)
            if on_gpu:
                torch.cuda.synchronize()
            count += len(inputs[1])
        return count

    workers = threads if evaluator.device.type == "cpu" else 1
    with ThreadPoolExecutor(workers, "bare", torch.set_num_threads, (1,)) as pool:
        list(pool.map(work, [0.0] * workers))
        start = time.perf_counter()
        done = sum(pool.map(work, [BARE_SECONDS] * workers))
        return done / (time.perf_counter() - start)


def network_inputs(model: "Model", game: Game, count: int) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]":
    """The game's position so many times, on the model's device, as the evaluator gives it to the network: planes,
    scalars, and metadata of nobody where the network takes them.
    """
    import torch

    workspace = new_workspace()
    planes = np.empty((count, game.height, game.width, PLANES), np.uint8)
    scalars = np.empty((count, SCALARS), np.float32)
    position, rows = position_of(game, workspace), np.zeros(count, np.intp)
    areas = model.config.suicide_areas
    write_batch(position, rows, rows, areas, workspace, planes, scalars, np.empty(count, np.uint64))
    device = model.trunk.conv.weight.device
    return (
        torch.from_numpy(planes).to(device).permute(0, 3, 1, 2).float(),
        torch.from_numpy(scalars).to(device),
        torch.zeros((count, METADATA), device=device) if model.config.metadata_version else None,
    )


def search_rate(search: Search, game: Game, settings: "EngineSettings") -> float:
    """Visits/s from an empty tree and an empty cache."""
    search.set_position(game)
    search.run(Limits(settings.visits, None if settings.seconds is None else settings.seconds * WARM_SHARE))
    search.clear()
    search.evaluator.clear_cache()
    report = search.run(Limits(settings.visits, settings.seconds))
    return report.playouts / report.seconds


def recommended(speeds: list[Speed]) -> Speed:
    """The smallest batch that is nearly as fast as the fastest."""
    fastest = max(speed.search for speed in speeds)
    good = [speed for speed in speeds if speed.search >= NEARLY * fastest]
    return min(good, key=lambda speed: (speed.batch, -speed.search))
