"""Evaluations kept for positions that come again: by other orders of moves, in the next search."""

import numpy as np


class EvaluationCache:
    """The latest evaluation for each slot of a table, one row of float32 each; a key's lower bits are its slot."""

    def __init__(self, megabytes: float, columns: int) -> None:
        slots = int(megabytes * 1e6 / (4 * columns + 8))
        size = 1 << max(0, slots.bit_length() - 1)
        self._keys = np.zeros(size, np.uint64)
        self._rows = np.empty((size, columns), np.float32)  # takes memory as it is written to

    def look_up(self, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Writes what is known for each of `keys` (uint64 [n], not 0) into `rows` [n, columns]; the indices of the
        others.
        """
        slots = self._slots(keys)
        known = self._keys[slots] == keys
        if known.any():
            rows[known] = self._rows[slots[known]]
        return np.flatnonzero(~known)

    def store(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Keeps a row for each of `keys`."""
        slots = self._slots(keys)
        self._keys[slots] = keys
        self._rows[slots] = rows

    def clear(self) -> None:
        """Forgets everything."""
        self._keys[:] = 0

    def _slots(self, keys: np.ndarray) -> np.ndarray:
        return (keys & np.uint64(len(self._keys) - 1)).astype(np.intp)
