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
from functools import partial
from typing import Any

from numba import types

from ...base.numba_internals import cgutils, ir
from .emit import FEATURES, I8, I32, I64, Panel, int32, int64, is_integer, llvm_function
from .passes import Pending, emit_rows

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


@llvm_function(types.int64)
def begin_products(builder: Any, like: Any) -> Any:
    """Prepares this thread for products of the type of `like`; returns what `end_products` needs.

    Denormal numbers become 0: Intel's CPUs need a hundred times as long for each product of them, so that a network
    with strong negative inputs to its gates took 20 times as long (KataGo's b10c384h6nbttflrs in float32, Sapphire
    Rapids). The tiles are configured if products use them.
    """
    if uses_tiles(like):
        content = ir.Constant(ir.ArrayType(I8, 64), bytearray(_CONFIGURATION))
        place = cgutils.alloca_once_value(builder, content)
        _call(builder, "ldtilecfg", builder.bitcast(place, _POINTER))
    if not _HAS_SSE:
        return int64(0)
    place = cgutils.alloca_once(builder, I32)
    _call(builder, "sse.stmxcsr", builder.bitcast(place, _POINTER))
    state = builder.load(place)
    _set_float_mode(builder, builder.or_(state, int32(_FLUSH_DENORMALS)))
    return builder.zext(state, I64)


@llvm_function(types.void)
def end_products(builder: Any, like: Any, state: Any) -> None:
    """Restores the state of the thread; releases the tiles, after which the system need not save them any more."""
    if uses_tiles(like):
        _call(builder, "tilerelease")
    if _HAS_SSE:
        _set_float_mode(builder, builder.trunc(state, I32))


def _set_float_mode(builder: Any, mode: Any) -> None:
    place = cgutils.alloca_once(builder, I32)
    builder.store(mode, place)
    _call(builder, "sse.ldmxcsr", builder.bitcast(place, _POINTER))


def uses_tiles(like: Any) -> bool:
    """Whether products of the type of an array are computed in tiles."""
    return like.dtype in (types.int16, types.int8)


@llvm_function(types.boolean)
def is_for_tiles(builder: Any, weights: Any) -> Any:
    """Returns whether products by an array are computed in tiles."""
    return ir.Constant(ir.IntType(1), uses_tiles(weights))


@llvm_function(types.void)
def multiply_tiles(builder: Any, like: Any, feed: Any, rows: Any, panel: Any, offsets: Any, pending: Any) -> None:
    """Computes a panel of 16 columns.

    Args:
        like: An array of the type of the factors: bfloat16, whose sums are float32, or 8-bit integers, whose are int32.
        feed: An array of the type of what becomes of the pending panel.
        rows: 16, 32, 48 or 64.
        panel: The `Panel`.
        offsets: Address of what is added to `left` for each step, int64, in place of 64 bytes a step.
        pending: A `passes.Pending`: a panel of sums of the same type whose activation is computed meanwhile, by the
            units that the tiles leave idle. There is none if it has 0 rows.
    """
    emit_tile_panel(builder, like, rows, Panel(*panel), offsets, (feed, Pending(*pending)))


@llvm_function(types.void)
def finish_panel(builder: Any, like: Any, feed: Any, pending: Any) -> None:
    """Computes the activation of a panel; see `multiply_tiles`."""
    _emit_pending(builder, like, (feed, Pending(*pending)), int64(0))


def emit_tile_panel(
    builder: Any, like: Any, rows: Any, panel: Panel, offsets: Any = None, pending: tuple[Any, Pending] | None = None
) -> None:
    """Emits the code of `multiply_tiles`; by default all steps are in one row, and no panel is pending."""
    emit = partial(_emit_panel, like=like, panel=panel, offsets=offsets, pending=pending)
    builder.emit_switch(rows, {TILE_ROWS * tiles: partial(emit, tiles=tiles) for tiles in range(1, 5)})


def _emit_panel(
    builder: Any, like: Any, tiles: int, panel: Panel, offsets: Any, pending: tuple[Any, Pending] | None
) -> None:
    product = "tdpbusd" if is_integer(like) else "tdpbf16ps"
    for number, address in enumerate(_tile_addresses(builder, panel.start, panel.start_stride, tiles)):
        _call(builder, "tileloadd64", _tile(number), address, panel.start_stride)
    done = cgutils.alloca_once(builder, I64)
    builder.store(int64(0), done)
    with cgutils.for_range(builder, panel.steps) as step:
        # Of what lies in one row the steps are 64 bytes apart.
        offset = builder.times(step.index, 64)
        if offsets is not None:
            offset = builder.load_at(builder.add(offsets, builder.times(step.index, 8)), I64)
        right = builder.add(panel.right, builder.times(step.index, TILE_BYTES))
        _emit_step(builder, product, builder.add(panel.left, offset), panel.stride, right, tiles)
        if pending is not None:
            first = builder.load(done)
            with builder.if_then(builder.icmp_signed("<", first, pending[1].rows)):
                emit_rows(builder, like, *pending, first, _ROWS_A_STEP)
                builder.store(builder.add(first, int64(_ROWS_A_STEP)), done)
    if pending is not None:
        _emit_pending(builder, like, pending, builder.load(done))
    for number, address in enumerate(_tile_addresses(builder, panel.out, panel.out_stride, tiles)):
        _call(builder, "tilestored64", _tile(number), address, panel.out_stride)


def _emit_pending(builder: Any, like: Any, pending: tuple[Any, Pending], first: Any) -> None:
    """Emits the activation of the rows of a pending panel, from a row on."""
    with cgutils.for_range_slice(builder, first, pending[1].rows, int64(_ROWS_A_STEP)) as (row, _):
        emit_rows(builder, like, *pending, row, _ROWS_A_STEP)


def _emit_step(builder: Any, product: str, left: Any, stride: Any, right: Any, tiles: int) -> None:
    _call(builder, "tileloadd64", _tile(_RIGHT), _pointer(builder, right), int64(64))
    for number, address in enumerate(_tile_addresses(builder, left, stride, tiles)):
        register = _LEFT[number % len(_LEFT)]
        _call(builder, "tileloadd64", _tile(register), address, stride)
        _call(builder, product, _tile(number), _tile(register), _tile(_RIGHT))


def _tile_addresses(builder: Any, base: Any, stride: Any, tiles: int) -> list[Any]:
    return [
        _pointer(builder, address) for address in builder.row_addresses(base, builder.times(stride, TILE_ROWS), tiles)
    ]


def _tile(number: int) -> Any:
    return ir.Constant(I8, number)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _POINTER)


def _call(builder: Any, name: str, *arguments: Any) -> None:
    """Emits an instruction for tiles with fixed numbers, which LLVM does not allocate."""
    builder.call_intrinsic(f"llvm.x86.{name}", ir.VoidType(), *arguments)
