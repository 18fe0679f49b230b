"""An evaluator without knowledge: all moves equally likely, all positions even. For tests and to time the search."""

import numpy as np

from ...go.coords import MAX_SIZE
from .row import LOSS, POLICY, UNKNOWN, VALUE_ERROR, WIN, ownership_column, row_columns


class UniformEvaluator:
    """Implements `evaluator.Evaluator`, except that illegal moves have priors too: the search drops them anyway."""

    name = "uniform"
    overlap = 1
    largest_board = MAX_SIZE
    is_rollout = False
    reads_ladders = False
    takes_profile = False

    def __init__(self, batch_size: int = 64) -> None:
        self.batch_size = batch_size
        self._rows = np.zeros((0, 0), np.float32)  # identical ones, for the last board's area

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
        *,
        optimism: float = 0.0,
        profile: str = "",
    ) -> np.ndarray:
        """Returns the rows themselves as the ticket."""
        count = len(indices)
        area = int(boards["width"][indices[0]]) * int(boards["height"][indices[0]])
        columns = row_columns(area)
        if self._rows.shape[1] != columns or len(self._rows) < count:
            self._rows = np.zeros((max(count, self.batch_size), columns), np.float32)
            self._rows[:, WIN : LOSS + 1] = 0.5
            self._rows[:, VALUE_ERROR:POLICY] = UNKNOWN
            self._rows[:, POLICY : ownership_column(area)] = 1 / (area + 1)
        return self._rows[:count]

    def collect(self, ticket: np.ndarray) -> np.ndarray:
        """Returns the rows."""
        return ticket

    def clear_cache(self) -> None:
        """Does nothing: there is no cache."""

    def close(self) -> None:
        """Does nothing: it holds neither threads nor a device."""
