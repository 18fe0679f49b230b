"""Batches to learn from, in an order that needs no memory: which sample comes when follows from the seed and a count.

A batch is drawn from all games at once and its boards lie in tensors as large as the largest of the set; where all are
of that size, no masks are needed (`Batch.full_board`). Sizes share a batch because batch norms must see the mixture
that their running statistics are of: batches of one size each would be normalised otherwise than the network that
plays.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..game.symmetry import COUNT
from .rows import Columns, ReplayWorkspace, columns_of, new_rows, new_workspace, write_rows
from .samples import GameSet

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 4  # of the Feistel network: Luby and Rackoff 1988
_AHEAD = 2  # batches that wait
_MEASURED_TOGETHER = 256


@dataclass(frozen=True)
class Batch:
    """Rows as tensors, meanings and shapes as in `rows.Rows`, but for planes: uint8 [n, 22, h, w], channels last.

    full_board: all boards fill the planes.
    """

    planes: Tensor
    scalars: Tensor
    policy: Tensor
    opponent: Tensor
    value: Tensor
    score: Tensor
    lead: Tensor
    ownership: Tensor
    weights: Tensor
    full_board: bool

    def __len__(self) -> int:
        return len(self.planes)

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device; a GPU fetches it while it works on."""
        if device.type == "cpu":
            return self
        tensors = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "full_board"}
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
        return Batch(**moved, full_board=self.full_board)


class Samples:
    """Random access to the samples of a set of games; many threads may read at once.

    searched_share: see `rows.write_rows`.
    """

    def __init__(self, games: GameSet, *, searched_share: float = 0.0, suicide_areas: bool = False) -> None:
        self.columns: Columns = columns_of(games)
        self.positions = games.samples()
        self.full_board = games.is_one_size if len(games) else True
        self.width, self.height = games.largest_board if len(games) else (0, 0)
        self._searched_share, self._suicide_areas = searched_share, suicide_areas
        self._free: SimpleQueue[ReplayWorkspace] = SimpleQueue()

    def __len__(self) -> int:
        return len(self.positions)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which makes workspaces of its own."""
        return {name: value for name, value in vars(self).items() if name != "_free"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _free=SimpleQueue())

    def batch(self, numbers: np.ndarray, symmetries: np.ndarray, *, pinned: bool = False) -> Batch:
        """The samples of these numbers (0 to len - 1), turned by `symmetries`. pinned: for a GPU to fetch."""
        rows = new_rows(len(numbers), self.width, self.height)
        try:
            w = self._free.get_nowait()
        except Empty:
            w = new_workspace()
        shares = self._searched_share, self._suicide_areas
        write_rows(self.columns, self.positions[numbers], symmetries.astype(np.int64), *shares, w, rows)
        self._free.put(w)
        tensors = {name: torch.from_numpy(array) for name, array in rows._asdict().items()}
        if pinned:
            tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
        tensors["planes"] = tensors["planes"].permute(0, 3, 1, 2)
        return Batch(**tensors, full_board=self.full_board)


class Loader:
    """Endless batches of the samples, each epoch in another order, each sample turned by a symmetry of its own.

    drawn: samples drawn before; with the same seed the batches that follow are the same, whenever the loader was made.
    threads: that prepare batches ahead. part: this process's number and how many share a batch; it gets every so many
    of its rows.
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
            raise ValueError("there is no sample to learn from")
        self._first, self._parts = part
        assert batch_size % self._parts == 0  # `Ranks.check_batch`
        self.samples, self.batch_size, self.seed, self.drawn, self.pinned = samples, batch_size, seed, drawn, pinned
        self._pool = ThreadPoolExecutor(threads, "loader")
        self._waiting: deque[Future[Batch]] = deque()
        self._requested = drawn
        self._ahead = threads + _AHEAD

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        while len(self._waiting) < self._ahead:
            self._waiting.append(self._pool.submit(self._batch, self._requested))
            self._requested += self.batch_size
        batch = self._waiting.popleft().result()
        self.drawn += self.batch_size
        return batch

    def _batch(self, first: int) -> Batch:
        numbers, symmetries = drawn_samples(first, self.batch_size, len(self.samples), self.seed)
        mine = slice(self._first, None, self._parts)
        return self.samples.batch(numbers[mine], symmetries[mine], pinned=self.pinned)

    def close(self) -> None:
        """Stops the threads."""
        self._pool.shutdown(cancel_futures=True)


def fixed_batches(samples: Samples, most: int, seed: int) -> Iterator[Batch]:
    """Always the same samples, `most` of them or all, drawn as the seed says: to measure with, not to learn from."""
    count = min(most, len(samples))
    numbers, symmetries = drawn_samples(0, count, len(samples), seed)
    for first in range(0, count, _MEASURED_TOGETHER):
        chosen = slice(first, first + _MEASURED_TOGETHER)
        yield samples.batch(numbers[chosen], symmetries[chosen])


def loader_threads(threads: int) -> int:
    """How many of the threads that learn a loader wants beside them: it does about a tenth of their work."""
    return -(-threads // 8)


def drawn_samples(first: int, count: int, total: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and symmetries of the samples drawn as number `first` and following, out of `total`."""
    draws = np.arange(first, first + count, dtype=np.uint64)
    epochs, places = draws // np.uint64(total), draws % np.uint64(total)
    numbers = np.empty(count, np.int64)
    for epoch in np.unique(epochs):
        here = epochs == epoch
        numbers[here] = shuffled(places[here], total, seed + int(epoch))
    symmetries = _mixed(draws ^ _mixed(np.array([seed], np.uint64))) >> np.uint64(32)
    return numbers, (symmetries % np.uint64(COUNT)).astype(np.int64)


def shuffled(places: np.ndarray, total: int, seed: int) -> np.ndarray:
    """Where the `places` (uint64) 0 to total - 1 go in the permutation that the seed names.

    A Feistel network permutes 4^k numbers; what it takes beyond `total` goes through it again until it falls below
    (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
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
    """A hash of each number (uint64): splitmix64's, as `evaluate.playout.next_random`."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
