"""The innermost loops of `matmul` and `transformer` as LLVM code (those of `winograd` are in `winograd_tiles`).

The argument `like` is an array whose type says what is multiplied: float32, bfloat16 in vectors (seen as uint16) or in
the tiles of AMX (seen as int16, see `amx`), or 8-bit integers (seen as uint8). Results are always float32.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from numba import types

from ...base.numba_internals import binding, cgutils, ir
from .amx import emit_tile_panel, tiles_are_permitted, uses_tiles
from .emit import BYTES, FEATURES, FLOATS, I16, I32, I64, INTEGERS, LANES, PAIRS, Panel, int64, is_half, llvm_function

HAS_FLOAT32 = bool((FEATURES.get("avx2") and FEATURES.get("fma")) or FEATURES.get("neon"))
VECTORS = "AVX-512" if FEATURES.get("avx512f") else "NEON" if FEATURES.get("neon") else "AVX2"
"""The vector instructions that code is generated for, if there are any."""
# Products of bfloat16 take vectors of that type since LLVM 16.
HAS_BFLOAT16 = bool(FEATURES.get("avx512bf16") or FEATURES.get("bf16")) and binding.llvm_version_info >= (16,)
# Products in tiles of AMX: whether there is code for them, and whether this process may execute it.
KNOWS_TILES = HAS_BFLOAT16 and all(FEATURES.get(name) for name in ("amx-tile", "amx-bf16", "amx-int8"))
HAS_TILES = KNOWS_TILES and tiles_are_permitted()
# Products of unsigned by signed 8-bit integers: VNNI with vectors of 512 or 256 bits, or ARM's I8MM.
HAS_INT8 = HAS_FLOAT32 and any(FEATURES.get(name) for name in ("avx512vnni", "avxvnni", "i8mm"))
# By vectors per row, the most rows whose sums fit into the registers together with their factors: AVX-512 has 32
# registers of 16 values, AVX2 has 16 of 8, NEON 32 of 4.
MAX_ROWS = {4: 6, 3: 8, 2: 8, 1: 8} if FEATURES.get("avx512f") else {1: 6}
# The same for `multiply_shifted`.
SHIFTED_ROWS = {2: 13, 1: 15} if FEATURES.get("avx512f") else {1: 6}


@llvm_function(types.void)
def multiply_panel(builder: Any, like: Any, rows: Any, vectors: Any, panel: Any, ahead: Any) -> None:
    """Computes a panel of 16 * vectors columns.

    A row of 8-bit integers of the left factor has its scale, a float32, after them; before the right factor there are
    two rows more: what each column's sum of integers starts from, int32, and the column's scale, float32.

    Args:
        like: An array of the type of both factors; what the sums start from and the result are float32.
        rows: At most MAX_ROWS[vectors]; in tiles a multiple of 16, at most `amx.MAX_TILE_ROWS`.
        vectors: The number of vectors in a row of the result; in tiles 1.
        panel: The `Panel`.
        ahead: Address of the next call's right factor, which is prefetched.
    """
    panel = Panel(*panel)
    if uses_tiles(like):
        emit_tile_panel(builder, like, rows, panel)
        return
    emit = _emit_integer_panel if like.dtype == types.uint8 else partial(_emit_panel, is_half(like))
    _emit_shapes(builder, MAX_ROWS, rows, vectors, partial(emit, panel, ahead))


@llvm_function(types.void)
def multiply_shifted(
    builder: Any, like: Any, rows: Any, vectors: Any, panel: Any, offsets: Any, cells: Any, factors: Any, bias: Any
) -> None:
    """Computes a panel of 16 * vectors columns: start + bias + factors * the products of 8-bit integers.

    Args:
        like: An array of the type of the right factors. No code is emitted unless they are 8-bit integers: on CPUs
            without the instructions LLVM would end the process.
        rows: At most SHIFTED_ROWS[vectors].
        vectors: The number of vectors in a row of the result.
        panel: The `Panel`, with a right factor for each cell of the kernel, one after the other.
        offsets: Address of what is added to `left` for each cell, int64.
        cells: How many cells.
        factors: Address of the factors of the columns' sums, float32.
        bias: Address of what is added to them then.
    """
    if like.dtype == types.uint8:
        emit = partial(_emit_shifted_panel, Panel(*panel), offsets, cells, factors, bias)
        _emit_shapes(builder, SHIFTED_ROWS, rows, vectors, emit)


@llvm_function(types.void)
def rotate_pairs(builder: Any, like: Any, x: Any, cosine: Any, sine: Any, out: Any, distance: Any) -> None:
    """Rotates 16 pairs of float32 values by their angles, as rotary position embedding does.

    Args:
        like: An array of the type of the result. As float32 the second values lie at `distance`; as bfloat16 each
            follows its first one.
        x: Address of the pairs' first values.
        cosine: Address of the angles' cosines.
        sine: Address of the angles' sines.
        out: Address of the result.
        distance: Distance of the two values of a pair.
    """
    addresses = x, builder.add(x, distance), cosine, sine
    a, b, cos, sin = (builder.load_at(address, FLOATS) for address in addresses)
    first = builder.fsub(builder.fmul(a, cos), builder.fmul(b, sin))
    second = builder.fused_multiply_add(a, sin, builder.fmul(b, cos))
    if is_half(like):
        builder.store_at(builder.interleave(first, second), out, False)
    else:
        builder.store_at(first, out, False)
        builder.store_at(second, builder.add(out, distance), False)


@llvm_function(types.void)
def store_step(builder: Any, like: Any, first: Any, second: Any, out: Any) -> None:
    """Stores a step of 16 columns of a packed matrix: one row as float32, or the pairs of two rows as bfloat16.

    Args:
        like: An array of the type of the matrix.
        first: Address of the first row, float32.
        second: Address of the second row, which is ignored as float32.
        out: Address of the step.
    """
    value = builder.load_at(first, FLOATS)
    if is_half(like):
        value = builder.interleave(value, builder.load_at(second, FLOATS))
    builder.store_at(value, out, False)


def _emit_shapes(
    builder: Any, most_rows: dict[int, int], rows: Any, vectors: Any, emit: Callable[[int, int, Any], None]
) -> None:
    """Emits code for each shape, rows and vectors: the number of registers has to be known when it is generated."""
    # Rows are fewer than 16, so that the key is unique.
    cases = {v * 16 + r: partial(emit, r, v) for v, most in most_rows.items() for r in range(1, most + 1)}
    builder.emit_switch(builder.add(builder.times(vectors, 16), rows), cases)


def _emit_panel(half: bool, panel: Panel, ahead: Any, rows: int, vectors: int, builder: Any) -> None:
    """Emits the loop of `multiply_panel` for one shape. Its sums stay in registers until the end."""
    lines = builder.row_addresses(panel.left, panel.stride, rows)
    starts = _load_rows(builder, panel.start, panel.start_stride, rows, vectors)
    right = panel.right, PAIRS if half else FLOATS, ahead
    totals = _emit_sums(builder, lines, starts, right, panel.steps, partial(_multiply_accumulate, builder, half))
    for address, row in zip(builder.row_addresses(panel.out, panel.out_stride, rows), totals, strict=True):
        builder.store_vectors(row, address)


def _emit_integer_panel(panel: Panel, ahead: Any, rows: int, vectors: int, builder: Any) -> None:
    """Emits `_emit_panel` for 8-bit integers, whose sums are scaled at the end."""
    row_bytes = 4 * LANES * vectors
    lines = builder.row_addresses(panel.left, panel.stride, rows)
    begins = [builder.load_vectors(panel.right, INTEGERS, vectors)] * rows
    right = builder.add(panel.right, int64(2 * row_bytes)), INTEGERS, ahead
    totals = _emit_sums(builder, lines, begins, right, panel.steps, partial(_dot_products, builder))
    columns = builder.load_vectors(builder.add(panel.right, int64(row_bytes)), FLOATS, vectors)
    scales = [builder.broadcast(builder.add(line, builder.times(panel.steps, 4)), FLOATS) for line in lines]
    factors = [[builder.fmul(column, scale) for column in columns] for scale in scales]
    _store_scaled(builder, panel, totals, factors, _load_rows(builder, panel.start, panel.start_stride, rows, vectors))


def _emit_shifted_panel(
    panel: Panel, offsets: Any, cells: Any, factors: Any, bias: Any, rows: int, vectors: int, builder: Any
) -> None:
    """Emits the loops of `multiply_shifted` for one shape, whose sums stay in registers."""
    zero = ir.Constant(INTEGERS, [0] * LANES)
    sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(vectors)] for _ in range(rows)]
    cell_bytes = builder.times(panel.steps, 4 * LANES * vectors)
    with cgutils.for_range(builder, cells) as cell:
        offset = builder.load_at(builder.add(offsets, builder.times(cell.index, 8)), I64)
        lines = builder.row_addresses(builder.add(panel.left, offset), panel.stride, rows)
        address = builder.add(panel.right, builder.mul(cell.index, cell_bytes))
        right = address, INTEGERS, builder.add(address, cell_bytes)
        begins = [[builder.load(place) for place in row] for row in sums]
        totals = _emit_sums(builder, lines, begins, right, panel.steps, partial(_dot_products, builder))
        for place, total in zip(chain(*sums), chain(*totals), strict=True):
            builder.store(total, place)
    columns, terms = (builder.load_vectors(address, FLOATS, vectors) for address in (factors, bias))
    starts = [
        [builder.fadd(first, term) for first, term in zip(row, terms, strict=True)]
        for row in _load_rows(builder, panel.start, panel.start_stride, rows, vectors)
    ]
    totals = [[builder.load(place) for place in row] for row in sums]
    _store_scaled(builder, panel, totals, [columns] * rows, starts)


def _store_scaled(
    builder: Any, panel: Panel, sums: list[list[Any]], factors: list[list[Any]], starts: list[list[Any]]
) -> None:
    """Stores the sums of integers of a panel, times their factors, plus what they start from."""
    targets = builder.row_addresses(panel.out, panel.out_stride, len(sums))
    for target, *row in zip(targets, sums, factors, starts, strict=True):
        values = [
            builder.fused_multiply_add(builder.sitofp(total, FLOATS), factor, start)
            for total, factor, start in zip(*row, strict=True)
        ]
        builder.store_vectors(values, target)


def _load_rows(builder: Any, base: Any, stride: Any, rows: int, vectors: int) -> list[list[Any]]:
    """Returns the float32 vectors of each of some rows."""
    return [builder.load_vectors(address, FLOATS, vectors) for address in builder.row_addresses(base, stride, rows)]


def _emit_sums(
    builder: Any,
    lines: list[Any],
    starts: list[list[Any]],
    right: tuple[Any, Any, Any],
    steps: Any,
    multiply: Callable[[list[Any], Any, list[Any]], list[Any]],
) -> list[list[Any]]:
    """Emits the loop over the steps of a panel, whose sums stay in registers.

    Args:
        lines: The addresses of the rows of the left factor.
        starts: For each row the vectors that its sums start from.
        right: The address of the right factor, the type of its vectors, and the address of what to prefetch.
        steps: How many steps there are, at least one.
        multiply: Returns a row's sums plus the products of a step: of the sums, the address in `lines` and the vectors.

    Returns:
        For each row its sums.
    """
    address, kind, ahead = right
    vectors = len(starts[0])
    entry, loop, done = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    # LLVM's values are never assigned twice. A sum that changes is a phi node: the start when the loop is entered, and
    # the previous total after that.
    step = builder.phi(I64)
    sums = [[builder.phi(first.type) for first in row] for row in starts]
    offset = builder.times(step, 4 * LANES * vectors)
    _prefetch(builder, builder.add(ahead, offset), vectors)
    factors = builder.load_vectors(builder.add(address, offset), kind, vectors)
    totals = [
        multiply(row, builder.add(line, builder.times(step, 4)), factors) for line, row in zip(lines, sums, strict=True)
    ]
    next_step = builder.add(step, int64(1))
    step.add_incoming(int64(0), entry)
    step.add_incoming(next_step, loop)
    for value, first, total in zip(chain(*sums), chain(*starts), chain(*totals), strict=True):
        value.add_incoming(first, entry)
        value.add_incoming(total, loop)
    builder.cbranch(builder.icmp_signed("<", next_step, steps), loop, done)
    builder.position_at_end(done)
    return totals


def _prefetch(builder: Any, address: Any, lines: int) -> None:
    """Emits the prefetch of cache lines of 64 bytes."""
    # Reading (0), of data (1), to all levels of cache but the first (locality 2), which a block of weights would fill.
    read, locality, data = (ir.Constant(I32, value) for value in (0, 2, 1))
    for line in range(lines):
        target = builder.inttoptr(builder.add(address, int64(64 * line)), I16.as_pointer())
        # The suffix p0 is that of opaque pointers, as of LLVM 15: the type pointed to is not in the name.
        builder.call_intrinsic("llvm.prefetch.p0", ir.VoidType(), target, read, locality, data)


def _multiply_accumulate(builder: Any, half: bool, sums: list[Any], address: Any, factors: list[Any]) -> list[Any]:
    """Returns each sum plus its factor times the value (or the pair of bfloat16) at `address`, in all lanes."""
    if not half:
        value = builder.broadcast(address, FLOATS)
        return [builder.fused_multiply_add(value, factor, total) for total, factor in zip(sums, factors, strict=True)]
    value = builder.bitcast(builder.broadcast(address, INTEGERS), PAIRS)
    # The dot products of pairs are added to float32 sums. x86 rounds to even, ARM to odd: a sum that is not exact gets
    # an odd last bit. Both flush denormals to 0.
    instruction = ("llvm.x86.avx512bf16.dpbf16ps.512", LANES)
    if FEATURES.get("bf16"):
        instruction = ("llvm.aarch64.neon.bfdot.v4f32.v8bf16", 4)
    return _call_in_parts(builder, instruction, sums, value, factors)


def _dot_products(builder: Any, sums: list[Any], address: Any, factors: list[Any]) -> list[Any]:
    """Returns each sum plus the dot product of the four bytes at `address` and its factor's, in all lanes.

    Unsigned bytes are multiplied by signed ones, and the four products are added to the int32 sum of their lane.
    """
    value = builder.broadcast(address, INTEGERS)
    if FEATURES.get("i8mm"):
        value, factors = (builder.bitcast(value, BYTES), [builder.bitcast(factor, BYTES) for factor in factors])
        instruction = ("llvm.aarch64.neon.usdot.v4i32.v16i8", 4)
    elif FEATURES.get("avx512vnni"):
        instruction = ("llvm.x86.avx512.vpdpbusd.512", LANES)
    else:
        instruction = ("llvm.x86.avx512.vpdpbusd.256", LANES // 2)
    return _call_in_parts(builder, instruction, sums, value, factors)


def _call_in_parts(
    builder: Any, instruction: tuple[str, int], sums: list[Any], value: Any, factors: list[Any]
) -> list[Any]:
    """Returns what an instruction makes of each vector of sums, the value and a vector of factors.

    LLVM knows it, by a name, for registers of a number of sums; it splits longer vectors into such registers in any
    case, so that taking them apart and together again costs nothing.
    """
    name, width = instruction
    count = LANES // width

    def part_of(vector: Any, number: int) -> Any:
        size = vector.type.count // count
        return builder.lanes(vector, range(size * number, size * (number + 1)))

    found = []
    for total, factor in zip(sums, factors, strict=True):
        split = [[part_of(vector, number) for vector in (total, value, factor)] for number in range(count)]
        parts = [builder.call_intrinsic(name, each[0].type, *each) for each in split]
        while len(parts) > 1:
            size = 2 * parts[0].type.count
            parts = [builder.lanes(one, range(size), other) for one, other in zip(parts[::2], parts[1::2], strict=True)]
        found += parts
    return found
