"""Training batches, in an order that follows from a seed and a count, without storing a permutation.

A batch is drawn from all games. Its boards are in tensors of the size of the largest board; if all boards have that
size, no masks are needed (`Batch.full_board`). Different sizes share a batch, because batch norms must see the same
mixture in each batch as in their running statistics: otherwise networks would be trained with another normalisation
than they play with.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ...base.errors import UserError
from ...game.symmetry import COUNT
from .rows import Batch, ReplayWorkspace, new_batch, new_workspace, write_rows
from .samples import COLUMNS, GameSet, game_set

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 4  # of the Feistel network (Luby and Rackoff 1988)
_AHEAD = 2  # batches that are ready, in addition to one in progress per thread
_FIXED_BATCH = 256


Tensors: TypeAlias = Batch[Tensor]


def as_tensors(batch: Batch[np.ndarray], *, pinned: bool = False) -> Tensors:
    """Returns a batch as tensors that share its memory, with planes [n, 22, h, w] in channels-last format.

    Args:
        batch: Arrays.
        pinned: Copy them to pinned memory, from which a GPU can read asynchronously.
    """
    *arrays, full_board = batch
    tensors = [torch.from_numpy(array) for array in arrays]
    if pinned:
        tensors = [tensor.pin_memory() for tensor in tensors]
    tensors[0] = tensors[0].permute(0, 3, 1, 2)
    return Batch._make((*tensors, full_board))


def on_device(batch: Tensors, device: torch.device) -> Tensors:
    """Returns the batch on a device; copies to a GPU are asynchronous."""
    if device.type == "cpu":
        return batch
    *tensors, full_board = batch
    return Batch._make((*(tensor.to(device, non_blocking=True) for tensor in tensors), full_board))


class Samples:
    """Random access to the samples of a set of games. Thread-safe.

    Args:
        games: The games.
        searched_share: As in `rows.write_rows`.
        suicide_areas: As in `rows.write_rows`.

    Attributes:
        games: The games.
        positions: uint32 [samples], the positions that are samples.
        full_board: Whether all boards have the same size.
        width: Width of the tensors.
        height: Height of the tensors.
    """

    def __init__(self, games: GameSet, *, searched_share: float = 0.0, suicide_areas: bool = False) -> None:
        self.games = games
        self.positions = games.samples()
        self.full_board = games.is_one_size
        self.width, self.height = games.largest_board
        self._searched_share, self._suicide_areas = searched_share, suicide_areas
        self._free: SimpleQueue[ReplayWorkspace] = SimpleQueue()

    def __len__(self) -> int:
        return len(self.positions)

    def to_data(self) -> dict[str, Any]:
        """Returns the samples for another process, as tensors of bytes and plain data."""
        columns = {
            name: torch.from_numpy(column.reshape(-1).view(np.uint8).copy())
            for name, column in self.games.columns().items()
            if len(column)
        }
        shares = {"searched_share": self._searched_share, "suicide_areas": self._suicide_areas}
        return {"sources": list(self.games.sources), "columns": columns, **shares}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Samples":
        """The inverse of `to_data`."""
        columns = {
            name: tensor.numpy().view(COLUMNS[name].dtype).reshape(-1, *COLUMNS[name].shape)
            for name, tensor in data["columns"].items()
        }
        games = game_set(data["sources"], **columns)
        return cls(games, searched_share=data["searched_share"], suicide_areas=data["suicide_areas"])

    def batch(self, numbers: np.ndarray, symmetries: np.ndarray, *, pinned: bool = False) -> Tensors:
        """Returns a batch.

        Args:
            numbers: [n], the samples, from 0 to len - 1.
            symmetries: [n], the symmetry of each sample.
            pinned: As in `as_tensors`.
        """
        batch = new_batch(len(numbers), self.width, self.height, self.full_board)
        try:
            workspace = self._free.get_nowait()
        except Empty:
            workspace = new_workspace()
        shares = self._searched_share, self._suicide_areas
        write_rows(self.games, self.positions[numbers], symmetries.astype(np.int64), *shares, workspace, batch)
        self._free.put(workspace)
        return as_tensors(batch, pinned=pinned)


class Loader:
    """An endless iterator of batches: each epoch has another order, and each sample a random symmetry.

    Args:
        samples: The samples.
        batch_size: Samples per batch.
        seed: Random seed.
        drawn: Samples drawn before. With the same seed the following batches do not depend on when the loader was made.
        threads: Threads that prepare batches ahead.
        pinned: As in `as_tensors`.
        part: This process's number and the number of processes that share a batch; each gets every n-th row.

    Raises:
        UserError: There are no samples.
    """

    def __init__(
        self,
        samples: Samples,
        batch_size: int,
        *,
        seed: int,
        drawn: int = 0,
        threads: int = 1,
        pinned: bool = False,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        if not len(samples):
            raise UserError("there are no samples to learn from")
        self._first, self._parts = part
        assert batch_size % self._parts == 0  # `ProcessGroup.check_batch` has checked it
        self.samples, self.batch_size, self.seed, self.drawn, self.pinned = samples, batch_size, seed, drawn, pinned
        self._pool = ThreadPoolExecutor(threads, "loader")
        self._waiting: deque[Future[Tensors]] = deque()
        self._requested = drawn
        self._ahead = threads + _AHEAD

    def __iter__(self) -> Iterator[Tensors]:
        return self

    def __next__(self) -> Tensors:
        while len(self._waiting) < self._ahead:
            self._waiting.append(self._pool.submit(self._batch, self._requested))
            self._requested += self.batch_size
        batch = self._waiting.popleft().result()
        self.drawn += self.batch_size
        return batch

    def _batch(self, first: int) -> Tensors:
        numbers, symmetries = drawn_samples(first, self.batch_size, len(self.samples), self.seed)
        mine = slice(self._first, None, self._parts)
        return self.samples.batch(numbers[mine], symmetries[mine], pinned=self.pinned)

    def close(self) -> None:
        """Stops the threads."""
        self._pool.shutdown(cancel_futures=True)


def fixed_batches(samples: Samples, most: int, seed: int) -> Iterator[Tensors]:
    """Yields batches of a fixed choice of samples, for measurements.

    Args:
        samples: The samples.
        most: Maximum number of samples to use.
        seed: Determines the choice.
    """
    count = min(most, len(samples))
    numbers, symmetries = drawn_samples(0, count, len(samples), seed)
    for first in range(0, count, _FIXED_BATCH):
        chosen = slice(first, first + _FIXED_BATCH)
        yield samples.batch(numbers[chosen], symmetries[chosen])


def loader_threads(threads: int) -> int:
    """Returns how many threads a loader needs, given those of the learner: it does about a tenth of their work."""
    return -(-threads // 8)


def drawn_samples(first: int, count: int, total: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the numbers and the symmetries of consecutive draws.

    Args:
        first: Number of the first draw.
        count: Number of draws.
        total: Number of samples.
        seed: Random seed.
    """
    draws = np.arange(first, first + count, dtype=np.uint64)
    epochs, places = draws // np.uint64(total), draws % np.uint64(total)
    numbers = np.empty(count, np.int64)
    for epoch in np.unique(epochs):
        here = epochs == epoch
        numbers[here] = shuffled(places[here], total, seed + int(epoch))
    symmetries = _mixed(draws ^ _mixed(np.array([seed], np.uint64))) >> np.uint64(32)
    return numbers, (symmetries % np.uint64(COUNT)).astype(np.int64)


def shuffled(places: np.ndarray, total: int, seed: int) -> np.ndarray:
    """Applies the permutation of 0..total - 1 that the seed determines to `places` (uint64); returns int64.

    A Feistel network permutes 4^k numbers; results beyond `total` go through it again until they are below (Black and
    Rogaway 2002, "Ciphers with arbitrary finite domains").
    """
    half = max(1, ((total - 1).bit_length() + 1) // 2)
    bits, mask = np.uint64(half), np.uint64((1 << half) - 1)
    keys = _mixed(np.arange(_ROUNDS, dtype=np.uint64) + _mixed(np.array([seed], np.uint64)))
    result = places.astype(np.uint64)
    outside = np.ones(len(result), np.bool_)
    while outside.any():
        left, right = result[outside] >> bits, result[outside] & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        result[outside] = left << bits | right
        outside = result >= total
    return result.astype(np.int64)


def _mixed(x: np.ndarray) -> np.ndarray:
    """Returns a hash of each number (uint64): that of splitmix64, as in `base.random_numbers.next_random`."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
