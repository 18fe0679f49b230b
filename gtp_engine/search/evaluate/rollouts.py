"""Evaluators without a network: rollouts, and one without knowledge.

Rollouts are random games from a position to the end. They answer the last move (capture a chain in atari, save one that
was put in atari, play MoGo's shapes next to it) and else play anywhere but in their own eyes. Priors come from local
patterns.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ...base.jit import inline, next_random, njit, random_below
from ...go.board import (
    BOARD,
    MAX_POINTS,
    RECENT,
    TERRITORY_SCORING,
    atari_liberty,
    button_points,
    copy_board,
    in_atari,
    is_suicide,
    play,
    played_more,
    points_beside,
)
from ...go.coords import BLACK, EMPTY, MAX_SIZE, PASS, WALL, WHITE
from .evaluator import Evaluator
from .rollout_moves import is_eye, is_urgent_shape, liberties_after, write_priors
from .row import (
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


class UniformEvaluator(Evaluator):
    """An evaluator without knowledge. Illegal moves have priors too: the search drops them anyway."""

    name = "uniform"
    largest_board = MAX_SIZE

    def __init__(self, batch_size: int = 64) -> None:
        self.batch_size = batch_size
        self._rows = np.zeros((0, 0), np.float32)  # identical ones, for the last board's area

    def submit(self, boards: np.ndarray, indices: np.ndarray, *_: object, **others: object) -> np.ndarray:
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


# A cycle that only superko would forbid (triple ko) ends here: rollouts have about 1.4 moves a point of the board.
MOVE_CAP_PER_POINT = 4
MAX_CANDIDATES = 64


@njit
def _captures_and_escapes(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the moves that answer an atari at the last move; returns their number.

    These capture the chain that just moved, and for each own chain that was put in atari extend it to two liberties or
    capture one of the chains around it.
    """
    stones = board["stones"]
    colour = int(board["to_move"])
    count = 0
    head = board["chain"][last]
    if stones[last] == 3 - colour and in_atari(board, head):
        candidates[count] = atari_liberty(board, head)
        count += 1
    for neighbour in points_beside(board, last):
        if stones[neighbour] != colour or not in_atari(board, board["chain"][neighbour]):
            continue
        liberty = atari_liberty(board, board["chain"][neighbour])
        if count < MAX_CANDIDATES and liberties_after(board, liberty, colour) >= 2:
            candidates[count] = liberty
            count += 1
        stone = neighbour
        while True:
            for enemy in points_beside(board, stone):
                if stones[enemy] == 3 - colour and in_atari(board, board["chain"][enemy]) and count < MAX_CANDIDATES:
                    candidates[count] = atari_liberty(board, board["chain"][enemy])
                    count += 1
            stone = board["next_stone"][stone]
            if stone == neighbour:
                break
    return count


@njit
def _adjacent_shapes(board: np.ndarray, last: int, candidates: np.ndarray) -> int:
    """Writes the urgent shapes among the eight points around the last move; returns their number."""
    stride = int(board["width"]) + 1
    colour = int(board["to_move"])
    count = 0
    for middle in (last - stride, last, last + stride):
        for point in (middle - 1, middle, middle + 1):
            is_empty = point != last and board["stones"][point] == EMPTY
            if is_empty and is_urgent_shape(board, point) and liberties_after(board, point, colour) >= 2:
                candidates[count] = point
                count += 1
    return count


@inline
def _pick(board: np.ndarray, candidates: np.ndarray, count: int, state: np.ndarray) -> int:
    """Returns a random candidate, or PASS if there is none or it is the forbidden ko."""
    if count == 0:
        return PASS
    point = candidates[random_below(state, count)]
    return PASS if point == board["ko_point"] else point


@njit
def _answer(board: np.ndarray, state: np.ndarray, candidates: np.ndarray) -> int:
    """Returns a move that answers the last one, or PASS if none is urgent."""
    last = board["recent_points"][(board["move_count"] - 1) % RECENT] if board["move_count"] > 0 else PASS
    if last == PASS:
        return PASS
    point = _pick(board, candidates, _captures_and_escapes(board, last, candidates), state)
    if point == PASS:
        point = _pick(board, candidates, _adjacent_shapes(board, last, candidates), state)
    return point


@njit
def anywhere(board: np.ndarray, state: np.ndarray) -> int:
    """Returns a random move that is legal and fills no eye of its own; PASS if there is none."""
    colour = int(board["to_move"])
    count = int(board["empty_count"])
    if count == 0:
        return PASS
    start = random_below(state, count)
    for offset in range(count):
        slot = start + offset
        if slot >= count:
            slot -= count
        point = int(board["empties"][slot])
        if point != board["ko_point"] and not is_eye(board, point, colour) and not is_suicide(board, point):
            return point
    return PASS


@njit
def play_rollout(board: np.ndarray, state: np.ndarray, candidates: np.ndarray, amaf_colours: np.ndarray) -> int:
    """Plays random moves on `board` until both sides pass one after the other; returns the number of moves.

    Ko is the simple one, suicide is never played, and a side passes only when it has no move left.

    Args:
        board: a BOARD record.
        state: see `jit.next_random`.
        candidates: scratch memory, int16 [MAX_CANDIDATES].
        amaf_colours: int8 [MAX_POINTS], written: the colour that was the first to play at each point, or EMPTY.
    """
    limit = MOVE_CAP_PER_POINT * board["width"] * board["height"]
    amaf_colours[: (board["width"] + 1) * (board["height"] + 1)] = EMPTY
    passes = 0
    moves = 0
    while passes < 2 and moves < limit:
        point = _answer(board, state, candidates)
        if point == PASS:
            point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        if amaf_colours[point] == EMPTY:
            amaf_colours[point] = board["to_move"]
        play(board, point)
        moves += 1
    return moves


@njit
def play_recorded(board: np.ndarray, state: np.ndarray, points: np.ndarray) -> int:
    """Plays uniform random moves until two passes or until `points` (int16) is full of them; returns their number.

    As in `play_rollout`, ko is the simple one, and a side passes only when it has no move left.
    """
    passes = moves = 0
    while passes < 2 and moves < len(points):
        point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        points[moves] = point
        play(board, point)
        moves += 1
    return moves


@njit
def count_area(board: np.ndarray, ownership: np.ndarray) -> int:
    """Returns black's points minus white's, without komi, at the end of a rollout, which leaves single empty points.

    Adds 1 (black) or -1 (white) for each point to `ownership` (int32 [area], move-index order).
    """
    width = board["width"]
    stride = width + 1
    stones = board["stones"]
    margin = 0
    move = 0
    for y in range(board["height"]):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            colours = stones[point]
            if colours == EMPTY:
                for neighbour in points_beside(board, point):
                    if stones[neighbour] != WALL:
                        colours |= stones[neighbour]
            owner = 1 if colours == BLACK else (-1 if colours == WHITE else 0)
            margin += owner
            ownership[move] += owner
            move += 1
    return margin


@njit
def score_offset(board: np.ndarray) -> float:
    """Returns the difference of black's final margin from its area margin in a rollout.

    It consists of komi, the button, and under territory rules the stones: with P stones of a colour ever played,
    territory + prisoners = area - P, whatever is captured. So black's margin is that of the area minus the difference
    of the stones played so far. The moves to come are assumed to alternate: the side to move plays the last one half of
    the time. The stones of the rollout itself do not count, since it continues after a player would pass.
    """
    offset = button_points(board) - float(board["komi"])
    if board["scoring"] == TERRITORY_SCORING:
        offset -= played_more(board)
        if board["passes"] == 0:
            offset += 0.5 if board["to_move"] == BLACK else -0.5
    return offset


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
    boards: np.ndarray, indices: np.ndarray, start: int, stop: int, rollouts: int, seed: np.uint64, rows: np.ndarray
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
        points = total = squares = 0.0
        for _ in range(rollouts):
            copy_board(scratch[0], source)
            play_rollout(scratch[0], state, candidates, amaf_colours)
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


class RolloutEvaluator(Evaluator):
    """Evaluates positions by random games from each.

    The rows depend on the seed and on the order of the submitted positions, never on the threads. A draw is half a win.

    Args:
        threads: CPU threads that it may use, the caller's included.
        seed: makes the rows repeatable.
        rollouts: how many are played for each position.
    """

    name = "rollouts"
    largest_board = MAX_SIZE
    least_visits = 20  # 80 rollouts, chosen by judgement
    has_amaf = True

    def __init__(self, *, threads: int = 1, seed: int | None = None, rollouts: int = ROLLOUTS_PER_EVALUATION) -> None:
        self.batch_size = BATCH_SIZE
        self.overlap = 2 if threads > 1 else 1
        self._rollouts = rollouts
        self._seeds = np.random.default_rng(seed)
        self._pool = ThreadPoolExecutor(threads - 1, "rollouts") if threads > 1 else None

    def submit(self, boards: np.ndarray, indices: np.ndarray, *_: object, **others: object) -> _Ticket:
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
        _evaluate_rows(ticket.boards, ticket.indices, start, stop, self._rollouts, ticket.seed, ticket.rows)

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

    def close(self) -> None:
        """Ends the other threads."""
        if self._pool:
            self._pool.shutdown()
