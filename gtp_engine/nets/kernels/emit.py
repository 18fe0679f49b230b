"""What all generators of LLVM code share: types, addresses, loads and stores, vectors.

numba has no expression for a block of sums that stays in registers, nor for products of bfloat16 or 8-bit integers.
Hence the functions of `llvm`, `amx`, `passes` and `winograd_tiles` build LLVM's intermediate representation themselves.

Compiled code calls them with addresses, and distances in bytes. A vector has 16 float32 values; LLVM splits it on CPUs
with shorter vectors.

Its objects are created by the callbacks that numba calls while it compiles, and have no types that mypy knows:
`builder`, values and addresses are `Any`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ...base.jit import njit
from ...base.numba_internals import cgutils, intrinsic, ir
from ...base.target import target

LANES = 16  # float32 values in a vector of 512 bits

FEATURES = dict.fromkeys(target().needs, True)
HAS_AVX512 = bool(FEATURES.get("avx512f") and FEATURES.get("avx512dq"))


class _BFloat16(ir.Type):
    """LLVM's type `bfloat`, which `ir` does not know."""

    # `ir` hands its code to LLVM as text, so that a type needs no more than a name.
    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat16)

    def __hash__(self) -> int:
        return hash(_BFloat16)


I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
# Vectors of 16 float32, int32 and int16, of 16 times four bytes, of 16 bfloat16, and of 16 pairs of bfloat16.
FLOATS, INTEGERS, SHORTS = (ir.VectorType(kind, LANES) for kind in (ir.FloatType(), I32, I16))
BYTES = ir.VectorType(ir.IntType(8), 4 * LANES)
HALVES, PAIRS = ir.VectorType(_BFloat16(), LANES), ir.VectorType(_BFloat16(), 2 * LANES)


def int32(value: int) -> Any:
    return ir.Constant(I32, value)


def int64(value: int) -> Any:
    return ir.Constant(I64, value)


class Builder(ir.IRBuilder):
    """LLVM's builder, with the operations that the kernels use often."""

    def row_addresses(self, base: Any, stride: Any, rows: int) -> list[Any]:
        return [self.add(base, self.times(stride, row)) for row in range(rows)]

    def emit_switch(self, key: Any, cases: Mapping[int, Callable[[Any], None]]) -> None:
        """Emits code that executes the case with the number `key`."""
        end = self.append_basic_block("end")
        switch = self.switch(key, end)
        for number, emit in cases.items():
            block = self.append_basic_block(f"case{number}")
            switch.add_case(int64(number), block)
            self.position_at_end(block)
            emit(self)
            self.branch(end)
        self.position_at_end(end)

    def lanes(self, vector: Any, chosen: Sequence[int], other: Any = None) -> Any:
        """Returns some lanes of a vector, or of two one after the other."""
        if other is None and len(chosen) == vector.type.count and chosen == range(len(chosen)):
            return vector
        mask = ir.Constant(ir.VectorType(I32, len(chosen)), list(chosen))
        return self.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined) if other is None else other, mask)

    def broadcast(self, address: Any, kind: Any) -> Any:
        """Returns a vector with the value at `address` in all lanes."""
        return self.fill(self.load_at(address, kind.element), kind)

    def fill(self, value: Any, kind: Any) -> Any:
        """Returns a vector with the same value in all lanes."""
        # LLVM's idiom, which becomes part of the instruction that loads.
        first = self.insert_element(ir.Constant(kind, ir.Undefined), value, int32(0))
        return self.lanes(first, [0] * LANES)

    def interleave(self, first: Any, second: Any) -> Any:
        """Returns 16 pairs of bfloat16 from two vectors of float32, as int32: the first ones are the lower halves."""
        low, high = (
            self.zext(self.bitcast(self.fptrunc(value, HALVES), SHORTS), INTEGERS) for value in (first, second)
        )
        return self.or_(low, self.shl(high, ir.Constant(INTEGERS, [16] * LANES)))

    def call_intrinsic(self, name: str, result: Any, *arguments: Any, fastmath: Sequence[str] = ()) -> Any:
        """Returns what a function that LLVM knows by its name makes of values; result: the type of it."""
        signature = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.module, signature, name)
        return self.call(function, arguments, fastmath=fastmath)

    def fused_multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        # One instruction for certain: this code is used only if HAS_FLOAT32 holds.
        return self.call_intrinsic("llvm.fma.v16f32", FLOATS, a, b, c)

    def round_vector(self, a: Any) -> Any:
        """Returns the nearest whole numbers as float32."""
        return self.call_intrinsic("llvm.rint.v16f32", FLOATS, a)

    def times(self, value: Any, factor: int) -> Any:
        return self.mul(value, int64(factor))

    def load_at(self, address: Any, kind: Any) -> Any:
        # Aligned to 2 bytes, a bfloat16: rows of a network's arrays begin anywhere, and unaligned loads cost nothing
        # unless they cross a cache line.
        return self.load(self.inttoptr(address, kind.as_pointer()), align=2)

    def load_vectors(self, address: Any, kind: Any, count: int) -> list[Any]:
        """Returns vectors of 64 bytes that lie one after the other."""
        return [self.load_at(self.add(address, int64(64 * number)), kind) for number in range(count)]

    def store_vectors(self, vectors: list[Any], address: Any) -> None:
        for number, vector in enumerate(vectors):
            self.store_at(vector, self.add(address, int64(64 * number)), False)

    def store_at(self, value: Any, address: Any, half: bool) -> None:
        value = self.fptrunc(value, HALVES) if half else value
        self.store(value, self.inttoptr(address, value.type.as_pointer()), align=2)


def llvm_function(result: Any) -> Callable[[Callable[..., Any | None]], Any]:
    """Decorates a function that emits LLVM code, for what numba has no expression for; result: its type in numba.

    Compiled code calls it without its first argument, the builder. Of an array it gets the type, of a tuple the values,
    and numbers as float32 or int64. The code is always inlined, so that it keeps no loop from being vectorised.
    """

    def decorate(function: Callable[..., Any | None]) -> Any:
        def define(typing: Any, *kinds: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                own = Builder(builder.block)
                found = function(own, *(_argument(own, *each) for each in zip(kinds, values, strict=True)))
                builder.position_at_end(own.block)
                return context.get_dummy_value() if found is None else found

            return result(*map(_parameter_type, kinds)), code

        # numba takes the names of the arguments from here; the first one is its own.
        define.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        define.__name__ = function.__name__
        return intrinsic(define)

    return decorate


def _argument(builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        return kind
    return cgutils.unpack_tuple(builder, value) if isinstance(kind, types.BaseTuple) else value


def _parameter_type(kind: Any) -> Any:
    """Returns the type that an argument of an `llvm_function` is converted to."""
    if isinstance(kind, types.Array | types.BaseTuple):
        return kind
    return types.float32 if isinstance(kind, types.Float) else types.int64


class Panel(NamedTuple):
    """Some rows of a product: out[rows, columns] = start[rows, columns] + left[rows, ...] @ right. All are int64."""

    left: Any  # address of the left factor
    stride: Any  # distance of its rows
    right: Any  # address of the right factor [steps, columns], packed by `matmul.pack_matrices`
    start: Any  # address of what the sums start from
    start_stride: Any  # distance of its rows; 0 if all start from one
    out: Any  # address of the result
    out_stride: Any  # distance of its rows
    steps: Any  # how many steps: of 4 bytes of a row of the left factor, or of 64 bytes in tiles


def is_half(like: Any) -> bool:
    """Whether an array holds bfloat16: for vectors, or for tiles."""
    return like.dtype in (types.uint16, types.int16)


def is_integer(like: Any) -> bool:
    """Whether an array holds 8-bit integers: for vectors, or for tiles."""
    return like.dtype in (types.uint8, types.int8)


def splat(value: Any) -> Any:
    """Returns a vector with the same value in all lanes."""
    return ir.Constant(FLOATS, [float(value)] * LANES)


@njit
def data_address(array: np.ndarray) -> Any:
    """Returns the address of an array's first element, as generated code takes it.

    The caller has to keep the array alive: numba frees what a function allocated after its last mention (`keep_alive`).
    """
    return np.int64(array.ctypes.data)


@njit
def keep_alive(array: np.ndarray) -> None:
    """Does nothing, but mentions an array whose address was in use until now."""
