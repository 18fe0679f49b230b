"""Shortcuts in numba's compiler, which takes a part of its time to find out again what it found out before.

None of them changes the machine code.
"""

from collections.abc import Callable
from typing import Any

from numba.core import base, codegen, postproc, transforms
from numba.core.targetconfig import TargetConfig


def install() -> None:
    """Makes numba take the shortcuts."""
    base.BaseContext.get_abi_sizeof = _remembered_sizes(base.BaseContext.get_abi_sizeof)  # type: ignore[method-assign]
    postproc.PostProcessor.run = _without_live_variables(postproc.PostProcessor.run)  # type: ignore[method-assign]
    codegen.CPUCodeLibrary._optimize_functions = _optimize_functions  # type: ignore[method-assign]
    TargetConfig.__hash__, TargetConfig.__eq__ = _hash_of_flags, _flags_are_equal  # type: ignore[method-assign]


def _remembered_sizes(find: Callable[..., int]) -> Callable[..., int]:
    """Returns a function that finds the size of an LLVM type once: llvmlite has LLVM read a whole module for each."""
    sizes: dict[str, int] = {}

    def get_abi_sizeof(context: Any, type_: Any) -> int:
        text = str(type_)
        if "%" in text:  # a type with a name, which may stand for different ones
            return find(context, type_)
        if text not in sizes:
            sizes[text] = find(context, type_)
        return sizes[text]

    return get_abi_sizeof


def _without_live_variables(run: Callable[..., None]) -> Callable[..., None]:
    """Returns a function that runs after each pass over a function, without the sets of variables at its blocks.

    Only generators need them. The other results are found when they are asked for.
    """

    def run_without(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = processor.func_ir
        if emit_dels or code.is_generator:
            run(processor, emit_dels, extend_lifetimes)
            return
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime = postproc.VariableLifetime(code.blocks)
        code.generator_info = None

    return run_without


def _optimize_functions(library: Any, module: Any) -> None:
    """Optimises the functions of a module, with one list of passes for all of them, not one for each."""
    module.data_layout = library._codegen._data_layout
    manager, builder = library._codegen._function_pass_manager()
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)


def _hash_of_flags(flags: Any) -> int:
    return hash(type(flags))  # numba's is the same for all flags, too: of the names of all options


def _flags_are_equal(flags: Any, other: object) -> bool:
    """Compares flags, which are in the keys of all functions that numba looks up."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    return flags._values == other._values or flags.values() == other.values()
