"""Slabs: arrays that come back as they were, whole numbers by their differences."""

import json

import numpy as np
import pytest

from tb_profile_plugin.store.slabs import pack, unpack


def test_a_slab_reads_back_as_it_was_packed() -> None:
    arrays = {"a": np.arange(3, dtype=np.uint16), "b": np.array([1.5]), "none": np.empty(0, np.uint8)}
    facts, found = unpack(pack({"x": "é"}, arrays))
    assert facts == {"x": "é"}
    assert {name: array.tolist() for name, array in found.items()} == {"a": [0, 1, 2], "b": [1.5], "none": []}


@pytest.mark.parametrize(
    ("values", "dtype", "size"),
    [
        ([1, 0, 256, 2**32 - 1, 0], np.uint32, 14),
        ([-(2.0**51) + 1, 2.0**51 - 1, 0.0], np.float64, 24),
        ([2.0**51], np.float64, None),
        ([1.0, np.nan], np.float64, None),
        ([np.inf, 0.5], np.float32, None),
    ],
)
def test_whole_numbers_travel_as_differences(values: list[float], dtype: type, size: int | None) -> None:
    slab = pack({}, {"a": np.array(values, dtype)})
    head = json.loads(slab[4 : 4 + int.from_bytes(slab[:4], "little")])
    assert head["arrays"][0].get("bytes") == size
    found = unpack(slab)[1]["a"]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(values, dtype))
