"""Answers with kernels of another system and processor, which run in an emulator: emulated.py LIBRARY CAPTURE…

The library stands on nothing but four functions that it is given, so a processor's emulator is all that it takes.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterator
from functools import partial
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any

import lief
import unicorn
from unicorn import arm64_const as arm
from unicorn import x86_const as x86

from tb_profile_plugin.runtime import jit
from tb_profile_plugin.runtime.jit import library

_HEAP, _HEAP_BYTES = 0x2_0000_0000, 256 << 20
_STACK, _STACK_BYTES = 0x1_0000_0000, 1 << 20
_GIVEN = 0x3_0000_0000
"""Where the functions are that the library is given; behind them, where a call returns to."""
_PAGE = 4096


class Emulated(library.Library):
    """Kernels of a library that this machine cannot load, by the table of the one that it can."""

    def __init__(self, path: Path):
        super().__init__(library.PATH)
        self._binary: Any = lief.parse(str(path))
        windows = isinstance(self._binary, lief.PE.Binary)
        self._arm = "ARM64" in str(self._binary.abstract.header.architecture)
        machine = (
            (unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM) if self._arm else (unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        )
        self._machine = unicorn.Uc(*machine)
        self._base = self._binary.imagebase if windows else 0
        x86_arguments = [x86.UC_X86_REG_RCX, x86.UC_X86_REG_RDX, x86.UC_X86_REG_R8, x86.UC_X86_REG_R9]
        if not windows:
            x86_arguments = [x86.UC_X86_REG_RDI, x86.UC_X86_REG_RSI, x86.UC_X86_REG_RDX, x86.UC_X86_REG_RCX]
        self._arguments = [arm.UC_ARM64_REG_X0 + i for i in range(4)] if self._arm else x86_arguments
        self._answer = arm.UC_ARM64_REG_X0 if self._arm else x86.UC_X86_REG_RAX
        if self._arm:
            # Registers of floats are there.
            self._machine.reg_write(arm.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self._load(self._binary.sections if windows else self._binary.segments)
        self._top = _HEAP
        self._one_at_a_time = Lock()
        self.call("tbp_use", *(_GIVEN + 16 * i for i in range(4)))

    def _load(self, parts: Any) -> None:
        machine = self._machine
        end = max(part.virtual_address + max(part.virtual_size, len(part.content)) for part in parts)
        machine.mem_map(self._base, -(-end // _PAGE) * _PAGE)
        for part in parts:
            machine.mem_write(self._base + part.virtual_address, bytes(part.content))
        if isinstance(self._binary, lief.ELF.Binary):
            for each in self._binary.relocations:
                machine.mem_write(each.address, each.addend.to_bytes(8, "little"))
        machine.mem_map(_STACK, _STACK_BYTES)
        machine.mem_map(_HEAP, _HEAP_BYTES)
        machine.mem_map(_GIVEN, _PAGE)
        # Each of the functions does its work in `_given`, and then returns.
        machine.mem_write(_GIVEN, (bytes.fromhex("c0035fd6") if self._arm else b"\xc3").ljust(16, b"\0") * 5)
        machine.hook_add(unicorn.UC_HOOK_CODE, self._given, begin=_GIVEN, end=_GIVEN + 63)

    def _given(self, machine: Any, address: int, size: int, _: Any) -> None:
        first, second, third = (machine.reg_read(each) for each in self._arguments[:3])
        match (address - _GIVEN) // 16:
            case 0:
                machine.reg_write(self._answer, self.put(bytes(first)))
            case 2:
                machine.mem_write(first, bytes(machine.mem_read(second, third)))
                machine.reg_write(self._answer, first)
            case 3:
                machine.mem_write(first, bytes([second & 255]) * third)
                machine.reg_write(self._answer, first)

    def put(self, content: bytes) -> int:
        """Where the bytes lie in the machine."""
        at = self._top
        self._top = -(-(at + len(content) + 1) // 64) * 64
        assert self._top <= _HEAP + _HEAP_BYTES
        self._machine.mem_write(at, content)
        return at

    def call(self, symbol: str, *arguments: int) -> int:
        """What the function returns, as 32 bits."""
        machine, back, stack = self._machine, _GIVEN + 64, _STACK + _STACK_BYTES - 128
        names = [symbol, "_" + symbol]
        entry = next(each for each in self._binary.exported_functions if each.name in names)
        for register, value in zip(self._arguments, arguments, strict=False):
            machine.reg_write(register, value)
        if self._arm:
            machine.reg_write(arm.UC_ARM64_REG_SP, stack)
            machine.reg_write(arm.UC_ARM64_REG_LR, back)
        else:
            machine.mem_write(stack - 8, back.to_bytes(8, "little"))
            machine.reg_write(x86.UC_X86_REG_RSP, stack - 8)
        machine.emu_start(self._base + entry.address, back)
        return int(machine.reg_read(self._answer) & 0xFFFFFFFF)

    def run(self, symbol: str, parameters: Any, answer: Any, words_at: int, answer_at: int) -> int:
        """As a function of the library: arrays go into the machine and come back."""
        with self._one_at_a_time:
            return self._run(symbol, parameters, answer, words_at, answer_at)

    def _run(self, symbol: str, parameters: Any, answer: Any, words_at: int, answer_at: int) -> int:
        self._top = _HEAP
        words = (ctypes.c_int64 * sum(map(_words, parameters))).from_address(words_at)
        moved, arrays = list(words), []
        for place, size in _arrays(parameters, words):
            moved[place] = self.put(ctypes.string_at(words[place], size))
            arrays.append((words[place], moved[place], size))
        width = max(1, library._width(answer))
        found_at = self.put(bytes(8 * width))
        status = self.call(
            symbol, self.put(b"".join(each.to_bytes(8, "little", signed=True) for each in moved)), found_at
        )
        found = (ctypes.c_int64 * width).from_buffer_copy(self._machine.mem_read(found_at, 8 * width))
        for host, at, size in arrays:
            ctypes.memmove(host, bytes(self._machine.mem_read(at, size)), size)
        for place, size in _arrays([answer], found, shift=1):
            # A block as the library of this machine makes it: a count of one, and the data behind the header.
            block = _allocate(40 + size)
            ctypes.c_int64.from_address(block).value = 1
            ctypes.memmove(block + 40, bytes(self._machine.mem_read(found[place], size)), size)
            found[place - 1], found[place] = block, block + 40
        ctypes.memmove(answer_at, found, 8 * width)
        return status

    def entries(self, function: Any) -> list[library.Entry]:
        """Those of the table, run by the emulator."""
        made = []
        for symbol, parameters, answer in self._entries.get(f"{function.__module__}:{function.__name__}", ()):
            kinds = tuple(map(library._kind, parameters)), library._kind(answer)
            made.append(library.Entry(partial(self.run, symbol, *kinds), *kinds))
        return made


_allocate = ctypes.pythonapi.PyMem_RawMalloc
_allocate.argtypes, _allocate.restype = [ctypes.c_size_t], ctypes.c_size_t


def _words(kind: Any) -> int:
    if isinstance(kind, library._Array):
        return 1 + kind.dimensions
    return sum(map(_words, kind)) if isinstance(kind, tuple) else 1


def _arrays(kinds: Any, words: Any, shift: int = 0) -> Iterator[tuple[int, int]]:
    """(place of the address, bytes) of each array; in answers a word for its block comes before."""
    place = 0
    pending = list(kinds)
    while pending:
        kind = pending.pop(0)
        if isinstance(kind, library._Array):
            at = place + shift
            yield at, kind.itemsize * prod(words[at + 1 : at + 1 + kind.dimensions])
            place = at + 1 + kind.dimensions
        elif isinstance(kind, tuple):
            pending[:0] = kind
        else:
            place += 1


if __name__ == "__main__":
    jit.jit = jit.inlined = Emulated(Path(sys.argv[1])).kernel  # type: ignore[assignment]
    from answers import answers

    json.dump({path: answers(path) for path in sys.argv[2:]}, sys.stdout)
