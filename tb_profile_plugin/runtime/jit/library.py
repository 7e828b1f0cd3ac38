"""Kernels from the library that was compiled ahead: loaded by ctypes, without numba.

An entry takes the addresses of two rows of 64-bit words: its arguments, one word for a number, address and shape for an
array; and its answer, in which an array is told by the block of memory that holds it, address and shape. It returns 0,
or something else where it has raised: then the answer begins with the address of the text. The library's own table says
in JSON which entries a kernel has, one for each combination of types that its signature allows.
"""

from __future__ import annotations

import builtins
import ctypes
import json
import logging
import os
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from operator import index
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from ..records import NamedTuple

_PACKAGE = Path(__file__).parents[2]
PATH = _PACKAGE / "compiled" / ("kernels" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so"))
SEAL = ".seal"
"""Ending of the name of the file beside a library that holds its `seal`."""

logger = logging.getLogger(__name__)


class _Array(NamedTuple):
    """An array in C order, its dtype as numpy's array interface spells it."""

    dtype: str
    dimensions: int

    @property
    def itemsize(self) -> int:
        return int(self.dtype[2:])


_Kind = Any
"""An `_Array`; ``i``, ``u`` or ``?`` for an int64, uint64 or bool; ``-`` for None; a tuple of kinds."""


def seal(content: bytes) -> str:
    """A library's length and CRC-32. Loading one that was cut may end the process, so that they are compared before."""
    return f"{len(content)} {zlib.crc32(content):08x}\n"


def find_current_library(strict: bool = True) -> Library | None:
    """The library, where there is one for this platform that is whole and made of these very sources."""
    try:
        content, seal_path = PATH.read_bytes(), PATH.with_name(PATH.name + SEAL)
        if not seal_path.is_file() or seal_path.read_text() != seal(content):
            logger.warning(
                "The library of compiled functions has changed since its build and is not used. Reinstall the package."
            )
            return None
        library = Library(PATH, strict)
        current = all(zlib.crc32((_PACKAGE / name).read_bytes()) == crc for name, crc in library.sources.items())
    except OSError:
        return None
    return library if current else None


class Library:
    """The kernels of a shared library; raises OSError where it cannot be loaded."""

    def __init__(self, path: Path, strict: bool = True):
        """With `strict`, a call for which no kernel was compiled raises TypeError; else it runs as plain Python."""
        self._functions = ctypes.CDLL(str(path))
        self.strict = strict
        # On the class, not in each of many blocks: every library gives back to this process's `PyMem_RawFree`.
        _Block.release = self._functions.tbp_release
        self._functions.tbp_release.argtypes = [ctypes.c_void_p]
        memory = ctypes.pythonapi.PyMem_RawMalloc, ctypes.pythonapi.PyMem_RawFree
        moving = ctypes.memmove, ctypes.memset
        self._functions.tbp_use(*(ctypes.cast(function, ctypes.c_void_p) for function in (*memory, *moving)))
        # For large arrays in huge pages: where numpy has its own, and unless numpy is told to leave that.
        if sys.platform == "linux" and os.environ.get("NUMPY_MADVISE_HUGEPAGE") != "0":
            self._functions.tbp_advise_with(ctypes.cast(ctypes.CDLL(None).madvise, ctypes.c_void_p))
        start = ctypes.addressof(ctypes.c_char.in_dll(self._functions, "tbp_table"))
        table = json.loads(ctypes.string_at(start))
        self.sources: dict[str, int] = table["sources"]
        """CRC-32 of the files that it was compiled from, by path in the package."""
        self._entries: dict[str, list[tuple[str, Any, Any]]] = table["kernels"]

    def kernel(self, function: Callable[..., Any]) -> Kernel:
        """The compiled form of a function."""
        return Kernel(function, self)

    def entries(self, function: Callable[..., Any]) -> list[Entry]:
        """What was compiled of a function."""
        name = f"{function.__module__}:{function.__name__}"
        return [
            Entry(self._functions[symbol], tuple(map(_kind, parameters)), _kind(answer))
            for symbol, parameters, answer in self._entries.get(name, ())
        ]


class Kernel:
    """A function of which compiled forms are called."""

    def __init__(self, function: Callable[..., Any], library: Library):
        update_wrapper(self, function)
        self.py_func = function
        self.name = f"{function.__module__}.{function.__name__}"
        self._library = library
        self._entries: list[Entry] | None = None
        self._to_named: Callable[[Any], Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns, with numbers and bools as Python's own; raises what the function raises."""
        if self._entries is None:
            entries = self._library.entries(self.py_func)
            if entries and isinstance(entries[0].answer, tuple):
                self._to_named = _tuple_maker(_answer_hint(self.py_func), entries[0].answer)
            self._entries = entries
        for entry in self._entries:
            words: list[int] = []
            if _append_words(words, arguments, entry.parameters):
                answer = entry.run(words)
                return self._to_named(answer) if self._to_named else answer
        types = ", ".join(map(_type_of, arguments))
        message = f"{self.name} is not compiled for ({types}); its signature says for what it is."
        if self._library.strict:
            raise TypeError(message)
        logger.warning("%s It runs as plain Python, which is slow.", message)
        with np.errstate(over="ignore"):
            return self.py_func(*arguments)


def _answer_hint(function: Callable[..., Any]) -> Any:
    """The type that a function returns. `get_type_hints` takes three times as long."""
    return eval(function.__annotations__["return"], function.__globals__)


def _tuple_maker(hint: Any, kinds: tuple[_Kind, ...]) -> Callable[[Any], Any] | None:
    """What makes named tuples of a kernel's plain ones where its signature has some; None where it has none."""
    is_named = hasattr(hint, "_fields")
    make: Callable[[Any], Any] = hint._make if is_named else tuple
    namers: list[Callable[[Any], Any] | None] = []
    if any(isinstance(kind, tuple) for kind in kinds):
        hints = get_type_hints(hint).values() if is_named else get_args(hint)
        namers = [
            _tuple_maker(part, kind) if isinstance(kind, tuple) else None
            for part, kind in zip(hints, kinds, strict=True)
        ]
    if not any(namers):
        return make if is_named else None
    return lambda value: make(namer(part) if namer else part for namer, part in zip(namers, value, strict=True))


class Entry:
    """A kernel compiled for one combination of types."""

    def __init__(self, function: Any, parameters: tuple[_Kind, ...], answer: _Kind):
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._function = function
        self.parameters = parameters
        self.answer = answer
        self._empty_answer = bytes(8 * max(1, _width(answer)))

    def run(self, words: list[int]) -> Any:
        """What it returns for arguments as words; raises ValueError, ZeroDivisionError or MemoryError where it does."""
        parameters, answer = array("q", words), array("q", self._empty_answer)
        if self._function(parameters.buffer_info()[0], answer.buffer_info()[0]):
            name, _, text = ctypes.string_at(answer[0]).decode().partition(": ")
            raise getattr(builtins, name, RuntimeError)(text)
        return _read_value(self.answer, iter(answer))


class _Block:
    """Memory that a kernel has made, given back when no array shows it any more."""

    __slots__ = ("__array_interface__", "_block")

    release: Callable[[int], None]
    """Any library's will do."""

    def __init__(self, interface: dict[str, Any], block: int):
        self.__array_interface__ = interface
        self._block = block

    def __del__(self) -> None:
        self.release(self._block)


def _kind(code: Any) -> _Kind:
    if isinstance(code, list):
        return tuple(map(_kind, code))
    return code if len(code) == 1 else _Array(code[:-1], int(code[-1]))


def _width(kind: _Kind) -> int:
    """How many words of an answer a value of this kind takes."""
    if isinstance(kind, _Array):
        return 2 + kind.dimensions
    return sum(map(_width, kind)) if isinstance(kind, tuple) else 1


def _append_words(words: list[int], values: Sequence[Any], kinds: Sequence[_Kind]) -> bool:
    """Append the values' words; False where they are not of these kinds."""
    if len(values) != len(kinds):
        return False
    for value, kind in zip(values, kinds, strict=True):
        if type(kind) is _Array:
            if type(value) is not np.ndarray:
                return False
            interface = value.__array_interface__
            address, shape = interface["data"][0], interface["shape"]
            if interface["typestr"] != kind.dtype or len(shape) != kind.dimensions or interface["strides"] is not None:
                return False
            if not value.flags.aligned:
                return False
            words += (address, *shape)
        elif type(kind) is tuple:
            if not isinstance(value, tuple) or not _append_words(words, value, kind):
                return False
        elif kind == "?":
            if not isinstance(value, (bool, np.bool_)):
                return False
            words.append(int(value))
        else:
            try:
                words.append(index(value))
            except TypeError:
                return False
    return True


def _read_value(kind: _Kind, words: Iterator[int]) -> Any:
    """The value of this kind that the next words of an answer make up."""
    if isinstance(kind, _Array):
        block, address = next(words), next(words)
        shape = tuple(next(words) for _ in range(kind.dimensions))
        interface = {"version": 3, "typestr": kind.dtype, "data": (address, False), "shape": shape}
        result = np.asarray(_Block(interface, block))
        # What a kernel was given lies in no block of its own.
        return result if block else result.copy()
    if isinstance(kind, tuple):
        return tuple(_read_value(element, words) for element in kind)
    word = next(words)
    if kind == "-":
        return None
    if kind == "?":
        return bool(word)
    return word % (1 << 64) if kind == "u" else word


def _type_of(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_type_of, value))})"
    if isinstance(value, np.ndarray):
        order = "" if value.flags.c_contiguous else ", not in C order"
        return f"{value.dtype}[{value.ndim}{order}]"
    return type(value).__name__
