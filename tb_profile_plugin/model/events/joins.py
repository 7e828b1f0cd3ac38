"""Which entries of two columns belong together: by hashing, since columns of ids are as long as a capture."""

from __future__ import annotations

import numpy as np

from ...formats.columns.lookup import SECRET
from ...runtime.arrays import I32, I64, U64, Array, Int
from ...runtime.jit import jit


def join(left: Array, right: Array, last: bool = False, crowd: int = 0) -> tuple[Array, Array]:
    """Positions (i, j), int32 each, of every pair ``left[i] == right[j]``, both int64; by i, then by j.

    With ``last`` only the last i of a key takes part, and pairs go by j; keys that stand ``crowd`` times or more on
    both sides pair none.
    """
    if last:
        codes, table = _numbered(left, SECRET)
        return _last(codes, _looked_up(right, left, codes, table, SECRET))
    codes, table = _numbered(right, SECRET)
    return _pairs(_looked_up(left, right, codes, table, SECRET), codes, crowd)


def pair_codes(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
    """Small integers that are equal where both parts of a pair are equal, for two lists of pairs of int64."""
    split = len(left[0])
    first, second = (_numbered(np.concatenate(parts), SECRET)[0] for parts in zip(left, right, strict=True))
    both = (first.astype(np.int64) << 32) | second
    return both[:split], both[split:]


def is_among(values: Array, wanted: Array) -> Array:
    """bool[n]: which values are wanted; int64 both."""
    answer: Array = _looked_up(values, wanted, *_numbered(wanted, SECRET), SECRET) >= 0
    return answer


@jit
def is_ascending(values: I32) -> bool:
    """Whether none is smaller than the one before it."""
    for i in range(1, len(values)):
        if values[i] < values[i - 1]:
            return False
    return True


@jit
def _slot(key: Int, mask: Int, secret: U64) -> Int:
    """Where a key's search begins. Eight numbers that follow one another stand together: most ids are counted up."""
    value = (np.uint64(key >> 3) ^ secret[0]) * secret[1]
    # High bits back into the low ones, which are taken: without this, ids can be made that collide.
    value = (value ^ (value >> np.uint64(32))) * secret[1]
    return (np.int64(value >> np.uint64(20)) & mask & -8) | (key & 7)


@jit
def _numbered(keys: I64, secret: U64) -> tuple[I32, I32]:
    """(codes, table): int32[n] numbers of the distinct keys by first appearance; a hash table for `_looked_up`.

    ``table`` is int32[slots]: where the slot's key stands first, or -1.
    """
    size = np.int64(16)
    while size < 2 * len(keys):
        size *= 2
    table = np.full(size, -1, np.int32)
    codes = np.empty(len(keys), np.int32)
    count = 0
    for i in range(len(keys)):
        slot = _slot(keys[i], size - 1, secret)
        while table[slot] >= 0 and keys[table[slot]] != keys[i]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = i
            codes[i] = count
            count += 1
        else:
            codes[i] = codes[table[slot]]
    return codes, table


@jit
def _looked_up(values: I64, keys: I64, codes: I32, table: I32, secret: U64) -> I32:
    """int32[n]: each value's number among the keys, or -1."""
    size = len(table)
    answer = np.empty(len(values), np.int32)
    for i in range(len(values)):
        slot = _slot(values[i], size - 1, secret)
        while table[slot] >= 0 and keys[table[slot]] != values[i]:
            slot = (slot + 1) & (size - 1)
        answer[i] = codes[table[slot]] if table[slot] >= 0 else -1
    return answer


@jit
def _pairs(left: I32, right: I32, crowd: Int) -> tuple[I32, I32]:
    """Positions of equal codes; ``right`` numbers its keys from 0 on, -1 on the left is none of them."""
    most = np.int64(0)
    for code in right:
        most = max(most, code + 1)
    first = np.zeros(most + 1, np.int64)
    for code in right:
        first[code + 1] += 1
    total = np.int64(0)
    if crowd:
        here = np.zeros(most, np.int32)
        for code in left:
            if code >= 0:
                here[code] += 1
        for code in range(most):
            if here[code] >= crowd and first[code + 1] >= crowd:
                here[code] = 0
            total += here[code] * first[code + 1]
    else:
        here = np.ones(most, np.int32)
        for code in left:
            if code >= 0:
                total += first[code + 1]
    for code in range(most):
        first[code + 1] += first[code]
    order = np.empty(len(right), np.int32)
    free = first[:-1].copy()
    for j in range(len(right)):
        order[free[right[j]]] = j
        free[right[j]] += 1
    source = np.empty(total, np.int32)
    target = np.empty(total, np.int32)
    k = 0
    for i in range(len(left)):
        code = left[i]
        if code < 0 or here[code] == 0:
            continue
        for i_right in range(first[code], first[code + 1]):
            source[k] = i
            target[k] = order[i_right]
            k += 1
    return source, target


@jit
def _last(left: I32, right: I32) -> tuple[I32, I32]:
    """For each code on the right that the left numbers, the last position on the left that has it."""
    last = np.empty(len(left), np.int32)
    for i in range(len(left)):
        last[left[i]] = i
    count = 0
    for code in right:
        count += code >= 0
    source = np.empty(count, np.int32)
    target = np.empty(count, np.int32)
    k = 0
    for j in range(len(right)):
        if right[j] >= 0:
            source[k] = last[right[j]]
            target[k] = j
            k += 1
    return source, target
