"""Messages from one worker to another: they begin on the thread that asks for them, and end when that has waited."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts

STEP, STEPS = 10_000, 6


def stage(parts: int) -> list[dict[str, object]]:
    """Steps of a stage that computes so many parts of a batch, 4 ms together, sends each, and awaits the last answer
    for 3 ms.
    """
    events: list[dict[str, object]] = []
    for step in range(STEPS):
        at, each = STEP * step, 4_000 // parts
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, STEP - 1))
        for part in range(parts):
            begin = at + 100 + each * part
            events += [torchtrace.op("aten::mm", begin, each - 20), torchtrace.op("c10d::send", begin + each - 15, 6)]
            events.append(torchtrace.mark("gloo:send", begin + each - 12, at + 9_000 - (begin + each - 12)))
            events.append(torchtrace.mark("gloo:recv", at + 4_200 + part, 3_000 if part == parts - 1 else 1))
        events.append(torchtrace.op("aten::addmm", at + 7_300, 2_600))
    return events


@pytest.mark.parametrize("parts", [1, 4])
def test_compute_beside_a_message_is_compute(parts: int) -> None:
    host = torchtrace.host(*stage(parts), deviceProperties=[])
    found = diagnose([host])
    state_ps = found.typical.state_ps
    assert state_ps[State.COMPUTE] >= 6_400e6
    assert 2_900e6 <= state_ps[State.EXPOSED_COLLECTIVE] <= 3_600e6


@pytest.mark.parametrize(("parts", "said"), [(1, "Split batches"), (4, "more micro-batches")])
def test_batches_that_are_split_are_not_to_be_split(parts: int, said: str) -> None:
    host = torchtrace.host(*stage(parts), deviceProperties=[])
    assert ("micro_batches" in program_facts(host)) == (parts > 1)
    remedy = next(cause.remedy.text for cause in diagnose([host]).causes if cause.id == "exposed_collective")
    assert said in remedy
