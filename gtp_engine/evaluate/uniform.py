"""An evaluator that knows nothing: every legal move alike, every position even. For tests and for timing the search."""

import numpy as np

from ..compiled import njit
from ..game.board import is_legal_but_superko
from .interface import Outputs


class UniformEvaluator:
    """Implements `interface.Evaluator`."""

    name = "uniform"

    def __init__(self, batch_size: int = 64) -> None:
        self.batch_size = batch_size

    def submit(
        self, boards: np.ndarray, indices: np.ndarray, symmetries: np.ndarray | None = None, *, ownership: bool = False
    ) -> Outputs:
        """The outputs themselves are the ticket."""
        count = len(indices)
        area = int(boards["width"][indices[0]]) * int(boards["height"][indices[0]])
        policy = np.zeros((count, area + 1), np.float32)
        _uniform_policy(boards, indices, policy)
        value = np.zeros((count, 3), np.float32)
        value[:, :2] = 0.5
        zeros = np.zeros(count, np.float32)
        return Outputs(policy, value, zeros, zeros, zeros, np.zeros((count, area), np.float32) if ownership else None)

    def collect(self, ticket: Outputs) -> Outputs:
        """Gives the ticket back."""
        return ticket

    def clear_cache(self) -> None:
        """There is none."""

    def close(self) -> None:
        """There is nothing to end."""


@njit
def _uniform_policy(boards: np.ndarray, indices: np.ndarray, policy: np.ndarray) -> None:
    for row in range(len(indices)):
        board = boards[indices[row]]
        width, height = board["width"], board["height"]
        area = width * height
        legal = 1
        policy[row, area] = 1.0
        for slot in range(board["empty_count"]):
            point = board["empties"][slot]
            if is_legal_but_superko(board, point):
                x, y = point % (width + 1) - 1, point // (width + 1) - 1
                policy[row, y * width + x] = 1.0
                legal += 1
        policy[row] /= np.float32(legal)
