"""Kernels for the tests of the compiler: what a call can look like. Run with a path, it writes their library there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tb_profile_plugin.runtime.arrays import F64, I32, I64, U64, Array, Bool, I64Matrix, Int


def summed(values: I32 | I64, start: Int) -> Int:
    total = start
    for value in values:
        total += value
    return total


def scattered(pair: tuple[I64, Bool], negated: bool) -> tuple[I64Matrix, bool, F64]:
    values, chosen = pair
    table = np.zeros((len(values), 2), np.int64)
    for i in range(len(values)):
        if chosen[i]:
            table[i, 0] = values[i]
            table[i, 1] = -values[i] if negated else values[i]
    return table[1:], not negated, np.full(3, 0.5)


def largest(words: U64) -> Int:
    best = np.uint64(0)
    for word in words:
        best = max(best, word)
    return best


def itself(values: I64) -> I64:
    return values


def nothing(values: I64) -> None:
    values[0] = 1


def divided(numerator: Int, denominator: Int) -> Int:
    return numerator // denominator


def made(size: Int) -> I64:
    return np.empty(size, np.int64)


TOYS = (summed, scattered, largest, itself, nothing, divided, made)


def vague(values: Array) -> None:
    """What it takes is not said."""


def main(path: str) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts/kernels"))
    import llvmlite.binding as llvm
    from compile import Undeclared, compiled, joined, signatures
    from emit import emit
    from link import link_here

    from tb_profile_plugin.runtime.jit import jit

    triple = llvm.get_process_triple()
    toys: dict[str, Any] = {f"{toy.__module__}:{toy.__name__}": jit(toy) for toy in TOYS}
    code = emit(joined([compiled(toys, toys)], toys), triple)
    Path(path).write_bytes(link_here(code, triple))
    try:
        list(signatures(vague))
    except Undeclared as error:
        print(error)


if __name__ == "__main__":
    main(sys.argv[1])
