"""Joins of ids against what they mean, spelled out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_profile_plugin.model.events.joins import join

few = st.integers(-4, 4)
# Ids that are counted up, addresses, and numbers that are as large as any.
numbers = few | few.map(lambda number: 64 * number) | few.map(lambda number: (number << 60) + number)
ids = st.lists(numbers, max_size=40).map(lambda values: np.array(values, np.int64))


@given(ids, ids, st.integers(0, 6))
def test_every_pair_of_equal_ids_but_for_crowds(left: np.ndarray, right: np.ndarray, crowd: int) -> None:
    def crowded(value: int) -> bool:
        return crowd > 0 and min((left == value).sum(), (right == value).sum()) >= crowd

    wanted = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b and not crowded(a)]
    source, target = join(left, right, crowd=crowd)
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == wanted


@given(ids, ids)
def test_only_the_last_of_an_id(left: np.ndarray, right: np.ndarray) -> None:
    last = {value: i for i, value in enumerate(left.tolist())}
    wanted = [(last[value], j) for j, value in enumerate(right.tolist()) if value in last]
    source, target = join(left, right, last_only=True)
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == wanted
