"""The evaluation row: evaluators write it, the cache keeps it, the search tree reads it.

The evaluation of a position is one row of float32. All values are for the side to move:

========  ==============================================================================================================
0-2       probabilities of a win, a loss and no result
3         lead: the points by which the side to move is ahead
4, 5      mean and standard deviation of the final score, in points
6-8       short-term errors: the expected error of win minus loss, that of the score in points, and the number of turns
          until the value settles; UNKNOWN from an evaluator that does not estimate them
9-        policy [area + 1] in move-index order: 0 on illegal moves, sums to 1
then      ownership [area] in -1..1; +1: the side to move owns the point
then      AMAF statistics [2, 2, area], from rollouts only (`Evaluator.has_amaf`). [0] is about the side to move, [1]
          about the opponent: the share of rollouts in which that player was the first to play at a point, and the sum
          over these of win minus loss for that player, divided by the number of all rollouts
========  ==============================================================================================================

The numbers come first so that their columns are the same on every board. `decode_outputs` makes rows of a network's raw
outputs for transformed boards, by KataGo's formulas for its files of versions 8 to 17. `EvaluationRow` and `Policy` are
for readers outside compiled code.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import UserError
from ...base.jit import inline, njit
from ...go.coords import all_points, as_point, index_of_point, point_of_index, vertex
from ...nets.config import NetworkConfig
from ...nets.constants import SUPERKO, TERRITORY
from ...nets.kernels.scalars import ONE, TWO, ZERO, exp

WIN, LOSS, NO_RESULT, LEAD, SCORE_MEAN, SCORE_STDEV, VALUE_ERROR, SCORE_ERROR, VARIANCE_TIME, POLICY = range(10)
UNKNOWN = -1.0  # in the columns of short-term errors; KataGo prints the same number


@inline
def ownership_column(area: int) -> int:
    """Returns the column at which ownership begins, for a board of `area` points."""
    return POLICY + area + 1


@inline
def amaf_column(area: int) -> int:
    """Returns the column at which AMAF statistics begin, and rows without them end."""
    return POLICY + 2 * area + 1


def row_columns(area: int, *, amaf: bool = False) -> int:
    """Returns the number of columns of a row, with or without AMAF statistics."""
    return amaf_column(area) + (4 * area if amaf else 0)


@dataclass(frozen=True, eq=False)  # arrays have no truth value
class EvaluationRow:
    """A named view of one row, float32 [columns], of a board of `area` points, for readers outside compiled code."""

    row: np.ndarray
    area: int

    @property
    def value(self) -> np.ndarray:
        """Probabilities of a win, a loss and no result, float32 [3]."""
        return self.row[WIN:LEAD]

    @property
    def winrate(self) -> float:
        """The win rate of the side to move, 0 to 1; half of no result counts as a win."""
        win, loss, _ = self.value.tolist()
        return 0.5 + 0.5 * (win - loss)

    @property
    def lead(self) -> float:
        """The points by which the side to move is ahead."""
        return float(self.row[LEAD])

    @property
    def score_mean(self) -> float:
        """The mean of the final score, in points."""
        return float(self.row[SCORE_MEAN])

    @property
    def score_stdev(self) -> float:
        """The standard deviation of the final score, in points."""
        return float(self.row[SCORE_STDEV])

    @property
    def short_term_errors(self) -> np.ndarray:
        """Expected errors of win minus loss and of the score, and turns until the value settles, float32 [3].

        Each is UNKNOWN if the evaluator does not estimate them.
        """
        return self.row[VALUE_ERROR:POLICY]

    @property
    def policy(self) -> np.ndarray:
        """Move probabilities, float32 [area + 1]."""
        return self.row[POLICY : ownership_column(self.area)]

    @property
    def ownership(self) -> np.ndarray:
        """The owner of each point in -1..1, float32 [area]."""
        return self.row[ownership_column(self.area) : amaf_column(self.area)]


class OutputScale(NamedTuple):
    """The meaning of raw scores: the version of a network's file and its multipliers."""

    version: int
    score_mean: float
    score_stdev: float
    lead: float
    variance_time: float
    value_error: float
    score_error: float


def output_scale(config: NetworkConfig) -> OutputScale:
    """Returns the scale of a network's outputs."""
    of = config.multipliers
    # Since version 10 the multipliers of errors are those of their squares.
    errors = (1.0, 10.0) if config.version == 9 else (math.sqrt(of.value_error), math.sqrt(of.score_error))
    return OutputScale(config.version, of.score_mean, of.score_stdev, of.lead, of.variance_time, *errors)


@njit
def decode_outputs(
    policy: np.ndarray,
    value: np.ndarray,
    scores: np.ndarray,
    ownership: np.ndarray,
    positions: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    symmetries: np.ndarray,
    transformed_index: np.ndarray,
    optimism: float,
    scale: OutputScale,
    rows: np.ndarray,
) -> None:
    """Writes the evaluation rows of some positions of a batch.

    Args:
        policy, value, scores, ownership: those of `RawOutputs`, entry i for the transformed board of positions[i].
        positions: int [n], indices into the batch.
        scalars: float32 [batch, 19], the inputs.
        legal: bool [batch, area + 1].
        symmetries: int [batch], by which each board was transformed.
        transformed_index: int [8, area + 1], `symmetry.permutation` of each symmetry.
        optimism: the share of the optimistic policy; 0 if the network has none.
        scale: the meaning of raw scores.
        rows: float32 [batch, columns], written at `positions`.
    """
    area = transformed_index.shape[1] - 1
    for number in range(len(positions)):
        position = positions[number]
        allowed, index = legal[position], transformed_index[symmetries[position]]
        row = rows[position]
        _write_policy(policy[number], optimism, allowed, index, row[POLICY : ownership_column(area)])
        no_result = scalars[position, SUPERKO] == 0 or scalars[position, TERRITORY] != 0
        _write_numbers(value[number], scores[number], no_result, scale, row)
        raw, owners = ownership[number], row[ownership_column(area) : amaf_column(area)]
        for point in range(area):
            owners[point] = raw[index[point]]
        for point in range(area):  # tanh, in vectors
            owners[point] = ONE - TWO / (exp(TWO * owners[point]) + ONE)


@njit
def _write_policy(
    logits: np.ndarray, optimism: float, allowed: np.ndarray, index: np.ndarray, policy: np.ndarray
) -> None:
    """Writes probabilities of the allowed moves, from the logits [channels, moves] of a transformed board."""
    moves = len(index)
    highest = np.float32(-np.inf)
    for move in range(moves):
        logit = logits[0, index[move]]
        if optimism > 0:
            logit += np.float32(optimism) * (logits[1, index[move]] - logit)
        policy[move] = logit
        if allowed[move]:
            highest = max(highest, logit)
    for move in range(moves):  # in vectors, as the last loop
        policy[move] = exp(policy[move] - highest) if allowed[move] else ZERO
    total = ZERO
    for move in range(moves):
        total += policy[move]
    for move in range(moves):
        policy[move] /= total


@njit
def _write_numbers(value: np.ndarray, scores: np.ndarray, no_result: bool, scale: OutputScale, row: np.ndarray) -> None:
    """Writes the columns before the policy; no_result: whether the rules allow games without a result."""
    highest = max(value[0], value[1], value[2] if no_result else value[1])
    win, loss = math.exp(value[0] - highest), math.exp(value[1] - highest)
    neither = math.exp(value[2] - highest) if no_result else 0.0
    total = win + loss + neither
    ends = (win + loss) / total
    mean = scores[0] * scale.score_mean
    stdev = _softplus(scores[1]) * scale.score_stdev
    variance = (mean * mean + stdev * stdev) * ends - mean * ends * mean * ends
    row[WIN], row[LOSS], row[NO_RESULT] = win / total, loss / total, neither / total
    row[LEAD] = scores[2] * scale.lead * ends
    row[SCORE_MEAN] = mean * ends
    row[SCORE_STDEV] = math.sqrt(max(0.0, variance))
    if scale.version < 9:
        row[VALUE_ERROR:POLICY] = UNKNOWN
        return
    row[VALUE_ERROR] = _error(scores[4], scale.version) * scale.value_error
    row[SCORE_ERROR] = _error(scores[5], scale.version) * scale.score_error
    row[VARIANCE_TIME] = _softplus(scores[3]) * scale.variance_time


@njit
def _error(raw: float, version: int) -> float:
    """Returns an expected error, before its multiplier: what KataGo's files of that version mean by the raw output."""
    if version == 9:
        return _softplus(raw)
    return math.sqrt(_softplus(raw)) if version < 14 else _softplus(raw / 2)


@njit
def _softplus(x: float) -> float:
    # log(1 + exp(x)), written so that a large x does not overflow.
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


_SHOWN = 5  # moves in its repr


class Policy(Mapping[str, float]):
    """The probability of each move of a board by its vertex: `policy["D4"]`, `policy["pass"]`.

    It is a mapping over all points in move-index order, with the pass last; illegal moves have probability 0.
    `numpy.asarray(policy)` returns the probabilities in this order.
    """

    def __init__(self, probabilities: np.ndarray, width: int, height: int) -> None:
        """Takes the probabilities, float32 [area + 1] in move-index order, without copying them."""
        self._probabilities = probabilities
        self._size = width, height

    def __getitem__(self, move: int | str) -> float:
        """Returns the probability of a vertex or a point; raises UserError if it is not on the board."""
        return float(self._probabilities[index_of_point(as_point(move, *self._size), *self._size)])

    def __contains__(self, move: object) -> bool:
        try:
            as_point(move, *self._size)  # type: ignore[arg-type]
        except UserError:
            return False
        return True

    def get(self, move: object, default: Any = None) -> Any:
        """Returns the probability of a vertex or a point, or the default if it is not on the board."""
        try:
            return self[move]  # type: ignore[index]
        except UserError:
            return default

    def __iter__(self) -> Iterator[str]:
        yield from (vertex(point, *self._size) for point in all_points(*self._size))
        yield "pass"

    def __len__(self) -> int:
        return len(self._probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._probabilities, dtype, copy=copy)

    def top(self, count: int = _SHOWN) -> list[tuple[str, float]]:
        """Returns the most probable moves with their probabilities, the most probable first."""
        order = np.argsort(-self._probabilities, kind="stable")[:count].tolist()
        found = [(vertex(point_of_index(index, *self._size), *self._size), index) for index in order]
        return [(name, float(self._probabilities[index])) for name, index in found if self._probabilities[index] > 0]

    def __repr__(self) -> str:
        moves = ", ".join(f"{name} {probability:.1%}" for name, probability in self.top())
        return f"<Policy: {moves}>"
