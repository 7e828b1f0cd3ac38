"""Gains against the truth, which is to run the changed program, and the laws that no gain breaks.

``TB_PROFILE_SIMULATED=500`` judges so many programs; without it as many as fit into a minute.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
import torchtrace
from simulated import written
from simulated.judged import Judged, judged
from simulated.machine import captured, period
from simulated.programs import (
    COMM,
    COMPUTE,
    COPY,
    GATHER,
    REDUCE,
    SHAPES,
    UPLOAD,
    Launch,
    Program,
    Python,
    Read,
    Sync,
    Wait,
    drawn,
)

from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.findings import findings
from tb_profile_plugin.analysis.diagnosis.scaled import gain_of_events, scaled
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.analysis.steps import what_if
from tb_profile_plugin.analysis.steps.typical_times import Typical, typical_times
from tb_profile_plugin.analysis.steps.what_if import SCENARIOS
from tb_profile_plugin.model.host import HostWithSteps

MANY = int(os.environ.get("TB_PROFILE_SIMULATED", "24"))
KINDS = {
    "plain": (False, None),
    "hard": (True, None),
    "jax": (False, written.jax),
    "tensorflow": (True, written.tensorflow),
}
"""Whether programs are hard, and who writes them; PyTorch's profiler where nobody is named."""
WITHIN = {"plain": 0.99, "hard": 0.97, "jax": 0.98, "tensorflow": 0.95}
"""Shares of all changes that are within 5 % of the step."""


@cache
def all_judged(kind: str) -> list[Judged]:
    hard, writer = KINDS[kind]
    seeds = range(MANY if writer is None else MANY // 3)
    return [row for seed in seeds for row in judged(10_000 + seed, hard, writer)]


@pytest.mark.parametrize("kind", KINDS)
def test_gains_are_true(kind: str) -> None:
    rows = all_judged(kind)
    off = [row for row in rows if abs(row.off) > 0.05]
    assert len(off) <= (1 - WITHIN[kind]) * len(rows), [(row.seed, row.change, round(row.off, 3)) for row in off]


def hosts() -> Iterator[tuple[int, HostWithSteps]]:
    for seed in range(0, MANY, 3):
        program = drawn(10_000 + seed, bool(seed % 2))
        yield seed, written.torch(program, captured(program), written.states_waits(seed))


def typical(host: HostWithSteps) -> Typical:
    return typical_times([host], "typical", True)


def test_no_gain_is_impossible_and_more_that_is_gone_gains_no_less() -> None:
    for seed, host in hosts():
        found = typical(host)
        assert found.replayed is not None and found.steady_ps is not None
        steps = len(host.steps)
        whole = {"exposed_collective": "nccl", "exposed_copy": "Memcpy"}
        for name, each in found.replayed.items():
            gone = whole.get(name, "nothing")
            left = 0.0
            for work in device_work(host):
                for stream in set(work.stream.tolist()):
                    mine = work.event[(work.stream == stream) & (work.launch >= 0)]
                    kept = [
                        k
                        for k in mine.tolist()
                        if gone not in host.trace.name(k) and (name != "sync" or "Memcpy" not in host.trace.name(k))
                    ]
                    left = max(left, float((host.trace.end[kept] - host.trace.begin[kept]).sum()) / steps)
            assert 0 <= each.gain_ps <= found.steady_ps - 0.9 * left + 1e6, (seed, name)
            for other, states in SCENARIOS.items():
                if set(states) < set(SCENARIOS[name]) and other in found.replayed and "sync" not in (name, other):
                    assert found.replayed[other].gain_ps <= each.gain_ps + 0.02 * found.steady_ps, (seed, other, name)


@pytest.mark.parametrize("seed", range(2 * len(SHAPES)))
def test_of_very_many_steps_those_in_the_middle_tell_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most so much apart as gains may be off."""
    hard = seed >= len(SHAPES)
    program = replace(drawn(10_000 + seed, hard), steps=40)
    writer = (written.torch, written.jax, written.tensorflow)[seed % 3]
    every, few = (writer(program, captured(program)) for _ in range(2))
    of_all = typical(every)
    events = sum(map(len, device_work(few)))
    monkeypatch.setattr(what_if, "_MOST_EVENTS", events // 2)
    of_few = typical(few)
    windows = what_if.replayed_windows(few)
    assert 12 <= (len(windows) + 1) // 2 < 25
    whole, part = what_if.replayed_graph(every), what_if.replayed_graph(few)
    assert whole and part and len(part.dag.begin) < 0.7 * len(whole.dag.begin)
    assert of_all.replayed is not None and of_few.replayed is not None
    for name in of_all.replayed.keys() & of_few.replayed.keys():
        off = of_few.replayed[name].gain_ps - of_all.replayed[name].gain_ps
        assert abs(off) <= 0.05 * of_all.period_ps, (name, program.shape)


def test_what_is_changed_by_nothing_gains_nothing() -> None:
    for _, host in hosts():
        events = host.trace.events_named(lambda name: "gemm" in name)
        lasts = typical(host)
        assert abs(gain_of_events(host, events, 1.0, lasts.steps)) < 1e-6 * lasts.period_ps


def lasting(*step: object, **more: object) -> tuple[HostWithSteps, Program]:
    program = Program("planted", tuple(step), **more)  # type: ignore[arg-type]
    return written.torch(program, captured(program)), program


def gain_ms(host: HostWithSteps, scenario: str) -> float:
    found = typical(host)
    assert found.replayed is not None
    return found.replayed[scenario].gain_ps / 1e9 if scenario in found.replayed else 0.0


def test_a_gather_that_compute_waits_for_is_won_though_the_host_is_far_ahead() -> None:
    """G3: all-gather 4 ms on one stream, then compute 5 ms that waits for it, and the next gather for that."""
    step = Wait(COMM, COMPUTE), Launch(COMM, 4000, GATHER), Wait(COMPUTE, COMM), Launch(COMPUTE, 5000, "gemm")
    host, _ = lasting(*step)
    assert gain_ms(host, "exposed_collective") == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("records", [True, False])
def test_an_all_reduce_after_compute_is_won_whether_waits_are_recorded_or_not(records: bool) -> None:
    """G4: compute 5 ms, then all-reduce 10 ms, for which the next step's compute waits."""
    step = Launch(COMPUTE, 5000, "gemm"), Wait(COMM, COMPUTE), Launch(COMM, 10000, REDUCE), Wait(COMPUTE, COMM)
    host, _ = lasting(*step, records_waits=records)
    assert gain_ms(host, "exposed_collective") == pytest.approx(10.0, abs=0.1)


def test_a_read_waits_for_the_device_as_a_synchronisation_does() -> None:
    """G5: ``.item()`` after 10 ms of compute."""
    for end in (Read(COMPUTE), Sync()):
        host, program = lasting(Launch(COMPUTE, 10000, "gemm"), end, Python(900, "train.py(3): log"))
        won = scaled([host], "gemm", 0.5).gain_ps / 1e6
        assert won == pytest.approx(period(program) - period(program, {"gemm": 0.5}), abs=20)


def test_reading_less_lets_the_host_run_ahead() -> None:
    host, program = lasting(Launch(COMPUTE, 10000, "gemm"), Read(COMPUTE), Python(900, "train.py(3): log"))
    assert gain_ms(host, "sync") == pytest.approx((period(program) - period(program, {"read": 0})) / 1e3, abs=0.02)


def test_without_a_read_the_next_copy_hides_behind_compute() -> None:
    """Input comes on a stream of its own, for which compute waits; it is asked for only once a result was read."""
    step = (Launch(COPY, 1500, UPLOAD), Wait(COMPUTE, COPY), Launch(COMPUTE, 5000, "gemm"), Read(COMPUTE))
    host, program = lasting(*step, Python(40, "train.py(3): log"))
    won = (period(program) - period(program, {"read": 0})) / 1e3
    assert won > 1.5
    assert gain_ms(host, "sync") == pytest.approx(won, abs=0.05)


@pytest.mark.parametrize("blocks", [False, True])
def test_reading_less_is_said_to_help_unless_input_blocks_the_host_too(blocks: bool) -> None:
    upload = Launch(COMPUTE, 700, UPLOAD)
    step = upload, Launch(COMPUTE, 5000, "gemm"), Read(COMPUTE), Python(900, "train.py(3): log")
    program = Program("planted", step)
    events = captured(program)
    if blocks:
        events = [
            replace(event, time=710.0) if event.name == "cudaMemcpyAsync" and event.time < 100 else event
            for event in events
        ]
    host = written.torch(program, events)
    found = findings(diagnose([host], replays=True), [host], OpTable())
    assert ("sync" in [each.id for each in found]) is not blocks


def test_the_host_gone_leaves_what_the_device_computes() -> None:
    """G1 and G2: an eager step of 100 launches, each of which the device finishes at once."""
    step = [Launch(COMPUTE, 10, "small") for _ in range(100)]
    host, _ = lasting(*step, Sync(), launch=9.0, dispatch=60.0)
    found = typical(host)
    assert found.replayed is not None and found.steady_ps is not None
    assert found.replayed["host"].gain_ps <= found.steady_ps - 100 * 10e6


def test_many_shapes_are_judged() -> None:
    assert len(SHAPES) >= 8
    assert {drawn(seed).shape for seed in range(len(SHAPES))} == set(SHAPES)


def test_a_trace_and_its_program_agree() -> None:
    """Six steps of ten events each, so that what is judged is what was written."""
    program = drawn(3)
    events = captured(program)
    stated = written.torch_events(program, events, True)
    assert sum(each["name"].startswith("ProfilerStep") for each in stated) == program.steps
    found = diagnose([torchtrace.host(*stated)], replays=True)
    assert found.typical.steady_ps == pytest.approx(1e6 * period(program), rel=0.05)


@pytest.mark.parametrize("writer", [written.jax, written.tensorflow])
@pytest.mark.parametrize("seed", [2, 14, 43, 54, 58, 61, 65, 76])
def test_marks_of_a_host_that_runs_ahead_are_no_steps(seed: int, writer: Callable[..., HostWithSteps]) -> None:
    """Copies and the first kernels of a step begin before the next mark, though most of its work comes later."""
    program = drawn(772_000 + seed, seed in (2, 14))
    found = typical_times([writer(program, captured(program))], "typical", False)
    assert found.period_ps == pytest.approx(1e6 * period(program), rel=0.1)
