"""Compiled functions that look stats up: their owners, their numbers, and which texts are equal."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import I32, I64, U8, U64, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .kinds import BYTES, INT, REF, TEXT, UINT
from .pool import payload
from .words import has_word, word_at

SECRET = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)
"""uint64[2]: begins and multiplies each hash of this process, so that nobody can make a capture of equal hashes."""

_RECENT_TEXTS = 4096
"""Texts seen lately that are remembered with what they equal."""


class StatArrays(NamedTuple):
    """The fields of `tables.Stats` that say whose stats have which values."""

    first: I32
    name: I32
    kind: U8
    value: I64


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
def count_codes(codes: I32, size: Int) -> I64:
    """int64[size]: how often each code from 0 to size - 1 occurs; there are no other codes."""
    answer = np.zeros(size, np.int64)
    for code in codes:
        answer[code] += 1
    return answer


def rows_of(codes: Array, counts: Array, wanted: Sequence[int]) -> Array:
    """int64[k]: rows of the codes that are wanted, ascending; ``counts`` are `count_codes` of the codes."""
    mask = mask_of(wanted, len(counts))
    return _positions(codes, mask, counts[mask].sum())


def mask_of(wanted: Sequence[int], size: int) -> Array:
    """bool[size]: which codes are wanted; wanted codes that are not below the size are ignored."""
    mask = np.zeros(size, bool)
    mask[[code for code in wanted if code < size]] = True
    return mask


@jit
def rows_by_code(codes: I32, counts: I64) -> tuple[I32, I64]:
    """(order, first): int32[n] rows, code after code; int64[codes + 1] where the rows of each code begin in it."""
    first = np.zeros(len(counts) + 1, np.int64)
    for code in range(len(counts)):
        first[code + 1] = first[code] + counts[code]
    next_row, order = first.copy(), np.empty(len(codes), np.int32)
    for i in range(len(codes)):
        order[next_row[codes[i]]] = i
        next_row[codes[i]] += 1
    return order, first


@jit
def _positions(codes: I32, is_wanted: Bool, count: Int) -> I64:
    """int64[count]: rows of the codes that are wanted; there are exactly so many."""
    answer = np.empty(count, np.int64)
    row = 0
    for k in range(count):
        while not is_wanted[codes[row]]:
            row += 1
        answer[k] = row
        row += 1
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
def text_keys(kind: U8, value: I64, rows: I64) -> tuple[I64, I64, I64]:
    """(keys, text_at, prefix): of the values at the rows, int64[k], twice what is referred to, else -1; which of them
    are texts of their own, and where these begin, int64[m] each.
    """
    keys = np.full(len(rows), -1, np.int64)
    count = 0
    for i in range(len(rows)):
        row_kind = kind[rows[i]]
        if row_kind == REF:
            keys[i] = 2 * value[rows[i]]
        elif row_kind == TEXT or row_kind == BYTES:
            count += 1
    text_at, prefix = np.empty(count, np.int64), np.empty(count, np.int64)
    i = len(rows) - 1
    while count > 0:
        row_kind = kind[rows[i]]
        if row_kind == TEXT or row_kind == BYTES:
            count -= 1
            text_at[count], prefix[count] = i, value[rows[i]]
        i -= 1
    return keys, text_at, prefix


@jit
def first_number(stats: StatArrays, owner_rows: I64 | I32, is_wanted: Bool, default: Int) -> I64:
    """int64[k]: of each owner its first integer under a wanted name (bool[names]), or ``default``."""
    answer = np.empty(len(owner_rows), np.int64)
    for i in range(len(owner_rows)):
        answer[i] = _first_number_of(stats, owner_rows[i], is_wanted, default)
    return answer


@jit
def _first_number_of(stats: StatArrays, owner: Int, is_wanted: Bool, default: Int) -> Int:
    """`first_number` of one owner."""
    for row in range(stats.first[owner], stats.first[owner + 1]):
        if is_wanted[stats.name[row]] and (stats.kind[row] == UINT or stats.kind[row] == INT):
            return stats.value[row]
    return default


@jit
def number_pairs(
    stats: StatArrays, is_wanted: Bool, other_is_wanted: Bool, count: Int, default: Int
) -> tuple[I32, I64, I64]:
    """(owners, numbers, others), int32[count] and int64[count] twice, of the stats under a wanted name (bool[names]).

    There are ``count`` of them. A number is a stat's integer or 0, the other its owner's first integer under the
    other names, or ``default``.
    """
    owners = np.empty(count, np.int32)
    numbers, others = np.zeros(count, np.int64), np.empty(count, np.int64)
    row = owner = np.int64(0)
    for k in range(count):
        while not is_wanted[stats.name[row]]:
            row += 1
        while stats.first[owner + 1] <= row:
            owner += 1
        owners[k] = owner
        if stats.kind[row] == UINT or stats.kind[row] == INT:
            numbers[k] = stats.value[row]
        others[k] = _first_number_of(stats, owner, other_is_wanted, default)
        row += 1
    return owners, numbers, others


@jit
def first_equal(buf: U8, prefix: I64, secret: U64) -> I64:
    """int64[n]: for each text the prefix of the first one of the list with the same bytes; no strings are made.

    Captures may write a name anew for each of a million events.

    ``prefix`` holds where the texts' length prefixes stand in ``buf``; ``secret`` is `SECRET`.
    """
    size = np.int64(1024)
    while size < 2 * len(prefix):
        size *= 2
    slots = np.full(size, -1, np.int64)
    answer = np.empty(len(prefix), np.int64)
    # Formats that write each text once state the same places again and again.
    recent = np.full(_RECENT_TEXTS, -1, np.int64)
    for i in range(len(prefix)):
        recent_row = recent[prefix[i] % _RECENT_TEXTS]
        if recent_row >= 0 and prefix[recent_row] == prefix[i]:
            answer[i] = answer[recent_row]
            continue
        recent[prefix[i] % _RECENT_TEXTS] = i
        begin, end = payload(buf, prefix[i])
        slot = np.int64(digest(buf, begin, end, secret) & np.uint64(size - 1))
        while slots[slot] >= 0 and not _is_text_at(buf, begin, end, slots[slot]):
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = prefix[i]
        answer[i] = slots[slot]
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
def _is_text_at(buf: U8, begin: Int, end: Int, prefix: Int) -> bool:
    """Whether ``buf[begin:end]`` are the bytes of the text whose length prefix stands at ``prefix``."""
    text_begin, text_end = payload(buf, prefix)
    if text_end - text_begin != end - begin:
        return False
    for offset in range(end - begin):
        if buf[begin + offset] != buf[text_begin + offset]:
            return False
    return True
