"""Who comes late to collectives, and with what, against what was planted in simulated jobs.

``TB_PROFILE_LATE_RANKS=300`` judges so many jobs; without it, as many as take a few seconds.
"""

import os
from functools import cache

import pytest
from simulated.late_ranks import CAUSES, PATTERNS, Judged, drawn, hosts_of, judged

from tb_profile_plugin.analysis.workers.late_peers import late_peers

MANY = int(os.environ.get("TB_PROFILE_LATE_RANKS", "60"))
RIGHT = 0.98


PROFILERS = {"torch": MANY, "jax": MANY // 3, "tensorflow": MANY // 3}
"""How many jobs are judged as each of them records it."""


@cache
def all_judged(profiler: str = "torch") -> list[Judged]:
    return [judged(seed, profiler) for seed in range(PROFILERS[profiler])]


@pytest.mark.parametrize("profiler", PROFILERS)
def test_the_late_rank_and_its_cause_are_right(profiler: str) -> None:
    rows = [row for row in all_judged(profiler) if row.job.planted.cause]
    wrong = [row for row in rows if not row.is_right]
    assert len(wrong) <= (1 - RIGHT) * PROFILERS[profiler], [(row.job.seed, row.job.planted, row.said) for row in wrong]


@pytest.mark.parametrize("profiler", PROFILERS)
def test_where_nobody_is_late_nobody_is_named(profiler: str) -> None:
    rows = [row for row in all_judged(profiler) if not row.job.planted.cause]
    assert rows and all(row.is_right for row in rows), [(row.job.seed, row.said) for row in rows]


def test_all_causes_and_patterns_are_planted() -> None:
    planted = [row.job.planted for row in all_judged()]
    assert {one.cause for one in planted} == {*CAUSES, ""}
    assert {one.pattern for one in planted} == {*PATTERNS}


@pytest.mark.parametrize("seed", range(8))
def test_clocks_are_aligned_as_exactly_as_is_said(seed: int) -> None:
    job = drawn(seed)
    peers = late_peers(hosts_of(job))
    assert peers is not None and peers.aligned and peers.error_ps is not None
    # An error is a standard deviation.
    off = [abs(ps - us * 1e6) for ps, us in zip(peers.offset_ps, job.ahead_us, strict=True)]
    assert max(off) <= 3 * peers.error_ps < 15e6
    assert (peers.error_ps > 0) == (len(peers.workers) > 2), "those of one machine share a clock"
