"""Attention and feed-forward blocks as compiled passes.

Points are worked on in chunks, so that what is computed for them stays in a second-level cache: norm, matrices,
activations and the sum with the block's input are one pass over memory. As in FlashAttention (Dao et al. 2022), the
scores of a whole board and their exponentials are never in memory at once.

The matrices may be of 8-bit integers. Scores and what is attended to are not: they are products of bfloat16, or of
float32 on a CPU without it. The argument `like` is an empty array of their type.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from ..schema import AttentionBlockDesc, FeedForwardBlockDesc, LearnedRopeDesc, fixed_frequencies
from .amx import begin_products, end_products, is_for_tiles
from .emit import LANES, data_address
from .grid import Grid, aligned_like, aligned_rows
from .layers import Values, filled, joined
from .llvm import MAX_ROWS, rotate_pairs, store_step
from .matmul import (
    CHUNK,
    Blocks,
    block_width,
    choose_block_width,
    encode_rows,
    even_chunk,
    input_count,
    matmul,
    multiply_blocks,
    whole_lanes,
)
from .passes import gate_vectors, largest_of, power_vectors, scale_vectors, sum_of_squares, sum_vector, transpose_units
from .scalars import LOG2_E, ONE, ZERO, fast_max

# Added to the scores of points off the board: their share is then 2^LOW of the largest, which vanishes in sums. Not
# -inf, because its difference with itself would be NaN.
_MASKED = np.float32(-1e30)
# Columns that are computed together, so that they stay in a first-level cache until they are used.
_GROUP = 64
# Between these no power is infinite, and those that vanish, or are 2^-126 instead, are too small to matter.
_LEAST_SUM, _LARGEST_SUM = np.float32(2.0**-60), np.float32(2.0**100)
# Widths of the blocks of keys in vectors, the best first: those that `multiply_panel` has rows enough for.
_KEY_VECTORS = np.array([vectors for vectors in sorted(MAX_ROWS, reverse=True) if vectors > 1 or len(MAX_ROWS) == 1])


class Norm(NamedTuple):
    """An RMS norm."""

    scale: np.ndarray  # float32 [channels]; zeros follow up to a whole vector
    epsilon: float  # added to the mean square


class Matrices(NamedTuple):
    """The packed matrices of an attention block, and the norm before them."""

    norm: Norm
    heads: int  # the number of query heads
    kv_heads: int  # the number of key and value heads; heads are shared evenly
    inner: np.ndarray  # the matrix of queries, keys and values, one after the other
    outer: np.ndarray  # that of the outputs


class _Heads(NamedTuple):
    """What the points of a board say to each other, for each head."""

    queries: np.ndarray  # [heads, points, 2 * pairs]
    # In the packed form that `matmul` reads as weights, [kv_heads, blocks, steps, columns]:
    keys: np.ndarray  # the columns are points
    values: np.ndarray  # the rows are points


@njit
def attend(x: np.ndarray, on_board: np.ndarray, matrices: Matrices, angles: np.ndarray, like: np.ndarray) -> None:
    """Adds to x the attention of the points to each other.

    Args:
        x: float32 [n, points, channels], in place.
        on_board: bool [n, points], or [0, ...] if all points are on the board.
        angles: float32 [1 or kv_heads, 2, points, pairs], the cosines and sines of the rotary embedding.
        like: Of the type of scores and values.
    """
    count, points, _ = x.shape
    heads, kv_heads = matrices.heads, matrices.kv_heads
    # A step of packed matrices holds one float32 or two bfloat16.
    per_step, pairs = 4 // like.itemsize, angles.shape[3]
    outputs = len(matrices.inner) * block_width(matrices.inner)
    value_width = (outputs - 2 * pairs * (heads + kv_heads)) // kv_heads
    in_tiles = is_for_tiles(like)
    columns, key_columns = choose_block_width(value_width, in_tiles), _choose_key_columns(points, in_tiles)
    # Allocated once for all boards.
    blocks, steps = (points + key_columns - 1) // key_columns, (points + per_step - 1) // per_step
    queries = aligned_like(heads * points, 2 * pairs, like).reshape((heads, points, 2 * pairs))
    keys = _packed_for_each(kv_heads, blocks, 2 * pairs // per_step, key_columns * per_step, like)
    values = _packed_for_each(kv_heads, value_width // columns, steps, columns * per_step, like)
    of_board = _Heads(queries, keys, values)
    # What the scores start from: 0, or _MASKED for points off the board and for columns that fill the last block.
    score_mask = aligned_rows(blocks, key_columns)
    masked = score_mask.reshape(blocks * key_columns)
    masked[points:] = _MASKED
    image_mask = np.zeros(0, np.bool_)
    state = begin_products(like)
    for image in range(count):
        if len(on_board) > 0:
            image_mask = on_board[image]
            for point in range(points):
                masked[point] = ZERO if image_mask[point] else _MASKED
        _project(x[image], image_mask, matrices, angles, of_board)
        _add_attention(of_board, score_mask, matrices.outer, x[image])
    end_products(like, state)


@njit
def _packed_for_each(heads: int, blocks: int, steps: int, columns: int, like: np.ndarray) -> np.ndarray:
    """Returns zeros for a packed matrix of each head, of the type of `like`."""
    return aligned_like(heads * blocks * steps, columns, like).reshape((heads, blocks, steps, columns))


@njit
def _choose_key_columns(points: int, in_tiles: bool) -> int:
    """Returns how many columns of keys to multiply together: as many as can be without filling up by many."""
    if in_tiles:
        return LANES
    best = LANES * _KEY_VECTORS[0]
    for columns in LANES * _KEY_VECTORS:
        if -points % columns < -points % best:
            best = columns
    return best


@njit
def _project(x: np.ndarray, on_board: np.ndarray, matrices: Matrices, angles: np.ndarray, out: _Heads) -> None:
    """Computes queries, keys and values of the points of one board, x [points, channels]; see `attend`."""
    queries, keys, weights = out.queries, out.keys, matrices.inner
    points, per_step = len(x), 4 // queries.itemsize
    heads, kv_heads, width = len(queries), len(keys), queries.shape[2]
    normalised = aligned_rows(CHUNK, input_count(weights))
    left = normalised.view(weights.dtype)
    # A cache line longer than a row's values, as `scores` in `_add_attention`; and a row of zeros, which an odd number
    # of points is filled up with.
    projected = aligned_rows(CHUNK + 1, len(weights) * block_width(weights) + LANES)
    zeros = aligned_rows(1, projected.shape[1])
    rotated = aligned_like(CHUNK, width, queries)
    chunk = even_chunk(points)
    for start in range(0, points, chunk):
        rows = min(chunk, points - start)
        rms_norm(x[start : start + rows], on_board[start : start + rows], matrices.norm, normalised, weights)
        matmul(left, rows, weights, zeros, projected)
        projected[rows:] = ZERO
        source, stride = data_address(projected), projected.strides[0]
        for head in range(heads):
            # Heads have the angles of the key head that they share; a fixed embedding has the same for all.
            own = angles[head * kv_heads // heads % len(angles)]
            _rotate(source, stride, rows, own, start, queries[head, start:])
            source += 4 * width
        for head in range(kv_heads):
            _rotate(source, stride, rows, angles[head % len(angles)], start, rotated)
            _pack_keys(rotated, rows, start, keys[head])
            source += 4 * width
        for row in range(0, rows, per_step):
            first = source + row * stride
            _pack_values(first, first + stride, (start + row) // per_step, out.values)


@njit
def _rotate(source: int, stride: int, rows: int, angles: np.ndarray, first: int, out: np.ndarray) -> None:
    """Rotates the queries or keys of one head by the angles of their points.

    Args:
        source: Address of the first row: the first values of all pairs, then the second ones, float32.
        stride: Distance of its rows.
        angles: float32 [2, points, pairs], cosines and sines.
        first: The point of the first row.
        out: [rows or more, 2 * pairs], in the order of `llvm.rotate_pairs`.
    """
    sine, pairs = angles.strides[0], angles.shape[2]
    cosine, target = data_address(angles) + first * angles.strides[1], data_address(out)
    for _ in range(rows):
        for offset in range(0, 4 * pairs, 4 * LANES):
            # Of float32 the second values lie after all first ones, of bfloat16 with them: the same distance.
            place = target + offset
            rotate_pairs(out, source + offset, cosine + offset, cosine + sine + offset, place, 4 * pairs)
        source, cosine, target = source + stride, cosine + angles.strides[1], target + out.strides[0]


@njit
def _pack_keys(rotated: np.ndarray, rows: int, first: int, keys: np.ndarray) -> None:
    """Writes rows of keys into a head's packed matrix, whose columns are points: they are transposed.

    Args:
        rotated: [rows or more, width]; those that fill up 16 rows are written too, into columns that are masked.
        first: The point of the first row, a multiple of 16.
        keys: [blocks, steps, columns], in steps of 4 bytes.
    """
    columns = block_width(keys)
    for row in range(0, rows, LANES):
        block, column = (first + row) // columns, (first + row) % columns
        source = data_address(rotated) + row * rotated.strides[0]
        target = data_address(keys) + block * keys.strides[0] + 4 * column
        for _ in range(0, keys.shape[1], LANES):
            transpose_units(source, rotated.strides[0], target, 4 * columns)
            source, target = source + 4 * LANES, target + 4 * LANES * columns


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
def _add_attention(of_board: _Heads, score_mask: np.ndarray, weights: np.ndarray, x: np.ndarray) -> None:
    """Adds to x, float32 [points, channels] of one board, what its points attend to.

    `score_mask`, float32 [blocks of keys, keys of a block], is added to the scores; `weights` is the matrix of the
    outputs.
    """
    queries, keys, values = of_board
    heads, points, _ = queries.shape
    head_width = values.shape[1] * block_width(values[0])
    # Rows are a cache line longer than they need to be: a power of two apart they would evict each other.
    shares = aligned_like(CHUNK, score_mask.size + 2 * LANES, queries)
    sums, part = aligned_rows(CHUNK, LANES), aligned_rows(CHUNK, head_width)
    attended = aligned_rows(CHUNK, max(heads * head_width, input_count(weights)))
    left, item = attended.view(weights.dtype), 4 if weights.itemsize == 1 else weights.itemsize
    ones, zeros = np.ones((1, head_width), np.float32), aligned_rows(1, head_width)
    chunk = even_chunk(points)
    for start in range(0, points, chunk):
        rows = min(chunk, points - start)
        for head in range(heads):
            kv_head = head * len(keys) // heads
            _share(queries[head, start : start + rows], keys[kv_head], score_mask, shares, sums)
            matmul(shares, rows, values[kv_head], zeros, part)
            source, target = data_address(part), data_address(attended) + head * head_width * item
            for row in range(rows):
                # Softmax's division comes after the product: once per value instead of once per key.
                factor = ONE / sum_vector(data_address(sums) + 4 * LANES * row)
                scale_vectors(weights, source, data_address(ones), factor, target, head_width // LANES)
                source, target = source + part.strides[0], target + attended.strides[0]
        if weights.itemsize == 1:
            encode_rows(attended, rows, attended.shape[1])
        matmul(left, rows, weights, x[start:], x[start:])


@njit
def _share(queries: np.ndarray, keys: np.ndarray, score_mask: np.ndarray, shares: np.ndarray, sums: np.ndarray) -> None:
    """Computes the numerators of a softmax in base 2 for a chunk of queries.

    Args:
        queries: [rows, width].
        keys: The packed matrix of keys [blocks, steps, columns].
        score_mask: As in `_add_attention`.
        shares: [rows or more, keys or more], of the type of the queries: 2^(score - a number of the row).
        sums: float32 [rows or more, 16]: their sums, lane by lane.
    """
    rows, width = len(queries), score_mask.shape[1]
    group = max(1, _GROUP // width)
    scores, peaks = aligned_rows(CHUNK, group * width), np.zeros(rows, np.float32)
    left, out = (
        Blocks(data_address(queries), 0, queries.strides[0]),
        Blocks(data_address(scores), 4 * width, scores.strides[0]),
    )
    # Softmax subtracts the largest score of a row from all of them, so that no power is too large. Scores are far from
    # that as a rule, and finding the largest takes another pass: it follows only if a sum shows the need.
    for finds_peaks in (False, True, False):
        sums[:] = ZERO
        if finds_peaks:
            peaks[:] = _MASKED
        for block in range(0, len(keys), group):
            count = min(group, len(keys) - block)
            start = Blocks(data_address(score_mask) + block * score_mask.strides[0], 4 * width, 0)
            multiply_blocks(left, rows, keys[block : block + count], start, out)
            source, target = data_address(scores), data_address(shares) + block * width * shares.itemsize
            for row in range(rows):
                if finds_peaks:
                    peaks[row] = fast_max(peaks[row], largest_of(scores[row, : count * width]))
                else:
                    total = data_address(sums) + row * sums.strides[0]
                    power_vectors(shares, source, peaks[row], target, total, count * width // LANES)
                source, target = source + scores.strides[0], target + shares.strides[0]
        are_moderate = True
        for row in range(rows):
            are_moderate &= _LEAST_SUM < sum_vector(data_address(sums) + row * sums.strides[0]) < _LARGEST_SUM
        if are_moderate:
            break


@njit
def feed_forward(
    x: np.ndarray, on_board: np.ndarray, norm: Norm, weights: np.ndarray, gates: np.ndarray, out_weights: np.ndarray
) -> None:
    """Adds (silu(first) * gate) @ second of the normalised x to x.

    Args:
        x: float32 [points, channels], in place.
        on_board: bool [points], or [0] if all points are on the board.
        weights: The packed matrix of first.
        gates: That of gate (SwiGLU, Shazeer 2020); without blocks if there is none.
        out_weights: That of second.
    """
    columns, group = input_count(out_weights), max(1, _GROUP // block_width(weights))
    width = group * block_width(weights)
    normalised, hidden = aligned_rows(CHUNK, input_count(weights)), aligned_rows(CHUNK, columns + LANES)
    left, factor = normalised.view(weights.dtype), hidden.view(out_weights.dtype)
    first, gate, zeros = aligned_rows(CHUNK, width), aligned_rows(CHUNK, width), aligned_rows(1, width)
    state = begin_products(weights)
    for start in range(0, len(x), CHUNK):
        rows = min(CHUNK, len(x) - start)
        rms_norm(x[start : start + rows], on_board[start : start + rows], norm, normalised, weights)
        for block in range(0, len(weights), group):
            end = min(block + group, len(weights))
            matmul(left, rows, weights[block:end], zeros, first)
            if len(gates) > 0:
                matmul(left, rows, gates[block:end], zeros, gate)
            # The last group may have fewer blocks: what lies beyond them would not fit into a row of `hidden`.
            column, stop = block * block_width(weights), end * block_width(weights)
            _gate(first[:, : stop - column], gate, rows, len(gates) > 0, hidden, column, out_weights)
        if out_weights.itemsize == 1:
            encode_rows(hidden, rows, columns)
        # The residual sum costs nothing: the product starts from x, and writes to it.
        matmul(factor, rows, out_weights, x[start:], x[start:])
    end_products(weights, state)


@njit
def _gate(
    first: np.ndarray, gate: np.ndarray, rows: int, gated: bool, hidden: np.ndarray, column: int, like: np.ndarray
) -> None:
    """Writes silu(first), times gate if `gated`, both [rows or more, columns], into the columns of `hidden`.

    `hidden` is float32 [rows or more, columns of all blocks or more]; its values become those of `like` already, which
    then lie without gaps from the beginning of each row on, unless it is of 8-bit integers.
    """
    item = 4 if like.itemsize == 1 else like.itemsize
    source, gates, target = data_address(first), data_address(gate), data_address(hidden) + column * item
    for _ in range(rows):
        gate_vectors(like, gated, source, gates, target, first.shape[1] // LANES)
        source, gates, target = source + first.strides[0], gates + gate.strides[0], target + hidden.strides[0]


@njit
def rms_norm(x: np.ndarray, on_board: np.ndarray, norm: Norm, out: np.ndarray, like: np.ndarray) -> None:
    """Makes rows of a left factor of x * scale / the root mean square of x for each row, and of 0 off the board.

    Args:
        x: float32 [rows, channels or more]; columns that fill up the last vector are 0.
        on_board: bool [rows], or [0] if all rows are on the board.
        out: float32 [rows or more, inputs]: a view of it of the type of `like` is the factor.
        like: An array of the type of the weights that the factor is for.
    """
    channels, vectors = len(norm.scale), (len(norm.scale) + LANES - 1) // LANES
    source, target = data_address(x), data_address(out)
    for row in range(len(x)):
        if len(on_board) > 0 and not on_board[row]:
            out[row] = ZERO
        else:
            factor = np.float32(1 / math.sqrt(sum_of_squares(source, vectors) / channels + norm.epsilon))
            scale_vectors(like, source, data_address(norm.scale), factor, target, vectors)
        source, target = source + x.strides[0], target + out.strides[0]
    if like.itemsize == 1:
        encode_rows(out, len(x), out.shape[1])


class Attention:
    """An attention block with its matrices packed.

    The first channels of a head's pairs (the even ones of queries and keys) come before the second ones (the odd ones),
    each padded to a multiple of `LANES`, so that pairs are rotated as vectors; a head's values are padded too. Queries
    are scaled by log2(e) in addition to 1 / sqrt(width), so that the softmax is one of powers of two.

    `products` is the type of packed weights that are not of 8-bit integers.
    """

    def __init__(self, block: AttentionBlockDesc, values: Values, products: "np.dtype[Any]") -> None:
        # [kv_heads or 1, pairs, 2]. Without an embedding rotations are by 0: a second kind of compiled pass would not
        # be worth it for so few networks.
        self._frequencies = np.zeros((1, 0, 2), np.float32)
        if isinstance(block.rope, LearnedRopeDesc):
            self._frequencies = values["rope.frequencies"]
        elif block.rope is not None:
            self._frequencies = fixed_frequencies(block.rope.theta, block.query_channels)
        self._angles: dict[Grid, np.ndarray] = {}
        width = block.query_channels
        self._pairs = whole_lanes(-(-width // 2))
        factor = np.float32(float(LOG2_E) / math.sqrt(width))
        query = values.matrix("query").map_rows(lambda rows: factor * self._split_pairs(rows, block.heads))
        key = values.matrix("key").map_rows(lambda rows: self._split_pairs(rows, block.kv_heads))
        value, out = values.matrix("value"), values.matrix("out")
        value = value.map_rows(lambda rows: _pad_channels(_split_heads(rows, block.kv_heads)))
        out = out._replace(weight=_pad_channels(_split_heads(out.weight.T, block.heads)).T)
        packed = (each.packed(products) for each in (joined([query, key, value]), out))
        self._matrices = Matrices(_norm(values, block.norm.epsilon), block.heads, block.kv_heads, *packed)
        self._like = np.empty(0, products)

    def __call__(self, x: np.ndarray, grid: Grid, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, rows, channels]; on_board: as `Grid.mask` returns it."""
        if grid not in self._angles:
            self._angles[grid] = self._angles_on(grid)
        attend(x, on_board, self._matrices, self._angles[grid], self._like)

    def _angles_on(self, grid: Grid) -> np.ndarray:
        """Returns cosines and sines of a board's rows, float32 [1 or kv_heads, 2, rows, pairs]."""
        y, x = np.divmod(np.arange(grid.rows), grid.pitch)
        points = np.stack((x, y), 1).astype(np.float32)
        angles = points @ self._frequencies.transpose(0, 2, 1)
        found = np.zeros((len(angles), 2, grid.rows, self._pairs), np.float32)
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

    `products` is the type of packed weights that are not of 8-bit integers.
    """

    def __init__(self, block: FeedForwardBlockDesc, values: Values, products: "np.dtype[Any]") -> None:
        self._norm = _norm(values, block.norm.epsilon)
        weights, out_weights = (values.matrix(name).packed(products) for name in ("first", "second"))
        assert weights.dtype == out_weights.dtype  # `feed_forward` prepares for one type
        gates = weights[:0] if block.gate is None else values.matrix("gate").packed(products)
        self._matrices = weights, gates, out_weights

    def __call__(self, x: np.ndarray, grid: Grid, on_board: np.ndarray) -> None:
        """Evaluates the block in place on x, float32 [n, rows, channels]; on_board: as `Grid.mask` returns it."""
        feed_forward(x.reshape(-1, x.shape[2]), on_board.reshape(-1), self._norm, *self._matrices)


def _norm(values: Values, epsilon: float) -> Norm:
    """Returns the norm of a block."""
    scale = values["norm.weight"]
    return Norm(filled(scale)[: len(scale)], epsilon)


def _split_heads(weight: np.ndarray, heads: int) -> np.ndarray:
    """Returns [heads * channels, inputs] as [heads, channels, inputs]."""
    return weight.reshape(heads, -1, weight.shape[1])


def _pad_channels(weight: np.ndarray, least: int = 0) -> np.ndarray:
    """Returns [heads, channels, inputs] as [heads * channels, inputs].

    Channels are padded with zeros to `least`, and to a multiple of `LANES`.
    """
    heads, channels, inputs = weight.shape
    padded = np.zeros((heads, whole_lanes(max(channels, least)), inputs), np.float32)
    padded[:, :channels] = weight
    return padded.reshape(-1, inputs)
