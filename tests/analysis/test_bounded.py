"""Captures made to cost much: whatever they hold, every tool's work grows about as their size does."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import draw
import pytest

from tb_profile_plugin.api import Capture
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline import perfetto
from tb_profile_plugin.tools import all_tools

EVENTS = 1500
GROWTH = 4
SLACK = 3
"""How much more than proportionally the work may grow: these measurements are short and machines are busy."""
LEAST_S = 1.0


class Pen:
    """Writes events quickly."""

    def __init__(self) -> None:
        self.space = draw.XSpace()

    def plane(self, name: str, *names: str) -> Any:
        plane = self.space.planes.add(id=len(self.space.planes), name=name)
        for number, each in enumerate(names, 1):
            plane.event_metadata[number].name = each
        return plane

    def host(self, *names: str) -> Callable[..., None]:
        return self.line(self.plane("/host:CPU", *names))

    def gpu(self, *names: str) -> Callable[..., None]:
        return self.line(self.plane("/device:GPU:0", *names), "Stream #1")

    def line(self, plane: Any, name: str = "t") -> Callable[..., None]:
        line = plane.lines.add(id=len(plane.lines) + 1, name=name)
        numbers = {entry.name: key for key, entry in plane.stat_metadata.items()}

        def write(name: int, begin: int, duration: int, **stats: int | str) -> None:
            event = line.events.add(metadata_id=name, offset_ps=begin, duration_ps=duration)
            for key, value in stats.items():
                if key not in numbers:
                    numbers[key] = len(numbers) + 1
                    plane.stat_metadata[numbers[key]].name = key
                stat = event.stats.add(metadata_id=numbers[key])
                setattr(stat, "str_value" if isinstance(value, str) else "int64_value", value)

        return write


def nested(name: str, **stats: int) -> Callable[[Pen, int], None]:
    """Each event within the one before."""

    def fill(pen: Pen, count: int) -> None:
        write = pen.host(name)
        for i in range(count):
            write(1, i, 2 * (count - i), id=i, parent_id=i - 1, **stats)

    return fill


def one_correlation(pen: Pen, count: int) -> None:
    launch, run = pen.host("launch"), pen.gpu("kernel")
    for i in range(count):
        launch(1, 10 * i, 5, correlation_id=1, _pt=1, _p=7)
        run(1, 10 * i, 5, correlation_id=1, _ct=1, _c=7)


def overlapping(pen: Pen, count: int) -> None:
    run = pen.gpu("copy")
    for i in range(count):
        run(1, i, 10 * count)


def lines(pen: Pen, count: int) -> None:
    plane = pen.plane("/host:CPU", "x")
    for i in range(count):
        pen.line(plane, f"t{i}")(1, i, 5)


def planes(pen: Pen, count: int) -> None:
    for i in range(count // 10):
        pen.line(pen.plane(f"/device:GPU:{i}", "k"), "Stream #1")(1, i, 5)


def steps(pen: Pen, count: int) -> None:
    write = pen.host("train", "op:MatMul", "zero")
    for i in range(count):
        write(1, 10 * i, 9, _r=1, step_num=i // 2)
        write(2, 10 * i + 1, 3)
        write(3, 10 * i + 1, 0)


def names(pen: Pen, count: int) -> None:
    write, run = pen.host(*(f"op{i}:MatMul" for i in range(count))), pen.gpu(*(f"k{i}" for i in range(count)))
    for i in range(count):
        write(i + 1, 10 * i, 5)
        run(i + 1, 10 * i, 5, kernel_details=f"regs:{i} grid:1,1,1", tf_op=f"a{i}:MatMul", group_id=i)


def alike(pen: Pen, count: int) -> None:
    write = pen.host(*["x"] * count)
    for i in range(count):
        write(i + 1, 10 * i, 5)
        pen.space.planes[0].stat_metadata[i + 1].name = "same"


def circles(pen: Pen, count: int) -> None:
    write = pen.host("Iterator::Root::Map", "Iterator::Root", "Iterator::Root::A", "Iterator::Root::B")
    for i in range(count):
        write(1 + i % 4, 10 * i, 9, id=i % 5, parent_id=(i + 1) % 5, iter_num=i)


def pipelines(pen: Pen, count: int) -> None:
    write = pen.host(*("Iterator::" + "::".join(f"N{depth}" for depth in range(i % 30)) for i in range(count)))
    for i in range(count):
        write(i + 1, 10 * i, 9, id=i, parent_id=i // 2)


def memory(pen: Pen, count: int) -> None:
    write = pen.host("MemoryAllocation", "MemoryDeallocation")
    for i in range(count):
        stats = {"allocator_name": f"G{i % 50}", "tf_op": f"op{i}", "bytes_allocated": i, "addr": i % 7}
        write(1 + (i % 3 == 2), 10 * i, 1, allocation_bytes=i, requested_bytes=i, **stats)


def loops(pen: Pen, count: int) -> None:
    write = pen.host("TraceContext", "FunctionRun", "SessionRun", "ExecutorState::Process")
    for i in range(count):
        write(1 + i % 4, 10 * i, 25, _r=1, iter_num=i, step_id=i % 3)


def stored(pen: Pen, count: int) -> None:
    write, run = pen.host("work"), pen.gpu("kernel")
    for i in range(count):
        write(1, 10 * i, 5, group_id=1000 * i, step_name=str(i))
        run(1, 10 * i, 5, group_id=1000 * i)


COSTLY: dict[str, Callable[[Pen, int], None]] = {
    "nested events": nested("work"),
    "nested steps": nested("train", _r=1, step_num=1),
    "nested functions": nested("EagerExecute: __inference_f"),
    "nested iterators": nested("Iterator::Root::Map"),
}
COSTLY |= {fill.__name__: fill for fill in (one_correlation, overlapping, lines, planes, steps, names, alike)}
COSTLY |= {fill.__name__: fill for fill in (circles, pipelines, memory, loops, stored)}


def spent(folder: Path, fill: Callable[[Pen, int], None], count: int) -> float:
    """Seconds of the processor for every tool and an export."""
    pen = Pen()
    fill(pen, count)
    session: Capture = draw.session(folder / str(count), vm=pen.space)
    begin = time.process_time()
    for tool in all_tools():
        # Some have nothing to show, and say so.
        with suppress(ProblemError):
            session.xprof(tool)
    assert sum(map(len, perfetto.pieces(session.select())))
    return time.process_time() - begin


@pytest.mark.parametrize("name", COSTLY)
def test_work_grows_as_the_capture_does(tmp_path: Path, name: str) -> None:
    spent(tmp_path, COSTLY[name], 20)
    small, large = (spent(tmp_path, COSTLY[name], count) for count in (EVENTS, GROWTH * EVENTS))
    assert large < max(GROWTH * SLACK * small, LEAST_S)


def test_iterators_in_circles_are_no_pipeline(tmp_path: Path) -> None:
    pen = Pen()
    circles(pen, 40)
    answer = draw.session(tmp_path, vm=pen.space).xprof("tf_data_bottleneck_analysis")
    assert answer
