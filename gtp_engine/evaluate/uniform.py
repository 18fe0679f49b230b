"""An evaluator that knows nothing: every move alike, every position even. For tests and for timing the search."""

import numpy as np

from ..game.coords import MAX_SIZE
from .interface import Outputs


class UniformEvaluator:
    """Implements `interface.Evaluator`, but that illegal moves have priors too: the search drops them anyway."""

    name = "uniform"
    overlap = 1
    largest_board = MAX_SIZE
    plays_out = False
    reads_ladders = False
    takes_profile = False

    def __init__(self, batch_size: int = 64) -> None:
        self.batch_size = batch_size

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        *,
        ownership: bool = False,
        optimism: float = 0.0,
        profile: str = "",
    ) -> Outputs:
        """The outputs themselves are the ticket."""
        count = len(indices)
        area = int(boards["width"][indices[0]]) * int(boards["height"][indices[0]])
        value = np.zeros((count, 3), np.float32)
        value[:, :2] = 0.5
        zeros = np.zeros(count, np.float32)
        policy = np.full((count, area + 1), 1 / (area + 1), np.float32)
        return Outputs(policy, value, zeros, zeros, zeros, np.zeros((count, area), np.float32) if ownership else None)

    def collect(self, ticket: Outputs) -> Outputs:
        """Gives the ticket back."""
        return ticket

    def clear_cache(self) -> None:
        """There is none."""

    def close(self) -> None:
        """There is nothing to end."""
