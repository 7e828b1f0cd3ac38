"""Which cause the headline speaks of: the largest loss, or work where one op takes much longer."""

import draw
import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose


def test_an_op_that_takes_twice_a_small_loss_leads_over_it() -> None:
    step = "$a.py:1 f[1,13] x/ConcatV2:ConcatV2[15,84]"
    found = diagnose([draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1, step_num=s}} {step}", 6, 100)])
    assert [each.id for each in found.causes][:2] == ["compute", "python"]
    several = "$a.py:1 f[1,25] " + " ".join(
        f"x/{name}:{name}[{at},24]" for name, at in (("A", 27), ("B", 51), ("C", 75))
    )
    other = diagnose([draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1, step_num=s}} {several}", 6, 100)])
    assert other.causes[0].id == "python"


@pytest.mark.parametrize(("product", "leads"), [(800, "compute"), (700, "exposed_collective")])
def test_an_op_leads_over_no_large_loss(product: int, leads: str) -> None:
    """Either takes more than twice as long as what workers communicate."""
    events = [
        event
        for step in range(6)
        for event in (
            torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 990),
            torchtrace.op("aten::mm", 1000 * step + 5, product),
            torchtrace.on_host("user_annotation", "gloo:all_reduce", 1000 * step + 10 + product, 980 - product),
        )
    ]
    assert diagnose([torchtrace.host(*events, deviceProperties=[])]).causes[0].id == leads


@pytest.mark.parametrize(("share", "leads"), [(12, "compute"), (20, "compute"), (27, "python")])
def test_a_small_loss_leads_no_headline(share: int, leads: str) -> None:
    """In per cent of the step, in which Python runs before the next kernel is launched."""
    idle, third = 10 * share, (1000 - 10 * share) / 3
    drawn = f"""
/device:GPU:0
  Stream #7 | gemm[{idle},{third}]{{c=1}} softmax[{idle + third},{third}]{{c=2}} gelu[{idle + 2 * third},{third}]{{c=3}}
/host:CPU
  python | train[0,999]{{_r=1, step_num=s}} $train.py:3 augment[1,{idle - 6}] cuLaunchKernel[{idle - 4},3]{{c=1}}
         | cuLaunchKernel[{idle},3]{{c=2}} cuLaunchKernel[{idle + 4},3]{{c=3}}
"""
    assert diagnose([draw.host(drawn, steps=6, every=1000)]).causes[0].id == leads


@pytest.mark.parametrize(("slow_steps", "few"), [((4, 5), True), ((4, 5, 6), False)])
def test_a_loss_that_few_of_the_steps_hold_says_so(slow_steps: tuple[int, ...], few: bool) -> None:
    """Steps are equally long: in some of them Python runs for 300 of 1,000 µs. Two of ten are left out."""
    events = []
    for step in range(10):
        at, python = 1000 * step, 300 if step in slow_steps else 0
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 999)]
        events += [torchtrace.frame("train.py(3): augment", at + 1, python)] if python else []
        events += [torchtrace.op("aten::mm", at + 1 + python, 997 - python)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    text = next(cause for cause in found.causes if cause.id == "python").sentence.text
    assert ("of it lies in 2 of 8 steps." in text) == few and ("of it lies" in text) == few


@pytest.mark.parametrize(("steps", "leads"), [((2,), "compute"), ((1, 2, 3, 4), "input")])
def test_what_a_single_step_waits_for_leads_nothing(steps: tuple[int, ...], leads: str) -> None:
    """Steps differ so much that none is unusual; one wait of 240 ms is a quarter of all their time."""
    text, at = "", 0
    for number, work in enumerate((90, 30, 150, 300, 110, 500)):
        waits = 240 if number in steps else 1
        text += f" train[{at},{work + waits + 2}]{{_r=1, step_num={number}}} IteratorGetNext[{at + 1},{waits}]"
        text += f" x/MatMul:MatMul[{at + 1 + waits},{work}]"
        at += work + waits + 2
    found = diagnose([draw.host(f"/host:CPU\n  python |{text}")])
    assert found.causes[0].id == leads
    waiting = next(cause for cause in found.causes if cause.id == "input")
    assert ("lies in 1 of" in waiting.sentence.text) == (len(steps) == 1)
