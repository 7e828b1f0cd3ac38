"""Workers and their devices beside one another in a typical step, and two of them name by name."""

from pathlib import Path

import draw
import pytest
from analysis.test_lateness import LATE_US, NEXT, ranks, waits_for_input
from figures import column, facts

import tb_profile_plugin
from tb_profile_plugin.analysis.activity.communication import thread_collectives
from tb_profile_plugin.analysis.activity.states import CATEGORIES, State
from tb_profile_plugin.analysis.workers.late_peers import late_peers
from tb_profile_plugin.analysis.workers.lateness import late_workers
from tb_profile_plugin.analysis.workers.matrix import differences, matrix
from tb_profile_plugin.analysis.workers.pod_steps import median_step, pod_steps
from tb_profile_plugin.model.profiler_options import one_op_of
from tb_profile_plugin.tools import get

TWO_WORKERS = Path(__file__).parents[1] / "traces" / "two_workers"


def test_workers_stand_by_lateness_and_their_parts_sum_to_the_step() -> None:
    hosts = ranks(lambda rank, step: rank == 1, waits_for_input)
    peers = late_peers(hosts)
    assert peers is not None
    steps = pod_steps(hosts)
    step = median_step(steps, [""] * len(steps))
    rows = matrix(hosts, step, late_workers(hosts, peers).workers)
    assert rows[0].name == "rank 1" and len(rows) == 3
    by_host = {worker.host: worker.total_ps for worker in step.workers}
    assert all(int(row.category_ps.sum()) == by_host[row.host] for row in rows)
    waits = [category.id for category in CATEGORIES].index("input")
    assert rows[0].category_ps[waits] - rows[1].category_ps[waits] == pytest.approx(LATE_US * 1e6)


def test_two_workers_differ_in_what_one_does_more_and_what_the_other_waits() -> None:
    hosts = ranks(lambda rank, step: rank == 0, waits_for_input)
    late, other, _ = matrix(hosts, pod_steps(hosts)[0], [])
    rows = differences(hosts, pod_steps(hosts)[0].number, (late, other))
    by_key = {(row.state, row.name): row.ps - row.compared_ps for row in rows}
    assert by_key[State.INPUT, NEXT] == pytest.approx(LATE_US * 1e6, rel=0.01)
    assert {row.state for row in rows[:2]} == {State.INPUT, State.EXPOSED_COLLECTIVE}
    # All that one does is somewhere: both sum to the step.
    assert sum(row.ps for row in rows) == late.category_ps.sum()
    assert sum(row.compared_ps for row in rows) == other.category_ps.sum()


def test_a_host_of_several_devices_has_a_row_for_each(tmp_path: Path) -> None:
    text = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s}
/device:GPU:0
  Stream #7 | gemm[100,200]{kernel_details='regs:8'}
/device:GPU:1
  Stream #7 | gemm[100,600]{kernel_details='regs:8'}
"""
    answer = draw.session(tmp_path, host=draw.space(text, steps=4, every=1000)).answer("pod_viewer")
    assert column(answer, "matrix", "device") == ["/device:GPU:1", "/device:GPU:0"]
    assert column(answer, "matrix", "compute_ms") == pytest.approx([0.6, 0.2])
    assert column(answer, "matrix", "total_ms") == pytest.approx([1.0, 1.0])
    assert column(answer, "matrix", "worker") == ["host GPU:1", "host GPU:0"]
    assert column(answer, "workers", "worker") == ["host"] * 4, "they do not wait for one another"
    assert column(answer, "differences", "delta_ms")[0] == pytest.approx(0.4)


def test_any_two_workers_are_compared_on_demand() -> None:
    session = tb_profile_plugin.open(TWO_WORKERS / "plugins" / "profile" / "run")
    late = session.answer("pod_viewer")
    assert (facts(late)["worker"], facts(late)["other"]) == ("worker-1", "worker-0")
    turned = session.answer("pod_viewer", worker="worker-0", other="worker-1")
    key = [column(each, "differences", "state") for each in (late, turned)]
    more = [column(each, "differences", "delta_ms") for each in (late, turned)]
    assert sorted(key[0]) == sorted(key[1]) and sorted(more[0]) == pytest.approx(sorted(-ms for ms in more[1]))


def test_hosts_are_asked_the_same_by_both_pages_about_workers() -> None:
    """So that those that do not fit into memory are decoded once."""
    pod, communication = (get(name) for name in ("pod_viewer", "communication"))
    assert set(pod.needs) == set(communication.needs) > {one_op_of, thread_collectives}
