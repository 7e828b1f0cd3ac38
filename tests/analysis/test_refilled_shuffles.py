"""Shuffle buffers that each epoch fills anew, by an iterator of its own."""

import re

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import diagnoses
from tb_profile_plugin.model.host import HostWithSteps


def step(number: int, epoch: int, fills: bool) -> str:
    """A step of 100 µs that waits 40 µs for its batch, or 1,000 µs more while the iterator of its epoch fills."""
    at, wait, reads = 2000 * number, 1040 if fills else 40, 150 if fills else 1
    below = "Iterator::Root::Batch::Shuffle"
    maps = " ".join(f"{below}::Map[{at + 14 + 6 * i},5]{{id=4, parent_id=3}}" for i in range(reads))
    calls = f"""
  python | train[{at},{wait + 60}]{{_r=1, step_num={number}}} IteratorGetNext:IteratorGetNext[{at + 10},{wait}]
         | Iterator::Root[{at + 11},{wait - 2}]{{id=1}} Iterator::Root::Batch[{at + 12},{wait - 4}]{{id=2, parent_id=1}}
         | {below}[{at + 13},{wait - 6}]{{id=3, parent_id=2, buffer_size=150}} {maps}
         | x/MatMul:MatMul[{at + wait + 12},40]
"""
    return re.sub(r"\b(id|parent_id)=(\d+)", lambda part: f"{part[1]}={10 * epoch + int(part[2])}", calls.strip("\n"))


def host(first_fills: bool, epochs: int = 3) -> HostWithSteps:
    """Epochs of five steps."""
    steps = [step(number, number // 5, number % 5 == 0 and (first_fills or number > 0)) for number in range(5 * epochs)]
    lines = "\n".join(steps).split("\n")
    return draw.host(
        "/host:CPU\n" + "\n".join([lines[0], *(line.replace("python |", "       |") for line in lines[1:])])
    )


@pytest.mark.parametrize(
    ("first_fills", "epochs", "again"), [(True, 3, True), (False, 3, True), (True, 2, False), (False, 2, False)]
)
def test_buffers_that_several_iterators_fill(first_fills: bool, epochs: int, again: bool) -> None:
    """One of three may have begun before the capture; two may be those of training and of evaluation."""
    found = [one.finding_of_long_waits for one in diagnoses(host(first_fills, epochs))]
    assert any(one is not None and one.title.startswith("Shuffle before the map") for one in found) == again


def test_unusual_steps_that_fill_a_buffer_say_so() -> None:
    """A capture some steps later would show the same."""
    again, once = (
        next(cause for cause in diagnose([host(False, epochs)]).causes if cause.id == "unusual_steps")
        for epochs in (3, 2)
    )
    assert again.remedy.text.startswith("Shuffle before the map") and "Shuffle" not in once.remedy.text
