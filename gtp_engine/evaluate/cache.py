"""Evaluations kept for positions that come again: by other orders of moves, in the next search."""

import numpy as np


class EvaluationCache:
    """The latest evaluations, one row of float32 each, one after the other: memory is taken as they come.

    A table tells the row of a key by the key's lower bits; of two keys with the same ones it knows the later.
    """

    def __init__(self, megabytes: float, columns: int) -> None:
        # A row, its key, and two to four entries of the table.
        size = max(1, int(megabytes * 1e6 / (4 * columns + 8 + 4 * 3)))
        self._keys = np.zeros(size, np.uint64)
        self._rows = np.empty((size, columns), np.float32)
        self._table = np.zeros(1 << (2 * size - 1).bit_length(), np.int32)
        self._next = 0

    def look_up(self, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Writes what is known for each of `keys` (uint64 [n], not 0) into `rows` [n, columns]; the indices of the
        others.
        """
        places = self._table[self._slots(keys)]
        known = self._keys[places] == keys
        if known.any():
            rows[known] = self._rows[places[known]]
        return np.flatnonzero(~known)

    def store(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Keeps a row for each of `keys`, no more than there is room for."""
        places = np.arange(self._next, self._next + len(keys)) % len(self._keys)
        self._keys[places] = keys
        self._rows[places] = rows
        self._table[self._slots(keys)] = places
        self._next = int(places[-1]) + 1

    def clear(self) -> None:
        """Forgets everything."""
        self._keys[:] = 0
        self._next = 0

    def _slots(self, keys: np.ndarray) -> np.ndarray:
        return (keys & np.uint64(len(self._table) - 1)).astype(np.intp)
