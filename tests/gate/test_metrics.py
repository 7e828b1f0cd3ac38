"""Metrics: each is there by the name that the documentation has, is judged as it says, and unknown names are helped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import digests
import numpy as np
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.compare.side import Side, side_of_digests
from tb_profile_plugin.analysis.digest.digest import digest
from tb_profile_plugin.analysis.digest.record import AllocatorMemory, Digest, DigestCause, DigestKernel
from tb_profile_plugin.budgets.config import Config, budget
from tb_profile_plugin.budgets.decide import Outcome, decide
from tb_profile_plugin.budgets.measure import change_of, value_of
from tb_profile_plugin.budgets.metrics import METRICS, PARTS, find_metric
from tb_profile_plugin.runtime.messages import use_language
from tb_profile_plugin.runtime.problems import ProblemError

ROOT = Path(tb_profile_plugin.__file__).parent
TRACES = Path(__file__).resolve().parent.parent / "traces"
A = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]


def one(*found: Digest, items: int = 1) -> Side:
    return side_of_digests([(f"r{i}", each) for i, each in enumerate(found)], items)


def judged(new: Side, base: Side | None = None, **table: Any) -> Outcome:
    (found,) = decide(Config(budgets=(budget(table),)), new, base)
    return found


def test_each_is_documented() -> None:
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    for name, metric in METRICS.items():
        assert f"`{name}`" in text, name
        assert bool(metric.exact) != bool(metric.varying), name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("stp", "Did you mean step"),
        ("part.inptu", "Use one of these ids: compute, exposed_collective"),
        ("cause.nothing", "unusual_steps"),
        ("step.p99", "Did you mean step.p95"),
        ("xyz", "Metrics: step, step.p95, items_per_second, part.<id>"),
        ("part.<id>", "Use one of these ids"),
        ("op:", "Metrics: step"),
        ("memory.peak", "Did you mean memory.peak:<glob>"),
    ],
)
def test_an_unknown_name_is_told_what_there_is(name: str, told: str) -> None:
    with pytest.raises(ProblemError, match="There is no metric") as error:
        budget({"metric": name, "max": "1 s"})
    assert told in str(error.value)


def test_ids_stay_in_every_language() -> None:
    with pytest.raises(ProblemError) as error:
        budget({"metric": "xyz", "max": "1 s"})
    with use_language("ko"):
        assert ": step, step.p95," in str(error.value)


def test_what_is_no_limit_is_told_in_each_language() -> None:
    with pytest.raises(ProblemError) as error:
        budget({"metric": "step", "max": "much"})
    with use_language("zh"):
        assert "'much' 不是" in str(error.value)


def test_every_trace_has_all_of_them() -> None:
    for name in ("two_workers", "keras_fit", "torch_training"):
        own = one(digest(tb_profile_plugin.open(TRACES / name)))
        for metric in METRICS:
            chosen = metric.replace("<glob>", "*").replace("<id>", "compute")
            found = value_of(chosen, own)
            assert found is None or found.value >= 0 or metric.startswith("memory.growth")
            change = None if metric == "programs" or found is None else change_of(chosen, own, own, False, None)
            assert change is None or change.value == 0


def test_the_tail_varies_only_where_steps_are_many() -> None:
    few = value_of("step.p95", one(digests.digest(A)))
    assert few and few.spread is None and few.value == pytest.approx(1.0255e9)
    rng = np.random.default_rng(0)
    many = [int(each) for each in rng.normal(10**9, 10**7, 400)]
    found = value_of("step.p95", one(digests.digest(many)))
    assert found and found.spread and found.value == pytest.approx(np.quantile(many, 0.95), rel=1e-6)
    # Of the normal distribution: 2.1 deviations of the samples, over the root of their number.
    assert found.spread.error == pytest.approx(2.11 * 10**7 / 20, rel=0.5)
    again = value_of("step.p95", one(digests.digest(many)))
    assert again == found, "and is the same whenever it is asked for"


def test_more_items_per_second_are_better() -> None:
    side_of = one(digests.digest(A), items=256)
    found = value_of("items_per_second", side_of)
    assert found and found.value == pytest.approx(256_000)
    assert judged(side_of, metric="items_per_second", min=200_000).state == "met"
    assert judged(side_of, metric="items_per_second", min=300_000).state == "broken"
    assert judged(side_of, metric="items_per_second", min=255_000).state == "unclear"
    slow, fast = (
        [digests.digest([each * f // 100 for each in A], origin_ns=f) for f in by]
        for by in ((119, 120, 121), (99, 100, 101))
    )
    change = {"metric": "items_per_second", "min-change": "-3%"}
    assert judged(one(*slow), one(*fast), **change).state == "broken"
    assert judged(one(*fast), one(*slow), **change).state == "met"
    found = change_of("items_per_second", one(*fast), one(*slow), True, None)
    assert found and found.value == pytest.approx(1 / 1.2 - 1, abs=1e-3)
    for wrong in ({"max": 1}, {"min": 1, "min-change": "-1%"}, {}):
        with pytest.raises(ProblemError, match=r"needs either min or min-change.*more is better"):
            budget({"metric": "items_per_second", **wrong})
    with pytest.raises(ProblemError, match=r"needs either max or max-change.*less is better"):
        budget({"metric": "step", "min": "1 ms"})


def test_those_of_one_value_vary_between_captures_only() -> None:
    def of(ps: int) -> Digest:
        kernels = [DigestKernel("gemm", "dot", 10, 10 * ps, True)]
        return replace(digests.digest(A, kernels=kernels, origin_ns=ps), causes=[DigestCause("unusual_steps", ps, [])])

    for name in ("cause.unusual_steps", "kernel:ge*"):
        alone = one(of(10**6))
        assert judged(alone, metric=name, max="2 us").state == "unclear"
        several = one(*(of(10**6 + each) for each in (0, 1000, 2000)))
        assert judged(several, metric=name, max="2 us").state == "met"
        assert judged(several, metric=name, max="0.9 us").state == "broken"
    assert judged(one(*map(of, (1, 2, 3))), metric="cause.input", max="1 us").state == "met", "none is none"


def test_counts_sizes_and_shares() -> None:
    shapes = {"compute/dot": {"shape": "f32[]", "operands": "bf16[64,64]"}, "compute/add": {"shape": "f32[64,64]"}}
    times = {"compute/dot": [each * 3 // 4 for each in A], "compute/add": [each // 4 for each in A]}
    made = replace(
        digests.digest(A, times, details=shapes),
        memory=[AllocatorMemory("a", 100, 50, 250_000), AllocatorMemory("b", 10, 0, 500_000)],
    )
    own = one(made)
    expected = {"precision.16": 0.75, "precision.32": 0.25, "precision.64": 0, "launches:dot": 1, "launches:*": 2}
    expected |= {"memory.growth:*": 5, "memory.peak:a": 100, "memory.fragmentation:*": 0.5}
    for name, value in expected.items():
        found = value_of(name, own)
        assert found and found.value == pytest.approx(value), name
    assert judged(own, metric="precision.16", min="70%").state == "met"
    assert judged(own, metric="precision.16", min="80%").state == "broken"
    assert judged(own, metric="memory.growth:a", max="4 B").state == "broken"
    assert judged(own, metric="memory.fragmentation:a", max="30%").state == "met"
    assert value_of("precision.16", one(digests.digest(A))) is None


def test_how_far_hosts_are_apart() -> None:
    apart = digests.digest(A)
    apart = replace(apart, steps=replace(apart.steps, spread_ps=[each // 10 for each in A]))
    assert judged(one(apart), metric="hosts.spread", max="11%").state == "met"
    assert judged(one(apart), metric="hosts.spread", max="90 us").state == "broken"
    workers = digest(tb_profile_plugin.open(TRACES / "two_workers"))
    assert any(workers.steps.spread_ps) and all(
        0 <= spread <= ps for spread, ps in zip(workers.steps.spread_ps, workers.steps.ps, strict=True)
    )
    assert not any(digest(tb_profile_plugin.open(TRACES / "jax_steps")).steps.spread_ps)


def test_parts_are_those_of_the_diagnosis() -> None:
    assert {"compute", "input", "python", "dispatch", "unexplained"} <= set(PARTS)
    assert find_metric("part.compute") and not find_metric("part.retrace") and find_metric("cause.retrace")
