"""A cache of evaluations, for positions that are reached again by another order of moves or in the next search."""

import numpy as np

from ...base.jit import njit

# The table takes 16 bytes an entry and is at most half full with evaluations of 9x9: a tenth of the memory.
_VALUES_PER_ENTRY = 85


class EvaluationCache:
    """The latest evaluation rows, for boards of any size.

    Rows are stored one after the other in a ring of float32; at its end they continue at the start, over the oldest. A
    table finds the beginning of a row by the lower bits of its key; of two keys with the same lower bits it keeps the
    later one.

    Args:
        megabytes: the size of the ring.
    """

    def __init__(self, megabytes: float) -> None:
        size = max(1, int(megabytes * 1e6 / 4))
        self._values = np.zeros(size, np.float32)
        entries = 1 << (size // _VALUES_PER_ENTRY).bit_length()
        self._keys = np.zeros(entries, np.uint64)
        self._offsets = np.zeros(entries, np.int64)
        self._end = np.zeros(1, np.int64)

    def look_up(self, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Copies the rows of known keys.

        Args:
            keys: uint64 [n], not 0. The same key must not be used for rows of two lengths.
            rows: float32 [n, columns]; the rows of known keys are written.

        Returns:
            The indices of the keys that are not known.
        """
        missing = np.empty(len(keys), np.intp)
        return missing[: _look_up(self._keys, self._offsets, self._values, self._end, keys, rows, missing)]

    def store(self, keys: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Stores rows[i] under keys[i] for each index i in `chosen`; if they do not all fit, the latest remain."""
        _store(self._keys, self._offsets, self._values, self._end, keys, rows, chosen)

    def clear(self) -> None:
        """Forgets everything."""
        self._keys[:] = 0


@njit
def _look_up(
    known: np.ndarray,
    offsets: np.ndarray,
    values: np.ndarray,
    end: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    missing: np.ndarray,
) -> int:
    """See `EvaluationCache.look_up`; returns the number of missing keys.

    offsets: the number of values written before each row, in earlier rounds of the ring too. end: of all values so far.
    """
    count, columns = 0, rows.shape[1]
    for index in range(len(keys)):
        slot = keys[index] & np.uint64(len(known) - 1)
        if known[slot] != keys[index] or offsets[slot] < end[0] - len(values):
            missing[count] = index
            count += 1
            continue
        start = offsets[slot] % len(values)
        for column in range(columns):
            rows[index, column] = values[start + column]
    return count


@njit
def _store(
    known: np.ndarray,
    offsets: np.ndarray,
    values: np.ndarray,
    end: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    chosen: np.ndarray,
) -> None:
    columns = rows.shape[1]
    if columns > len(values):
        return
    for index in chosen:
        start = end[0] % len(values)
        if start + columns > len(values):
            end[0] += len(values) - start
            start = 0
        slot = keys[index] & np.uint64(len(known) - 1)
        known[slot], offsets[slot] = keys[index], end[0]
        for column in range(columns):
            values[start + column] = rows[index, column]
        end[0] += columns
