"""Steps and their parts on drawn traces whose figures the established plugin was observed to give.

Where this plugin gives another figure on purpose, the test says which row of docs/differences.md it is.
"""

import draw
import pytest
from figures import judged, names, steps

LAUNCHES = " ".join(f"Launch[{i + 10},1]{{c={i}}}" for i in range(7))


def test_b1_what_devices_do_at_once_counts_once() -> None:
    host = draw.host(
        f"""
        /host:CPU
          python | train[1,900]{{_r=1, step_num=s}} {LAUNCHES}
        /device:GPU:0
          Stream #13 | gemm[100,100]{{c=0}} ncclX[320,100]{{c=1}} gemm[500,10]{{c=2, shape=(half[2])}}
          Stream #14 | MEMCPYHtoD[150,100]{{c=3}} MEMCPYDtoH[300,50]{{c=4}} halfgemm[410,20]{{c=5}}
          Stream #15 | MEMCPYDtoD[340,60]{{c=6}}
        """.replace("\n        ", "\n"),
        steps=4,
    )
    # The device's parts are as observed; the step is the marker's 900 µs, not the devices' 410 (S4), with what the
    # host does while they idle (S3), and a name like `gemm` tells no precision (S11).
    device = {"input": 50, "output": 50, "device_to_device": 50, "collectives": 10}
    compute = {"device_compute_16": 30, "device_compute_other": 100}
    first = {"name": "train 0", "time": 900, **device, **compute, "kernel_launch": 7, "other": 603}
    assert steps(host)[0] == first
    assert names(host) == ["train 0", "train 1", "train 2", "train 3"]


def test_b2_cuptis_copies_are_copies() -> None:
    host = draw.host(
        """
/host:CPU
  python | train[1,900]{_r=1, step_num=s} Launch[10,1]{c=0} Launch[11,1]{c=1} Launch[12,1]{c=2}
/device:GPU:0
  Stream #13 | volta_sgemm[200,100]{c=0} ncclKernel[310,50]{c=1}
  Stream #14 | MemcpyH2D[250,100]{c=2}
"""
    )
    # Observed: compute 150, input 0. The copy is input (S5) where the kernel does not hide it.
    parts = {"device_compute_32": 100, "collectives": 50, "input": 10, "kernel_launch": 3, "other": 737}
    assert steps(host) == [{"name": "train 0", "time": 900, **parts}]


FUNCTIONS = """
/host:CPU
  python | FunctionRun[0,20]{_r=1, _pt=2, _p=s, id=s}
  pool   | ExecutorState::Process[30,20]{_ct=2, _c=s} Launch[40,5]{c=1}
"""


def test_b3_function_calls_are_steps_where_nothing_is_marked() -> None:
    kernel = "/device:GPU:0\n  Stream #13 | volta_sgemm[50,70]{c=1}\n"
    host = draw.host(FUNCTIONS + kernel, steps=3)
    # Observed: 70 µs, the device's span; ours begins with the call (S4).
    assert steps(host)[1] == {"name": "1", "time": 120, "device_compute_32": 70, "kernel_launch": 20, "other": 30}
    assert names(host) == ["0", "1", "2"]


def test_b3_function_calls_are_steps_on_the_cpu_too() -> None:
    # Observed: no steps (S1).
    host = draw.host(FUNCTIONS, steps=3)
    assert host.steps.source == "functions"
    assert names(host) == ["0", "1", "2"]
    assert steps(host)[0] == {"name": "0", "time": 50, "host_compute": 20, "other": 30}


def test_b4_work_that_runs_on_counts_where_it_runs() -> None:
    host = draw.host(
        """
/host:CPU
  python | train[1,900]{_r=1, step_num=s} Launch[10,1]{c=0} Launch[11,1]{c=1}
/device:GPU:0
  Stream #13 | sgemm[100,50]{c=0} sgemm[300,10] sgemm[1200,50]{c=1}
""",
        steps=3,
    )
    # Observed: spans of 210, 110 and 50 µs over the kernels alone. Ours are the markers, on to the end of what they
    # launched or to the next marker (S4); each moment of the device counts for the step in which it lies.
    assert [step["time"] for step in steps(host)] == [1000, 1000, 1249]
    assert [step["device_compute_32"] for step in steps(host)] == [60, 110, 160]


MARKED = "/host:CPU\n  python | train[0,900]{_r=1, step_num=7+s} model/MatMul:MatMul[100,300]"
STEP = {"time": 900, "host_compute": 300, "other": 600}


@pytest.mark.parametrize("count", [1, 4, 5, 6, 7])
def test_b5_every_marker_is_a_step(count: int) -> None:
    host = draw.host(MARKED, steps=count)
    # Observed from 6 steps on: the first and the last are dropped without a word (S6).
    assert steps(host) == [{"name": f"train {7 + s}", **STEP} for s in range(count)]
    assert host.steps.complete.all()
    found = judged(host)["input"]
    assert found.level == "moderate"
    assert "POTENTIALLY" in found.statement and "66.7%" in found.statement


def test_b5_other_names_mark_as_well() -> None:
    host = draw.host(MARKED.replace("train", "my_step"), steps=2)
    assert steps(host) == [{"name": f"my_step {7 + s}", **STEP} for s in range(2)]


def test_b5_a_step_number_is_enough() -> None:
    # Observed: no steps (S1).
    host = draw.host(MARKED.replace("_r=1, ", ""), steps=2)
    assert host.steps.source == "numbers"
    assert steps(host) == [{"name": f"train {7 + s}", **STEP} for s in range(2)]


def test_b5_trace_contexts_are_markers() -> None:
    host = draw.host(MARKED.replace("train", "TraceContext").replace("_r=1, ", ""), steps=2)
    assert host.steps.source == "markers"
    assert steps(host) == [{"name": f"TraceContext {7 + s}", **STEP} for s in range(2)]


def test_b6_names_that_only_mark() -> None:
    host = draw.host(
        """
/host:CPU
  python | mystep[0,500]{_r=1, step_num=s} training_inner[10,450] work[20,100] test/thing[200,100]
"""
    )
    assert steps(host) == [{"name": "mystep 0", "time": 500, "host_compute": 200, "other": 300}]


def test_b7_what_a_step_leads_to_counts_until_it_ends() -> None:
    host = draw.host(
        """
/host:CPU
  python | train[0,500]{_r=1, step_num=s} prod[10,10]{_pt=0, _p=10s+3}
  other  | cons[400,300]{_ct=0, _c=10s+3}
""",
        steps=2,
    )
    assert steps(host)[0] == {"name": "train 0", "time": 500, "host_compute": 110, "other": 390}


def test_b8_the_higher_level_takes_the_lower_in() -> None:
    host = draw.host(
        """
/host:CPU
  python | ProcessBatch[0,900] train[10,400]{_r=1} inner_work[20,50] outer_only[600,100]
""",
        steps=2,
    )
    parts = {"time": 900, "host_compute": 150, "other": 750}
    assert steps(host) == [{"name": f"ProcessBatch {s}", **parts} for s in range(2)]


def test_b9_iterations_of_a_loop_are_steps() -> None:
    host = draw.host(
        """
/host:CPU
  pool   | ExecutorState::Process[10,50]{id=77, iter_num=s} Launch[20,5]{c=1}
/device:GPU:0
  Stream #13 | sgemm[100,200]{c=1}
""",
        steps=5,
    )
    assert host.steps.source == "loops"
    assert names(host) == ["0", "1", "2", "3", "4"]
    # Observed: 200 µs, the device's span; ours begins with the executor (S4).
    launch_and_wait = {"kernel_launch": 50, "other": 40}
    assert steps(host)[2] == {"name": "2", "time": 290, "device_compute_32": 200, **launch_and_wait}


def test_b9_a_marker_comes_before_a_loop() -> None:
    # Observed: the loop's iterations, whatever is marked (S15).
    loop = " ".join(f"ExecutorState::Process[{1000 * s + 10},50]{{id=77, iter_num={s}}}" for s in range(5))
    both = draw.host(f"/host:CPU\n  python | train[0,9000]{{_r=1, step_num=3}}\n  pool | {loop}")
    assert names(draw.host(f"/host:CPU\n  pool | {loop}")) == ["0", "1", "2", "3", "4"]
    assert names(both) == ["train 3"]


@pytest.mark.parametrize("name", ["ForOp", "WhileOp-EvalCond", "WhileOp-StartBody", "ParallelForOp", "ForeverOp"])
def test_b10_a_name_that_no_event_has_changes_nothing(name: str) -> None:
    drawn = draw.space(MARKED, steps=3)
    drawn.planes[0].event_metadata[99].name = name
    # Observed: no steps (S7).
    assert names(draw.decoded(drawn)) == ["train 7", "train 8", "train 9"]


def test_b10_knowing_group_ids_changes_nothing() -> None:
    drawn = draw.space(MARKED, steps=3)
    drawn.planes[0].stat_metadata[99].name = "group_id"
    # Observed: no steps (S8).
    assert names(draw.decoded(drawn)) == ["train 7", "train 8", "train 9"]


def test_b15_hosts_are_aligned_by_step_number() -> None:
    a = draw.host("/host:CPU\n  t | train[0,500]{_r=1, step_num=s} work[100,200]", steps=5, name="a")
    b = draw.host("/host:CPU\n  t | train[1050,900]{_r=1, step_num=1+s} work[1100,300]", steps=4, name="b")
    # Observed: four rows of host a alone. Ours has the slowest host of each step (S10).
    found = steps(a, b)
    assert [step["time"] for step in found] == [500, 900, 900, 900, 900]
    assert [step["name"] for step in found] == [f"train {s}" for s in range(5)]
    assert found[1] == {"name": "train 1", "time": 900, "host_compute": 300, "other": 600}
