"""Speed of writing networks' inputs: microseconds a position, one thread, on the positions of recorded games.

`all` is everything, the key included, as an evaluator does it for each leaf. The other lines measure parts of it alone,
each once more on the same positions: the ladders of the present board, the areas, stones and liberties, the planes, the
key. Alone they are somewhat faster than in sequence, since the CPU predicts their branches better.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gtp_engine.base.jit import njit
from gtp_engine.evaluate import features
from gtp_engine.game.benson import read_area
from gtp_engine.game.ladders import find_ladders
from gtp_engine.sgf import read_sgf

GAMES = Path(__file__).parents[1] / "sgf" / "samples"
ROUNDS = 15  # of all positions; the median counts

Reader = Callable[[np.ndarray, features.Workspace, np.ndarray, np.ndarray], None]


@njit
def read_all(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        features.write_inputs(boards[index], index % 8, False, w, planes, scalars)


@njit
def read_ladders(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        find_ladders(boards[index], w.ladders, w.caught, w.working)


@njit
def read_areas(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        read_area(boards[index], False, w.areas[0])


@njit
def read_stones(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        features._read_stones(boards[index], w.words, w.liberties)


@njit
def write_planes(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        features._write_planes(boards[index], w.words, index % 8, planes)


@njit
def make_keys(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        scalars[0] = features._key(boards[index], w.words, scalars) & np.uint64(1)


READERS: dict[str, Reader] = {
    "all": read_all,
    "ladders": read_ladders,
    "areas": read_areas,
    "stones and liberties": read_stones,
    "planes": write_planes,
    "key": make_keys,
}


def positions_by_size(folder: Path) -> dict[tuple[int, int], np.ndarray]:
    """Returns every position of every game by the board's size, with its earlier ladders marked."""
    w = features.new_workspace()
    found: dict[tuple[int, int], list[np.ndarray]] = {}
    for file in sorted(folder.glob("*.sgf")):
        game = read_sgf(file).to_game()
        while game.moves:
            found.setdefault((game.width, game.height), []).append(features.position_of(game, w))
            game.undo()
    return {size: np.concatenate(positions) for size, positions in found.items()}


def measure(boards: np.ndarray, width: int, height: int) -> None:
    """Prints the microseconds a position of each reader."""
    w = features.new_workspace()
    planes = np.zeros((height, width, features.PLANES), np.uint8)
    scalars = np.zeros(features.SCALARS, np.float32)
    for name, read in READERS.items():
        read(boards, w, planes, scalars)
        taken = []
        for _ in range(ROUNDS):
            start = time.thread_time()
            read(boards, w, planes, scalars)
            taken.append((time.thread_time() - start) / len(boards) * 1e6)
        label = f"{width}x{height}, {len(boards)} positions: {name}"
        print(f"{label:50} {statistics.median(taken):6.2f} us  ({min(taken):.2f} to {max(taken):.2f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, default=GAMES, help="a folder of SGF files (default: the sample games)")
    options = parser.parse_args()
    for (width, height), boards in sorted(positions_by_size(options.games).items()):
        measure(boards, width, height)


if __name__ == "__main__":
    main()
