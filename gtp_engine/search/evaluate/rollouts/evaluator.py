"""The evaluator without a network: random rollouts on all threads, and priors from local patterns."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ....base.jit import njit
from ....base.random_numbers import next_random
from ....go.board import BOARD, MAX_POINTS, copy_board
from ....go.coords import BLACK, EMPTY, MAX_SIZE
from ..row import (
    LEAD,
    LOSS,
    NO_RESULT,
    POLICY,
    SCORE_MEAN,
    SCORE_STDEV,
    UNKNOWN,
    VALUE_ERROR,
    WIN,
    amaf_column,
    ownership_column,
    row_columns,
)
from .priors import write_priors
from .rollout import MAX_CANDIDATES, count_area, play_rollout, score_offset

ROLLOUTS_PER_EVALUATION = 4  # at equal time 1 is weaker (priors cost half a rollout), 8 is as strong
BATCH_SIZE = 16
# Two threads gain from chunks of a millisecond and more: this many rollouts, counted in points of their boards.
_CHUNK = 3000


@njit
def _add_amaf(board: np.ndarray, amaf_colours: np.ndarray, value: float, weight: float, amaf: np.ndarray) -> None:
    """Adds a rollout from `board` to its AMAF statistics [2, 2, area].

    weight: of the rollout; value: that weight times win minus loss for the side to move.
    """
    stride = board["width"] + 1
    move = 0
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if amaf_colours[point] == board["to_move"]:
                amaf[0, 0, move] += weight
                amaf[0, 1, move] += value
            elif amaf_colours[point] != EMPTY:
                amaf[1, 0, move] += weight
                amaf[1, 1, move] -= value
            move += 1


@njit
def _evaluate_rows(
    boards: np.ndarray,
    indices: np.ndarray,
    start: int,
    stop: int,
    rollouts: int,
    heavy: bool,
    seed: np.uint64,
    rows: np.ndarray,
) -> None:
    """Writes rows `start` to `stop`; row i is played with random numbers of its own, made from `seed` and i."""
    scratch = np.empty(1, BOARD)
    candidates = np.empty(MAX_CANDIDATES, np.int16)
    amaf_colours = np.empty(MAX_POINTS, np.int8)
    state = np.empty(1, np.uint64)
    for number in range(start, stop):
        source, row = boards[indices[number]], rows[number]
        area = source["width"] * source["height"]
        ownership = row[ownership_column(area) : amaf_column(area)]
        amaf = row[amaf_column(area) :].reshape(2, 2, area)
        write_priors(source, row[POLICY:])
        state[0] = seed + np.uint64(number)
        state[0] = next_random(state)
        offset = score_offset(source)
        sign = 1.0 if source["to_move"] == BLACK else -1.0
        owner_sums = np.zeros(area, np.int32)
        amaf[:] = 0.0
        points = 0.0
        total = 0.0
        squares = 0.0
        for _ in range(rollouts):
            copy_board(scratch[0], source)
            play_rollout(scratch[0], state, heavy, candidates, amaf_colours)
            score = sign * (count_area(scratch[0], owner_sums) + offset)
            won = 1.0 if score > 0.0 else (0.5 if score == 0.0 else 0.0)
            points += won
            _add_amaf(source, amaf_colours, (2.0 * won - 1.0) / rollouts, 1.0 / rollouts, amaf)
            total += score
            squares += score * score
        mean = total / rollouts
        row[WIN] = points / rollouts
        row[LOSS] = 1.0 - points / rollouts
        row[NO_RESULT] = 0.0
        row[LEAD] = mean
        row[SCORE_MEAN] = mean
        row[SCORE_STDEV] = np.sqrt(max(0.0, squares / rollouts - mean * mean))
        row[VALUE_ERROR:POLICY] = UNKNOWN
        for point in range(area):
            ownership[point] = sign * owner_sums[point] / rollouts


@dataclass
class _Ticket:
    """A batch under way: its chunks, as ranges of rows, and what has been handed to other threads."""

    boards: np.ndarray
    indices: np.ndarray
    seed: np.uint64
    rows: np.ndarray
    chunks: list[tuple[int, int]]
    futures: list[Future[None]]


class RolloutEvaluator:
    """Implements `evaluator.Evaluator` by random games from each position.

    The rows depend on the seed and on the order of the submitted positions, never on the threads. A draw is half a win.

    Args:
        threads: CPU threads that it may use, the caller's included.
        seed: makes the rows repeatable.
        rollouts: rollouts for each position.
        batch_size: see `Evaluator.batch_size`.
        heavy: whether rollouts answer atari and play urgent shapes; otherwise they are uniformly random.
    """

    name = "rollouts"
    largest_board = MAX_SIZE
    is_rollout = True
    reads_ladders = False
    takes_profile = False

    def __init__(
        self,
        *,
        threads: int = 1,
        seed: int | None = None,
        rollouts: int = ROLLOUTS_PER_EVALUATION,
        batch_size: int = BATCH_SIZE,
        heavy: bool = True,
    ) -> None:
        self.batch_size = batch_size
        self.overlap = 2 if threads > 1 else 1
        self._rollouts = rollouts
        self._heavy = heavy
        self._seeds = np.random.default_rng(seed)
        self._pool = ThreadPoolExecutor(threads - 1, "rollouts") if threads > 1 else None

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
        *,
        optimism: float = 0.0,
        profile: str = "",
    ) -> _Ticket:
        """Begins the batch on the other threads; this one helps in `collect`."""
        count = len(indices)
        area = int(boards["width"][indices[0]]) * int(boards["height"][indices[0]])
        rows = np.empty((count, row_columns(area, amaf=True)), np.float32)
        size = max(1, -(-_CHUNK // (self._rollouts * area)))
        chunks = [(start, min(start + size, count)) for start in range(0, count, size)]
        seed = self._seeds.integers(0, 2**64, dtype=np.uint64)
        ticket = _Ticket(boards, indices, seed, rows, chunks, [])
        if self._pool and len(chunks) > 1:
            ticket.futures = [self._pool.submit(self._evaluate, ticket, start, stop) for start, stop in chunks]
        return ticket

    def _evaluate(self, ticket: _Ticket, start: int, stop: int) -> None:
        """Writes some rows of a ticket."""
        boards, indices = ticket.boards, ticket.indices
        _evaluate_rows(boards, indices, start, stop, self._rollouts, self._heavy, ticket.seed, ticket.rows)

    def collect(self, ticket: _Ticket) -> np.ndarray:
        """Plays the chunks that no other thread has begun, from the end, and waits for the rest."""
        if not ticket.futures:
            self._evaluate(ticket, 0, len(ticket.indices))
        for chunk, future in zip(reversed(ticket.chunks), reversed(ticket.futures), strict=False):
            if future.cancel():
                self._evaluate(ticket, *chunk)
            else:
                future.result()
        return ticket.rows

    def clear_cache(self) -> None:
        """Does nothing: there is no cache, the same position is played again."""

    def close(self) -> None:
        """Ends the other threads."""
        if self._pool:
            self._pool.shutdown()
