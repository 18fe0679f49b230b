"""Speed of rollouts on an empty board: one thread, per second of its CPU time."""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from gtp_engine.base.jit import njit
from gtp_engine.go.board import MAX_POINTS, copy_board, new_board
from gtp_engine.search.evaluate.rollouts import MAX_CANDIDATES, play_rollout

SECONDS = 0.5  # about, for each repeat


@njit
def play_games(boards: np.ndarray, games: int, state: np.ndarray, candidates: np.ndarray) -> None:
    """Plays `games` times from boards[0]; boards[1] is scratch."""
    amaf_colours = np.empty(MAX_POINTS, np.int8)
    for _ in range(games):
        copy_board(boards[1], boards[0])
        play_rollout(boards[1], state, candidates, amaf_colours)


def rates(play: Callable[[int], object], repeats: int) -> list[float]:
    """Returns the games per second of this thread's CPU time, sorted; a repeat lasts about SECONDS."""
    games = 1
    while True:
        start = time.thread_time()
        play(games)
        if time.thread_time() - start > 0.05 and games > 1:
            break
        games *= 2
    games = max(1, round(games * SECONDS / (time.thread_time() - start)))
    found = []
    for _ in range(repeats):
        start = time.thread_time()
        play(games)
        found.append(games / (time.thread_time() - start))
    return sorted(found)


def measure_games(size: int, repeats: int) -> None:
    """Measures rollouts on one thread."""
    boards = np.repeat(new_board(size, size), 2)
    state, candidates = np.ones(1, np.uint64), np.zeros(MAX_CANDIDATES, np.int16)
    found = rates(lambda games: play_games(boards, games, state, candidates), repeats)
    print(f"{size}x{size}: {statistics.median(found):,.0f} /s ({found[0]:,.0f} to {found[-1]:,.0f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="default: 7")
    options = parser.parse_args()
    for size in (9, 19):
        measure_games(size, options.repeats)


if __name__ == "__main__":
    main()
