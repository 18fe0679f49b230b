"""What one process takes in that collects the games of many workers, and what it can read of them afterwards.

Real games of self-play are played once. Another process then sends them again and again, under other numbers, as
workers do that have finished one game each; the real `GameWriter` writes them. Afterwards the folder is read as a cycle
of `train` reads it, and batches are made of the window.
"""

import argparse
import itertools
import multiprocessing
import pickle
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from gtp_engine.training.data.loader import Loader, Samples
from gtp_engine.training.data.samples import join
from gtp_engine.training.data.shards import read_shards
from gtp_engine.training.run_settings import RunSettings, WindowSettings
from gtp_engine.training.selfplay import Counts, FinishedGame, SelfPlay
from gtp_engine.training.storage import GameWriter, shard_facts, total

VISITS = 8  # of the real games: few, since only their size counts
REPORTS = 10
LOADER_SECONDS = 10.0
PER_THREAD = 8  # threads of a learner for which the loader has one (`Loader`)


def real_games(side: int, count: int, network: str) -> list[FinishedGame]:
    """Plays games in which every position becomes a sample."""
    base = RunSettings()
    settings = replace(
        base,
        games=replace(base.games, sizes={str(side): 1.0}),
        search=replace(base.search, visits={"0": VISITS}),
        machine=replace(base.machine, concurrency=count, device="cpu"),
    )
    selfplay, games = SelfPlay(settings, (1,), count), list[FinishedGame]()
    while not selfplay.is_done:
        games += selfplay.play(network)[0]
    selfplay.close()
    return games


def send(games: list[FinishedGame], count: int, pipe: Connection) -> None:
    """Sends that many games, each as the result of a call of a worker, and at last an empty message."""
    messages = []
    for game in games:
        message = pickle.dumps(([game], Counts(), False))
        messages.append((bytearray(message), message.index(game.sample.games["number"].tobytes())))
    for number, (content, place) in zip(range(count), itertools.cycle(messages), strict=False):
        content[place : place + 8] = number.to_bytes(8, "little")
        pipe.send_bytes(content)
    pipe.send_bytes(b"")


def received(games: list[FinishedGame], count: int) -> Iterator[bytes]:
    """Yields the messages of a process that sends games."""
    here, there = multiprocessing.Pipe(duplex=False)
    sender = multiprocessing.get_context("spawn").Process(target=send, args=(games, count, there), daemon=True)
    sender.start()
    while message := here.recv_bytes():
        yield message
    sender.join()


def take_in(messages: Iterator[bytes], writer: GameWriter, count: int) -> None:
    """Writes the games of messages, and prints how it goes."""
    size, reported, busy = 0, time.perf_counter(), time.process_time()
    portion = max(1, count // REPORTS)
    for message in messages:
        size += len(message)
        for game in pickle.loads(message)[0]:
            writer.add(game)
        writer.flush_late()
        if writer.games % portion == 0:
            now, used = time.perf_counter(), time.process_time()
            print(
                f"{writer.games:,} games, {portion / (now - reported):,.0f} games/s, {portion / (used - busy):,.0f} in "
                f"a second of the processor, {size / writer.games:,.0f} bytes a game, {memory():,.0f} MB of memory",
                flush=True,
            )
            reported, busy = now, used
    writer.flush()


def memory() -> float:
    """Returns the megabytes of memory that this process has now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def read_back(shards: Path, most: int) -> Samples:
    """Reads what a cycle of training reads, and returns the samples of its window, up to a limit."""
    start = time.perf_counter()
    facts = shard_facts(shards)
    print(f"{len(facts):,} shards: their notes in {time.perf_counter() - start:.1f} s")
    known = total(facts.values())
    wanted = min(most, WindowSettings().size(known.samples))
    print(f"{known.samples:,} samples; the window would be {WindowSettings().size(known.samples):,}")
    start, chosen = time.perf_counter(), list[Path]()
    for path in reversed(facts):
        if wanted > 0:
            chosen.append(path)
            wanted -= facts[path].samples
    before = memory()
    samples = Samples(join(list(read_shards(chosen, lambda error: print(error)))))
    seconds = time.perf_counter() - start
    print(
        f"window of {len(samples):,} samples read in {seconds:.1f} s ({len(samples) / seconds:,.0f} samples/s), "
        f"{(memory() - before) * 1e6 / len(samples):.0f} bytes a sample in memory"
    )
    return samples


def load(samples: Samples, threads: int) -> None:
    """Prints how many samples a second a loader makes with a number of threads."""
    loader = Loader(samples, 1024, seed=1, threads=threads * PER_THREAD)
    next(loader)  # compiles, and shuffles
    start, busy, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - start < LOADER_SECONDS:
        count += next(loader).size
    seconds, used = time.perf_counter() - start, time.process_time() - busy
    print(
        f"loader, {threads} threads: {count / seconds:,.0f} samples/s, {count / used:,.0f} in a second of a processor"
    )
    loader.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--network", default="b4c32-9x9", help="plays the real games")
    parser.add_argument("--real", type=int, default=50, help="number of real games")
    parser.add_argument("--games", type=int, default=100_000, help="number of games that are sent")
    parser.add_argument("--shard-games", type=int, default=1000, help="games in a shard")
    parser.add_argument("--window", type=int, default=10_000_000, help="most samples of the window that is read")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2], help="of the loader")
    parser.add_argument("--folder", type=Path, help="where a folder for the shards is made, and removed at the end")
    options = parser.parse_args()
    games = real_games(options.board_size, options.real, options.network)
    lengths = [game.sample.positions for game in games]
    print(f"{len(games)} real games of {np.mean(lengths):.0f} moves", flush=True)
    folder = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        writer = GameWriter(folder / "shards", folder / "sgf", options.shard_games, cycle=1)
        take_in(received(games, options.games), writer, options.games)
        samples = read_back(folder / "shards", options.window)
        for threads in options.threads:
            load(samples, threads)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
