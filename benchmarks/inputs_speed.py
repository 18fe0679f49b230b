"""Speed of writing networks' inputs: microseconds a position, one thread, on the positions of recorded games.

That is everything that an evaluator does for each leaf, the key included.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

from gtp_engine.base.jit import njit
from gtp_engine.go.sgf import read_sgf
from gtp_engine.nets.constants import PLANES, SCALARS
from gtp_engine.search.evaluate import features

GAMES = Path(__file__).parents[1] / "sgf" / "samples"
ROUNDS = 15  # of all positions; the median counts


@njit
def write_all(boards: np.ndarray, w: features.Workspace, planes: np.ndarray, scalars: np.ndarray) -> None:
    for index in range(len(boards)):
        features.write_inputs(boards[index], index % 8, False, w, planes, scalars)


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
    """Prints the microseconds a position."""
    w = features.new_workspace()
    planes = np.zeros((height, width, PLANES), np.uint8)
    scalars = np.zeros(SCALARS, np.float32)
    write_all(boards, w, planes, scalars)  # compiles
    taken = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        write_all(boards, w, planes, scalars)
        taken.append((time.thread_time() - start) / len(boards) * 1e6)
    median, spread = statistics.median(taken), f"({min(taken):.2f} to {max(taken):.2f})"
    print(f"{width}x{height}, {len(boards)} positions: {median:.2f} us {spread}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, default=GAMES, help="a folder of SGF files (default: the sample games)")
    options = parser.parse_args()
    for (width, height), boards in sorted(positions_by_size(options.games).items()):
        measure(boards, width, height)


if __name__ == "__main__":
    main()
