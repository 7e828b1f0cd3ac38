"""Input that is made ahead, and that steps wait for again and again all the same: it leads before longer compute."""

from pathlib import Path

import pytest
import torchtrace

import tb_profile_plugin
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import diagnoses
from tb_profile_plugin.model.host import HostWithSteps

TRACES = Path(__file__).resolve().parent.parent / "traces" / "tfdata"
WORKERS, ALONE = "_MultiProcessingDataLoaderIter", "_SingleProcessDataLoaderIter"


def training(waits: list[int], loader: str = WORKERS, on_gpu: bool = True) -> HostWithSteps:
    """Steps of 1 ms: so many µs wait for a batch, then a kernel, or an op, takes the rest but for 10 µs."""
    events = []
    for step, wait in enumerate(waits):
        begin, busy = 1000 * step, 980 - wait
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        name = f"enumerate(DataLoader)#{loader}.__next__"
        events.append(torchtrace.on_host("user_annotation", name, begin + 1, wait))
        if on_gpu:
            events += [
                torchtrace.op("aten::mm", begin + wait + 2, 8),
                torchtrace.launch(step + 1, begin + wait + 3, 5),
                torchtrace.on_device(step + 1, begin + wait + 10, busy),
                torchtrace.on_host("cuda_runtime", "cudaDeviceSynchronize", begin + wait + 11, busy),
            ]
        else:
            events.append(torchtrace.op("aten::mm", begin + wait + 10, busy))
    return torchtrace.host(*events, **({} if on_gpu else {"deviceProperties": []}))


def asked(host: HostWithSteps) -> tuple[Diagnosis, str]:
    """The diagnosis, and the sentence of the wait for input."""
    diagnosis = diagnose([host], replays=True)
    (sentence,) = [cause.sentence.text for cause in diagnosis.causes if cause.id == "input"]
    return diagnosis, sentence


@pytest.mark.parametrize("waits", [[200] * 8, [150, 250] * 4, [0, 200, 200, 200, 200, 200, 200, 200]])
def test_input_that_nearly_all_steps_wait_for_leads(waits: list[int]) -> None:
    """A capture may begin with a batch that was ready."""
    diagnosis, sentence = asked(training(waits))
    assert diagnosis.causes[0].id == "input"
    assert "so faster compute alone saves nothing" in sentence
    assert diagnosis.headline.sentence.text.startswith("Waiting for input takes")


@pytest.mark.parametrize("host", [training([200] * 8, ALONE), training([40] * 8), training([800, 0, 0, 0] * 2)])
def test_compute_leads_where_input_is_no_limit(host: HostWithSteps) -> None:
    """It is made in the loop, or is little, or most steps have theirs."""
    diagnosis = diagnose([host], replays=True)
    assert diagnosis.causes[0].id == "compute"
    assert "saves nothing" not in " ".join(cause.sentence.text for cause in diagnosis.causes)


def test_nobody_knows_what_input_costs_a_cpu_that_computes_meanwhile() -> None:
    """Its workers take cores from compute, which gets shorter without them."""
    diagnosis, sentence = asked(training([200] * 8, on_gpu=False))
    assert diagnosis.causes[0].id == "input" and diagnosis.causes[0].gain_ps is None
    assert "though it is made ahead of the step" in sentence


@pytest.mark.parametrize(
    ("capture", "sets_pace"), [("slow_map", True), ("missing_prefetch", False), ("healthy", False)]
)
def test_pipelines_that_work_ahead_and_are_slower_set_the_pace(capture: str, sets_pace: bool) -> None:
    """Not so one that lacks a Prefetch, or of which elements were ready."""
    session = tb_profile_plugin.open(TRACES / f"{capture}.xplane.pb")
    (host,) = map(session.host, session.hosts)
    assert any(diagnosis.sets_pace for diagnosis in diagnoses(host)) == sets_pace


def with_one_long_wait(loader: str, calls: int = 1) -> HostWithSteps:
    """Six steps of 1 ms on a CPU, of which the fourth waits 20 ms longer, in so many calls of the loader."""
    events, begin = [], 0
    for step in range(6):
        waits = [20_000 // calls - 1] * calls if step == 3 else [10]
        ms = 1000 + sum(waits)
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, ms - 1))
        for number, wait in enumerate(waits):
            name = f"enumerate(DataLoader)#{loader}.__next__"
            events.append(torchtrace.on_host("user_annotation", name, begin + number * wait + number, wait))
        events.append(torchtrace.op("aten::mm", begin + sum(waits) + calls, 980))
        begin += ms
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("loader", "calls", "headline"),
    [
        (WORKERS, 1, "1 of 6 steps takes 21 times as long as the others, mostly waiting for input."),
        (ALONE, 1, "Compute on the CPU takes"),
        (WORKERS, 2, "Compute on the CPU takes"),
    ],
)
def test_one_long_wait_for_workers_comes_again(loader: str, calls: int, headline: str) -> None:
    """They bring batches by turns; not so the loop itself, nor workers that start for an epoch."""
    diagnosis = diagnose([with_one_long_wait(loader, calls)], replays=True)
    assert diagnosis.headline.sentence.text.startswith(headline)
    if headline.startswith("1 of"):
        assert diagnosis.causes[0].remedy.text.startswith("Start more DataLoader workers")
