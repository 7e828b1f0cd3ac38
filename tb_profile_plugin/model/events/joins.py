"""Which entries of two columns belong together: by hashing, since columns of ids are as long as a capture."""

from __future__ import annotations

import numpy as np

from ...formats.columns.gather import gather
from ...formats.columns.lookup import SECRET
from ...runtime.arrays import I32, I64, U64, Array, Int
from ...runtime.jit import jit


def join(left: Array, right: Array, last_only: bool = False, crowd: int = 0) -> tuple[Array, Array]:
    """Positions (i, j), int32 each, of every pair ``left[i] == right[j]``, both int64; by i, then by j.

    With ``last_only`` only the last i of a key takes part, and pairs are ordered by j. Keys that occur ``crowd`` times
    or more on both sides are left out.
    """
    if last_only:
        codes, table = _number_keys(left, SECRET)
        return _join_last(codes, _look_up(right, left, codes, table, SECRET))
    codes, table = _number_keys(right, SECRET)
    return _join_codes(_look_up(left, right, codes, table, SECRET), codes, crowd)


def pair_codes(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
    """int64 codes of the left and the right pairs (two columns of int64 each), equal where both parts of pairs are."""
    split = len(left[0])
    first, second = (_number_keys(np.concatenate(parts), SECRET)[0] for parts in zip(left, right, strict=True))
    pair = (first.astype(np.int64) << 32) | second
    return pair[:split], pair[split:]


def is_among(values: Array, members: Array) -> Array:
    """bool[n]: which values are among the members; int64 both."""
    return _look_up(values, members, *_number_keys(members, SECRET), SECRET) >= 0


def sums_by_key(keys: Array, weighted_keys: Array, weights: Array) -> Array:
    """int64[n]: for each key (int64[n]) the sum of the weights (int64[k]) of the rows of ``weighted_keys`` with it."""
    codes, table = _number_keys(keys, SECRET)
    return gather(_sums_by_code(_look_up(weighted_keys, keys, codes, table, SECRET), weights, len(keys)), codes)


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
def _number_keys(keys: I64, secret: U64) -> tuple[I32, I32]:
    """(codes, table): int32[n] numbers of the distinct keys by first appearance; a hash table for `_look_up`.

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
def _look_up(values: I64, keys: I64, codes: I32, table: I32, secret: U64) -> I32:
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
def _sums_by_code(codes: I32, weights: I64, count: Int) -> I64:
    """int64[codes]: for each code the sum of the weights of its rows, where -1 is none."""
    sums = np.zeros(count, np.int64)
    for i in range(len(codes)):
        if codes[i] >= 0:
            sums[codes[i]] += weights[i]
    return sums


@jit
def _join_codes(left: I32, right: I32, crowd: Int) -> tuple[I32, I32]:
    """`join` of codes, which count from 0 on the right; -1 on the left equals none."""
    code_count = np.int64(0)
    for code in right:
        code_count = max(code_count, code + 1)
    first = np.zeros(code_count + 1, np.int64)
    for code in right:
        first[code + 1] += 1
    total = np.int64(0)
    if crowd:
        left_counts = np.zeros(code_count, np.int32)
        for code in left:
            if code >= 0:
                left_counts[code] += 1
        for code in range(code_count):
            if left_counts[code] >= crowd and first[code + 1] >= crowd:
                left_counts[code] = 0
            total += left_counts[code] * first[code + 1]
    else:
        left_counts = np.ones(code_count, np.int32)
        for code in left:
            if code >= 0:
                total += first[code + 1]
    for code in range(code_count):
        first[code + 1] += first[code]
    order = np.empty(len(right), np.int32)
    next_row = first[:-1].copy()
    for j in range(len(right)):
        order[next_row[right[j]]] = j
        next_row[right[j]] += 1
    source = np.empty(total, np.int32)
    target = np.empty(total, np.int32)
    k = 0
    for i in range(len(left)):
        code = left[i]
        if code < 0 or left_counts[code] == 0:
            continue
        for position in range(first[code], first[code + 1]):
            source[k] = i
            target[k] = order[position]
            k += 1
    return source, target


@jit
def _join_last(left: I32, right: I32) -> tuple[I32, I32]:
    """(i, j): for each code on the right that is not -1, the last position on the left that has it."""
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
