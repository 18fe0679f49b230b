"""Training batches, in an order that follows from a seed.

A batch is drawn from all games. Its boards are in tensors of the size of the largest board; if all boards have that
size, no masks are needed (`Batch.full_board`). Different sizes share a batch, because batch norms must see the same
mixture in each batch as in their running statistics: otherwise networks would be trained with another normalisation
than they play with. What does not depend on the other rows is computed in parts of similar boards (`parts_of`).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from ...base.errors import UserError
from ...base.fields import invalid
from ...base.threads import NotCopied
from ...go.sgf import GameRecord
from ...go.symmetry import COUNT
from .game_records import Unusable, read_record
from .ownership import label_ownership
from .rows import (
    LEGAL,
    Batch,
    ReplayWorkspace,
    find_illegal,
    illegal_text,
    new_batch,
    new_workspace,
    write_rows,
)
from .samples import GameSet, SampleGame, pack

_AHEAD = 2  # batches that are ready, in addition to one in progress per thread
_GPU_THREADS = 8  # each makes some 10,000 samples of 19x19 a second, and more would keep more batches in pinned memory
_FIXED_BATCH = 256
_PART_SIDES = (9, 13)  # the longer sides of boards that share a part; the third kind are all larger ones
VALIDATION_SEED = 1  # of the choice of positions in a validation, the same in every run


Tensors: TypeAlias = Batch[Tensor]


def as_tensors(batch: Batch[np.ndarray], *, pinned: bool = False) -> Tensors:
    """Returns a batch as tensors, with planes [n, 22, h, w] in channels-last format.

    They share its memory, or are copies in pinned memory, from which a GPU can read asynchronously.
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


def parts_of(batch: Tensors, most_points: int | None = None) -> list[Tensors]:
    """Splits a batch into parts with boards of similar sizes, in tensors that are no larger than these need.

    A 9x9 board takes a quarter of the time of one in a tensor of 19x19, and most parts need no masks.

    Args:
        batch: The batch; the parts have its rows in another order.
        most_points: The largest number of points of a part's tensors, unless one row has more; None does not limit it.
    """
    on_board = batch.planes[:, 0] > 0
    widths, heights = on_board.any(1).sum(1), on_board.any(2).sum(1)
    order = torch.argsort(widths * heights, stable=True)
    kinds = torch.bucketize(torch.maximum(widths, heights)[order], torch.tensor(_PART_SIDES, device=order.device))
    parts = []
    for rows in (order[kinds == kind] for kind in range(len(_PART_SIDES) + 1)):
        if len(rows):
            width, height = int(widths[rows].max()), int(heights[rows].max())
            size = len(rows) if most_points is None else max(1, most_points // (width * height))
            parts += [_cut(batch, chosen, width, height) for chosen in rows.split(size)]
    return parts


def _cut(batch: Tensors, rows: Tensor, width: int, height: int) -> Tensors:
    """Returns some rows of a batch, in tensors of a width and a height that contain their boards.

    Targets with a number for each point, or for each move, are known by their shapes.
    """
    part: Tensors = Batch._make((*(tensor[rows] for tensor in batch[:-1]), False))
    on_board, (rows_of_all, columns) = part.planes[:, 0] > 0, part.planes.shape[2:]
    # A board under a symmetry can lie in any corner.
    top = on_board.any(2).byte().argmax(1).clamp(max=rows_of_all - height)
    left = on_board.any(1).byte().argmax(1).clamp(max=columns - width)
    y = top[:, None, None] + torch.arange(height, device=rows.device)[:, None]
    points = (y * columns + left[:, None, None] + torch.arange(width, device=rows.device)).flatten(1)
    moves = functional.pad(points, (0, 1), value=rows_of_all * columns)  # the pass is the last
    sequences = part.planes.permute(0, 2, 3, 1).flatten(1, 2)
    planes = sequences[torch.arange(len(rows), device=rows.device)[:, None], points].unflatten(1, (height, width))
    kept: dict[tuple[int, ...], Tensor] = {(rows_of_all * columns,): points, (rows_of_all * columns + 1,): moves}
    _, scalars, *targets, weights, _ = part
    cut = (
        target if (places := kept.get(tuple(target.shape[1:]))) is None else target.gather(1, places)
        for target in targets
    )
    return Batch._make((planes.permute(0, 3, 1, 2), scalars, *cut, weights, bool(planes[..., 0].all())))


class Samples:
    """Random access to the samples of a set of games, with the options of `rows.write_rows`. Thread-safe.

    Surprising positions are several samples if `surprise_share` is not 0 (`GameSet.samples`).

    Attributes:
        positions: uint32 [samples], the positions that are samples.
        full_board: Whether all boards have the same size.
        width, height: The size of the tensors.
    """

    def __init__(
        self, games: GameSet, *, searched_share: float = 0.0, suicide_areas: bool = False, surprise_share: float = 0.0
    ) -> None:
        self.games = games
        self.positions = games.samples(surprise_share)
        sizes = games.games[["width", "height"]]
        self.full_board = bool(np.all(sizes == sizes[:1]))
        self.width, self.height = games.largest_board
        self._searched_share, self._suicide_areas, self._surprise_share = searched_share, suicide_areas, surprise_share
        self._free: SimpleQueue[ReplayWorkspace] = SimpleQueue()

    @classmethod
    def from_records(cls, records: Iterable[GameRecord], *, suicide_areas: bool = False) -> "Samples":
        """Returns the positions of game records as samples, one before each move of the main lines, in their order.

        The policy targets are the moves that were played; value, score, lead and ownership are targets where the result
        in the record determines them, as for `gtp_engine learn`.

        Args:
            records: The records, such as `[read_sgf("game.sgf")]`.
            suicide_areas: The network's `config.suicide_areas`, which decides what planes 18 and 19 show.

        Raises:
            UserError: There are no records, or something else is given; or one has no moves, stones set up later than
                at the start, or an illegal move.
        """
        known = list(records) if isinstance(records, Iterable) else []
        if not known or not all(isinstance(record, GameRecord) for record in known):
            raise invalid("records", records, "a list of game records, such as [read_sgf('game.sgf')]")
        games = pack([_read(record) for record in known])
        workspace = new_workspace()
        for number, record in enumerate(known):
            if (illegal := int(find_illegal(games, number, workspace))) != LEGAL:  # numba makes it a float
                raise UserError(f"{record.source}: {illegal_text(illegal)}")
        return cls(label_ownership(games), suicide_areas=suicide_areas)

    def __len__(self) -> int:
        return len(self.positions)

    def __reduce__(self) -> Any:
        names = ("searched_share", "suicide_areas", "surprise_share")
        return partial(Samples, **{name: getattr(self, f"_{name}") for name in names}), (self.games,)

    def batch(self, numbers: ArrayLike, symmetries: ArrayLike | None = None, *, pinned: bool = False) -> Tensors:
        """Returns a batch of samples, inputs and targets as tensors on the CPU.

        Args:
            numbers: [n], which samples, from 0 to len - 1.
            symmetries: [n], 0 to 7: how the board of each is turned (`go.symmetry`); None to leave it as it is.
            pinned: As in `as_tensors`.
        """
        numbers = np.asarray(numbers, np.intp)
        symmetries = np.zeros(len(numbers), np.int64) if symmetries is None else np.asarray(symmetries, np.int64)
        batch = new_batch(len(numbers), self.width, self.height, self.full_board)
        try:
            workspace = self._free.get_nowait()
        except Empty:
            workspace = new_workspace()
        shares = self._searched_share, self._suicide_areas
        write_rows(self.games, self.positions[numbers], symmetries, *shares, workspace, batch)
        self._free.put(workspace)
        return as_tensors(batch, pinned=pinned)


def _read(record: GameRecord) -> SampleGame:
    """Returns a record as a game to learn from; raises UserError, which names it, if it is not one."""
    try:
        return read_record(record)
    except Unusable as why:
        raise UserError(f"{record.source}: {why}") from why


class Loader(NotCopied):
    """An endless iterator of batches: each epoch has another order, and each sample a random symmetry.

    Args:
        samples: The samples, at least one.
        batch_size: The number of rows of a batch, which `ProcessGroup.check_batch` accepts.
        seed: Decides order and symmetries.
        drawn: Samples drawn before. With the same seed the following batches do not depend on when the loader was made.
        threads: Threads of the learner. The loader does about a tenth of their work, and has an eighth as many; up to
            _GPU_THREADS if a GPU learns.
        pinned: As in `as_tensors`.
        part: This process's number and the number of processes that share a batch; each gets every n-th row.
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
        self._first, self._parts = part
        self.samples, self.batch_size, self.seed, self.drawn, self._pinned = samples, batch_size, seed, drawn, pinned
        own = min(threads, _GPU_THREADS) if pinned else -(-threads // 8)
        self._pool = ThreadPoolExecutor(own, "loader")
        self._waiting: deque[Future[Tensors]] = deque()
        self._draws = draws(len(samples), batch_size, seed, drawn)
        self._ahead = own + _AHEAD

    def __iter__(self) -> Iterator[Tensors]:
        return self

    def __next__(self) -> Tensors:
        self._check_process()
        while len(self._waiting) < self._ahead:
            numbers, symmetries = (drawn[self._first :: self._parts] for drawn in next(self._draws))
            self._waiting.append(self._pool.submit(self.samples.batch, numbers, symmetries, pinned=self._pinned))
        batch = self._waiting.popleft().result()
        self.drawn += self.batch_size
        return batch

    def close(self) -> None:
        """Stops the threads."""
        self._pool.shutdown(cancel_futures=True)


def draws(total: int, size: int, seed: int, drawn: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields the numbers and the symmetries of the samples of one batch of `size` after another, of `total` samples.

    Each epoch has another order; `drawn` samples were drawn before.
    """
    epoch, place = divmod(drawn, total)
    numbers, symmetries = np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    while True:
        while len(numbers) < size:
            random = np.random.default_rng((seed, epoch))
            order = random.permutation(np.arange(total, dtype=np.uint32))
            numbers = np.concatenate((numbers, order[place:]))
            symmetries = np.concatenate((symmetries, random.integers(COUNT, size=total, dtype=np.uint8)[place:]))
            epoch, place = epoch + 1, 0
        yield numbers[:size], symmetries[:size]
        numbers, symmetries = numbers[size:], symmetries[size:]


def fixed_batches(samples: Samples, most: int, seed: int) -> Iterator[Tensors]:
    """Yields batches of at most `most` samples, a fixed choice for a seed, for measurements."""
    random, count = np.random.default_rng(seed), min(most, len(samples))
    numbers = random.choice(len(samples), count, replace=False)
    symmetries = random.integers(COUNT, size=count)
    for first in range(0, count, _FIXED_BATCH):
        chosen = slice(first, first + _FIXED_BATCH)
        yield samples.batch(numbers[chosen], symmetries[chosen])
