"""What is private in numba, and what else of numba and llvmlite the kernels' LLVM code is made of.

The private part compiles a function together with all that it calls, once, and writes and reads the result. If a numba
lacks some of it (`install`), the program compiles as numba usually does, which takes longer, and keeps nothing.

As soon as the types of a function are known, numba optimises it and makes machine code of it, with copies of all that
it calls: a function deep in the core is optimised ten times and becomes machine code ten times, of which Python calls
one or none. Here a function that compiled code calls stays LLVM's intermediate code. Only when Python calls a function
does it get a wrapper, and this wrapper is optimised and becomes machine code together with everything below it.
"""

import pickle
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from llvmlite import binding as binding
from llvmlite import ir as ir
from numba import types
from numba.core import cgutils as cgutils  # its documentation recommends it for code like that of the kernels
from numba.extending import intrinsic as intrinsic

_import_error = ""
try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompileResult
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.environment import Environment, lookup_environment
    from numba.core.registry import CPUDispatcher, cpu_target
    from numba.core.serialize import dumps as dumps
    from numba.core.sigutils import normalize_signature
    from numba.core.typing.templates import make_concrete_template
except ImportError as error:
    _import_error = str(error)
    JITCodeLibrary = CPUDispatcher = CompileResult = dumps = object  # type: ignore[assignment,misc]

_ENVIRONMENT_PREFIX, _WRAPPER = "_ZN08NumbaEnv", "_wrapper"  # of the names of environments
before_compiling: Callable[[], object] = bool  # does nothing; to read code is not to compile


class Library(JITCodeLibrary):
    """The code of one function, which is linked and optimised when Python needs its address.

    numba makes one for the functions of all packages in this process, not only for ours.

    Attributes:
        is_for_python: Whether it is a wrapper that a `Dispatcher` has made: no other code links it.
    """

    is_for_python = False

    def add_linking_library(self, library: JITCodeLibrary) -> None:
        """Remembers a library that this one calls."""
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Makes machine code of the function and all that it calls."""
        self._linking_libraries = self._libraries_below()
        super().finalize()
        for name in self._environments():
            if (environment := lookup_environment(name)) is not None:
                self.codegen.set_env(name, environment)

    def _optimize_final_module(self) -> None:
        # Nothing else calls these copies: what is called once can be inlined, what is inlined everywhere removed.
        for function in self._final_module.functions:
            if function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        """Returns the address of a function, or 0 for the wrapper of one that has none."""
        if not self._finalized and name not in (function.name for function in self._final_module.functions):
            return 0
        address: int = super().get_pointer_to_function(name)
        return address

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Returns the machine code as numba keeps it; instead of the intermediate code that nobody links, its names."""
        if not self.is_for_python:  # of other packages: theirs is linked
            return super().serialize_using_object_code()
        self._ensure_finalized()
        functions = (function for function in self._final_module.functions if not function.is_declaration)
        names = [function.name for function in functions if function.linkage == binding.Linkage.external]
        stubs = [f'define void @"{name}"() {{ ret void }}' for name in names]
        stubs += [f'@"{name}" = global ptr null' for name in self._environments()]
        return self.name, "object", (self._get_compiled_object(), binding.parse_assembly("\n".join(stubs)).as_bitcode())

    def _environments(self) -> list[str]:
        """Returns the names of the variables for the environments of the functions in the code."""
        names = [variable.name for variable in self._final_module.global_variables]
        return [name for name in names if name.startswith(_ENVIRONMENT_PREFIX)]

    def _libraries_below(self) -> list[JITCodeLibrary]:
        """Returns the libraries that this one calls, directly or through others, callers before what they call.

        LLVM links a function only if something that has been linked before calls it.
        """
        seen, found = set(), []

        def visit(library: JITCodeLibrary) -> None:
            if library not in seen:
                seen.add(library)
                if not library._finalized:
                    for below in library._linking_libraries:
                        visit(below)
                found.append(library)  # after what it calls

        for library in self._linking_libraries:
            visit(library)
        return found[::-1]

    def _get_module_for_linking(self) -> Any:
        if self._finalized:
            return super()._get_module_for_linking()
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage == binding.Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._shared_module


class Dispatcher(CPUDispatcher):
    """Compiles a function separately for callers in Python and for compiled ones.

    The former get machine code (`overloads`), the latter intermediate code (`_parts`).
    """

    _cache: Any
    _cache_hits: Any
    _cache_misses: Any
    _compiler: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parts: dict[tuple[Any, ...], Any] = {}

    def compile(self, sig: Any) -> Any:
        """Compiles the function for Python, or loads it from the cache, and returns it."""
        with global_compiler_lock:
            args, return_type = normalize_signature(sig)
            existing: Any = self.overloads.get(tuple(args))
            if existing is not None:
                return existing.entry_point
            compiled = self._cache.load_overload(sig, self.targetctx)
            if compiled is not None:
                self._cache_hits[sig] += 1
                self.add_overload(compiled)
                return compiled.entry_point
            self._cache_misses[sig] += 1
            compiled = self._wrap(self._part(tuple(args), return_type))
            self.add_overload(compiled)
            self._cache.save_overload(sig, compiled)
            return compiled.entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compiles the function for a compiled caller and returns its type, as numba's own dispatchers do."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(_widened(type_) for type_ in args)
        self._part(args, None)
        signatures = [part.signature for part in self._parts.values()]
        name = self.py_func.__name__
        return make_concrete_template(f"CallTemplate({name})", name, signatures), pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """Returns the key under which a compiled caller finds the function's code."""
        args, return_type = normalize_signature(sig)
        return self._part(tuple(args), return_type).entry_point

    def _part(self, args: tuple[Any, ...], return_type: Any) -> Any:
        """Returns the intermediate code for these types of arguments."""
        with global_compiler_lock:
            if args not in self._parts:
                before_compiling()
                with self._compiling_counter:
                    self._parts[args] = self._compiler.compile(args, return_type)
            return self._parts[args]

    def _wrap(self, part: Any) -> Any:
        """Returns the machine code that Python can call."""
        context, describes = part.target_context, copy(part.fndesc)
        # The wrapper adds constants to its environment: with an environment of its own, that of the part is the same in
        # the file of every caller. numba loads only the first environment of a name.
        describes.env_name += _WRAPPER
        environment = Environment.from_fndesc(describes)
        library = context.codegen().create_library(f"{self.py_func.__qualname__} for Python")
        library.is_for_python = True
        library.enable_object_caching()
        library.add_linking_library(part.library)
        context.create_cpython_wrapper(library, describes, environment, part.call_helper, release_gil=True)
        executable = context.get_executable(library, describes, environment)
        return part._replace(library=library, entry_point=executable, fndesc=describes, environment=environment)


def _widened(type_: Any) -> Any:
    """Returns the type with which a function is compiled for arguments of this one.

    Constants and small signed integers become 64 bits wide, as in arithmetic: numba would compile a function for each
    constant and for each width.
    """
    wide: Any = types.unliteral(type_)
    integer: Any = types.Integer
    return types.int64 if isinstance(wide, integer) and wide.signed else wide


def to_bytes(compiled: Any) -> bytes | None:
    """Returns a compiled function for `from_bytes`, or None if it cannot be used in another process."""
    if compiled.library.has_dynamic_globals or not all(lifted.can_cache for lifted in compiled.lifted):
        return None
    # The annotation would name the source's folder.
    return bytes(dumps(compiled._replace(type_annotation="")._reduce()))


def from_bytes(data: bytes, target_context: Any) -> Any:
    """Returns the compiled function of `to_bytes`."""
    return CompileResult._rebuild(target_context, *pickle.loads(data))


def install(trial: Mapping[str, Any]) -> str:
    """Makes numba link as late as this. Returns why this numba cannot, which stays as it is then; empty if it can.

    If there are options for a `trial`, a function and one that calls it are compiled with them, written and read.
    """
    if _import_error:
        return _import_error
    try:
        codegen = cpu_target.target_context.codegen()
        library_class, set_environment = codegen._library_class, codegen.set_env

        def set_environment_of_machine_code(name: str, environment: Any) -> None:
            if codegen._engine.is_symbol_defined(name):
                set_environment(name, environment)

        codegen._library_class, codegen.set_env = Library, set_environment_of_machine_code
        if trial:
            _try(trial)
    except Exception as error:  # whatever has changed in numba
        codegen._library_class, codegen.set_env = library_class, set_environment
        return f"{type(error).__name__}: {error}"
    return ""


def _try(options: Mapping[str, Any]) -> None:
    part: Any = Dispatcher(lambda number: number + 1.0, targetoptions=dict(options))
    whole: Any = Dispatcher(lambda number: part(number) * 2.0, targetoptions=dict(options))
    whole(1.0)
    for compiled in whole.overloads.values():
        from_bytes(to_bytes(compiled) or b"", whole.targetctx)
