"""Reductions and broadcasts that the program calls beside DistributedDataParallel's are told apart from these."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts, program_of
from tb_profile_plugin.model.host import HostWithSteps

LOADER, GLOO = 9, 21
GRADIENT = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"


def reduction(at: int, length: int, thread: int, number: int | None) -> list[dict[str, Any]]:
    """A call and what it asks for: of threads of the CPU, or of a device, where launches have numbers."""
    call = torchtrace.op("c10d::allreduce_", at, 20, thread)
    if number is None:
        return [call, torchtrace.on_host("user_annotation", "gloo:all_reduce", at + 15, length, GLOO)]
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    return [call, torchtrace.launch(number, at + 5, 5, thread), torchtrace.on_device(number, at + 15, length, name)]


def averaging(
    own: int, gradients: int = 4000, thread: int = torchtrace.MAIN, *, synced: bool = True, device: bool = False
) -> HostWithSteps:
    """Five steps: DDP reduces the gradients for so many µs; the program then calls ten reductions, of so many µs."""
    events = []
    for step in range(5):
        at = 20_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 19_900)]
        events += [torchtrace.mark("DistributedDataParallel.forward", at + 10, 500)]
        events += [torchtrace.op("aten::mm", at + 20, 400), torchtrace.op(GRADIENT, at + 600, 300)]
        if synced:
            number = 100 * step + 1 if device else None
            events += reduction(at + 700, gradients, torchtrace.MAIN, number)
        for turn in range(10):
            number = 100 * step + 2 + turn if device else None
            events += reduction(at + 6000 + turn * (own + 50), own, thread, number)
    return torchtrace.host(*events, **({} if device else {"deviceProperties": []}))


@pytest.mark.parametrize("device", [False, True])
def test_reductions_that_the_program_calls_are_its_own(device: bool) -> None:
    host = averaging(800, device=device)
    assert "own_reductions" in program_facts(host)
    remedy = next(cause for cause in diagnose([host]).causes if cause.id == "exposed_collective").remedy.text
    assert "calls of your own (dist.all_reduce)" in remedy


@pytest.mark.parametrize(
    "host",
    [averaging(150), averaging(150, device=True), averaging(800, synced=False), averaging(800, thread=LOADER)],
    ids=["short ones", "short ones of a device", "no others", "another thread"],
)
def test_few_own_reductions_are_not(host: HostWithSteps) -> None:
    """Where DDP reduces nothing, as under ``no_sync()``, the program's reductions are those of the gradients."""
    assert "own_reductions" not in program_facts(host)


def worker(rank: int, broadcast: int, *, loads: bool, buffers: bool = False, device: bool = False) -> HostWithSteps:
    """Five steps: a batch is loaded in 4 ms, or not; a broadcast of so many µs, of the batch or of DDP's buffers, which
    ends on all workers at once; and a forward pass.
    """
    events = []
    for step in range(5):
        at = 10_000 * step
        arrives = at + 5_000 - broadcast
        forward = arrives - 100 if buffers else at + 5_100
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_900)]
        events += [torchtrace.mark("DistributedDataParallel.forward", forward, at + 9_000 - forward)]
        events += [torchtrace.op("c10d::broadcast_", arrives - 20, 20), torchtrace.op("aten::mm", at + 5_200, 3_000)]
        if device:
            kernel = torchtrace.on_device(step + 1, arrives, broadcast, "ncclDevKernel_Broadcast_RING_LL")
            events += [torchtrace.launch(step + 1, arrives - 10, 5), kernel]
        else:
            events += [torchtrace.on_host("user_annotation", "gloo:broadcast", arrives, broadcast, GLOO)]
        if loads:
            name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
            events += [torchtrace.mark(name, at + 10, 4_000)]
    told: dict[str, Any] = {"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 2}}
    host = torchtrace.host(*events, **told, **({} if device else {"deviceProperties": []}))
    host.name = f"rank{rank}"
    return host


@pytest.mark.parametrize("device", [False, True])
def test_batches_that_one_worker_sends_are_loaded_by_each(device: bool) -> None:
    """Accelerate's ``dispatch_batches=True``."""
    hosts = [worker(rank, 4_500 if rank else 300, loads=not rank, device=device) for rank in range(2)]
    assert "broadcasts_batches" in program_of(hosts).facts
    straggler = next(cause for cause in diagnose(hosts).causes if cause.id == "late_peer")
    assert "load its own part of the data" in straggler.remedy.text
    assert straggler.remedy.most_ps == pytest.approx(straggler.per_step_ps / 2)


@pytest.mark.parametrize(
    "others",
    [
        worker(1, 4_500, loads=True),
        worker(1, 4_500, loads=False, buffers=True),
        worker(1, 300, loads=False),
    ],
    ids=["all load", "buffers of DDP", "short ones"],
)
def test_other_broadcasts_are_of_no_batches(others: HostWithSteps) -> None:
    assert "broadcasts_batches" not in program_of([worker(0, 300, loads=True), others]).facts
    assert "broadcasts_batches" not in program_of([others, others]).facts


@pytest.mark.parametrize(
    ("passes", "optimizers", "ddp", "are_told"),
    [(3, 1, False, True), (1, 1, False, False), (2, 2, False, False), (3, 1, True, False)],
    ids=["micro-batches", "one pass", "two models", "of DDP"],
)
def test_gradients_are_reduced_once_for_each_change_of_the_weights(
    passes: int, optimizers: int, ddp: bool, are_told: bool
) -> None:
    events = []
    for step in range(4):
        at = 20_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 19_900)]
        for number in range(passes):
            begin = at + 100 + 6_000 * number
            events += [torchtrace.mark("DistributedDataParallel.forward", begin - 50, 40)] if ddp else []
            events += [torchtrace.op("aten::mm", begin, 400), torchtrace.op(GRADIENT, begin + 600, 300)]
            for parameter in range(5):
                events += reduction(begin + 1_000 + 800 * parameter, 700, torchtrace.MAIN, None)
        for number in range(optimizers):
            events += [torchtrace.mark("Optimizer.step#AdamW.step", at + 19_000 + 100 * number, 50)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("reduces_each_pass" in program_facts(host)) == are_told
    waits = next(cause for cause in diagnose([host]).causes if cause.id == "exposed_collective")
    assert ("once per optimizer step" in waits.remedy.text) == are_told


def test_sums_that_gradients_need_are_no_reductions_of_gradients() -> None:
    """As in layers that are split over workers: each of their backward passes sums up parts."""
    events = []
    for step in range(4):
        at = 20_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 19_900), torchtrace.op("aten::mm", at + 100, 400)]
        for layer in range(4):
            begin = at + 1_000 + 2_000 * layer
            events += [torchtrace.op(GRADIENT, begin, 1_500), *reduction(begin + 100, 700, torchtrace.MAIN, None)]
        events += [torchtrace.mark("Optimizer.step#AdamW.step", at + 19_000, 50)]
    assert "reduces_each_pass" not in program_facts(torchtrace.host(*events, deviceProperties=[]))


@pytest.mark.parametrize(
    ("late_ops", "rows", "told"),
    [(60, 0, "rank1 calls 3.0 times as many ops."), (20, 300, "rank1 has 2.8 times as large arrays."), (20, 100, "")],
    ids=["longer sequences", "larger graphs", "a slow device"],
)
def test_a_straggler_that_computes_more_has_more_work(late_ops: int, rows: int, told: str) -> None:
    """Its arrays of weights are as large as those of others."""
    hosts = []
    for rank, (count, length) in enumerate(((20, 100), (late_ops, 6_000 // late_ops))):
        shapes: dict[str, Any] = {"Input Dims": [[rows if rank else 100, 64], [64, 10]]} if rows else {}
        events = []
        for step in range(5):
            at, begin = 10_000 * step, 10_000 * step + 100 + count * length
            events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_900)]
            for number in range(count):
                events.append(torchtrace.op("aten::mm", at + 100 + length * number, length - 1, **shapes))
            events += reduction(begin, at + 9_000 - begin, torchtrace.MAIN, None)
        workers: dict[str, Any] = {"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 2}}
        hosts.append(torchtrace.host(*events, **workers, deviceProperties=[]))
        hosts[-1].name = f"rank{rank}"
    straggler = next(cause for cause in diagnose(hosts).causes if cause.id == "late_peer")
    assert (told or "Give all workers equal work; where they have that") in straggler.remedy.text
    assert ("Work that is shared equally saves 50 % of the wait." in straggler.sentence.text) == bool(told)
    assert straggler.remedy.most_ps == (pytest.approx(straggler.per_step_ps / 2) if told else None)
