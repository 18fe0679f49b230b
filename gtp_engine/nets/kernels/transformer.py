"""Attention and feed-forward blocks as compiled passes.

Points are worked on in chunks, so that what is computed for them stays in a second-level cache: norm, matrices,
activations and the sum with the block's input are one pass over memory. As in FlashAttention (Dao et al. 2022), the
scores of a whole board and their exponentials are never in memory at once.

The matrices may be of 8-bit integers. Scores and what is attended to are not: they are products of bfloat16, or of
float32 on a CPU without it. The argument `like` is an empty array of their type.
"""

import math

import numpy as np

from ...base.jit import njit
from ..schema import AttentionBlockDesc, FeedForwardBlockDesc, LearnedRopeDesc, fixed_frequencies
from .layers import Matrix, Values, joined
from .llvm import LANES, MAX_ROWS, rotate_pairs, store_step
from .matmul import (
    CHUNK,
    block_width,
    choose_block_width,
    data_address,
    encode_rows,
    matmul,
    whole_lanes,
)
from .scalars import LOG2_E, LOW, ONE, ZERO, add_in_any_order, exp2, fast_max, rough_exp2, silu

# Added to the scores of points off the board: their share is then 2^LOW of the largest, which vanishes in sums. Not
# -inf, because its difference with itself would be NaN.
_MASKED = np.float32(-1e30)
# Widths of the blocks of keys in vectors, the best first: those that `multiply_panel` has rows enough for.
_KEY_VECTORS = np.array([vectors for vectors in sorted(MAX_ROWS, reverse=True) if vectors > 1 or len(MAX_ROWS) == 1])


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
    like: np.ndarray,
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
        like: Of the type of scores and values.
    """
    count, points, _ = x.shape
    # A step of packed matrices holds one float32 or two bfloat16.
    per_step, pairs = 4 // like.itemsize, angles.shape[3]
    outputs = len(weights) * block_width(weights)
    value_width = (outputs - 2 * pairs * (heads + kv_heads)) // kv_heads
    columns, key_columns = choose_block_width(value_width), _choose_key_columns(points)
    # Allocated once for all boards. Keys and values are written in the packed form that `matmul` reads as weights.
    queries = np.empty((heads, points, 2 * pairs), like.dtype)
    blocks, key_steps = (points + key_columns - 1) // key_columns, 2 * pairs // per_step
    keys = np.zeros((kv_heads, blocks, key_steps, key_columns * per_step), like.dtype)
    steps = (points + per_step - 1) // per_step
    values = np.empty((kv_heads, value_width // columns, steps, columns * per_step), like.dtype)
    # What the scores start from: 0, or _MASKED for points off the board and for columns that fill the last block.
    score_mask = np.full((1, blocks * key_columns), _MASKED)
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
def _choose_key_columns(points: int) -> int:
    """Returns how many columns of keys to multiply together: as many as can be without filling up by many."""
    best, least = 0, 0
    for vectors in _KEY_VECTORS:
        columns = LANES * vectors
        filled = (points + columns - 1) // columns * columns
        if best == 0 or filled < least:
            best, least = columns, filled
    return best


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
    points, per_step = len(x), 4 // queries.itemsize
    heads, kv_heads, width = len(queries), len(keys), queries.shape[2]
    normalised = np.zeros((CHUNK, whole_lanes(len(scale))), np.float32)
    left = normalised.view(weights.dtype)
    # A cache line longer than a row's values, as `scores` in `_add_attention`; and a row of zeros, which an odd number
    # of points is filled up with.
    projected = np.zeros((CHUNK + 1, len(weights) * block_width(weights) + LANES), np.float32)
    zeros = np.zeros((1, projected.shape[1]), np.float32)
    # Keys as units of 4 bytes, which are steps of both types.
    point_keys = np.empty((kv_heads, width), queries.dtype)
    key_units = point_keys.view(np.uint32)
    packed_units = keys.reshape((kv_heads, keys.shape[1], keys.shape[2] * keys.shape[3])).view(np.uint32)
    columns = keys.shape[3] // per_step
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        rms_norm(x[start : start + rows], on_board[start : start + rows], scale, epsilon, normalised)
        encode_rows(normalised, rows, normalised.shape[1], weights)
        matmul(left, rows, weights, zeros, projected)
        projected[rows:] = ZERO
        source = data_address(projected)
        for point in range(start, start + rows):
            _rotate_heads(source, angles, point, kv_heads, data_address(queries) + point * queries.strides[1], queries)
            _rotate_heads(source + 4 * width * heads, angles, point, kv_heads, data_address(point_keys), point_keys)
            # Keys are transposed on the way, since scores are queries @ keys.T.
            block, column = point // columns, point % columns
            for head in range(kv_heads):
                for step in range(key_units.shape[1]):
                    packed_units[head, block, step * columns + column] = key_units[head, step]
            if point % per_step == 0:
                first = source + 4 * width * (heads + kv_heads)
                _pack_values(first, first + projected.strides[0], point // per_step, values)
            source += projected.strides[0]


@njit
def _rotate_heads(source: int, angles: np.ndarray, point: int, kv_heads: int, out: int, like: np.ndarray) -> None:
    """Rotates a point's queries or keys by its angles, which the key and value heads share evenly, as in `attend`.

    At the address `source` is float32 [heads * 2 * pairs]: for one head after the other the first values of all pairs,
    then the second ones. The results, in the order of `llvm.rotate_pairs`, are those of `like` [heads, ..., 2 * pairs].
    """
    heads, pairs = len(like), angles.shape[3]
    point_angles = data_address(angles) + point * angles.strides[2]
    for head in range(heads):
        # Heads have the angles of the key head that they share; a fixed embedding has the same for all.
        cosine = point_angles + head * kv_heads // heads % len(angles) * angles.strides[0]
        target = out + head * like.strides[0]
        for _ in range(0, pairs, LANES):
            rotate_pairs(like, source, cosine, cosine + angles.strides[1], target, 4 * pairs)
            source, cosine, target = source + 4 * LANES, cosine + 4 * LANES, target + 4 * LANES
        source += 4 * pairs  # over the second values, which were rotated with the first


@njit
def _pack_values(first: int, second: int, step: int, values: np.ndarray) -> None:
    """Writes a step of the heads' packed matrices: the values [heads * width] of a point, or of two as bfloat16.

    `first` and `second` are the addresses of the points' values; `second` is ignored for float32.
    """
    heads, blocks, _, columns = values.shape
    head_target = data_address(values) + step * values.strides[2]
    for head in range(heads):
        for block in range(blocks):
            target = head_target + head * values.strides[0] + block * values.strides[1]
            for _ in range(0, columns * values.itemsize, 4 * LANES):
                store_step(values, first, second, target)
                first, second, target = first + 4 * LANES, second + 4 * LANES, target + 4 * LANES


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
    head_width = values.shape[1] * block_width(values[0])
    # A chunk of rows of scores, for all keys of a board. Rows are a cache line longer than they need to be: a power of
    # two apart they would evict each other from the cache.
    scores = np.empty((CHUNK, score_mask.shape[1] + LANES), np.float32)
    shares = scores.view(queries.dtype)
    totals = np.empty((heads, CHUNK), np.float32)
    attended = np.empty((CHUNK, heads * head_width), np.float32)
    left = attended.view(weights.dtype)
    zeros = np.zeros((1, head_width), np.float32)
    for start in range(0, points, CHUNK):
        rows = min(CHUNK, points - start)
        for head in range(heads):
            kv_head = head * len(keys) // heads
            matmul(queries[head, start : start + rows], rows, keys[kv_head], score_mask, scores)
            _exp2_of_scores(scores, rows, score_mask.shape[1], totals[head], queries)
            encode_rows(scores, rows, score_mask.shape[1], queries)
            matmul(shares, rows, values[kv_head], zeros, attended[:, head * head_width :])
        for row in range(rows):
            # Softmax's division comes after the product: once per value instead of once per key.
            for head in range(heads):
                factor, part = ONE / totals[head, row], attended[row, head * head_width : (head + 1) * head_width]
                for k in range(head_width):
                    part[k] *= factor
        encode_rows(attended, rows, heads * head_width, weights)
        matmul(left, rows, weights, x[start:], x[start:])


@njit
def _exp2_of_scores(scores: np.ndarray, rows: int, keys: int, totals: np.ndarray, like: np.ndarray) -> None:
    """Replaces scores, [rows or more, keys or more], by the numerators of a softmax in base 2, and writes their sums.

    A numerator is 2^(score - the row's largest score), as exact as values of the type of `like`.
    """
    for row in range(rows):
        line = scores[row, :keys]
        largest, total = line[0], ZERO
        # Subtracting the largest score keeps every power within 0 and 1.
        for k in range(keys):
            largest = fast_max(largest, line[k])
        for k in range(keys):
            exponent = fast_max(line[k] - largest, LOW)
            power = rough_exp2(exponent) if like.itemsize == 2 else exp2(exponent)
            line[k] = power
            total = add_in_any_order(total, power)
        totals[row] = total


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
    outputs = len(weights) * block_width(weights)
    width = outputs // 2 if gated else outputs
    normalised = np.zeros((CHUNK, whole_lanes(len(scale))), np.float32)
    projected = np.empty((CHUNK, outputs + LANES), np.float32)
    left, hidden = normalised.view(weights.dtype), projected.view(out_weights.dtype)
    zeros = np.zeros((1, projected.shape[1]), np.float32)
    for start in range(0, len(x), CHUNK):
        rows = min(CHUNK, len(x) - start)
        rms_norm(x[start : start + rows], on_board[start : start + rows], scale, epsilon, normalised)
        encode_rows(normalised, rows, normalised.shape[1], weights)
        matmul(left, rows, weights, zeros, projected)
        _activate_hidden(projected, rows, width, gated)
        encode_rows(projected, rows, width, out_weights)
        # The residual sum costs nothing: the product starts from x, and writes to it.
        matmul(hidden, rows, out_weights, x[start:], x[start:])


@njit
def _activate_hidden(values: np.ndarray, rows: int, width: int, gated: bool) -> None:
    """Replaces the first values of each row by their silu, times the gates that follow them if there are any.

    values: float32 [rows or more, width or 2 * width or more].
    """
    # Two loops: LLVM makes no vectors of one that reads both parts of a row and writes one of them.
    for row in range(rows):
        first, gate = values[row, :width], values[row, width:]
        for k in range(len(first)):
            first[k] = silu(first[k])
        if gated:
            for k in range(len(first)):
                first[k] *= gate[k]


@njit
def rms_norm(x: np.ndarray, on_board: np.ndarray, scale: np.ndarray, epsilon: float, out: np.ndarray) -> None:
    """Writes x * scale / the root mean square of x for each row, and 0 off the board and in columns beyond `scale`.

    Columns of x beyond those of `scale` fill vectors: they are not read.
    """
    channels = len(scale)
    for row in range(len(x)):
        source, target = x[row, :channels], out[row, :channels]
        out[row, channels:] = ZERO
        if len(on_board) > 0 and not on_board[row]:
            target[:] = ZERO
            continue
        # A sum in order would be a chain of dependent additions, one channel after the other.
        total = ZERO
        for k in range(channels):
            total = add_in_any_order(total, source[k] * source[k])
        factor = np.float32(1 / math.sqrt(total / channels + epsilon))
        for k in range(channels):
            target[k] = source[k] * factor * scale[k]


class Attention:
    """An attention block with its matrices packed.

    The first channels of a head's pairs (the even ones of queries and keys) come before the second ones (the odd ones),
    each padded to a multiple of `LANES`, so that pairs are rotated as vectors; a head's values are padded too. Queries
    are scaled by log2(e) in addition to 1 / sqrt(width), so that the softmax is one of powers of two.

    `half` says whether products that are not of 8-bit integers are of bfloat16.
    """

    def __init__(self, block: AttentionBlockDesc, values: Values, half: bool) -> None:
        self._heads, self._kv_heads = block.heads, block.kv_heads
        self._scale, self._epsilon = values["norm.weight"], block.norm.epsilon
        # [kv_heads or 1, pairs, 2]. Without an embedding rotations are by 0: a second kind of compiled pass would not
        # be worth it for so few networks.
        self._frequencies = np.zeros((1, 0, 2), np.float32)
        if isinstance(block.rope, LearnedRopeDesc):
            self._frequencies = values["rope.frequencies"]
        elif block.rope is not None:
            self._frequencies = fixed_frequencies(block.rope.theta, block.query_channels)
        self._angles: dict[tuple[int, int], np.ndarray] = {}  # by the board's size
        width = block.query_channels
        self._pairs = whole_lanes(-(-width // 2))
        factor = np.float32(float(LOG2_E) / math.sqrt(width))
        query = values.matrix("query").map_rows(lambda rows: factor * self._split_pairs(rows, self._heads))
        key = values.matrix("key").map_rows(lambda rows: self._split_pairs(rows, self._kv_heads))
        value, out = values.matrix("value"), values.matrix("out")
        value = value.map_rows(lambda rows: _pad_channels(_split_heads(rows, self._kv_heads), block.value_channels))
        self._weights = joined([query, key, value]).packed(half)
        padded = _pad_channels(_split_heads(out.weight.T, self._heads), block.value_channels)
        self._out_weights = Matrix(padded.T, out.scales).packed(half)
        self._like = np.empty(0, np.uint16 if half else np.float32)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, h, w, channels]; on_board: bool [n, h, w], or [0, 1, 1]."""
        count, height, width, channels = x.shape
        if (height, width) not in self._angles:
            self._angles[height, width] = self._angles_on(height, width)
        points = x.reshape(count, height * width, channels)
        mask = on_board.reshape(len(on_board), math.prod(on_board.shape[1:]))
        settings = self._scale, self._epsilon, self._heads, self._kv_heads
        matrices = self._weights, self._out_weights
        attend(points, mask, *settings, *matrices, self._angles[height, width], self._like)

    def _angles_on(self, height: int, width: int) -> np.ndarray:
        """Returns cosines and sines of a board's points, float32 [1 or kv_heads, 2, points, pairs]."""
        y, x = np.divmod(np.arange(height * width), width)
        points = np.stack((x, y), 1).astype(np.float32)
        angles = points @ self._frequencies.transpose(0, 2, 1)
        found = np.zeros((len(angles), 2, height * width, self._pairs), np.float32)
        found[:, 0] = 1  # channels that fill vectors
        found[:, 0, :, : angles.shape[2]], found[:, 1, :, : angles.shape[2]] = np.cos(angles), np.sin(angles)
        return found

    def _split_pairs(self, weight: np.ndarray, heads: int) -> np.ndarray:
        """Reorders the rows of [heads * channels, inputs] so that each head's even channels precede its odd ones."""
        by_head = _split_heads(weight, heads)
        parts = [_pad_channels(by_head[:, first::2], self._pairs).reshape(heads, self._pairs, -1) for first in (0, 1)]
        return np.concatenate(parts, 1).reshape(heads * 2 * self._pairs, -1)


class FeedForward:
    """A feed-forward block with its matrices packed.

    `half` says whether products that are not of 8-bit integers are of bfloat16.
    """

    def __init__(self, block: FeedForwardBlockDesc, values: Values, half: bool) -> None:
        self._scale, self._epsilon = values["norm.weight"], block.norm.epsilon
        self._gated = block.gate is not None
        names, hidden = ["first", "gate"] if self._gated else ["first"], block.first.out_channels
        parts = [values.matrix(name).map_rows(lambda rows: _pad_channels(rows[None], hidden)) for name in names]
        self._weights = joined(parts).packed(half)
        self._out_weights = values.matrix("second").packed(half)

    def __call__(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, h, w, channels]; on_board: bool [n, h, w], or [0, 1, 1]."""
        settings = self._scale, self._epsilon, self._gated, self._weights, self._out_weights
        feed_forward(x.reshape(-1, x.shape[3]), on_board.reshape(-1), *settings)


def _split_heads(weight: np.ndarray, heads: int) -> np.ndarray:
    """Returns [heads * channels, inputs] as [heads, channels, inputs]."""
    return weight.reshape(heads, -1, weight.shape[1])


def _pad_channels(weight: np.ndarray, least: int) -> np.ndarray:
    """Returns [heads, channels, inputs] as [heads * channels, inputs].

    Channels are padded with zeros to `least` and to a multiple of `LANES`.
    """
    heads, channels, inputs = weight.shape
    padded = np.zeros((heads, whole_lanes(max(channels, least)), inputs), np.float32)
    padded[:, :channels] = weight
    return padded.reshape(-1, inputs)
