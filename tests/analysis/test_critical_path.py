"""What a window waited for, and what it would last without that; times in µs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from idle_draw import START, US, Span, captured, events, kernels

from tb_profile_plugin.analysis.activity.replay.critical_path import Path, critical_path
from tb_profile_plugin.analysis.activity.replay.cycle import Change, cycle, repeated
from tb_profile_plugin.analysis.activity.replay.dag import Dag, sorted_dag
from tb_profile_plugin.analysis.activity.replay.graph import Graph, graph
from tb_profile_plugin.analysis.activity.replay.replay import Scenario, replays
from tb_profile_plugin.analysis.activity.states import HOST_CAUSES, State
from tb_profile_plugin.model.host import HostWithSteps


def graph_of(host: HostWithSteps) -> Graph:
    found = graph(host)
    assert found
    return found


def path_of(host: HostWithSteps, end: float) -> Path:
    return critical_path(graph_of(host), START * US, round((START + end) * US))


def spent(host: HostWithSteps, end: float) -> dict[str, float]:
    """µs of the path by state."""
    ps = path_of(host, end).ps()
    return {state.name.lower(): int(ps[state]) / US for state in State if ps[state]}


def lengths(host: HostWithSteps, *edges: int, **change: Any) -> list[float]:
    """ps, of the windows between the edges, in the long run."""
    (found,) = replays(host, graph_of(host), np.array(edges), len(edges) - 1, [Scenario(**change)])
    answer: list[float] = found.window_ps.tolist()
    return answer


def lasts(host: HostWithSteps, end: float, **change: Any) -> float:
    return lengths(host, START * US, round((START + end) * US), **change)[0] / US


def named(host: HostWithSteps, name: str) -> Any:
    return host.trace.events_named(name.__eq__)


def test_m16_a_path_over_host_and_device() -> None:
    calls, work = kernels(((4, 50), (0, 2)), name="k1")
    more, other = kernels(((50, 80), (2, 4)), name="k2", first=2)
    work += other.partition("|")[2]
    host = captured(("python", f"{calls} {more}" + events(" cuStreamSynchronize", (4, 82))), devices=[[work]])
    assert spent(host, 82) == {"compute": 76, "launch": 2, "latency": 2, "sync": 2}
    assert lasts(host, 82) == 82
    assert lasts(host, 82, events=named(host, "k1"), factor=0.5) == 59
    assert path_of(host, 82).switches(graph_of(host)) == 2


def test_m17_the_next_bottleneck_binds() -> None:
    calls, work = kernels(((3, 45), (0, 2)), name="k1")
    more, other = kernels(((45, 60), (40, 42)), name="k2", first=2)
    frames = events(" $train.py:1 loop", (-START, 60))
    host = captured(("python", f"{frames} {calls} {more}"), devices=[[work + other.partition("|")[2]]])
    assert lasts(host, 60) == 60
    # Nothing waits for the device: the host takes 60 each time, whatever that does.
    assert lasts(host, 60, events=named(host, "k1"), factor=0.5) == 60
    assert lasts(host, 60, without=[State.PYTHON]) == 57


def test_m18_bound_by_launches_no_kernel_matters() -> None:
    calls, work = kernels(((8, 10), (0, 5)), ((28, 30), (20, 25)), ((48, 50), (40, 45)))
    host = captured(("python", events("$train.py:1 loop", (-START, 50)) + " " + calls), devices=[[work]])
    assert lasts(host, 50, events=named(host, "gemm"), factor=0.5) == 50
    assert lasts(host, 50, without=[State.LAUNCH, State.LATENCY]) == 35
    assert lasts(host, 50, without=[State.PYTHON]) == 15
    assert spent(host, 50) == {"compute": 2, "launch": 15, "python": 30, "latency": 3}


def test_m19_the_producer_is_on_the_path() -> None:
    worker = f"Iterator::Map[{START},28] Record[{START + 28},0]{{_pt=15, _p=4}}"
    calls, work = kernels(((35, 60), (30, 33)))
    taken = f" get[{START + 30},0]{{_ct=15, _c=4}} "
    host = captured(("python", taken + calls), ("tf_data_1/5", worker), devices=[[work]])
    assert spent(host, 60) == {"compute": 25, "input": 28, "launch": 3, "dispatch": 2, "latency": 2}
    # Done again and again, the producer works on the next batch meanwhile.
    assert lasts(host, 60) == 32
    assert lasts(host, 60, without=[State.INPUT]) == 32


def made_of(begin: Any, end: Any, edges: list[tuple[int, int, int]]) -> tuple[Dag, Any, int]:
    """As `sorted_dag`, of edges (source, target, least)."""
    mine = [[(source, least) for source, target, least in edges if target == v] for v in range(len(begin))]
    most = max(map(len, mine), default=0)
    waits, least = np.full((len(begin), most), -1, np.int32), np.zeros((len(begin), most), np.int64)
    for v, each in enumerate(mine):
        for c, (source, ps) in enumerate(each):
            waits[v, c], least[v, c] = source, ps
    return sorted_dag(begin, end, waits, np.arange(len(begin), dtype=np.int32), least)


def replayed(dag: Dag, durations: Any) -> tuple[Any, Any]:
    """(begin, end) with these durations."""
    numbers = np.arange(len(dag.begin), dtype=np.int32)
    none = np.empty((0, 2), np.int64)
    once = cycle(dag, numbers, np.zeros(len(dag.begin), bool), numbers, 0, none)
    once = once._replace(activities=once.activities._replace(duration=durations))
    nothing = np.zeros(len(dag.begin), np.int64)
    (ends,) = repeated(once, Change(nothing, nothing, False), len(dag.begin), 1)
    return ends - durations, ends


def dag_of(spans: list[Span], edges: list[tuple[int, int]], least: float = 0) -> Dag:
    begin = np.array([round(b * US) for b, _ in spans])
    end = np.array([round(e * US) for _, e in spans])
    dag, order, violations = made_of(begin, end, [(*edge, round(least * US)) for edge in edges])
    assert order.tolist() == list(range(len(spans)))
    assert violations == 0
    return dag


def ends(dag: Dag, **factors: float) -> float:
    """When everything ends if activities, by number, take so many times their time."""
    duration = dag.end - dag.begin
    for name, factor in factors.items():
        duration[int(name[1:])] = round(int(duration[int(name[1:])]) * factor)
    return int(replayed(dag, duration)[1].max()) / US


def test_m20_what_is_not_waited_for_may_take_longer() -> None:
    # a, c, b, d
    dag = dag_of([(0, 10), (10, 18), (10, 30), (30, 40)], [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert [ends(dag, b2=0.5), ends(dag, b2=0), ends(dag, c1=2.5), ends(dag, c1=3)] == [30, 28, 40, 44]


@pytest.mark.parametrize(("least", "without"), [(0, 78), (2, 80)])
def test_m22_an_exposed_collective(least: float, without: float) -> None:
    spans: list[Span] = [(0, 30), (30, 50), (50, 70), (50, 90), (92, 100)]
    # f, b1, b2, all-reduce, optimizer
    dag = dag_of(spans, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)], least)
    assert int(dag.binding[4]) == 3
    assert [ends(dag, a3=0.5), ends(dag, a3=0)] == [80, without]


def test_edges_against_time_are_dropped_and_counted() -> None:
    begin, end = np.array([0, 5]), np.array([10, 20])
    dag, _, violations = made_of(begin, end, [(0, 1, 0)])
    assert (violations, dag.binding.tolist()) == (1, [-1, -1])


def test_without_a_device_there_is_no_graph() -> None:
    assert graph(captured(("python", "train[0,90]{_r=1}"), devices=[[]])) is None


def test_times_beyond_any_capture_make_no_graph() -> None:
    calls, work = kernels(((4, 50), (0, 2)))
    far = f" later[{5 * 10**12},1]"
    assert graph(captured(("python", calls + far), devices=[[work]])) is None


LAW = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], derandomize=True)

simulations = some.lists(
    some.tuples(some.integers(0, 30), some.lists(some.integers(0, 50), max_size=3), some.integers(0, 5)),
    min_size=1,
    max_size=14,
)
"""Activities: how long they take, which earlier ones they wait for, and how long after these they begin.

A lag of one wait alone would be another law: of what ended at once a record does not tell which one was waited for.
"""


def simulated(program: list[Any], durations: list[int]) -> tuple[list[int], list[int]]:
    begin: list[int] = []
    end: list[int] = []
    for place, (_, waits, lag) in enumerate(program):
        at = max((end[earlier % place] + lag for earlier in waits), default=0) if place else 0
        begin.append(at)
        end.append(at + durations[place])
    return begin, end


def recorded(program: list[Any]) -> tuple[Dag, Any]:
    """The graph of what the simulation records, and the order of its activities; lags are what the machine takes."""
    durations = [takes for takes, _, _ in program]
    begin, end = simulated(program, durations)
    edges = [(earlier % v, v, lag) for v, (_, waits, lag) in enumerate(program) if v for earlier in waits]
    dag, order, violations = made_of(np.array(begin), np.array(end), edges)
    # Activities that take no time may stand in any order where they meet.
    return (dag, order) if not violations else (dag, None)


@LAW
@given(simulations, some.data())
def test_a_replay_is_the_simulation_with_other_times(program: list[Any], data: Any) -> None:
    dag, order = recorded(program)
    if order is None:
        return
    np.testing.assert_array_equal(replayed(dag, dag.end - dag.begin), (dag.begin, dag.end))
    others = [data.draw(some.integers(0, 40)) for _ in program]
    expected = simulated(program, others)
    found = replayed(dag, np.array(others, np.int64)[order])
    np.testing.assert_array_equal(found, np.array(expected)[:, order])


@LAW
@given(simulations, some.integers(0, 13), some.integers(0, 20))
def test_shrinking_never_lengthens(program: list[Any], which: int, less: int) -> None:
    dag, order = recorded(program)
    if order is None:
        return
    shorter = dag.end - dag.begin
    shorter[which % len(dag.begin)] = max(0, int(shorter[which % len(dag.begin)]) - less)
    assert (replayed(dag, shorter)[1] <= dag.end).all()


programs = some.lists(
    some.tuples(
        some.sampled_from(["$a.py:1 f", "$builtins next", "backend_compile", "PjitFunction(f)", "launch", "wait"]),
        some.integers(1, 20),
        some.integers(1, 25),
        some.integers(0, 1),
    ),
    min_size=2,
    max_size=14,
)


def run(program: list[Any]) -> HostWithSteps:
    """A thread that does one thing after another, and a GPU of two streams that works off what it launches."""
    row, streams, free, at, number = "", ["", ""], [0, 0], 0, 0
    for name, takes, kernel, place in program:
        if name == "launch":
            number += 1
            row += f" cuLaunchKernel[{START + at},{takes}]{{c={number}}}"
            begin = max(free[place], at + takes + 1)
            streams[place] += f" gemm[{START + begin},{kernel}]{{c={number}}}"
            free[place] = begin + kernel
        elif name == "wait":
            takes = max(takes, max(free) + 1 - at)
            row += f" cuStreamSynchronize[{START + at},{takes}]"
        else:
            row += f" {name}[{START + at},{takes}]"
        at += takes
    lines = [f"  Stream #{i} | {each}" for i, each in enumerate(streams, 1) if each]
    return captured(("python", row), devices=[lines or ["  Stream #1 | gemm[90,5]"]])


@LAW
@given(programs, some.integers(1, 60), some.integers(61, 160))
def test_paths_tile(program: list[Any], begin: int, end: int) -> None:
    host = run(program)
    found = graph_of(host)
    low, high = host.window
    for a, b in ((low, high), (START * US + begin * US, START * US + end * US)):
        path = critical_path(found, a, b)
        assert (path.begin[0], path.end[-1]) == (a, b)
        np.testing.assert_array_equal(path.begin[1:], path.end[:-1])
        assert (path.end > path.begin).all()
        assert int(path.ps().sum()) == b - a


@LAW
@given(programs, some.sampled_from(HOST_CAUSES))
def test_less_of_a_cause_never_takes_longer_and_gains_at_most_that(program: list[Any], cause: State) -> None:
    host = run(program)
    late = [state for state in HOST_CAUSES if state != State.SYNC]
    whole, less, least = (lengths(host, *host.window, without=gone)[0] for gone in ((), [cause], [*late, cause]))
    assert least <= less <= whole


@LAW
@given(programs)
def test_a_faster_op_gains_at_most_its_time(program: list[Any]) -> None:
    host = run(program)
    gemms = named(host, "gemm")
    gemms = gemms[host.trace.on_device[gemms]]
    took = int((host.trace.end - host.trace.begin)[gemms].sum())
    whole = lengths(host, *host.window)[0]
    gains = []
    for factor in (0.75, 0.5, 0.25):
        gains.append(whole - lengths(host, *host.window, events=gemms, factor=factor)[0])
        assert gains[-1] <= (1 - factor) * took + len(gemms)
    assert gains == sorted(gains)
