"""Looking texts up: the first equal one, in time bounded by their size even for texts made to collide."""

import time

import numpy as np
from draw import host

from tb_profile_plugin.formats.columns.lookup import SECRET, digest, first_equal

PRIME, BASIS = 1099511628211, 14695981039346656037


def pack(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The texts behind their lengths (below 128), and where those stand."""
    places = np.cumsum([0, *(len(text) + 1 for text in texts)])[:-1]
    return np.frombuffer(b"".join(bytes([len(text)]) + text for text in texts), np.uint8), places.astype(np.int64)


def test_the_first_with_the_same_bytes() -> None:
    buffer, places = pack([b"a", b"b", b"a", b"", b"ab", b"b", b""])
    first = first_equal(buffer, places, SECRET)
    assert [places.tolist().index(place) for place in first.tolist()] == [0, 1, 0, 3, 4, 1, 3]


def fnv_low_bits_equal(count: int) -> list[bytes]:
    """Texts whose FNV-1a hashes agree in their 6 low bits: without a secret, they crowd into a part of the table."""
    found: dict[int, list[bytes]] = {}
    for number in range(count * 40):
        text = number.to_bytes(4, "little")
        value = BASIS
        for byte in text:
            value = (value ^ byte) * PRIME % 2**64
        found.setdefault((value ^ value >> 32) & 0x3F, []).append(text)
    return max(found.values(), key=len)[:count]


def test_texts_made_to_collide_spread_over_the_table() -> None:
    texts = fnv_low_bits_equal(2000)
    assert len(set(texts)) > 1000
    buffer, places = pack(texts)
    low = {int(digest(buffer, place + 1, place + 5, SECRET)) & 0xFFFF for place in places.tolist()}
    assert len(low) > 0.9 * len(texts)


def test_many_texts_alike_take_no_longer() -> None:
    def seconds(texts: list[bytes]) -> float:
        buffer, places = pack(texts)
        begin = time.process_time()
        assert len(np.unique(first_equal(buffer, places, SECRET))) == len(texts)
        return time.process_time() - begin

    thue = [b"a", b"b"]
    for _ in range(5):
        # Words that collide under multiplication by any factor, were the high bits not mixed in.
        thue = [thue[0] + thue[1], thue[1] + thue[0]]
    words = [
        b"".join(thue[number >> bit & 1] for bit in range(3)) + number.to_bytes(4, "little") for number in range(50_000)
    ]
    seconds(words[:10])
    assert seconds(words) < 2


STATS = """
/host:CPU
  one | a[0,9]{_p=7, _pt=2} b[1,1]{x=5} a[2,1]{_pt='no', _pt=3, _pt=4, _p=8u} c[4,1]{_p=9.5}
  two | d[0,1] b[5,1]{_p=-1, x=6, _p=2}
"""


def test_numbers_of_stats_and_of_what_stands_beside_them() -> None:
    """The first whole number counts; what is none is 0 where it is asked for, and unknown where it stands beside."""
    plane = host(STATS).space.planes[0]
    events, values, others = plane.number_pairs("_p", "_pt", -100)
    assert events.tolist() == [0, 2, 3, 5, 5]
    assert values.tolist() == [7, 8, 0, -1, 2]
    assert others.tolist() == [2, 3, -100, -100, -100]
    assert plane.numbers("_p", np.array([5, 3, 1, 0]), -100).tolist() == [-1, -100, -100, 7]
    assert plane.numbers("unknown", np.array([5, 3]), -100).tolist() == [-100, -100]
    assert [len(column) for column in plane.number_pairs("unknown", "_p", -100)] == [0, 0, 0]


def test_events_by_their_names() -> None:
    plane = host(STATS).space.planes[0]
    assert plane.rows_named("a".__eq__).tolist() == [0, 2]
    assert plane.rows_named({"b", "d"}.__contains__).tolist() == [1, 4, 5]
    assert plane.rows_named(lambda name: True).tolist() == [0, 1, 2, 3, 4, 5]
    assert plane.rows_named(lambda name: False).tolist() == []
