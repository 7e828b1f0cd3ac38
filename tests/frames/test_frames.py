"""Tables for data frames: their figures are the tools', their memory is shared, their names are text."""

import sys
from pathlib import Path
from typing import Any

import draw
import duckdb
import nanoarrow
import numpy as np
import pandas as pd
import pytest

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.export.frames.frame import Frame
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline.details import arrows_of

TRACES = Path(__file__).resolve().parent.parent / "traces"
HOSTILE = "<img src=x onerror=alert(1)>|`a`[x](javascript:0)\x1b[31m"
METHODS = ("events", "steps", "ops", "kernels", "allocations", "args", "arrows")


@pytest.fixture
def gpu(tmp_path: Path) -> Capture:
    return draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))


def column(answer: Any, table: str, id: str) -> list[Any]:
    found: list[Any] = next(each["values"] for each in answer["tables"][table]["columns"] if each["id"] == id)
    return found


def frames(capture: Capture) -> dict[str, Frame]:
    return {name: getattr(capture, name)() for name in METHODS}


@pytest.mark.parametrize("trace", ["two_workers", "jax_steps", "torch_training", "keras_fit"])
def test_ops_sum_to_what_the_tool_shows(trace: str) -> None:
    capture = tb_profile_plugin.open(TRACES / trace)
    answer = capture.answer("framework_op_stats")
    for unit in ("total", "self"):
        times = zip(column(answer, "ops", f"{unit}_us"), column(answer, "ops", "type"), strict=True)
        shown = sum(us for us, category in times if category != "IDLE")
        assert int(capture.ops()[f"{unit}_ps"].sum()) == pytest.approx(shown * 1e6, abs=1)


def test_kernels_sum_to_what_the_tool_shows(gpu: Capture) -> None:
    kernels = gpu.kernels()
    assert kernels["total_ps"].sum() / 1e6 == sum(column(gpu.answer("kernel_stats"), "kernels", "total_us")) == 320
    assert kernels["launches"].tolist() == [4] and kernels["op"].tolist() == ["a"]
    assert kernels["registers"].tolist() == [8] and kernels["occupancy_percent"].tolist() == [None]


@pytest.mark.parametrize("trace", ["two_workers", "jax_async_marked", "torch_training", "starved_input"])
def test_parts_sum_to_each_step(trace: str) -> None:
    steps = tb_profile_plugin.open(TRACES / trace).steps()
    parts = [steps[name] for name in steps.columns if name.endswith("_ps") and name not in ("begin_ps", "duration_ps")]
    assert len(steps) and np.array_equal(np.sum(parts, axis=0), steps["duration_ps"])


def test_steps_are_the_ones_of_the_overview() -> None:
    capture = tb_profile_plugin.open(TRACES / "starved_input")
    answer, steps = capture.answer("overview_page"), capture.steps().to_pandas()
    assert (steps.duration_ps / 1e9).tolist() == pytest.approx(column(answer, "steps", "duration_ms"))
    assert steps.duration_ps[steps.kept].mean() / 1e9 == pytest.approx(answer["facts"]["step_average_ms"]["value"])
    assert capture.steps(steps="1-2")["kept"].sum() == 2
    with pytest.raises(ProblemError, match="is not a choice of steps"):
        capture.steps(steps="some")


def test_allocations_know_when_they_end(tmp_path: Path) -> None:
    text = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s}
  | MemoryAllocation[20,0]{allocator_name=b, bytes_allocated=64, allocation_bytes=64, addr=5, tf_op=a, data_type=1}
  | MemoryDeallocation[40,0]{allocator_name=b, bytes_allocated=0, addr=5}
  | MemoryAllocation[60,0]{allocator_name=b, bytes_allocated=32, allocation_bytes=32, addr=6}
"""
    found = draw.session(tmp_path, host=draw.space(text)).allocations()
    assert found["freed_ps"].tolist() == [40_000_000, None, None]
    assert found["op"].tolist() == ["a", "a", None] and found["dtype"].tolist() == ["float", "float", None]
    assert found["in_use_bytes"].tolist() == [64, 0, 32] and found["step"].tolist() == [0, 0, 0]


def test_events_stand_on_one_clock_with_their_steps(tmp_path: Path) -> None:
    early = "/host:CPU\n  python | train[5,10]{_r=1, step_num=7+s} x[6,2]\nTask Environment {profile_start_time=1000}"
    late = early.replace("=1000", "=3000")
    frame = draw.session(tmp_path, a=draw.space(early, 2, 20), b=draw.space(late, 2, 20)).events()
    found = frame.to_pandas()
    assert found.begin_ps[found.name == "train"].tolist() == [0, 20_000_000, 2_000_000, 22_000_000]
    assert found.step.tolist() == [7, 7, 8, 8] * 2
    assert found.parent[found.name == "x"].tolist() == [0, 2, 0, 2] and found.parent.isna().sum() == 4


def test_events_can_be_chosen(gpu: Capture) -> None:
    assert set(gpu.events(line="Stream*", name="*emm")["name"].tolist()) == {"gemm"}
    assert len(gpu.events(name="gemm", begin_ps=1_000_000_000, end_ps=2_200_000_000)) == 2
    assert len(gpu.events(name="nothing*")) == 0
    chosen, everything = gpu.events(name="gemm"), gpu.events().to_pandas()
    assert chosen["event"].tolist() == everything.event[everything.name == "gemm"].tolist()
    with pytest.raises(ProblemError, match="no host"):
        gpu.events("nobody")


def test_details_of_events(gpu: Capture) -> None:
    found = gpu.events(details=True).to_pandas()
    step = found.drop_duplicates("name").set_index("name")
    assert step.op[["gemm", "MemcpyH2D"]].tolist() == ["a", "MemcpyH2D"] and step.op.count() == 2
    assert step.category["gemm"] == "MatMul" and step.bytes["MemcpyH2D"] == 64 and step.bytes.count() == 1
    assert step.correlation["gemm"] == step.correlation["Launch"]
    assert step.self_ps["train"] == 895_000_000 and step.self_ps["gemm"] == step.duration_ps["gemm"]
    assert step.thread_id["gemm"] != step.thread_id["MemcpyH2D"]
    plain, chosen = gpu.events(), gpu.events(name="gemm", details=True)
    assert plain.columns == gpu.events(details=True).columns[: len(plain.columns)]
    assert chosen["op"].tolist() == ["a"] * 4 and set(chosen["bytes"].tolist()) == {None}


def test_self_time_is_what_inner_events_leave() -> None:
    found = tb_profile_plugin.open(TRACES / "torch_training").events(details=True).to_pandas()
    inner = found.groupby("parent").duration_ps.sum()
    own = found.set_index("event")
    assert len(inner) > 100 and (own.self_ps[inner.index] == (own.duration_ps[inner.index] - inner).clip(lower=0)).all()
    leaves = own.drop(inner.index)
    assert (leaves.self_ps == leaves.duration_ps).all()


def test_args_are_all_that_events_state(gpu: Capture) -> None:
    args = gpu.args().to_pandas()
    gemm = gpu.events(name="gemm")["event"].tolist()[0]
    told = args[args.event == gemm].set_index("name")
    assert told.text["kernel_details"] == "regs:8 grid:1,1,1" and told.integer["correlation_id"] >= 0
    assert told.text.isna()["correlation_id"] and told.integer.isna()["kernel_details"]
    assert not {"_r", "_p", "group_id"} & set(args.name)


def test_args_hold_what_events_of_a_name_share_and_numbers_of_all_kinds(tmp_path: Path) -> None:
    drawn = draw.space(
        "/host:CPU\n  python | a[0,10]{half=0.5, large=18446744073709551615u, ref=&word} b[20,1] a[30,1]"
    )
    plane = drawn.planes[0]
    key = max(plane.stat_metadata) + 1
    plane.stat_metadata[key].id, plane.stat_metadata[key].name = key, "shared"
    named = next(each for each in plane.event_metadata.values() if each.name == "a")
    named.stats.add(metadata_id=key, str_value="by name")
    capture = draw.session(tmp_path, host=drawn)
    rows = [tuple(row.values())[1:] for row in capture.args().records()]
    assert (0, "half", None, None, 0.5) in rows and (0, "ref", "word", None, None) in rows
    assert (0, "large", None, None, float(2**64)) in rows
    assert [row[0] for row in rows if row[1:3] == ("shared", "by name")] == [0, 2]


def test_arrows_are_those_of_the_timeline(gpu: Capture) -> None:
    host = gpu.host("host")
    found = gpu.arrows()
    pairs = zip(found["source"].tolist(), found["target"].tolist(), found["kind"].tolist(), strict=True)
    assert sorted(pairs) == sorted(
        {tuple(arrow) for event in range(len(host.trace)) for arrow in arrows_of(host, event)}
    )
    names = gpu.events()["name"]
    assert {
        (names[source], names[target]) for source, target in zip(found["source"], found["target"], strict=True)
    } == {("Launch", "gemm")}


def test_memory_is_shared(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, host=draw.space("/host:CPU\n  python | a[0,10] b[2,3]", steps=9))
    decoded = capture.host("host").trace.planes[0].events.duration
    frame = capture.events()
    assert np.shares_memory(frame["duration_ps"], decoded)
    assert np.shares_memory(frame.to_pandas().duration_ps.to_numpy(), decoded)
    assert np.shares_memory(nanoarrow.Array(frame).child(7).buffers[1], decoded)
    with pytest.raises(ValueError, match="read-only"):
        frame["duration_ps"][0] = 1


@pytest.mark.parametrize("trace", ["two_workers", "jax_steps", "torch_training"])
def test_all_readers_read_the_same(trace: str) -> None:
    for name, frame in frames(tb_profile_plugin.open(TRACES / trace)).items():
        rows = list(frame.rows())
        connection = duckdb.connect()
        connection.register("frame", frame)
        for _ in range(2):
            assert connection.execute("SELECT * FROM frame").fetchall() == rows, name
        connection.close()
        read = frame.to_pandas().astype(object)
        assert read.astype(object).where(read.notna(), None).values.tolist() == [list(row) for row in rows], name
        assert [tuple(row.values()) for row in nanoarrow.Array(frame).to_pylist()] == rows, name


def test_units_travel_with_arrow(gpu: Capture) -> None:
    field = nanoarrow.Schema(gpu.steps()).field(4)
    assert field.name == "duration_ps" and dict(field.metadata.items())[b"unit"] == b"ps"


def test_a_frame_outlives_its_session(gpu: Capture) -> None:
    frame = gpu.events()
    before = list(frame.rows())
    gpu.close()
    del gpu
    assert list(frame.rows()) == before


def test_names_are_text_wherever_they_are_shown(tmp_path: Path) -> None:
    drawn = draw.space("/host:CPU\n  python | evil[0,10]")
    drawn.planes[0].event_metadata[1].name = HOSTILE
    frame = draw.session(tmp_path, host=drawn).events()
    page = frame._repr_html_()
    assert "&lt;img src=x" in page and "<img" not in page and "<script" not in page and "http" not in page
    assert "prefers-color-scheme:dark" in page
    written = frame._repr_markdown_()
    assert "\\<img" in written and "\\](javascript" in written and "\x1b" not in written
    assert "\x1b" not in repr(frame)


def test_rows_are_chosen_and_counted(gpu: Capture) -> None:
    frame = gpu.events()
    mask = frame["name"] == "gemm"
    assert len(frame.where(mask)) == int(mask.sum()) == 4
    assert [len(frame.head(n)) for n in (0, 3, 10**6)] == [0, 3, len(frame)]
    with pytest.raises(ProblemError, match="no column 'durations'"):
        frame["durations"]


@pytest.mark.parametrize("missing", ["nanoarrow", "pandas"])
def test_what_is_not_installed_is_named(gpu: Capture, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ProblemError, match=f"{missing}.*pip install"):
        gpu.steps().__arrow_c_stream__() if missing == "nanoarrow" else gpu.steps().to_pandas()


def test_an_empty_table_has_its_types(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, host=draw.space("/host:CPU\n  python | a[0,10]"))
    empty = capture.kernels().to_pandas()
    assert (
        len(empty) == 0
        and empty.dtypes["total_ps"] == np.int64
        and isinstance(empty.dtypes["name"], pd.CategoricalDtype)
    )
