"""Self-play on 9x9 compared with TamaGo's: random networks of 6 blocks and 64 channels, in turns, on the CPU.

    python benchmarks/tamago_selfplay.py --tamago TamaGo --python tamago-venv/bin/python

Needs Linux, a checkout of TamaGo (https://github.com/kobanium/TamaGo) and a Python with torch, click and `numpy<2`,
which its code of 2024 needs. TamaGo is its `selfplay_main.py` without a GPU, with each of these numbers of processes:
as it stands, with torch's default of a thread for each CPU in each process, and with one thread in each. Ours is what
`gtp_engine selfplay` does with its usual settings. Both save their games, and use Gumbel's search at the root.

An evaluation is a position that went through the network. TamaGo's network is wrapped: it adds a byte for each position
to a file, whose size is the count. Ours are the positions in the batches; self-play has no cache. Games differ more
than evaluations: TamaGo needs visits + 1 evaluations a move and resigns; ours counts what it keeps of the last search
among the visits, searches cheaply once a game is decided, and plays it to its end.

A measurement begins after the first finished game and the warm-up: neither the start nor compilation counts.
"""

import argparse
import contextlib
import itertools
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import numpy as np
from rich.console import Console
from rich.table import Table

from gtp_engine.base.processes import Processes
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.model import Model
from gtp_engine.training.run_settings import RunSettings
from gtp_engine.training.selfplay import FinishedGame
from gtp_engine.training.storage import GameWriter
from gtp_engine.training.workers import SelfPlayPool

# Runs in TamaGo's folder. Its processes are forks of this one: they have the wrapped network and the open file.
DRIVER = """
import multiprocessing, os, sys
multiprocessing.set_start_method("fork")
from nn.network.dual_net import DualNet
from selfplay_main import selfplay_main
file, forward = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND), DualNet.forward
def counted(network, planes):
    os.write(file, bytes(len(planes)))
    return forward(network, planes)
DualNet.forward = counted
selfplay_main()
"""


class TamaGo:
    """TamaGo's self-play in several processes, with `threads` of torch in each; None: as torch chooses."""

    def __init__(self, python: Path, folder: Path, visits: int, processes: int, threads: int | None) -> None:
        self.label = f"TamaGo, {processes} processes" + (f" of {threads} thread" if threads else "")
        options = {"--process": processes, "--visits": visits, "--use-gpu": "false", "--model": "none"}
        self._options = [str(word) for word in itertools.chain(*options.items())]
        self._python, self._folder = python.absolute(), folder  # a virtual environment's is a link: not resolved
        self._environment = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})

    def __enter__(self) -> Self:
        self._temporary = TemporaryDirectory(ignore_cleanup_errors=True)  # killed processes may still be writing
        self._place = Path(self._temporary.name)
        games, count = self._place / "games", self._place / "count"
        games.mkdir()
        count.touch()
        command: list[str | Path] = [self._python, "-c", DRIVER, count, "--save-dir", games, *self._options]
        with (self._place / "log").open("w") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=log, stderr=log, process_group=0
            )
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._temporary.cleanup()

    def play(self, seconds: float) -> None:
        time.sleep(seconds)
        if self._process.poll() is not None:
            lines = (self._place / "log").read_text().splitlines()
            raise SystemExit(f"TamaGo has ended: {lines[-1] if lines else 'without output'}")

    def counts(self) -> np.ndarray:
        """Evaluations, finished games and their moves since the beginning."""
        games = [file.read_text() for file in (self._place / "games").glob("*/*.sgf")]
        moves = sum(game.count(";B[") + game.count(";W[") for game in games)
        return np.array([(self._place / "count").stat().st_size, len(games), moves])


class Ours:
    """What `gtp_engine selfplay` does, in a folder that is thrown away."""

    label = "gtp_engine"

    def __init__(self, network: Path, visits: int) -> None:
        settings = RunSettings()
        search, machine = replace(settings.search, visits={"0": visits}), replace(settings.machine, device="cpu")
        self._settings, self._network = replace(settings, search=search, machine=machine), str(network)

    def __enter__(self) -> Self:
        self._temporary = TemporaryDirectory()
        folder = Path(self._temporary.name)
        self._writer = GameWriter(folder, folder, self._settings.cycle.shard_games, cycle=0)
        self._pool = Processes()
        self._workers = SelfPlayPool(self._pool, self._settings, seed=time.time_ns())
        self._workers.play(self._network, 0)
        self._moves = 0
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.close()
        self._temporary.cleanup()

    def play(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._take(self._workers.collect(left))

    def counts(self) -> np.ndarray:
        """Evaluations, finished games and their moves since the beginning."""
        self._take(self._workers.pause())  # a batch, some milliseconds: earlier counts are up to a second old
        self._workers.play(self._network, 0)
        return np.array([self._workers.counts.positions, self._writer.games, self._moves])

    def _take(self, games: Iterable[FinishedGame]) -> None:
        for game in games:
            self._writer.add(game)
            self._moves += game.sample.positions


def measure(player: TamaGo | Ours, warm_up: float, seconds: float) -> tuple[float, float, float]:
    """Evaluations/s, games/h and moves a game."""
    with player:
        while not player.counts()[1]:
            player.play(1.0)
        player.play(warm_up)
        before, began = player.counts(), time.monotonic()
        player.play(seconds)
        evaluations, games, moves = player.counts() - before
        took = time.monotonic() - began
    return evaluations / took, 3600 * games / took, moves / max(games, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tamago", type=Path, required=True, help="TamaGo's folder")
    parser.add_argument("--python", type=Path, required=True, help="the Python that runs it")
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4], help="TamaGo's (default: 2 4)")
    parser.add_argument("--visits", type=int, default=16, help="a move (default: 16)")
    parser.add_argument("--warm-up", type=float, default=15.0, help="seconds (default: 15)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a measurement (default: 60)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    options = parser.parse_args()
    if not (options.tamago / "selfplay_main.py").is_file():
        parser.error(f"{options.tamago} has no selfplay_main.py: --tamago is a checkout of TamaGo")
    with TemporaryDirectory() as folder:
        network = Path(folder) / "b6c64.bin.gz"
        write_katago_file(Model(parse_config("b6c64")).initialise().stored(), network)
        players: list[TamaGo | Ours] = [
            TamaGo(options.python, options.tamago, options.visits, processes, threads)
            for processes, threads in itertools.product(options.processes, (None, 1))
        ]
        players.append(Ours(network, options.visits))
        found: dict[str, list[tuple[float, float, float]]] = {player.label: [] for player in players}
        for number, player in itertools.product(range(options.rounds), players):
            rate, games, moves = measure(player, options.warm_up, options.seconds)
            found[player.label].append((rate, games, moves))
            print(f"{number + 1}: {player.label}: {rate:,.0f} evaluations/s, {games:,.0f} games/h", flush=True)
    show(found, f"9x9, {options.visits} visits, {options.rounds} times {options.seconds:.0f} seconds")


def show(found: dict[str, list[tuple[float, float, float]]], title: str) -> None:
    """Prints a table of medians and ranges, and how we compare with the fastest of TamaGo's settings."""
    table = Table("", "evaluations/s", "games/h", "moves a game", title=title)
    for label, measured in found.items():
        rates, games, moves = zip(*measured, strict=True)
        ranges = [f"{statistics.median(c):,.0f} ({min(c):,.0f} to {max(c):,.0f})" for c in (rates, games)]
        table.add_row(label, *ranges, f"{statistics.median(moves):.0f}")
    Console().print(table)
    evaluations = {label: [rate for rate, *_ in measured] for label, measured in found.items()}
    ours = evaluations.pop(Ours.label)
    best = max(evaluations, key=lambda label: statistics.median(evaluations[label]))
    ratios = [mine / other for mine, other in zip(ours, evaluations[best], strict=True)]
    print(f"{statistics.median(ratios):.2f} times {best} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
