"""Products of matrices in the tiles of Intel's AMX as LLVM code.

A tile is a register of 16 rows of 64 bytes. One instruction adds the products of a tile of the left factor, 16 rows of
32 bfloat16 or 64 8-bit integers, and a tile of the right one, to a tile of 16 x 16 sums. The right factor's tiles are
those of `matmul.pack_matrices` with blocks of 16 columns: steps of 4 bytes in its rows, one column after the other.

Arrays whose products are computed in tiles have types of their own, so that the code of a function follows from its
arguments and nothing of this is compiled for other processors: bfloat16 is seen as int16 (elsewhere as uint16), 8-bit
integers are seen as int8 (elsewhere as uint8): 0 to 255 in the left factor, -127 to 127 in the right one.

Rows are read and written 16 at a time. They have to begin at multiples of 64 bytes: from others a tile takes six times
as long to load (Sapphire Rapids).
"""

import ctypes
import platform
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .emit import FEATURES, I8, I32, I64, emit_switch, int64, is_integer, load, plus, times
from .passes import Pending, emit_rows
from .scalars import llvm_function

TILE_ROWS, TILE_BYTES = 16, 1024
MAX_TILE_ROWS = 64  # four tiles of sums; the others hold factors

_POINTER = I8.as_pointer()
_RIGHT, _LEFT = 7, (4, 5, 6)  # numbers of the tiles of factors
# 64 bytes for LDTILECFG: palette 1, and each tile's bytes per row, 16 bits each, and rows.
_CONFIGURATION = bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[TILE_ROWS] * 8, *[0] * 8])
# Rows of a pending panel whose activation is computed beside each step of four products, which take 64 cycles.
_ROWS_A_STEP = 4


# Bits of the register MXCSR: results that are denormal become 0, and so do inputs.
_FLUSH_DENORMALS = 0x8040
_HAS_SSE = bool(FEATURES.get("avx2"))


def tiles_are_permitted() -> bool:
    """Asks the system whether this process may use tiles; the first one that it does without would end it.

    Only Linux is asked, which grants it from version 5.16 on. Threads and processes that fork off have it too.
    """
    if platform.system() != "Linux":
        return False
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18  # of Linux on x86-64
    return bool(ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data) == 0)


@llvm_function
def begin_products(typing: Any, like: Any) -> Any:
    """Prepares this thread for products of the type of `like`; returns what `end_products` needs.

    Denormal numbers become 0: Intel's CPUs need a hundred times as long for each product of them, so that a network
    with strong negative inputs to its gates took 20 times as long (KataGo's b10c384h6nbttflrs in float32, Sapphire
    Rapids). The tiles are configured if products use them.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if uses_tiles(like):
            content = ir.Constant(ir.ArrayType(I8, 64), bytearray(_CONFIGURATION))
            place = cgutils.alloca_once_value(builder, content)
            _call(builder, "ldtilecfg", builder.bitcast(place, _POINTER))
        if not _HAS_SSE:
            return ir.Constant(I32, 0)
        place = cgutils.alloca_once(builder, I32)
        _call(builder, "sse.stmxcsr", builder.bitcast(place, _POINTER))
        state = builder.load(place)
        _set_float_mode(builder, builder.or_(state, ir.Constant(I32, _FLUSH_DENORMALS)))
        return state

    return types.int32(like), code


@llvm_function
def end_products(typing: Any, like: Any, state: Any) -> Any:
    """Restores the state of the thread; releases the tiles, after which the system need not save them any more."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if uses_tiles(like):
            _call(builder, "tilerelease")
        if _HAS_SSE:
            _set_float_mode(builder, arguments[1])
        return context.get_dummy_value()

    return types.void(like, types.int32), code


def _set_float_mode(builder: Any, mode: Any) -> None:
    place = cgutils.alloca_once(builder, I32)
    builder.store(mode, place)
    _call(builder, "sse.ldmxcsr", builder.bitcast(place, _POINTER))


def uses_tiles(like: Any) -> bool:
    """Whether products of the type of an array are computed in tiles."""
    return like.dtype in (types.int16, types.int8)


@llvm_function
def is_for_tiles(typing: Any, weights: Any) -> Any:
    """Returns whether products by an array are computed in tiles."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.boolean, uses_tiles(weights))

    return types.boolean(weights), code


class TilePanel(NamedTuple):
    """The arguments of `multiply_tiles` of the same names, as values of LLVM; no offsets if steps lie in one row."""

    left: Any
    stride: Any
    offsets: Any
    right: Any
    start: Any
    start_stride: Any
    out: Any
    out_stride: Any
    steps: Any


@llvm_function
def multiply_tiles(
    typing: Any,
    like: Any,
    feed: Any,
    rows: Any,
    left: Any,
    stride: Any,
    offsets: Any,
    right: Any,
    start: Any,
    start_stride: Any,
    out: Any,
    out_stride: Any,
    steps: Any,
    pending: Any,
) -> Any:
    """Computes out[rows, 16] = start[rows, 16] + the sum over steps of left[rows, 64 bytes] @ right[step].

    Args:
        like: An array of the type of the factors: bfloat16, whose sums are float32, or 8-bit integers, whose are int32.
        feed: An array of the type of what becomes of the pending panel.
        rows: 16, 32, 48 or 64.
        left: Address of the left factor.
        stride: Distance of its rows.
        offsets: Address of what is added to `left` for each step, int64.
        right: Address of the right factor [steps, 16 times 4 bytes of inputs, 16 columns].
        start: Address of what the sums start from.
        start_stride: Distance of its rows.
        out: Address of the result.
        out_stride: Distance of its rows.
        steps: How many steps.
        pending: A tuple of int64, the fields of `passes.Pending`: a panel of sums of the same type whose activation is
            computed meanwhile, by the units that the tiles leave idle. There is none if it has 0 rows.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, _, rows, *operands, pending = arguments
        finish = _finisher(like, feed, cgutils.unpack_tuple(builder, pending))
        emit_tile_panel(builder, like, rows, TilePanel(*operands), finish)
        return context.get_dummy_value()

    return types.void(like, feed, *[types.int64] * 10, pending), code


@llvm_function
def finish_panel(typing: Any, like: Any, feed: Any, pending: Any) -> Any:
    """Computes the activation of a panel; see `multiply_tiles`."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        finish = _finisher(like, feed, cgutils.unpack_tuple(builder, arguments[2]))
        _emit_rest(builder, finish, cgutils.alloca_once_value(builder, int64(0)))
        return context.get_dummy_value()

    return types.void(like, feed, pending), code


class _Finisher(NamedTuple):
    """The rows of a pending panel, and what emits the activation of `_ROWS_A_STEP` of them, from a row on."""

    rows: Any
    emit: Callable[[Any, Any], None]


def _finisher(like: Any, feed: Any, pending: list[Any]) -> _Finisher:
    fields = Pending(*pending)
    return _Finisher(fields.rows, lambda builder, first: emit_rows(builder, like, feed, fields, first, _ROWS_A_STEP))


def emit_tile_panel(builder: Any, like: Any, rows: Any, panel: TilePanel, pending: _Finisher | None = None) -> None:
    """Emits the code of `multiply_tiles`."""
    product = "tdpbusd" if is_integer(like) else "tdpbf16ps"
    cases = {TILE_ROWS * tiles: partial(_emit_panel, product, tiles, panel, pending) for tiles in range(1, 5)}
    emit_switch(builder, rows, cases)


def _emit_panel(product: str, tiles: int, panel: TilePanel, pending: _Finisher | None, builder: Any) -> None:
    for number, address in enumerate(_tile_addresses(builder, panel.start, panel.start_stride, tiles)):
        _call(builder, "tileloadd64", _tile(number), address, panel.start_stride)
    done = cgutils.alloca_once(builder, I64)
    builder.store(int64(0), done)
    with cgutils.for_range(builder, panel.steps) as step:
        # Of what lies in one row the steps are 64 bytes apart.
        offset = times(builder, step.index, 64)
        if panel.offsets is not None:
            offset = load(builder, plus(builder, panel.offsets, times(builder, step.index, 8)), I64)
        right = plus(builder, panel.right, times(builder, step.index, TILE_BYTES))
        _emit_step(builder, product, plus(builder, panel.left, offset), panel.stride, right, tiles)
        if pending is not None:
            first = builder.load(done)
            with builder.if_then(builder.icmp_signed("<", first, pending.rows)):
                pending.emit(builder, first)
                builder.store(plus(builder, first, int64(_ROWS_A_STEP)), done)
    if pending is not None:
        _emit_rest(builder, pending, done)
    for number, address in enumerate(_tile_addresses(builder, panel.out, panel.out_stride, tiles)):
        _call(builder, "tilestored64", _tile(number), address, panel.out_stride)


def _emit_rest(builder: Any, pending: _Finisher, done: Any) -> None:
    """Emits the activation of the rows of a panel that is not computed yet; `done` points to their number."""
    head, body, end = (builder.append_basic_block(name) for name in ("rest", "rows", "finished"))
    builder.branch(head)
    builder.position_at_end(head)
    first = builder.load(done)
    builder.cbranch(builder.icmp_signed("<", first, pending.rows), body, end)
    builder.position_at_end(body)
    pending.emit(builder, first)
    builder.store(plus(builder, first, int64(_ROWS_A_STEP)), done)
    builder.branch(head)
    builder.position_at_end(end)


def _emit_step(builder: Any, product: str, left: Any, stride: Any, right: Any, tiles: int) -> None:
    _call(builder, "tileloadd64", _tile(_RIGHT), _pointer(builder, right), int64(64))
    for number, address in enumerate(_tile_addresses(builder, left, stride, tiles)):
        register = _LEFT[number % len(_LEFT)]
        _call(builder, "tileloadd64", _tile(register), address, stride)
        _call(builder, product, _tile(number), _tile(register), _tile(_RIGHT))


def _tile_addresses(builder: Any, base: Any, stride: Any, tiles: int) -> list[Any]:
    return [_pointer(builder, plus(builder, base, times(builder, stride, TILE_ROWS * tile))) for tile in range(tiles)]


def _tile(number: int) -> Any:
    return ir.Constant(I8, number)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _POINTER)


def _call(builder: Any, name: str, *arguments: Any) -> None:
    """Emits an instruction for tiles with fixed numbers, which LLVM does not allocate."""
    signature = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, signature, f"llvm.x86.{name}"), arguments)
