"""Kernels that look stats up: whose they are, their numbers, and which texts are equal."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import I32, I64, U8, U64, Array, Bool, Int
from ...runtime.jit import jit
from .kinds import INT, UINT
from .pool import payload
from .words import has_word, word_at

SECRET = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)
"""Begins and multiplies every hash of this process, so that no capture can be made of texts whose hashes are equal."""

_REMEMBERED = 4096
"""Places of texts of which it is known what they equal."""


@jit
def owners(first: I32, rows: I64) -> I64:
    """int64[k]: the owner of each row, for ascending rows; owner i has rows ``first[i]:first[i + 1]``."""
    answer = np.empty(len(rows), np.int64)
    owner = 0
    for i in range(len(rows)):
        while first[owner + 1] <= rows[i]:
            owner += 1
        answer[i] = owner
    return answer


@jit
def counted(codes: I32, size: Int) -> I64:
    """int64[size]: how often each of the codes from 0 to size - 1 stands there; there are no others."""
    answer = np.zeros(size, np.int64)
    for code in codes:
        answer[code] += 1
    return answer


def rows_of(codes: Array, counts: Array, wanted: Sequence[int]) -> Array:
    """int64[k]: where codes stand that are wanted; ``counts`` are `counted` of the codes."""
    mask = mask_of(wanted, len(counts))
    answer: Array = _positions(codes, mask, counts[mask].sum())
    return answer


def mask_of(wanted: Sequence[int], size: int) -> Array:
    """bool[size]: which codes are wanted; those of the wanted that are not below the size do not matter."""
    mask = np.zeros(size, bool)
    mask[[code for code in wanted if code < size]] = True
    return mask


@jit
def ordered(codes: I32, counts: I64) -> tuple[I32, I64]:
    """(order, first): int32[n] where codes stand, code after code; int64[codes + 1] where those of each begin."""
    first = np.zeros(len(counts) + 1, np.int64)
    for code in range(len(counts)):
        first[code + 1] = first[code] + counts[code]
    free, order = first.copy(), np.empty(len(codes), np.int32)
    for i in range(len(codes)):
        order[free[codes[i]]] = i
        free[codes[i]] += 1
    return order, first


@jit
def _positions(codes: I32, wanted: Bool, count: Int) -> I64:
    """int64[count]: where codes stand that are wanted, which so many are."""
    answer = np.empty(count, np.int64)
    at = 0
    for k in range(count):
        while not wanted[codes[at]]:
            at += 1
        answer[k] = at
        at += 1
    return answer


@jit
def integers(kind: U8, value: I64, rows: I64) -> I64:
    """int64[k]: the integers at the rows, of either signedness; 0 for another kind of value."""
    answer = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        row = rows[i]
        if kind[row] == UINT or kind[row] == INT:
            answer[i] = value[row]
    return answer


@jit
def first_number(first: I32, name: I32, kind: U8, value: I64, at: I64 | I32, wanted: Bool, default: Int) -> I64:
    """int64[k]: of each owner its first whole number under one of the names, or ``default``."""
    answer = np.empty(len(at), np.int64)
    for i in range(len(at)):
        answer[i] = _number(first, name, kind, value, at[i], wanted, default)
    return answer


@jit
def _number(first: I32, name: I32, kind: U8, value: I64, owner: Int, wanted: Bool, default: Int) -> Int:
    for row in range(first[owner], first[owner + 1]):
        if wanted[name[row]] and (kind[row] == UINT or kind[row] == INT):
            return value[row]
    return default


@jit
def number_pairs(  # noqa: PLR0913
    first: I32, name: I32, kind: U8, value: I64, wanted: Bool, other_wanted: Bool, count: Int, default: Int
) -> tuple[I32, I64, I64]:
    """(owner, number, other), int32[count] and int64[count] twice: of each stat under the wanted names, which so many
    are, its owner, its whole number or 0, and the owner's first whole number under the names beside, or ``default``.
    """
    owner = np.empty(count, np.int32)
    number, other = np.zeros(count, np.int64), np.empty(count, np.int64)
    row = at = np.int64(0)
    for k in range(count):
        while not wanted[name[row]]:
            row += 1
        while first[at + 1] <= row:
            at += 1
        owner[k] = at
        if kind[row] == UINT or kind[row] == INT:
            number[k] = value[row]
        other[k] = _number(first, name, kind, value, at, other_wanted, default)
        row += 1
    return owner, number, other


@jit
def first_equal(buf: U8, prefix: I64, secret: U64) -> I64:
    """int64[n]: for each text the prefix of the first one of the list with the same bytes, no strings made.

    Captures may write a name anew for each of a million events.

    ``prefix`` holds where the texts' length prefixes stand in ``buf``; ``secret`` is `SECRET`.
    """
    size = np.int64(1024)
    while size < 2 * len(prefix):
        size *= 2
    seen = np.full(size, -1, np.int64)
    answer = np.empty(len(prefix), np.int64)
    # Formats that write each text once state the same places again and again.
    before = np.full(_REMEMBERED, -1, np.int64)
    for i in range(len(prefix)):
        last = before[prefix[i] % _REMEMBERED]
        if last >= 0 and prefix[last] == prefix[i]:
            answer[i] = answer[last]
            continue
        before[prefix[i] % _REMEMBERED] = i
        begin, end = payload(buf, prefix[i])
        slot = np.int64(digest(buf, begin, end, secret) & np.uint64(size - 1))
        while seen[slot] >= 0 and not _same(buf, begin, end, seen[slot]):
            slot = (slot + 1) & (size - 1)
        if seen[slot] < 0:
            seen[slot] = prefix[i]
        answer[i] = seen[slot]
    return answer


@jit
def digest(buf: U8, begin: Int, end: Int, secret: U64) -> Int:
    """uint64: a hash of the bytes, another in each process."""
    value = secret[0]
    while begin < end:
        count = min(end - begin, 8)
        if has_word(buf, begin):
            eight = word_at(buf, begin) << np.uint64(8 * (8 - count))
        else:
            eight = np.uint64(0)
            for at in range(begin, begin + count):
                eight = (eight >> np.uint64(8)) | (np.uint64(buf[at]) << np.uint64(56))
        value = (value ^ eight) * secret[1]
        # High bits back into the low ones: without this, texts can be made that collide whatever the factor.
        value ^= value >> np.uint64(29)
        begin += 8
    return value


@jit
def _same(buf: U8, begin: Int, end: Int, prefix: Int) -> bool:
    other, stop = payload(buf, prefix)
    if stop - other != end - begin:
        return False
    for offset in range(end - begin):
        if buf[begin + offset] != buf[other + offset]:
            return False
    return True
