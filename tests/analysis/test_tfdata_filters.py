"""A filter after a costly map is to come before it, where it throws most elements away."""

from typing import Any

import draw
import pytest

from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import PipelineDiagnosis, diagnoses


def filtered(
    before: tuple[str, ...] = ("Map",),
    taken: int = 4,
    given: int = 1,
    map_us: int = 180,
    filter_us: int = 4,
    recorded: bool = True,
) -> PipelineDiagnosis:
    """Three steps that wait 800 of 1,000 µs for elements that a filter lets pass, and takes of the stages before."""
    calls, ran, each = "", "", 760 // taken
    for number in range(taken):
        at, long = 20 + number * each, "Iterator::Root::Filter"
        if number % (taken // given) == 0:
            calls += f" Iterator::Root[{at - 2},{each * taken // given - 1}]{{id=1, cpu_budget=4}}"
            calls += f" {long}[{at - 1},{each * taken // given - 3}]{{id=2, parent_id=1}}"
        for row, name in enumerate(before):
            long += f"::{name}"
            calls += f" {long}[{at + row},{map_us + 2 - row}]{{id={3 + row}, parent_id={2 + row}}}"
        for id, begin, run_us in (
            (f"10s+{100 + number}", at + 1, map_us - 2),
            (f"10s+{200 + number}", at + map_us + 3, filter_us),
        ):
            calls += f" InstantiatedCapturedFunction::Run[{begin},{run_us}]{{id={id}}}" if recorded else ""
            ran += f" ExecutorState::Process[{begin},{run_us}]{{id={id}}}" if recorded else ""
    return diagnoses(
        draw.host(
            f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810] {calls} x/MatMul:MatMul[830,100]
  tf_b   | {ran or "x[0,1]"}
""",
            3,
            1001,
        )
    )[0]


def test_a_filter_that_throws_most_away_comes_before_the_costly_map() -> None:
    diagnosis = filtered()
    first, *others = diagnosis.findings
    assert first.id == "late_filter"
    assert first.title.startswith("Filter before the map")
    assert first.evidence == (
        "Filter throws away 9 of 12 elements. Map worked 1.60 of 2.14 ms for them in vain, summed over threads."
    )
    assert "filter(keep)" in first.code
    # Three of four calls of the map, each 182 µs long.
    assert first.gain_ps == pytest.approx(3 / 4 * 728 / 755 * diagnosis.cost.waited_ps, rel=0.03)
    assert "slow_map" in {finding.id for finding in others}


@pytest.mark.parametrize(
    "differently",
    [{"given": 4}, {"map_us": 6, "filter_us": 170}, {"before": ("BatchV2", "Map")}, {"before": ("MemoryCache",)}],
    ids=["it passes all on", "it is slow itself", "it filters batches", "without a map"],
)
def test_other_filters_stay(differently: dict[str, Any]) -> None:
    diagnosis = filtered(**differently)
    assert diagnosis.slow
    assert "late_filter" not in {finding.id for finding in diagnosis.findings}


@pytest.mark.parametrize("before", [("Prefetch", "Map"), ("Shuffle", "Take", "Map"), ("Map", "Map")])
def test_what_hands_elements_on_one_for_one_may_lie_between(before: tuple[str, ...]) -> None:
    assert filtered(before=before).findings[0].id == "late_filter"


def test_a_map_in_this_thread_is_judged_by_its_own_time_where_functions_were_not_recorded() -> None:
    assert filtered(recorded=False).findings[0].id == "late_filter"
    assert "late_filter" not in {finding.id for finding in filtered(map_us=6, recorded=False).findings}


AHEAD = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810] Iterator::Root[12,800]{id=1}
         | Iterator::Root::Filter[13,798]{id=2, parent_id=1} x/MatMul:MatMul[830,100]
         | Iterator::Root::Filter::ParallelMapV2[20,190]{id=3, parent_id=2} ParallelMapConsume[209,1]{element_id=20s+1}
         | InstantiatedCapturedFunction::Run[220,190]{id=20s+11}
         | Iterator::Root::Filter::ParallelMapV2[420,190]{id=3, parent_id=2} ParallelMapConsume[609,1]{element_id=20s+2}
         | InstantiatedCapturedFunction::Run[620,190]{id=20s+12}
  tf_a   | ParallelMapProduce[0,30]{element_id=20s+1} InstantiatedCapturedFunction::RunAsync[10,10]{id=20s+13}
         | Iterator::Root::Filter::ParallelMapV2::Range[5,2]{id=4, parent_id=3}
         | ParallelMapProduce[40,30]{element_id=20s+2} InstantiatedCapturedFunction::RunAsync[50,10]{id=20s+14}
         | Iterator::Root::Filter::ParallelMapV2::Range[45,2]{id=4, parent_id=3}
  tf_b   | ExecutorState::Process[30,170]{id=20s+13} ExecutorState::Process[210,MAP]{id=20s+14}
         | ExecutorState::Process[790,FILTER]{id=20s+11} ExecutorState::Process[800,FILTER]{id=20s+12}
"""
"""The filter's functions wait for the thread that runs those of the map, which works ahead."""


def test_a_filter_that_waits_for_the_threads_of_the_map_is_not_slow_itself() -> None:
    diagnosis = diagnoses(draw.host(AHEAD.replace("MAP", "570").replace("FILTER", "5"), 3, 1001))[0]
    filters, maps = (
        next(stage for stage in diagnosis.pipeline.stages if stage.kind == kind) for kind in ("Filter", "ParallelMap")
    )
    assert (filters.function_ps, maps.function_ps) == (3 * 10e6, 3 * 740e6)
    assert diagnosis.bottleneck == filters
    first, second, *_ = diagnosis.findings
    assert (first.id, second.id) == ("late_filter", "slow_filter")
    waited_ps = maps.blame_ps + filters.blame_ps * 740 / 750
    assert first.gain_ps == pytest.approx(waited_ps / 2 / diagnosis.pipeline.total_ps * diagnosis.cost.gain_ps)


def test_a_filter_whose_functions_take_the_threads_is_slow_itself() -> None:
    diagnosis = diagnoses(draw.host(AHEAD.replace("MAP", "1").replace("FILTER", "400"), 3, 1001))[0]
    assert diagnosis.findings[0].id == "slow_filter"


@pytest.mark.parametrize(("shards", "is_late"), [(8, True), (1, False)])
def test_a_shard_after_a_costly_map_comes_before_it(shards: int, is_late: bool) -> None:
    """What other workers keep is transformed in vain."""
    (diagnosis,) = diagnoses(
        draw.host(
            f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,806]{{id=1}} Iterator::Root::Shard[14,802]{{id=2, parent_id=1, num_shards={shards}}}
         | Iterator::Root::Shard::Map[16,798]{{id=3, parent_id=2}} x/MatMul:MatMul[830,100]
""",
            3,
            1001,
        )
    )
    found = {finding.id: finding for finding in diagnosis.findings}
    assert ("late_shard" in found) == is_late
    if is_late:
        assert found["late_shard"].evidence.startswith("Shard throws away 7 of 8 elements.")
        assert found["late_shard"].gain_ps == pytest.approx(7 / 8 * 798e6, rel=0.05)
