"""Why a device is idle, on traces small enough to work out by hand; times in µs."""

from typing import Any

import draw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from idle_draw import START, US, Span, captured, events, kernels

from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.activity.gaps import moments
from tb_profile_plugin.analysis.activity.partition import gap_bounds, idle_intervals, partition
from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.activity.thread_classes import activity
from tb_profile_plugin.model.host import HostWithSteps


def parts(host: HostWithSteps, end: float, device: int = 0, begin: float = 0) -> dict[str, float]:
    """µs by state, for those that take time."""
    window = np.array([round((START + begin) * US)]), np.array([round((START + end) * US)])
    row = partition(host, *window)[0, device]
    return {state.name.lower(): int(row[state]) / US for state in State if row[state]}


def frames(end: float) -> str:
    return events("$train.py:1 loop", (-START, end))


BEFORE = (-9, -5)


def test_m1_bound_by_launches() -> None:
    calls, work = kernels(((8, 10), (0, 5)), ((28, 30), (20, 25)), ((48, 50), (40, 45)))
    host = captured(("python", frames(50) + " " + calls), devices=[[work]])
    assert parts(host, 50) == {"compute": 6, "launch": 15, "python": 20, "latency": 9}


def test_a_gap_of_very_many_pieces() -> None:
    calls, work = kernels(((-5, -4), (-3, 0)), ((3_001, 3_002), (3_003, 3_004)))
    turns = events("PjitFunction(f)", *((at, at + 1) for at in range(0, 3_000, 2)))
    host = captured(("python", calls + " " + turns), devices=[[work]])
    (found,) = moments(host)
    assert len(found.state) > 3_000
    assert (found.begin < found.end).all() and (found.edges[0], found.edges[-1]) == host.window
    assert parts(host, 3_000) == {"dispatch": 1_500, "unrecorded": 1_500}


@pytest.mark.parametrize(("silent_us", "state"), [(900, "python"), (1_500, "unrecorded")])
def test_what_a_tracer_of_python_has_not_seen_for_a_millisecond_is_no_python(silent_us: int, state: str) -> None:
    until = silent_us + 10
    calls, work = kernels(((5, 8), (0, 3)), ((until + 8, until + 9), (until, until + 5)))
    frames_around = events("$train.py:2 step", (-10, 10), (until, until + 20))
    host = captured(("python", f"{frames_around} {calls}"), devices=[[work]])
    assert parts(host, until, begin=10) == {state: silent_us}


def test_m2_waiting_for_input() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((67, 100), (60, 65)))
    host = captured(("python", frames(100) + events(" $builtins next", (10, 60)) + " " + calls), devices=[[work]])
    assert parts(host, 100) == {"compute": 43, "input": 50, "launch": 5, "latency": 2}


def test_m3_bound_by_the_device() -> None:
    calls, work = kernels(((0, 20), (-9, -8)), ((21, 40), (-8, -7)), ((41, 60), (-7, -6)))
    host = captured(("python", calls + " " + frames(60)), devices=[[work]])
    assert parts(host, 60) == {"compute": 58, "between": 2}


def test_m4_synchronous() -> None:
    calls, work = kernels(((10, 50), (0, 5)), ((66, 80), (60, 64)))
    waits = events(" cuStreamSynchronize", (5, 52))
    host = captured(("python", frames(80) + waits + " " + calls), devices=[[work]])
    assert parts(host, 80) == {"compute": 54, "sync": 2, "launch": 9, "python": 8, "latency": 7}


def test_m5_waiting_for_a_peer() -> None:
    other_calls, other = kernels(((10, 40), BEFORE), first=5)
    calls, work = kernels(((0, 10), (-5, -4)), ((42, 60), (3, 5)))
    waits = events(" cuStreamWaitEvent", (2, 3))
    host = captured(("python", frames(60) + f" {other_calls} {calls}" + waits), devices=[[other], [work]])
    assert parts(host, 60, device=1) == {"compute": 28, "between": 2, "peer": 30}


def test_m6_and_m7_what_collectives_leave_exposed() -> None:
    calls, work = kernels(((0, 50), (-9, -8)), ((70, 100), (-8, -7)))
    more, comm = kernels(((30, 80), (-7, -6)), name="ncclDevKernel_AllReduce", stream=9, first=5)
    host = captured(("python", f"{calls} {more}"), devices=[[work, comm]])
    assert parts(host, 100) == {"compute": 80, "exposed_collective": 20}
    calls, work = kernels(((10, 40), (-9, -8)))
    more, comm = kernels(((0, 30), (-7, -6)), ((20, 50), (-6, -5)), name="ncclDevKernel_AllReduce", stream=9, first=5)
    host = captured(("python", f"{calls} {more}"), devices=[[work, comm]])
    assert parts(host, 50) == {"compute": 30, "exposed_collective": 20}


def test_m9_what_copies_leave_exposed() -> None:
    calls, work = kernels(((0, 10000), BEFORE))
    more, copy = kernels(((8000, 12000), BEFORE), name="MemcpyH2D", stream=9, first=5)
    host = captured(("python", f"{calls} {more}"), devices=[[work, copy]])
    assert parts(host, 12000) == {"compute": 10000, "exposed_copy": 2000}


def test_m10_a_graph_is_one_launch() -> None:
    call = f"cuGraphLaunch[{START},10]{{c=1}}"
    nodes = [(12, 20), (20, 28), (29, 40)]
    work = "  Stream #7 | " + " ".join(f"gemm[{START + b},{e - b}]{{c=1}}" for b, e in nodes)
    host = captured(("python", frames(40) + " " + call), devices=[[work]])
    assert parts(host, 40) == {"compute": 27, "launch": 10, "latency": 2, "between": 1}


def test_m11_compiling_again() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((920, 950), (914, 917)))
    compiling = events(" backend_compile", (12, 912))
    host = captured(("python", frames(950) + compiling + " " + calls), devices=[[work]])
    assert parts(host, 950) == {"compute": 40, "compile": 900, "launch": 3, "python": 4, "latency": 3}


def test_m12_a_callback_of_the_runtime() -> None:
    calls, work = kernels(((0, 10), (-9, -8)), ((65, 90), (-8, -7)))
    host = captured(("python", calls), ("py_xla_callback/5", events("call", (12, 62))), devices=[[work]])
    assert parts(host, 90) == {"compute": 35, "callback": 50, "between": 5}


def test_m13_idle_is_the_device_not_a_stream() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((20, 30), BEFORE))
    more, other = kernels(((8, 22), BEFORE), stream=9, first=5)
    assert parts(captured(("python", f"{calls} {more}"), devices=[[work, other]]), 30) == {"compute": 30}


def test_m14_kernels_of_a_stream_may_overlap() -> None:
    calls, work = kernels(((0, 10), (-9, -8)), ((9, 15), (-8, -7)), ((20, 25), (-7, -6)))
    assert parts(captured(("python", calls), devices=[[work]]), 25) == {"compute": 20, "between": 5}


def test_m15_work_without_a_launch_is_work() -> None:
    calls, work = kernels(((0, 30), None), ((35, 40), (20, 25)))
    assert parts(captured(("python", calls), devices=[[work]]), 40) == {"compute": 35, "between": 5}


def test_work_launched_before_the_capture_says_so() -> None:
    calls, work = kernels(((10, 30), None), ((35, 40), (31, 33)))
    host = captured(("python", calls + events(" $train.py:1 loop", (5, 40))), devices=[[work]])
    assert parts(host, 40, begin=5) == {"compute": 25, "launch": 2, "python": 1, "latency": 2, "before_capture": 5}


def test_m21_the_strongest_of_what_encloses_a_moment() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((70, 90), (62, 66)))
    inner = events(" $builtins next", (10, 60)) + events(" backend_compile", (20, 50))
    host = captured(("python", frames(90) + inner + " " + calls), devices=[[work]])
    assert parts(host, 90) == {"compute": 30, "compile": 30, "input": 20, "launch": 4, "python": 2, "latency": 4}


def test_m24_a_capture_without_a_device() -> None:
    host = draw.host("/host:CPU\n  python | train[0,90]{_r=1}\n/device:GPU:0\n")
    assert partition(host, np.array([0]), np.array([90 * US])).shape == (1, 0, len(State))


def test_stretches_name_what_the_thread_did_and_what_ends_the_gap() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((67, 100), (60, 65)))
    host = captured(("python", frames(100) + events(" $time sleep", (10, 60)) + " " + calls), devices=[[work]])
    (found,) = moments(host)
    idle = idle_intervals(found)
    (place,) = np.flatnonzero(idle.begin == (START + 10) * US)
    assert (idle.state[place], idle.end[place]) == (State.PYTHON, (START + 60) * US)
    assert [int(each[idle.gap[place]]) for each in gap_bounds(found)] == [(START + 10) * US, (START + 67) * US]
    (device,), after = device_work(host), found.ending_row[idle.gap[place]]
    named = [host.trace.name(event) for event in (idle.event[place], device.launch[after], device.event[after])]
    assert named == ["$time sleep", "cuLaunchKernel", "gemm"]


def test_a_thread_that_waits_for_another_is_followed() -> None:
    """The launching thread of a pool does nothing until the function's call has handed over."""
    rows = (
        ("python", "$train.py:1 loop[0,300] $builtins next[110,50] FunctionRun[170,90]{_pt=1, _p=5}"),
        ("tf_Compute/7", "ExecutorState::Process[180,70]{_ct=1, _c=5} cuLaunchKernel[200,5]{c=2}"),
        ("tf_Compute/8", "cuLaunchKernel[50,5]{c=1}"),
    )
    work = "  Stream #7 | gemm[100,10]{c=1} gemm[207,10]{c=2}"
    host = captured(*rows, devices=[[work]])
    # Until the call python, then handing over and the executor until the launch.
    assert parts(host, 107, begin=10) == {"input": 50, "launch": 5, "dispatch": 30, "python": 10, "latency": 2}


def test_lines_without_events_move_no_others() -> None:
    calls, work = kernels(((0, 10), BEFORE), ((67, 90), (60, 65)))
    text = f"/device:GPU:0\n  Steps |\n{work}\n/host:CPU\n  pool/1 |\n  pool/2 |\n  python | {calls}\n  pool/3 |"
    assert parts(draw.host(text), 90) == {"compute": 33, "unrecorded": 50, "launch": 5, "latency": 2}


def test_a_thread_of_the_runtime_waits_for_the_loops_thread_whatever_its_name() -> None:
    """As the one that runs backward functions is named, for example; it has no frames of its own."""
    loop = f"train[{START},90]{{_r=1}} $builtins next[{START + 10},50]"
    calls, work = kernels(((0, 10), BEFORE), ((67, 90), (60, 65)))
    host = captured(("main", loop), ("python", calls), devices=[[work]])
    assert parts(host, 90) == {"compute": 33, "input": 50, "launch": 5, "latency": 2}


CPU = """
/host:CPU
  python | $train.py:1 loop[0,1000] $builtins next[10,300] PjitFunction(step)[320,60]
  | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[330,40]{_pt=7, _p=1}
  | CommonPjRtBuffer::Await[390,1]{_pt=0, _p=9} CommonPjRtBuffer::Await[900,1]{_ct=0, _c=9}
  tf_XLAPjRtCpuClient/5 | ThreadpoolListener::StartRegion[365,530]{_ct=7, _c=1} dot.1[375,25]{OP, run_id=4}
  | pure_callback.2[410,400]{OP, run_id=4} ThreadpoolListener::Record[380,0]{_pt=15, _p=3} add.3[820,60]{OP, run_id=4}
  | ThreadpoolListener::StopRegion[895,0]
  tf_XLAEigen/6 | ThreadpoolListener::StartRegion[385,0]{_ct=15, _c=3} ThreadpoolListener::StopRegion[405,0]
"""


def test_on_the_cpu_ops_are_the_device_and_callbacks_are_not() -> None:
    host = draw.host(CPU.replace("\n  | ", " ").replace("OP", "hlo_op=op, hlo_module=jit_step, device_ordinal=0"))
    assert [work.name for work in device_work(host)] == ["CPU compute"]
    row = partition(host, np.array([10 * US]), np.array([900 * US]))[0, 0]
    found = {state.name.lower(): int(row[state]) / US for state in State if row[state]}
    # The op's shard goes on until 405; waiting for the program's end is over when the device is.
    expected = {"compute": 90, "input": 300, "callback": 400, "sync": 20, "launch": 40, "dispatch": 10, "python": 10}
    assert found == expected | {"between": 15, "latency": 5}


def test_the_frame_around_a_wait_that_is_recorded_as_its_begin_and_its_end_tells_it() -> None:
    """Neither mark lasts so long; without a frame the one that begins the wait tells it."""
    marks = "CommonPjRtBuffer::Await[20,1]{_pt=0, _p=9} CommonPjRtBuffer::Await[90,1]{_ct=0, _c=9}"
    for around, name in (("$array.py:615 _value[15,80]", "$array.py:615 _value"), ("", "CommonPjRtBuffer::Await")):
        host = draw.host(f"/host:CPU\n  python | {around} {marks}")
        did = activity(host)
        longest = int(np.argmax(did.end - did.begin))
        assert (did.state[longest], host.trace.name(int(did.event[longest]))) == (State.SYNC, name)


def test_between_two_steps_a_checkpoint_is_a_pause_from_its_preparation() -> None:
    text = """
    /host:CPU
      python | train[0,100]{_r=1} EagerLocalExecute: ReadVariableOp[120,10] EagerLocalExecute: SaveV2[150,50]
             | train[210,100]{_r=1} cuLaunchKernel[10,5]{c=1} cuLaunchKernel[230,5]{c=2}
    /device:GPU:0
      Stream #7 | gemm[20,80]{c=1} gemm[236,64]{c=2}
    """
    row = partition(draw.host(text), np.array([0]), np.array([300 * US]))[0, 0]
    assert row[State.PAUSE] == 100 * US
    assert row[State.UNRECORDED] == (10 + 30) * US


LAW = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
HOST_NAMES = ["$a.py:1 f", "$builtins next", "backend_compile", "cuStreamSynchronize", "PjitFunction(f)", "cuMemAlloc"]
times = some.tuples(some.integers(0, 60), some.integers(1, 25))
programs = some.fixed_dictionaries(
    {
        "threads": some.lists(some.lists(some.tuples(some.sampled_from(HOST_NAMES), times), max_size=8), max_size=2),
        "launches": some.lists(some.tuples(times, times, some.integers(0, 1)), max_size=8),
        "cuts": some.lists(some.integers(0, 100), min_size=2, max_size=5, unique=True),
    }
)


def simulated(program: dict[str, Any]) -> Any:
    """The drawn space: kernels begin after their launches do; streams may overlap."""
    rows = [" ".join(f"{name}[{b},{d}]" for name, (b, d) in thread) for thread in program["threads"]]
    rows = [*rows, "", ""][:2]
    streams: list[list[str]] = [[], []]
    for number, ((begin, lasts), (lag, takes), place) in enumerate(program["launches"], 1):
        rows[place] += f" cuLaunchKernel[{begin},{lasts}]{{c={number}}}"
        streams[place].append(f"gemm[{begin + lag},{takes}]{{c={number}}}")
    text = ["/host:CPU", *(f"  {name} | {row}" for name, row in zip(("python", "pool/3"), rows, strict=True) if row)]
    text += ["/device:GPU:0", *(f"  Stream #{i} | " + " ".join(each) for i, each in enumerate(streams, 1) if each)]
    return draw.space("\n".join(text))


def sums(drawn: Any, cuts: list[int]) -> Any:
    edges = np.sort(np.array(cuts, np.int64)) * US
    return partition(draw.decoded(drawn), edges[:-1], edges[1:])


@LAW
@given(programs)
def test_parts_sum_to_the_window_and_windows_add_up(program: dict[str, Any]) -> None:
    drawn = simulated(program)
    edges = np.sort(np.array(program["cuts"], np.int64)) * US
    found = sums(drawn, program["cuts"])
    assert (found >= 0).all()
    assert (found.sum(axis=2) == (edges[1:] - edges[:-1])[:, None]).all()
    whole = partition(draw.decoded(drawn), edges[:1], edges[-1:])
    np.testing.assert_array_equal(found.sum(axis=0), whole[0])
    covered = {m for (b, _), (lag, takes), _ in program["launches"] for m in range(b + lag, b + lag + takes)}
    busy = [moment for moment in covered if edges[0] <= moment * US < edges[-1]]
    assert int(whole[:, :, : State.COMPILE].sum()) == len(busy) * US


@LAW
@given(programs)
def test_moments_tile_the_capture(program: dict[str, Any]) -> None:
    host = draw.decoded(simulated(program))
    for each in moments(host):
        assert (each.begin[0], each.end[-1]) == host.window
        np.testing.assert_array_equal(each.begin[1:], each.end[:-1])
        assert (each.end > each.begin).all()


@LAW
@given(programs, some.randoms(use_true_random=False))
def test_the_order_of_streams_changes_nothing(program: dict[str, Any], dice: Any) -> None:
    drawn = simulated(program)
    before = sums(drawn, program["cuts"])
    for plane in drawn.planes:
        lines = list(plane.lines)
        dice.shuffle(lines)
        del plane.lines[:]
        plane.lines.extend(lines)
    if plane_order(drawn):
        np.testing.assert_array_equal(sums(drawn, program["cuts"]), before)


def plane_order(drawn: Any) -> bool:
    """Whether the order of lines tells nothing: which thread is the program's is told by its name."""
    return any(line.name == "python" for line in drawn.planes[0].lines)


@LAW
@given(programs)
def test_a_kernel_in_two_that_touch_is_the_same_work(program: dict[str, Any]) -> None:
    drawn = simulated(program)
    before = sums(drawn, program["cuts"])
    for line in drawn.planes[1].lines:
        for event in list(line.events):
            half = event.duration_ps // 2
            more = line.events.add()
            more.CopyFrom(event)
            more.offset_ps += half
            more.duration_ps -= half
            event.duration_ps = half
    np.testing.assert_array_equal(sums(drawn, program["cuts"]), before)


@LAW
@given(programs, times)
def test_another_event_takes_time_from_weaker_causes_only(program: dict[str, Any], times: tuple[int, int]) -> None:
    drawn = simulated(program)
    # Without any thread of Python the event would make one, and that the loop's.
    if not plane_order(drawn) or not program["threads"]:
        return
    before = sums(drawn, [0, 100]).sum(axis=(0, 1))
    more = draw.space(f"/host:CPU\n  python | backend_compile[{times[0]},{times[1]}]")
    line = next(line for line in drawn.planes[0].lines if line.name == "python")
    key = max(drawn.planes[0].event_metadata, default=0) + 1
    drawn.planes[0].event_metadata[key].id = key
    drawn.planes[0].event_metadata[key].name = "backend_compile"
    event = line.events.add()
    event.CopyFrom(more.planes[0].lines[0].events[0])
    event.metadata_id = key
    change = sums(drawn, [0, 100]).sum(axis=(0, 1)) - before
    assert change[State.COMPILE] >= 0
    assert (np.delete(change, [State.COMPILE, State.UNEXPLAINED, State.PYTHON, State.UNRECORDED]) <= 0).all()


@pytest.mark.parametrize("scale", [2, 3])
def test_parts_scale_with_time_below_the_thresholds(scale: int) -> None:
    spans: list[tuple[Span, Span]] = [((1, 2), (0.0, 0.5)), ((3, 4), (2.2, 2.5)), ((5, 6), (4.1, 4.6))]
    calls, work = kernels(*spans)
    once = parts(captured(("python", calls), devices=[[work]]), 6)
    stretched = [((b * scale, e * scale), (x * scale, y * scale)) for (b, e), (x, y) in spans]
    calls, work = kernels(*stretched)
    more = parts(captured(("python", calls), devices=[[work]]), 6 * scale)
    assert more == {name: pytest.approx(value * scale) for name, value in once.items()}
