"""Attention and feed-forward blocks as compiled passes.

Points are worked on in chunks, so that what is made of them stays in a second-level cache: norm, matrices, activations
and the sum with the block's input are one pass over memory. Scores and their exponentials are never kept for a board.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ..compiled import njit
from .blocks import AttentionBlock, FeedForwardBlock
from .elements import LOG2_E, LOW, ONE, ZERO, element, larger, plus, power_of_two, silu
from .matrices import CHUNK, address, block_columns, packed_matrix, product
from .vectors import LANES, MOST_ROWS, turn

# The score of what is no point of the board.
_NEVER = np.float32(-1e30)
# Columns of keys that are multiplied together.
_KEYS = LANES * max(MOST_ROWS)


@njit
def attend(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    epsilon: float,
    heads: int,
    kv_heads: int,
    weights: np.ndarray,
    out_weights: np.ndarray,
    turns: np.ndarray,
) -> None:
    """x += the attention of the points to each other, as `Attention` has its parts.

    x: float32 [n, points, channels]. on_board: bool [n, points], or [0, ...] where all is board. weights: packed
    matrices, of queries, keys and values side by side, and of what is seen. turns: float32 [1 or kv_heads, 2, points,
    pairs], cosine and sine.
    """
    count, points, _ = x.shape
    each, pairs = 4 // weights.itemsize, turns.shape[3]
    value_width = out_weights.shape[1] * each // heads
    columns = block_columns(value_width)
    # Scores are what bfloat16 would harm most.
    queries = np.empty((heads, points, 2 * pairs), np.float32)
    keys = np.zeros((kv_heads, (points + _KEYS - 1) // _KEYS, 2 * pairs, _KEYS), np.float32)
    values = np.zeros((kv_heads, value_width // columns, (points + each - 1) // each, columns * each), weights.dtype)
    hidden = np.full((1, keys.shape[1] * _KEYS), _NEVER)
    hidden[0, :points] = ZERO
    mask = np.zeros(0, np.bool_)
    for image in range(count):
        if len(on_board) > 0:
            mask = on_board[image]
            for point in range(points):
                hidden[0, point] = ZERO if mask[point] else _NEVER
        _project(x[image], mask, scale, epsilon, weights, turns, queries, keys, values)
        _look(queries, keys, values, hidden, out_weights, x[image])


@njit
def _project(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    epsilon: float,
    weights: np.ndarray,
    turns: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
) -> None:
    """Queries, keys and values of the points [points, channels].

    queries: [heads, points, 2 * pairs]. keys, values: for every head a packed matrix, of points as columns and as rows.
    """
    points, each, pairs = len(x), 4 // weights.itemsize, queries.shape[2] // 2
    heads, kv_heads = len(queries), len(keys)
    left = np.zeros((CHUNK, weights.shape[1] * each), weights.dtype)
    projected = np.empty((CHUNK, weights.shape[0] * weights.shape[2] // each + LANES), np.float32)
    nothing = np.zeros((1, projected.shape[1]), np.float32)
    turned = np.empty((kv_heads, 2 * pairs), np.float32)
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        normalise(x[start : start + rows], on_board[start : start + rows], scale, epsilon, left)
        product(left, rows, weights, nothing, projected)
        for row in range(rows):
            point, own = start + row, projected[row]
            _turn(own, turns, point, kv_heads, queries[:, point])
            _turn(own[2 * pairs * heads :], turns, point, kv_heads, turned)
            block, column = point // _KEYS, point % _KEYS
            for head in range(kv_heads):
                for k in range(2 * pairs):
                    keys[head, block, k, column] = turned[head, k]
            _keep(own[2 * pairs * (heads + kv_heads) :], point, values)


@njit
def _turn(x: np.ndarray, turns: np.ndarray, point: int, kv_heads: int, out: np.ndarray) -> None:
    """out [heads, 2 * pairs] = the heads' numbers, one after the other in x, turned by the angles of the point."""
    heads, pairs = len(out), turns.shape[3]
    source, angles = address(x), address(turns) + point * turns.strides[2]
    for head in range(heads):
        place = angles + head * kv_heads // heads % len(turns) * turns.strides[0]
        target = address(out) + head * out.strides[0]
        for _ in range(0, pairs, LANES):
            turn(source, place, place + turns.strides[1], target, 4 * pairs)
            source, place, target = source + 4 * LANES, place + 4 * LANES, target + 4 * LANES
        source += 4 * pairs


@njit
def _keep(x: np.ndarray, point: int, values: np.ndarray) -> None:
    """The numbers of a point, in x for one head after the other, where they lie in the heads' packed matrices."""
    each = 4 // values.itemsize
    heads, blocks, _, columns = values.shape
    step, first, number = point // each, point % each, 0
    for head in range(heads):
        for block in range(blocks):
            for k in range(columns // each):
                values[head, block, step, first + k * each] = element(x[number], values[head, block, step, first])
                number += 1


@njit
def _look(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, hidden: np.ndarray, weights: np.ndarray, x: np.ndarray
) -> None:
    """x += what the points see of each other. hidden: float32 [1, keys], added to their scores."""
    heads, points, _ = queries.shape
    width = weights.shape[1] * 4 // weights.itemsize
    each = width // heads
    scores = np.empty((CHUNK, hidden.shape[1] + LANES), np.float32)
    shares = np.empty((CHUNK, hidden.shape[1] + 2 * LANES), weights.dtype)
    totals = np.empty(CHUNK, np.float32)
    seen, left = np.empty((CHUNK, each), np.float32), np.zeros((CHUNK, width), weights.dtype)
    nothing = np.zeros((1, each), np.float32)
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        for head in range(heads):
            own = head * len(keys) // heads
            product(queries[head, start : start + rows], rows, keys[own], hidden, scores)
            for row in range(rows):
                totals[row] = _exponentials(scores[row, : hidden.shape[1]], shares[row])
            product(shares, rows, values[own], nothing, seen)
            for row in range(rows):
                given, made, factor = seen[row], left[row, head * each :], ONE / totals[row]
                for k in range(each):
                    made[k] = element(given[k] * factor, made[k])
        product(left, rows, weights, x[start:], x[start:])


@njit
def _exponentials(scores: np.ndarray, out: np.ndarray) -> Any:
    """out = 2^(scores - the largest of them); returns their sum."""
    most, total = scores[0], ZERO
    for k in range(len(scores)):
        most = larger(most, scores[k])
    for k in range(len(scores)):
        power = power_of_two(max(scores[k] - most, LOW))
        out[k] = element(power, out[k])
        total = plus(total, power)
    return total


@njit
def feed_forward(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    epsilon: float,
    gated: bool,
    weights: np.ndarray,
    out_weights: np.ndarray,
) -> None:
    """x += (silu(first) * gate) @ second of the normalised x, float32 [points, channels].

    on_board: bool [points], or [0] where all is board. weights: packed matrices, of first and gate side by side (or of
    first alone), and of second.
    """
    each = 4 // weights.itemsize
    width = out_weights.shape[1] * each
    left, hidden = np.zeros((CHUNK, weights.shape[1] * each), weights.dtype), np.zeros((CHUNK, width), weights.dtype)
    made = np.empty((CHUNK, weights.shape[0] * weights.shape[2] // each + LANES), np.float32)
    nothing = np.zeros((1, made.shape[1]), np.float32)
    for start in range(0, len(x), CHUNK):
        end = min(start + CHUNK, len(x))
        normalise(x[start:end], on_board[start:end], scale, epsilon, left)
        product(left, end - start, weights, nothing, made)
        for row in range(end - start):
            first, gate, line = made[row, :width], made[row, width:], hidden[row]
            if gated:
                for k in range(width):
                    line[k] = element(silu(first[k]) * gate[k], line[k])
            else:
                for k in range(width):
                    line[k] = element(silu(first[k]), line[k])
        product(hidden, end - start, out_weights, x[start:], x[start:])


@njit
def normalise(x: np.ndarray, on_board: np.ndarray, scale: np.ndarray, epsilon: float, out: np.ndarray) -> None:
    """out = x * scale / the root mean square of x, for each row, and 0 off the board. Further columns of `out` stay."""
    rows, channels = x.shape
    for row in range(rows):
        given, made = x[row], out[row, :channels]
        if len(on_board) > 0 and not on_board[row]:
            made[:] = 0
            continue
        total = ZERO
        for k in range(channels):
            total = plus(total, given[k] * given[k])
        factor = np.float32(1 / math.sqrt(total / channels + epsilon))
        for k in range(channels):
            made[k] = element(given[k] * factor * scale[k], made[k])


class Attention:
    """The norm of an `AttentionBlock`, and its matrices, packed.

    The even channels of a head's queries and keys come before the odd ones, in sixteens each, so that pairs are turned
    as vectors; a head's values are in sixteens too. Queries are scaled so that powers of two are what is summed.
    """

    def __init__(self, block: AttentionBlock, half: bool) -> None:
        self._heads, self._kv_heads, self._rope = block.heads, block.kv_heads, block.rope
        self._scale, self._epsilon = _numbers(block.norm.weight).numpy().copy(), block.norm.epsilon
        self._turns: dict[tuple[int, int], np.ndarray] = {}  # by the board's size
        query, key, value = (_numbers(matrix.weight) for matrix in (block.query, block.key, block.value))
        width = len(query) // self._heads
        self._pairs = -(-width // (2 * LANES)) * LANES
        query = query * (float(LOG2_E) / math.sqrt(width))
        value, out = _of_heads(value, self._kv_heads), _of_heads(_numbers(block.out.weight).T, self._heads)
        rows = (self._halves(query, self._heads), self._halves(key, self._kv_heads), _filled(value, value.shape[1]))
        self._weights = packed_matrix(torch.cat(rows), half)
        self._out_weights = packed_matrix(_filled(out, out.shape[1]).T, half)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """x, float32 [n, h, w, channels], in place."""
        count, height, width, channels = x.shape
        if (height, width) not in self._turns:
            self._turns[height, width] = self._turns_on(height, width)
        points = x.reshape(count, height * width, channels)
        mask = on_board.reshape(len(on_board), math.prod(on_board.shape[1:]))
        numbers = self._scale, self._epsilon, self._heads, self._kv_heads
        attend(points, mask, *numbers, self._weights, self._out_weights, self._turns[height, width])

    def _turns_on(self, height: int, width: int) -> np.ndarray:
        """Cosine and sine of the points' angles on such a board, float32 [1 or kv_heads, 2, points, pairs]."""
        if self._rope is None:
            cosine = torch.ones(1, height * width, self._pairs)
            return torch.stack((cosine, torch.zeros_like(cosine)), 1).numpy()
        both = torch.stack(self._rope.turns(height, width), 1).detach().float()
        return pad(both, (0, self._pairs - both.shape[3])).contiguous().numpy()

    def _halves(self, weight: Tensor, heads: int) -> Tensor:
        """[heads * channels, inputs] with even and odd channels apart."""
        each = _of_heads(weight, heads)
        halves = [_filled(half, self._pairs).unflatten(0, (heads, -1)) for half in (each[:, 0::2], each[:, 1::2])]
        return torch.cat(halves, 1).flatten(0, 1)


class FeedForward:
    """The norm of a `FeedForwardBlock`, and its matrices, packed."""

    def __init__(self, block: FeedForwardBlock, half: bool) -> None:
        self._scale, self._epsilon = _numbers(block.norm.weight).numpy().copy(), block.norm.epsilon
        self._gated = block.gate is not None
        matrices = [block.first] if block.gate is None else [block.first, block.gate]
        parts = [_numbers(matrix.weight)[None] for matrix in matrices]
        self._weights = packed_matrix(torch.cat([_filled(part, part.shape[1]) for part in parts]), half)
        self._out_weights = packed_matrix(_numbers(block.second.weight), half)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """x, float32 [n, h, w, channels], in place."""
        numbers = self._scale, self._epsilon, self._gated, self._weights, self._out_weights
        feed_forward(x.reshape(-1, x.shape[3]), on_board.reshape(-1), *numbers)


def _numbers(weight: Tensor) -> Tensor:
    return weight.detach().float()


def _of_heads(weight: Tensor, heads: int) -> Tensor:
    """[heads * channels, inputs] as [heads, channels, inputs]."""
    return weight.unflatten(0, (heads, -1))


def _filled(weight: Tensor, least: int) -> Tensor:
    """[heads, channels, inputs] as [heads * channels, inputs], with zeros up to `least` channels and whole sixteens."""
    channels = max(weight.shape[1], least)
    return pad(weight, (0, 0, 0, channels + -channels % LANES - weight.shape[1])).flatten(0, 1)
