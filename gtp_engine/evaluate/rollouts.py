"""The evaluator without a network: random playouts on all threads, priors from what is seen at a glance."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import njit
from ..game.board import BOARD, MAX_POINTS, copy_board
from ..game.coords import BLACK, EMPTY, MAX_SIZE
from .interface import Outputs
from .playout import MAX_CANDIDATES, count_area, next_random, play_out, score_offset
from .priors import write_priors

PLAYOUTS = 4  # at equal time 1 plays weaker (priors cost half a playout), 8 alike
BATCH_SIZE = 16
# Two threads gain from portions of a millisecond and more: so many playouts, counted in points of their boards.
_PORTION = 3000


class _Buffers(NamedTuple):
    """The outputs of one batch in the form that compiled code writes; shapes as in `Outputs`, row i for index i."""

    policy: np.ndarray
    value: np.ndarray
    score_mean: np.ndarray
    score_stdev: np.ndarray
    ownership: np.ndarray
    first_plays: np.ndarray


@njit
def _add_first_plays(
    board: np.ndarray, first_player: np.ndarray, value: float, weight: float, first_plays: np.ndarray
) -> None:
    """Adds a playout from `board`: its weight, and by it win minus loss for the side to move."""
    stride = board["width"] + 1
    move = 0
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if first_player[point] == board["to_move"]:
                first_plays[0, 0, move] += weight
                first_plays[0, 1, move] += value
            elif first_player[point] != EMPTY:
                first_plays[1, 0, move] += weight
                first_plays[1, 1, move] -= value
            move += 1


@njit
def _judge(
    boards: np.ndarray,
    indices: np.ndarray,
    start: int,
    stop: int,
    playouts: int,
    heavy: bool,
    seed: np.uint64,
    buffers: _Buffers,
) -> None:
    """Fills rows `start` to `stop`; row i is played with random numbers of its own, made from `seed` and i."""
    scratch = np.empty(1, BOARD)
    candidates = np.empty(MAX_CANDIDATES, np.int16)
    first_player = np.empty(MAX_POINTS, np.int8)
    state = np.empty(1, np.uint64)
    for row in range(start, stop):
        source = boards[indices[row]]
        area = source["width"] * source["height"]
        write_priors(source, buffers.policy[row])
        state[0] = seed + np.uint64(row)
        state[0] = next_random(state)
        offset = score_offset(source)
        sign = 1.0 if source["to_move"] == BLACK else -1.0
        owned = np.zeros(area, np.int32)
        buffers.first_plays[row] = 0.0
        points = 0.0
        total = 0.0
        squares = 0.0
        for _ in range(playouts):
            copy_board(scratch[0], source)
            play_out(scratch[0], state, heavy, candidates, first_player)
            score = sign * (count_area(scratch[0], owned) + offset)
            won = 1.0 if score > 0.0 else (0.5 if score == 0.0 else 0.0)
            points += won
            _add_first_plays(
                source, first_player, (2.0 * won - 1.0) / playouts, 1.0 / playouts, buffers.first_plays[row]
            )
            total += score
            squares += score * score
        mean = total / playouts
        buffers.value[row, 0] = points / playouts
        buffers.value[row, 1] = 1.0 - points / playouts
        buffers.value[row, 2] = 0.0
        buffers.score_mean[row] = mean
        buffers.score_stdev[row] = np.sqrt(max(0.0, squares / playouts - mean * mean))
        for move in range(buffers.ownership.shape[1]):
            buffers.ownership[row, move] = sign * owned[move] / playouts


@dataclass
class _Ticket:
    """A batch under way: its portions, as rows, and what has been handed to other threads."""

    boards: np.ndarray
    indices: np.ndarray
    seed: np.uint64
    buffers: _Buffers
    portions: list[tuple[int, int]]
    futures: list[Future[None]]


class RolloutEvaluator:
    """Implements `interface.Evaluator` by `playouts` random games from each position.

    heavy: playouts answer atari and play urgent shapes; otherwise they are uniformly random.
    The outputs depend on the seed and on the order of the submitted positions, never on the threads. A draw is half a
    win.
    """

    name = "rollouts"
    largest_board = MAX_SIZE
    plays_out = True
    reads_ladders = False
    takes_profile = False

    def __init__(
        self,
        *,
        threads: int = 1,
        seed: int | None = None,
        playouts: int = PLAYOUTS,
        batch_size: int = BATCH_SIZE,
        heavy: bool = True,
    ) -> None:
        self.batch_size = batch_size
        self.overlap = 2 if threads > 1 else 1
        self._playouts = playouts
        self._heavy = heavy
        self._seeds = np.random.default_rng(seed)
        self._pool = ThreadPoolExecutor(threads - 1, "rollouts") if threads > 1 else None

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        *,
        ownership: bool = False,
        optimism: float = 0.0,
        profile: str = "",
    ) -> _Ticket:
        """Begins the batch on the other threads; this one helps in `collect`. Symmetries mean nothing to playouts."""
        count = len(indices)
        area = int(boards["width"][indices[0]]) * int(boards["height"][indices[0]])
        buffers = _Buffers(
            np.empty((count, area + 1), np.float32),
            np.empty((count, 3), np.float32),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
            np.empty((count, area if ownership else 0), np.float32),
            np.empty((count, 2, 2, area), np.float32),
        )
        size = max(1, -(-_PORTION // (self._playouts * area)))
        portions = [(start, min(start + size, count)) for start in range(0, count, size)]
        seed = self._seeds.integers(0, 2**64, dtype=np.uint64)
        ticket = _Ticket(boards, indices, seed, buffers, portions, [])
        if self._pool and len(portions) > 1:
            ticket.futures = [self._pool.submit(self._work, ticket, start, stop) for start, stop in portions]
        return ticket

    def _work(self, ticket: _Ticket, start: int, stop: int) -> None:
        _judge(ticket.boards, ticket.indices, start, stop, self._playouts, self._heavy, ticket.seed, ticket.buffers)

    def collect(self, ticket: _Ticket) -> Outputs:
        """Plays what no other thread has begun, from the end, and waits for the rest."""
        if not ticket.futures:
            self._work(ticket, 0, len(ticket.indices))
        for portion, future in zip(reversed(ticket.portions), reversed(ticket.futures), strict=False):
            if future.cancel():
                self._work(ticket, *portion)
            else:
                future.result()
        policy, value, mean, stdev, ownership, first_plays = ticket.buffers
        owned = ownership if ownership.shape[1] else None
        return Outputs(policy, value, mean, mean, stdev, owned, first_plays=first_plays)

    def clear_cache(self) -> None:
        """There is none: the same position is played again."""

    def close(self) -> None:
        """Ends the other threads."""
        if self._pool:
            self._pool.shutdown()
