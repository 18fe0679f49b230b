"""Attention and feed-forward blocks as compiled passes.

Points are worked on in chunks, so that what is computed for them stays in a second-level cache: norm, matrices,
activations and the sum with the block's input are one pass over memory. As in FlashAttention (Dao et al. 2022), the
scores of a whole board and their exponentials are never in memory at once.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ..base.jit import njit
from ..network.blocks import AttentionBlock, FeedForwardBlock
from .llvm import LANES, MAX_ROWS, rotate_pairs
from .matmul import CHUNK, choose_block_width, data_address, matmul, pack_matrix
from .scalars import LOG2_E, LOW, ONE, ZERO, add_in_any_order, exp2, fast_max, silu, store_as

# Added to the scores of points off the board: their share is then 2^LOW of the largest, which vanishes in sums. Not
# -inf, because its difference with itself would be NaN.
_MASKED = np.float32(-1e30)
# Columns of keys that are multiplied together: the widest block that `multiply_panel` has.
_KEY_BLOCK = LANES * max(MAX_ROWS)


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
    angles: np.ndarray,
) -> None:
    """Adds to x the attention of the points to each other; `Attention` prepares the arguments.

    Args:
        x: float32 [n, points, channels], in place.
        on_board: bool [n, points], or [0, ...] if all points are on the board.
        scale: float32 [channels], of the norm.
        epsilon: Of the norm.
        heads: The number of query heads.
        kv_heads: The number of key and value heads; heads are shared evenly.
        weights: The packed matrix of queries, keys and values, one after the other.
        out_weights: The packed matrix of the outputs.
        angles: float32 [1 or kv_heads, 2, points, pairs], the cosines and sines of the rotary embedding.
    """
    count, points, _ = x.shape
    # A step of packed matrices holds one float32 or two bfloat16.
    per_step, pairs = 4 // weights.itemsize, angles.shape[3]
    value_width = out_weights.shape[1] * per_step // heads
    columns = choose_block_width(value_width)
    # Allocated once for all boards. Queries and keys stay in float32: rounding scores to bfloat16 would harm most,
    # since exponentials amplify it. Keys and values are written in the packed form that `matmul` reads as weights.
    queries = np.empty((heads, points, 2 * pairs), np.float32)
    keys = np.zeros((kv_heads, (points + _KEY_BLOCK - 1) // _KEY_BLOCK, 2 * pairs, _KEY_BLOCK), np.float32)
    steps = (points + per_step - 1) // per_step
    values = np.zeros((kv_heads, value_width // columns, steps, columns * per_step), weights.dtype)
    # What the scores start from: 0, or _MASKED for points off the board and for columns that fill the last block.
    score_mask = np.full((1, keys.shape[1] * _KEY_BLOCK), _MASKED)
    score_mask[0, :points] = ZERO
    image_mask = np.zeros(0, np.bool_)
    for image in range(count):
        if len(on_board) > 0:
            image_mask = on_board[image]
            for point in range(points):
                score_mask[0, point] = ZERO if image_mask[point] else _MASKED
        _project(x[image], image_mask, scale, epsilon, weights, angles, queries, keys, values)
        _add_attention(queries, keys, values, score_mask, out_weights, x[image])


@njit
def _project(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    epsilon: float,
    weights: np.ndarray,
    angles: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
) -> None:
    """Computes queries, keys and values of the points of one board, x [points, channels].

    Args (further ones are those of `attend`):
        queries: [heads, points, 2 * pairs].
        keys: For every head a packed matrix whose columns are points.
        values: For every head a packed matrix whose rows are points.
    """
    points, per_step, pairs = len(x), 4 // weights.itemsize, queries.shape[2] // 2
    heads, kv_heads = len(queries), len(keys)
    left = np.zeros((CHUNK, weights.shape[1] * per_step), weights.dtype)
    # A cache line longer than a row's values, as `scores` in `_add_attention`.
    projected = np.empty((CHUNK, weights.shape[0] * weights.shape[2] // per_step + LANES), np.float32)
    zeros = np.zeros((1, projected.shape[1]), np.float32)
    point_keys = np.empty((kv_heads, 2 * pairs), np.float32)
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        rms_norm(x[start : start + rows], on_board[start : start + rows], scale, epsilon, left)
        matmul(left, rows, weights, zeros, projected)
        for row in range(rows):
            point, line = start + row, projected[row]
            _rotate_heads(line, angles, point, kv_heads, queries[:, point])
            _rotate_heads(line[2 * pairs * heads :], angles, point, kv_heads, point_keys)
            # Keys are transposed on the way, since scores are queries @ keys.T.
            block, column = point // _KEY_BLOCK, point % _KEY_BLOCK
            for head in range(kv_heads):
                for k in range(2 * pairs):
                    keys[head, block, k, column] = point_keys[head, k]
            _pack_values(line[2 * pairs * (heads + kv_heads) :], point, values)


@njit
def _rotate_heads(x: np.ndarray, angles: np.ndarray, point: int, kv_heads: int, out: np.ndarray) -> None:
    """Rotates a point's queries or keys by its angles.

    Args:
        x: float32 [heads * 2 * pairs or more]: for one head after the other the first values of all pairs, then the
            second ones.
        angles: As in `attend`.
        point: The point.
        kv_heads: The number of key and value heads, which share the angles evenly.
        out: float32 [heads, 2 * pairs].
    """
    heads, pairs = len(out), angles.shape[3]
    source, point_angles = data_address(x), data_address(angles) + point * angles.strides[2]
    for head in range(heads):
        # Heads have the angles of the key head that they share; a fixed embedding has the same for all.
        cosine = point_angles + head * kv_heads // heads % len(angles) * angles.strides[0]
        target = data_address(out) + head * out.strides[0]
        for _ in range(0, pairs, LANES):
            rotate_pairs(source, cosine, cosine + angles.strides[1], target, 4 * pairs)
            source, cosine, target = source + 4 * LANES, cosine + 4 * LANES, target + 4 * LANES
        source += 4 * pairs  # over the second values, which were rotated with the first


@njit
def _pack_values(x: np.ndarray, point: int, values: np.ndarray) -> None:
    """Writes a point's values, x [heads * width], into the heads' packed matrices."""
    per_step = 4 // values.itemsize
    heads, blocks, _, columns = values.shape
    step, first, source = point // per_step, point % per_step, 0
    for head in range(heads):
        for block in range(blocks):
            for k in range(columns // per_step):
                values[head, block, step, first + k * per_step] = store_as(x[source], values[head, block, step, first])
                source += 1


@njit
def _add_attention(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    score_mask: np.ndarray,
    weights: np.ndarray,
    x: np.ndarray,
) -> None:
    """Adds to x, float32 [points, channels] of one board, what its points attend to.

    `score_mask`, float32 [1, keys], is added to the scores; `weights` is the matrix of the outputs.
    """
    heads, points, _ = queries.shape
    width = weights.shape[1] * 4 // weights.itemsize
    head_width = width // heads
    # A chunk of rows of scores, for all keys of a board. Rows are a cache line longer than they need to be: a power of
    # two apart they would evict each other from the cache.
    scores = np.empty((CHUNK, score_mask.shape[1] + LANES), np.float32)
    shares = np.empty((CHUNK, score_mask.shape[1] + 2 * LANES), weights.dtype)
    totals = np.empty(CHUNK, np.float32)
    attended, left = np.empty((CHUNK, head_width), np.float32), np.zeros((CHUNK, width), weights.dtype)
    zeros = np.zeros((1, head_width), np.float32)
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        for head in range(heads):
            kv_head = head * len(keys) // heads
            matmul(queries[head, start : start + rows], rows, keys[kv_head], score_mask, scores)
            for row in range(rows):
                totals[row] = _exp2_of_scores(scores[row, : score_mask.shape[1]], shares[row])
            matmul(shares, rows, values[kv_head], zeros, attended)
            # Softmax's division comes after the product: once per value instead of once per key.
            for row in range(rows):
                source, target, factor = attended[row], left[row, head * head_width :], ONE / totals[row]
                for k in range(head_width):
                    target[k] = store_as(source[k] * factor, target[k])
        matmul(left, rows, weights, x[start:], x[start:])


@njit
def _exp2_of_scores(scores: np.ndarray, out: np.ndarray) -> Any:
    """Writes 2^(score - the largest score), the numerators of a softmax in base 2; returns their sum."""
    largest, total = scores[0], ZERO
    # Subtracting the largest score keeps every power within 0 and 1.
    for k in range(len(scores)):
        largest = fast_max(largest, scores[k])
    for k in range(len(scores)):
        power = exp2(max(scores[k] - largest, LOW))
        out[k] = store_as(power, out[k])
        total = add_in_any_order(total, power)
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
    """Adds (silu(first) * gate) @ second of the normalised x to x.

    Args:
        x: float32 [points, channels], in place.
        on_board: bool [points], or [0] if all points are on the board.
        scale: float32 [channels], of the norm.
        epsilon: Of the norm.
        gated: Whether there is a gate (SwiGLU, Shazeer 2020).
        weights: The packed matrix of first and gate, one after the other, or of first alone.
        out_weights: The packed matrix of second.
    """
    per_step = 4 // weights.itemsize
    width = out_weights.shape[1] * per_step
    left = np.zeros((CHUNK, weights.shape[1] * per_step), weights.dtype)
    hidden = np.zeros((CHUNK, width), weights.dtype)
    projected = np.empty((CHUNK, weights.shape[0] * weights.shape[2] // per_step + LANES), np.float32)
    zeros = np.zeros((1, projected.shape[1]), np.float32)
    for start in range(0, len(x), CHUNK):
        end = min(start + CHUNK, len(x))
        rms_norm(x[start:end], on_board[start:end], scale, epsilon, left)
        matmul(left, end - start, weights, zeros, projected)
        for row in range(end - start):
            first, gate, target = projected[row, :width], projected[row, width:], hidden[row]
            if gated:
                for k in range(width):
                    target[k] = store_as(silu(first[k]) * gate[k], target[k])
            else:
                for k in range(width):
                    target[k] = store_as(silu(first[k]), target[k])
        # The residual sum costs nothing: the product starts from x, and writes to it.
        matmul(hidden, end - start, out_weights, x[start:], x[start:])


@njit
def rms_norm(x: np.ndarray, on_board: np.ndarray, scale: np.ndarray, epsilon: float, out: np.ndarray) -> None:
    """Writes x * scale / the root mean square of x for each row, and 0 off the board; further columns of `out` stay."""
    rows, channels = x.shape
    for row in range(rows):
        source, target = x[row], out[row, :channels]
        if len(on_board) > 0 and not on_board[row]:
            target[:] = 0
            continue
        # A sum in order would be a chain of dependent additions, one channel after the other.
        total = ZERO
        for k in range(channels):
            total = add_in_any_order(total, source[k] * source[k])
        factor = np.float32(1 / math.sqrt(total / channels + epsilon))
        for k in range(channels):
            target[k] = store_as(source[k] * factor * scale[k], target[k])


class Attention:
    """An `AttentionBlock` with its matrices packed.

    The first channels of a head's pairs (the even ones of queries and keys) come before the second ones (the odd ones),
    each padded to a multiple of `LANES`, so that pairs are rotated as vectors; a head's values are padded too. Queries
    are scaled by log2(e) in addition to 1 / sqrt(width), so that the softmax is one of powers of two.

    Args:
        block: The block.
        half: Whether products are of bfloat16.
    """

    def __init__(self, block: AttentionBlock, half: bool) -> None:
        self._heads, self._kv_heads, self._rope = block.heads, block.kv_heads, block.rope
        self._scale, self._epsilon = _float32(block.norm.weight).numpy().copy(), block.norm.epsilon
        self._angles: dict[tuple[int, int], np.ndarray] = {}  # by the board's size
        query, key, value = (_float32(matrix.weight) for matrix in (block.query, block.key, block.value))
        width = len(query) // self._heads
        self._pairs = -(-width // (2 * LANES)) * LANES
        query = query * (float(LOG2_E) / math.sqrt(width))
        value, out = _split_heads(value, self._kv_heads), _split_heads(_float32(block.out.weight).T, self._heads)
        padded_value = _pad_channels(value, value.shape[1])
        rows = (self._split_pairs(query, self._heads), self._split_pairs(key, self._kv_heads), padded_value)
        self._weights = pack_matrix(torch.cat(rows), half)
        self._out_weights = pack_matrix(_pad_channels(out, out.shape[1]).T, half)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, h, w, channels]; on_board: bool [n, h, w], or [0, 1, 1]."""
        count, height, width, channels = x.shape
        if (height, width) not in self._angles:
            self._angles[height, width] = self._angles_on(height, width)
        points = x.reshape(count, height * width, channels)
        mask = on_board.reshape(len(on_board), math.prod(on_board.shape[1:]))
        settings = self._scale, self._epsilon, self._heads, self._kv_heads
        attend(points, mask, *settings, self._weights, self._out_weights, self._angles[height, width])

    def _angles_on(self, height: int, width: int) -> np.ndarray:
        """Returns cosines and sines of a board's points, float32 [1 or kv_heads, 2, points, pairs]."""
        if self._rope is None:
            # Rotations by 0: a second kind of compiled pass would not be worth it for so few networks.
            cosine = torch.ones(1, height * width, self._pairs)
            return torch.stack((cosine, torch.zeros_like(cosine)), 1).numpy()
        both = torch.stack(self._rope.cosine_and_sine(height, width), 1).detach().float()
        return pad(both, (0, self._pairs - both.shape[3])).contiguous().numpy()

    def _split_pairs(self, weight: Tensor, heads: int) -> Tensor:
        """Reorders the rows of [heads * channels, inputs] so that each head's even channels precede its odd ones."""
        by_head = _split_heads(weight, heads)
        parts = [
            _pad_channels(part, self._pairs).unflatten(0, (heads, -1)) for part in (by_head[:, 0::2], by_head[:, 1::2])
        ]
        return torch.cat(parts, 1).flatten(0, 1)


class FeedForward:
    """A `FeedForwardBlock` with its matrices packed.

    Args:
        block: The block.
        half: Whether products are of bfloat16.
    """

    def __init__(self, block: FeedForwardBlock, half: bool) -> None:
        self._scale, self._epsilon = _float32(block.norm.weight).numpy().copy(), block.norm.epsilon
        self._gated = block.gate is not None
        matrices = [block.first] if block.gate is None else [block.first, block.gate]
        parts = [_float32(matrix.weight)[None] for matrix in matrices]
        self._weights = pack_matrix(torch.cat([_pad_channels(part, part.shape[1]) for part in parts]), half)
        self._out_weights = pack_matrix(_float32(block.second.weight), half)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, h, w, channels]; on_board: bool [n, h, w], or [0, 1, 1]."""
        settings = self._scale, self._epsilon, self._gated, self._weights, self._out_weights
        feed_forward(x.reshape(-1, x.shape[3]), on_board.reshape(-1), *settings)


def _float32(weight: Tensor) -> Tensor:
    return weight.detach().float()


def _split_heads(weight: Tensor, heads: int) -> Tensor:
    """Returns [heads * channels, inputs] as [heads, channels, inputs]."""
    return weight.unflatten(0, (heads, -1))


def _pad_channels(weight: Tensor, least: int) -> Tensor:
    """Returns [heads, channels, inputs] as [heads * channels, inputs].

    Channels are padded with zeros to `least` and to a multiple of `LANES`.
    """
    channels = max(weight.shape[1], least)
    return pad(weight, (0, 0, 0, channels + -channels % LANES - weight.shape[1])).flatten(0, 1)
