"""What a step takes for kinds of work that it can do without is what it saves at most."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose

US = 10**6


def compute(**ops: int) -> Cause:
    """The cause of compute where these ops, of so many µs, make up six steps of 1 ms on the CPU."""
    events = []
    for step in range(6):
        at = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 999))
        for name, length in ops.items():
            events.append(torchtrace.op(f"aten::{name}", at + 5, length))
            at += length
    diagnosis = diagnose([torchtrace.host(*events, deviceProperties=[])], replays=True)
    return next(cause for cause in diagnosis.causes if cause.id == "compute")


@pytest.mark.parametrize(("op", "advice"), [("sort", "Sort less"), ("cat", "allocated once")])
def test_work_that_can_be_avoided_says_what_it_takes(op: str, advice: str) -> None:
    cause = compute(**{op: 600}, mm=300)
    assert advice in cause.remedy.text and cause.gain_ps == 600 * US


@pytest.mark.parametrize("op", ["relu", "linalg_svd"])
def test_other_work_has_no_ceiling(op: str) -> None:
    assert compute(**{op: 500}, mm=400).gain_ps is None
