"""Evaluations kept for positions that come again: by other orders of moves, in the next search."""

import numpy as np

from ..compiled import njit

# A table of 12 bytes an entry, at most half full with evaluations of 9x9: a tenth of the memory.
_NUMBERS_PER_ENTRY = 85


class EvaluationCache:
    """The latest evaluations, rows of float32 for boards of any size, one after the other: memory is taken as they
    come. Where it ends they begin from the start again, over the oldest.

    A table tells by a key's lower bits where its row begins; of two keys with the same ones it knows the later.
    """

    def __init__(self, megabytes: float) -> None:
        size = max(1, int(megabytes * 1e6 / 4))
        self._numbers = np.zeros(size, np.float32)
        entries = 1 << (size // _NUMBERS_PER_ENTRY).bit_length()
        self._keys = np.zeros(entries, np.uint64)
        self._places = np.zeros(entries, np.int64)
        self._end = np.zeros(1, np.int64)

    def look_up(self, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Writes what is known for each of `keys` (uint64 [n], not 0; another for each size of rows) into `rows`
        [n, columns]; the indices of the others.
        """
        missing = np.empty(len(keys), np.intp)
        return missing[: _look_up(self._keys, self._places, self._numbers, self._end[0], keys, rows, missing)]

    def store(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Keeps a row for each of `keys`; the latest, where there is no room for all."""
        _store(self._keys, self._places, self._numbers, self._end, keys, rows)

    def clear(self) -> None:
        """Forgets everything."""
        self._keys[:] = 0


@njit
def _look_up(
    known: np.ndarray,
    places: np.ndarray,
    numbers: np.ndarray,
    end: int,
    keys: np.ndarray,
    rows: np.ndarray,
    missing: np.ndarray,
) -> int:
    """`EvaluationCache.look_up`. places: how many numbers came before a row, those of earlier rounds too; end: all."""
    count, columns = 0, rows.shape[1]
    for index in range(len(keys)):
        slot = keys[index] & np.uint64(len(known) - 1)
        if known[slot] != keys[index] or places[slot] < end - len(numbers):
            missing[count] = index
            count += 1
            continue
        start = places[slot] % len(numbers)
        for column in range(columns):
            rows[index, column] = numbers[start + column]
    return count


@njit
def _store(
    known: np.ndarray, places: np.ndarray, numbers: np.ndarray, end: np.ndarray, keys: np.ndarray, rows: np.ndarray
) -> None:
    columns = rows.shape[1]
    if columns > len(numbers):
        return
    for index in range(len(keys)):
        start = end[0] % len(numbers)
        if start + columns > len(numbers):
            end[0] += len(numbers) - start
            start = 0
        slot = keys[index] & np.uint64(len(known) - 1)
        known[slot], places[slot] = keys[index], end[0]
        for column in range(columns):
            numbers[start + column] = rows[index, column]
        end[0] += columns
