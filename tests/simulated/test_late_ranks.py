"""Who comes late to collectives, and with what, against what was planted in simulated jobs.

``TB_PROFILE_LATE_RANKS=300`` judges so many jobs; without it, as many as take a few seconds.
"""

import os

import pytest
from simulated.late_ranks import CAUSES, PATTERNS, drawn, hosts_of, judged

from tb_profile_plugin.analysis.workers.late_peers import late_peers

MANY = int(os.environ.get("TB_PROFILE_LATE_RANKS", "60"))
RIGHT = 0.98


PROFILERS = {"torch": MANY, "jax": MANY // 3, "tensorflow": MANY // 3}
"""How many jobs are judged as each of them records it."""


@pytest.mark.parametrize("profiler", PROFILERS)
def test_the_late_rank_and_its_cause_are_right(profiler: str) -> None:
    """And where nobody is late, nobody is named."""
    rows = [judged(seed, profiler) for seed in range(PROFILERS[profiler])]
    punctual = [row for row in rows if not row.job.planted.cause]
    assert punctual and all(row.is_right for row in punctual), [(row.job.seed, row.said) for row in punctual]
    wrong = [row for row in rows if not row.is_right]
    assert len(wrong) <= (1 - RIGHT) * PROFILERS[profiler], [(row.job.seed, row.job.planted, row.said) for row in wrong]
    planted = {row.job.planted for row in rows}
    assert {one.cause for one in planted} == {*CAUSES, ""} or len(rows) < MANY
    assert {one.pattern for one in planted} == {*PATTERNS} or len(rows) < MANY


@pytest.mark.parametrize("seed", range(8))
def test_clocks_are_aligned_as_exactly_as_is_said(seed: int) -> None:
    job = drawn(seed)
    peers = late_peers(hosts_of(job))
    assert peers is not None and peers.are_clocks_aligned and peers.error_ps is not None
    # An error is a standard deviation.
    off = [abs(ps - us * 1e6) for ps, us in zip(peers.offset_ps, job.ahead_us, strict=True)]
    assert max(off) <= 3 * peers.error_ps < 15e6
    assert (peers.error_ps > 0) == (len(peers.workers) > 2), "those of one machine share a clock"
