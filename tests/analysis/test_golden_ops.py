"""Ops on drawn traces whose figures the established plugin was observed to give.

Where this plugin gives another figure on purpose, the test says which row of docs/differences.md it is.
"""

from pathlib import Path
from typing import Any

import draw
import pytest
from figures import column, facts, ops, rows, steps

from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.model.names.op_names import parse


def test_b11_nothing_that_runs_is_lost() -> None:
    table = host_ops(
        draw.host(
            """
/host:CPU
  t | A:A[0,100] B:B[50,50] C:C[200,100] D:D[220,50] E:E[400,100] F:F[450,100] G:G[600,50] H:H[650,50]
"""
        )
    )
    # Observed: B and F missing, 300 µs idle. B ends with its parent, F overlaps E; both ran (O1).
    whole = {"A": (1, 100, 50), "B": (1, 50, 50), "C": (1, 100, 50), "D": (1, 50, 50)}
    assert ops(table) == whole | {"E": (1, 100, 50), "F": (1, 100, 100), "G": (1, 50, 50), "H": (1, 50, 50)}
    assert (table.busy_ps, table.window_ps) == (450_000_000, 700_000_000)


def test_b11_an_enclosing_op_is_not_lost_with_its_child() -> None:
    table = host_ops(draw.host("/host:CPU\n  t | X:X[0,1000] A:A[0,100] B:B[50,50] Y:Y[300,100]"))
    # Observed: only A and Y, 800 µs idle (O1).
    assert ops(table) == {"X": (1, 1000, 800), "A": (1, 100, 50), "B": (1, 50, 50), "Y": (1, 100, 100)}
    assert table.idle_ps == 0


PIPELINE = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} IteratorGetNextOp::DoCompute[10,200] x/MatMul:MatMul[300,300]
         | in/InfeedEnqueueTuple:InfeedEnqueueTuple[700,100]
  data   | Iterator::Root::Prefetch::TFRecord[0,100] Iterator::Root::Map::TFRecord[100,100]
         | Iterator::Root::Batch::Map[200,200] Iterator::Root::Foo::TextLine[210,50]
"""


def test_b12_an_input_pipeline(tmp_path: Path) -> None:
    session = draw.session(tmp_path, vm=draw.space(PIPELINE, steps=4))
    parts = {"host_compute": 300, "input": 300, "other": 300}
    assert steps(session.host("vm"))[0] == {"name": "train 0", "time": 900, **parts}
    answer = session.answer("input_pipeline_analyzer")
    judged = session.xprof("input_pipeline_analyzer")[1]["p"]["input_conclusion"]
    assert "HIGHLY" in judged and "33.3%" in judged
    # The enqueuing is beside no device's work, and no wait for input.
    assert column(answer, "steps", "input_share") == pytest.approx([1 / 3] * 4)
    assert column(answer, "steps", "rest_ms") == pytest.approx([0.6] * 4)
    assert facts(answer)["input_share_average"] == pytest.approx(1 / 3)
    assert facts(answer)["input_deviation_ms"] == 0
    names, *figures = (column(answer, "input_ops", name) for name in ("name", "self_ms", "self_share", "category"))
    found = dict(zip(names, map(list, zip(*figures, strict=True)), strict=True))
    expected = {
        "Iterator::Root::Batch::Map": [0.6, 0.3, "Preprocessing"],
        "Iterator::Root::Map::TFRecord": [0.4, 0.2, "Reading files on demand"],
        "Iterator::Root::Prefetch::TFRecord": [0.4, 0.2, "Reading files in advance"],
        "in/InfeedEnqueueTuple": [0.4, 0.2, "Enqueuing to the device"],
        "Iterator::Root::Foo::TextLine": [0.2, 0.1, "Reading files on demand"],
    }
    assert found == {name: pytest.approx(figures) for name, figures in expected.items()}
    shares = dict(zip(names, column(answer, "input_ops", "total_share"), strict=True))
    assert shares["Iterator::Root::Batch::Map"] == pytest.approx(0.4)
    assert work(answer) == {"demanded": 1.35, "advanced": 0.9, "preprocessing": 1.35, "enqueue": 0.4, "other": 0.0}
    assert facts(answer)["input_work_ms"] == pytest.approx(4)


def test_a_wait_for_input_between_steps_has_a_figure_of_its_own(tmp_path: Path) -> None:
    """Beside a headline that counts it."""
    asks = """
/host:CPU
  python | train[0,500]{_r=1, step_num=s} x/MatMul:MatMul[100,300] IteratorGetNextOp::DoCompute[510,300]
  data   | Iterator::Root::Batch::Map[0,200]
"""
    answer = draw.session(tmp_path, vm=draw.space(asks, steps=4, every=900)).answer("input_pipeline_analyzer")
    assert facts(answer)["input_average_ms"] == 0
    assert facts(answer)["input_between_average_ms"] == pytest.approx(0.3)
    assert "(300 of 900 µs)" in answer["headline"]["text"]


def work(answer: dict[str, Any]) -> dict[str, float]:
    """What the host does for input, in ms by kind."""
    times = zip(column(answer, "input_work", "work"), column(answer, "input_work", "time_ms"), strict=True)
    return {kind: round(ms, 9) for kind, ms in times}


def test_b13_ids_of_stages_and_of_names_are_two_things() -> None:
    host = draw.host(
        """
/host:CPU
  python | train[0,900]{_r=1, step_num=s}
         | NextBatch[10,300]{_ipl_stage_id=1, _ipl_stage_name=next, _ipl_stage_cat=preprocessing}
         | ReadIt[20,100]{_ipl_stage_id=2, _ipl_stage_name=read, _ipl_stage_cat=read}
""",
        steps=4,
    )
    # Observed: 8 occurrences and 4800 µs of NextBatch, because `train` happens to have the metadata id 1 (O2).
    assert ops(host_ops(host)) == {"NextBatch": (4, 1200, 800), "ReadIt": (4, 400, 400)}
    assert steps(host)[0]["input"] == 300


def test_b14_eager_ops() -> None:
    text = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} EagerExecute[5,90]{is_func=0} x/MatMul:MatMul[10,50]
"""
    table = host_ops(draw.host(text))
    assert [(op.name, op.eager) for op in table.ops] == [("x/MatMul", True)]
    assert table.eager_ps == table.self_ps == 50_000_000
    for compiled in ("is_func=1", "other=0"):
        assert host_ops(draw.host(text.replace("is_func=0", compiled))).eager_ps == 0


TWO_GPUS = """
/host:CPU
  python | train[0,900]{{_r=1, step_num=s}} Launch[10,1]{{c=0}} Launch[20,1]{{c=1}} Launch[30,1]{{c=2}}
/device:GPU:0 {{device_vendor=Nvidia, compute_cap_major=7}}
  Stream #13 | {a}[100,10]{{c=0, tf_op='d/MatMul:MatMul'}} {b}[110,20]{{c=1, tf_op='d/MatMul:MatMul'}}
/device:GPU:1 {{device_vendor=Nvidia, compute_cap_major=7}}
  Stream #13 | {a}[100,10]{{c=2, tf_op='d/MatMul:MatMul'}}
hostname: {name}
"""


def test_b16_hosts_with_gpus(tmp_path: Path) -> None:
    drawn = {name: draw.space(TWO_GPUS.format(a="sgemm", b="splitk", name=name), steps=4) for name in ("a", "b")}
    session = draw.session(tmp_path, **drawn)
    environment = facts(session.answer("overview_page"))
    assert [environment[name] for name in ("device_cores", "hosts", "tasks")] == [4, 2, 2]
    assert environment["device_type"] == "Nvidia GPU (Volta)"
    assert session.xprof("overview_page")[2]["p"]["task_count"] == "2 (num tasks per host = 1)"
    (row,) = rows(session.xprof("framework_op_stats")[1], "operation", "occurrences", "kernels", "total_time")[:1]
    # Observed: occurrences are the largest count of one kernel name. Ours: the op runs once per step and device (O4).
    assert row == ("d/MatMul", 16, 24, pytest.approx(2 * 4 * (10 + 20 + 10)))


HLO = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} Launch[10,1]{c=0} Launch[20,1]{c=1}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=9}
  Stream #13 | loop_k[100,30]{c=0, hlo_op=add_select_fusion, program_id=7, hlo_module=jit_f}
             | loop_k2[140,30]{c=1, hlo_op=add_select_fusion, program_id=7, hlo_module=jit_f}
"""
RELU = "fusion/kLoop gradient_tape/ReluGrad:ReluGrad"


def test_b17_hlo_ops_by_their_framework_op(tmp_path: Path) -> None:
    drawn = draw.program(draw.space(HLO, steps=3), 7, "jit_f", add_select_fusion=RELU)
    session = draw.session(tmp_path, vm=drawn)
    (op,) = device_ops(session.host("vm")).ops
    assert (op.name, op.type, op.category, op.module) == ("gradient_tape/ReluGrad", "ReluGrad", "loop fusion", "jit_f")
    # Observed: 6 occurrences, one per kernel. Ours: 3 executions of 2 kernels (O4).
    assert (op.occurrences, op.kernels, op.total_ps) == (3, 6, 180_000_000)
    assert facts(session.answer("overview_page"))["training"] is True
    assert session.xprof("framework_op_stats")[0]["p"]["task_type"] == "Training"


def test_b17_hlo_ops_without_their_program() -> None:
    # Observed: only IDLE (O3).
    (op,) = device_ops(draw.host(HLO, steps=3)).ops
    assert (op.name, op.module, op.total_ps, op.kernels) == ("add_select_fusion", "jit_f", 180_000_000, 6)


def test_b18_xla_ops_on_the_host() -> None:
    stat = "tf_op='jit(f)/jit(main)/dot_general:dot_general[dims=1]'"
    (op,) = host_ops(draw.host(f"/host:CPU\n  t | wrapped[0,10]{{{stat}}}")).ops
    assert (op.type, op.name) == ("dot_general", "jit(f)/jit(main)/dot_general")


def test_o6_xla_ops_on_the_host_without_a_framework_name() -> None:
    # Observed: only IDLE (O6).
    (op,) = host_ops(draw.host("/host:CPU\n  t | dot.3[0,10]{hlo_op=dot.3, hlo_module=jit_f, program_id=1}")).ops
    assert (op.name, op.module, op.total_ps) == ("dot.3", "jit_f", 10_000_000)


KINDS = {
    "Iterator::Root::ParallelInterleaveV4::TFRecord": "Reading files on demand",
    "Iterator::Root::InterleaveX::TFRecord": "Reading files in advance",
    "Iterator::Root::MemoryReaderX::TextLine": "Reading files in advance",
    "Iterator::A::ArrayRecord": "Reading files on demand",
    "Iterator::Root::TFRecordX": "Preprocessing",
    "MEMCPYHtoD": "Enqueuing to the device",
}


def test_b19_kinds_of_input_ops(tmp_path: Path) -> None:
    drawn = " ".join(f"{name}[{10 * i},5]" for i, name in enumerate(KINDS))
    stages = {"Unknown": "Unknown", "Enqueue": "Enqueue", "whatever": None}
    staged = " ".join(
        f"Stage{kind}[{100 + 10 * i},5]{{_ipl_stage_id={i}, _ipl_stage_name=x, _ipl_stage_cat={kind}}}"
        for i, kind in enumerate(stages)
    )
    session = draw.session(tmp_path, vm=draw.space(f"/host:CPU\n  t | {drawn} {staged}"))
    answer = session.answer("input_pipeline_analyzer")
    found = dict(zip(column(answer, "input_ops", "name"), column(answer, "input_ops", "category"), strict=True))
    assert found == KINDS | {"StageUnknown": "Unknown", "StageEnqueue": "Enqueuing to the device"}
    # Parts above and ops below are called the same; scripts of the existing plugin find its words.
    labels = {*column(answer, "input_work", "label")}
    assert {*KINDS.values()} <= labels
    old = session.xprof("input_pipeline_analyzer")[2]
    place = [head["id"] for head in old["cols"]].index("category")
    assert {row["c"][place]["v"] for row in old["rows"]} == {
        *("Demanded file read", "Advanced file read", "Preprocessing", "Enqueue", "Unknown")
    }


def test_b19_copies_on_the_host() -> None:
    host = draw.host("/host:CPU\n  t | train[0,900]{_r=1, step_num=s} MEMCPYHtoD[10,50] MEMCPYHtoH[300,40]")
    # Observed: the 40 µs between host buffers are in no column; ours are host compute (S13).
    assert steps(host) == [{"name": "train 0", "time": 900, "input": 50, "host_compute": 40, "other": 810}]


def test_b20_copies_without_an_enqueuing_op(tmp_path: Path) -> None:
    text = """
/host:CPU
  python | train[0,300]{_r=1, step_num=s} Launch[10,1]{c=0} Launch[12,1]{c=1}
  data   | Iterator::Root::Map[0,50]
/device:GPU:0
  Stream #13 | sgemm[20,100]{c=0}
  Stream #14 | MEMCPYHtoD[150,100]{c=1}
"""
    answer = draw.session(tmp_path, vm=draw.space(text, steps=2)).answer("input_pipeline_analyzer")
    # Observed: all five times are 0.000 although the table of ops has a row (I1).
    assert work(answer) == {"demanded": 0, "advanced": 0, "preprocessing": 0.1, "enqueue": 0, "other": 0}
    assert column(answer, "steps", "copies_ms")[0] == 0.1


def test_b21_tensor_cores(tmp_path: Path) -> None:
    text = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} Launch[10,1]{c=0} Launch[20,1]{c=1} Launch[30,1]{c=2}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=7}
  Stream #13 | volta_s884gemm[100,50]{c=0, hlo_op=dot.1, program_id=7} loop_k[160,10]{c=1, hlo_op=relu.1, program_id=7}
             | volta_h884gemm[200,30]{c=2, tf_op='d/MatMul:MatMul'}
"""
    products = {"dot.1": "dot gradient_tape/MatMul/MatMul:MatMul", "relu.1": RELU}
    drawn = draw.program(draw.space(text), 7, "jit_f", **products)
    session = draw.session(tmp_path, vm=drawn)
    answer = session.answer("overview_page")
    names = ("name", "tensor_core_eligible", "tensor_core_used")
    assert {*zip(*(column(answer, "top_ops", name) for name in names), strict=True)} == {
        ("gradient_tape/MatMul/MatMul", True, True),
        ("d/MatMul", True, True),
        ("gradient_tape/ReluGrad", False, False),
    }
    used = dict(rows(session.xprof("framework_op_stats")[1], "operation", "gpu_tensorcore_utilization"))
    assert used == {"gradient_tape/MatMul/MatMul": 1.0, "d/MatMul": 1.0, "gradient_tape/ReluGrad": 0.0}


@pytest.mark.parametrize(
    ("full", "category", "name", "kind"),
    [
        ("model/dense/MatMul:MatMul", "TensorFlow", "model/dense/MatMul", "MatMul"),
        ("model/MatMul_1:", "TensorFlow", "model/MatMul_1", "MatMul"),
        ("Iterator::Batch::Map", "TfData", "Iterator::Batch::Map", "Dataset"),
        ("jit(f)/dot_general:dot_general[dims=1]", "JAX", "jit(f)/dot_general", "dot_general"),
        ("MEMCPYHtoD", "Memcpy", "MEMCPYHtoD", "MemcpyHToD"),
        ("MemcpyH2D", "Unknown", "MemcpyH2D", ""),
        ("ThreadpoolListener::Record", "Unknown", "ThreadpoolListener::Record", ""),
        ("ExecutorState::Process", "Unknown", "ExecutorState::Process", ""),
        ("EagerLocalExecute: MatMul", "Unknown", "EagerLocalExecute: MatMul", ""),
        ("$file.py:12 f", "Unknown", "$file.py:12 f", ""),
    ],
)
def test_names_of_ops(full: str, category: str, name: str, kind: str) -> None:
    parsed = parse(full)
    assert (parsed.category, parsed.name, parsed.type) == (category, name, kind)


def test_ops_of_unknown_type_are_listed_by_their_names(tmp_path: Path) -> None:
    text = "/host:CPU\n  t | x[0,5]{hlo_op='dot.3', hlo_module=m} x[10,5]{hlo_op='dot.12', hlo_module=m} "
    text += "x[20,1]{hlo_op=copy-done, hlo_module=m}"
    answer = draw.session(tmp_path, vm=draw.space(text)).answer("framework_op_stats")
    assert column(answer, "types", "type") == ["dot", "copy-done"]
    assert "dot takes" in answer["headline"]["text"]
