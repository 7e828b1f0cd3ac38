"""From the package's kernels to one module of LLVM's language, for any 64-bit processor and system.

numba compiles each kernel for the types in its signature. This reaches into numba where `numba.pycc` does, so its
version is pinned in pyproject.toml, and tests/jit find out what another one changes.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import logging
import os
import re
import sys
import typing
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace, UnionType
from typing import Any, NamedTuple
from unittest.mock import patch

# numba's settings, read when it is imported: kernels as it compiles them, for a processor without extensions.
os.environ |= {"TB_PROFILE_KERNELS": "numba", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, inline_closurecall, serialize, types
from numba.core.caching import NullCache
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUTarget, cpu_target
from numba.np import arrayobj

import tb_profile_plugin
from tb_profile_plugin.runtime import arrays
from tb_profile_plugin.runtime.jit.compiler import unwrapped_index

# What it says about compiling is meant for who waits for an answer.
logging.getLogger("tb_profile_plugin.runtime.jit").setLevel(logging.ERROR)

PACKAGE = Path(tb_profile_plugin.__file__).parent
_HOLDS_KERNELS = re.compile(r"^@jit$", re.MULTILINE)
_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
_SCALARS = {types.int64: "i", types.uint64: "u", types.boolean: "?", types.none: "-"}
_NO_COPIES = SimpleNamespace(deepcopy=lambda made: made)
"""Replaces the module `copy` where numba compiles a function into its caller: numba has just made its code for this one
call, and yet copies that twice, which takes two fifths of all compiling."""


class Undeclared(Exception):
    """A kernel's signature does not say what to compile it for."""


def kernels() -> dict[str, Dispatcher]:
    """All kernels of the package by `module:name`, without those that are only compiled into others."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        # The other modules may need packages that are not there where the kernels are compiled.
        if not _HOLDS_KERNELS.search(path.read_text(encoding="utf-8")):
            continue
        module = importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
        for value in vars(module).values():
            if isinstance(value, Dispatcher) and value.targetoptions.get("inline") != "always":
                found[f"{value.py_func.__module__}:{value.py_func.__name__}"] = value
    return dict(sorted(found.items()))


def signatures(function: Callable[..., Any]) -> Iterator[tuple[types.Type, ...]]:
    """What the kernel is to be compiled for: one combination of types for each combination of its alternatives."""
    hints = typing.get_type_hints(function)
    parameters = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    choices = []
    for name in parameters:
        hint = hints.get(name)
        either = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
        try:
            choices.append([_type(each) for each in either])
        except Undeclared:
            raise Undeclared(
                f"{function.__module__}.{function.__name__}: parameter {name} is declared as {hint}; "
                "a kernel's parameters need types of tb_profile_plugin.runtime.arrays, bool, or tuples of these."
            ) from None
    yield from itertools.product(*choices)


def _type(hint: Any) -> types.Type:
    if hint is arrays.Int:
        return types.int64
    if hint is bool:
        return types.boolean
    if _is_table(hint):
        return types.NamedTuple([_type(field) for field in typing.get_type_hints(hint).values()], hint)
    if typing.get_origin(hint) is tuple:
        return types.Tuple([_type(each) for each in typing.get_args(hint)])
    if typing.get_origin(hint) is np.ndarray:
        shape, dtype = typing.get_args(hint)
        dimensions = [each for each in typing.get_args(shape) if each is not Ellipsis]
        # One that says no dtype is of Any.
        for scalar in typing.get_args(dtype):
            return types.Array(numba.from_dtype(np.dtype(scalar)), len(dimensions) or 1, "C")
    raise Undeclared


def _is_table(value: Any) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def _origins(module: str, names: set[str]) -> Iterator[ModuleType]:
    """The modules that a module has any of the names from."""
    for node in ast.parse(Path(sys.modules[module].__file__).read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level and names & {alias.name for alias in node.names}:
            yield importlib.import_module("." * node.level + (node.module or ""), sys.modules[module].__package__)


class Compiled(NamedTuple):
    """Kernels as a module of LLVM's language."""

    code: bytes
    """Its bitcode. Entries have the names in `entries`, all else is only called from within."""
    entries: dict[str, list[Any]]
    """By `module:name` of a kernel, for each signature: the entry's name, what it takes, and what it answers."""


@global_compiler_lock
def compiled(found: dict[str, Dispatcher], names: Iterable[str], prefix: str = "tbp") -> Compiled:
    """Those of the kernels that have these names, with entries ``tbp_0`` and so on, or of another prefix."""
    for kernel in found.values():
        kernel._cache = NullCache()
        kernel.targetoptions |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    typing_context = cpu_target.typing_context
    context = cpu_target.target_context.with_aot_codegen("kernels")
    # numba's own counting of references is replaced by runtime.ll, which needs no numba.
    context.post_lowering = lambda module, library: None
    # Nothing is run here: what a dispatcher would call need only be a function of its own.
    context.get_executable = lambda library, description, environment: [].append
    table: dict[str, list[Any]] = {}
    library = context.codegen().create_library("kernels")
    entries = library.create_ir_module("entries")
    count = itertools.count()
    # Kernels that others call are compiled in the same way as these.
    with (
        patch.object(CPUTarget, "target_context", context),
        patch.object(serialize, "dumps", _told),
        patch.object(inline_closurecall, "copy", _NO_COPIES),
        patch.object(arrayobj, "fix_integer_index", unwrapped_index),
    ):
        for name in names:
            kernel = found[name]
            table[name] = []
            for signature in signatures(kernel.py_func):
                flags = Flags()
                flags.nrt = kernel.targetoptions.get("_nrt", True)
                flags.error_model = "python"
                flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
                made = compile_extra(
                    typing_context, context, kernel.py_func, signature, None, flags, {}, library=library
                )
                entry = f"{prefix}_{next(count)}"
                _enter(made.target_context, entries, entry, made)
                answer = made.signature.return_type
                table[name].append([entry, [_code(each) for each in signature], _code(answer)])
        library.add_ir_module(entries)
        library.finalize()
    module = library._final_module
    for value in (*module.functions, *module.global_variables):
        # Other parts of a library may have functions of the same names: numba numbers them.
        if not value.is_declaration and not value.name.startswith(f"{prefix}_"):
            value.linkage = "internal"
    return Compiled(module.as_bitcode(), table)


def joined(parts: Iterable[Compiled], found: dict[str, Dispatcher]) -> llvm.ModuleRef:
    """One module of these kernels, from its parts, with ``tbp_table``, which tells the entries in JSON."""
    parts = list(parts)
    entries = {name: part.entries[name] for part in parts for name in part.entries}
    about = {"sources": _sources(found), "kernels": entries}
    text = bytearray(json.dumps(about, separators=(",", ":"), sort_keys=True).encode() + b"\0")
    table = ir.Module("table")
    constant = cgutils.make_bytearray(text)
    cgutils.add_global_variable(table, constant.type, "tbp_table").initializer = constant
    module = llvm.parse_assembly(str(table))
    for part in parts:
        module.link_in(llvm.parse_bitcode(part.code))
    return module


def _told(raised: Any) -> bytes:
    """What a kernel raises, as text that ends with 0; numba would write a pickle that names this machine's paths."""
    kind, arguments, _ = raised
    return ": ".join([kind.__name__, *map(str, arguments)]).encode() + b"\0"


def _sources(found: dict[str, Dispatcher]) -> dict[str, int]:
    """CRC-32 of each file of the package that kernels, their constants and their tables are made of."""
    files = set()
    for kernel in found.values():
        function = kernel.py_func
        files.add(function.__code__.co_filename)
        named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
        files |= {value.__file__ for value in named.values() if isinstance(value, ModuleType) and value is not np}
        constants = {name for name, value in named.items() if isinstance(value, int | float)}
        tables = {value for value in (*named.values(), *typing.get_type_hints(function).values()) if _is_table(value)}
        files |= {sys.modules[table.__module__].__file__ for table in tables}
        files |= {module.__file__ for module in _origins(function.__globals__["__name__"], constants)}
    return {
        Path(os.path.relpath(file, PACKAGE)).as_posix(): zlib.crc32(Path(file).read_bytes()) for file in sorted(files)
    }


def _code(kind: types.Type) -> Any:
    """How the table tells a type: a tuple's parts, an array as dtype and dimensions, or a scalar's letter."""
    if isinstance(kind, types.BaseTuple):
        return [_code(each) for each in kind]
    if isinstance(kind, types.Array):
        if kind.layout != "C":
            raise Undeclared(f"A kernel returns {kind}; it must be in C order.")
        return f"{np.dtype(str(kind.dtype)).str}{kind.ndim}"
    return _SCALARS[kind]


def _enter(context: Any, module: ir.Module, name: str, made: Any) -> None:
    """The function that Python calls: arguments come, and the answer goes, as words of 64 bits.

    An array is its address and its shape; one that goes is told with the block of memory that holds it.
    """
    function = ir.Function(module, ir.FunctionType(_STATUS, [_WORD.as_pointer()] * 2), name)
    slots, answers = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    words = (builder.load(builder.gep(slots, [ir.Constant(_WORD, k)])) for k in itertools.count())
    signature = made.signature
    arguments = [_loaded(context, builder, kind, words) for kind in signature.args]
    callee = ir.Function(
        module, context.call_conv.get_function_type(signature.return_type, signature.args), made.fndesc.llvm_func_name
    )
    status, answer = context.call_conv.call_function(builder, callee, signature.return_type, signature.args, arguments)
    with builder.if_then(status.is_error):
        # It begins with the address of the text (see `_told`).
        text = builder.extract_value(builder.load(status.excinfoptr), 0)
        builder.store(builder.ptrtoint(text, _WORD), answers)
        builder.ret(status.code)
    places = (builder.gep(answers, [ir.Constant(_WORD, k)]) for k in itertools.count())
    _store(context, builder, signature.return_type, answer, places)
    builder.ret(ir.Constant(_STATUS, 0))


def _loaded(context: Any, builder: ir.IRBuilder, kind: types.Type, words: Iterator[ir.Value]) -> ir.Value:
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_loaded(context, builder, each, words) for each in kind])
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder)
        size = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        address = next(words)
        shape = [next(words) for _ in range(kind.ndim)]
        strides = [size]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
        arrayobj.populate_array(array, data, shape, strides, size, meminfo=None)
        return array._getvalue()
    word = next(words)
    return builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0)) if kind == types.boolean else word


def _store(context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value, places: Iterator[ir.Value]) -> None:
    if isinstance(kind, types.BaseTuple):
        for k, each in enumerate(kind):
            _store(context, builder, each, builder.extract_value(value, k), places)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        for pointer in (array.meminfo, array.data):
            builder.store(builder.ptrtoint(pointer, _WORD), next(places))
        for length in cgutils.unpack_tuple(builder, array.shape, kind.ndim):
            builder.store(length, next(places))
    elif kind != types.none:
        builder.store(value if value.type == _WORD else builder.zext(value, _WORD), next(places))
