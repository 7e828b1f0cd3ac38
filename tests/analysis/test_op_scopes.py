"""What TensorFlow computes is named by scopes where these tell more than types of ops; metrics have a remedy."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.model.host import HostWithSteps

NORMALIZE = "l2_normalize_1/Square:Square l2_normalize_1/Sum:Sum l2_normalize_1/Rsqrt:Rsqrt l2_normalize_1:Mul"
AUC = (
    "Greater:Greater LogicalNot:LogicalNot LogicalNot_1:LogicalNot Tile:Tile Tile_1:Tile Sum:Sum Cast:Cast "
    "LogicalAnd:LogicalAnd LogicalAnd_1:LogicalAnd LogicalAnd_2:LogicalAnd LogicalAnd_3:LogicalAnd"
)
ADAM = (
    "adam/UnsortedSegmentSum:UnsortedSegmentSum adam/Mul:Mul adam/Sub:Sub adam/Sqrt:Sqrt adam/Add:AddV2 "
    "adam/truediv:RealDiv adam/AssignAddVariableOp:AssignAddVariableOp adam/AssignSubVariableOp:AssignSubVariableOp"
)


def drawn(*parts: tuple[str, int], scope: str = "") -> HostWithSteps:
    """Five steps of 1 ms that run these ops, which share so many µs evenly."""
    ops, at = "", 1
    for names, time in parts:
        each = time // len(names.split())
        for name in names.split():
            ops, at = f"{ops} {scope}{name}[{at},{each}]", at + each
    return draw.host(f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[0,1] {ops}", steps=5)


def compute(host: HostWithSteps) -> Cause:
    return next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")


def test_a_scope_of_many_ops_is_what_computes() -> None:
    cause = compute(drawn((NORMALIZE, 600), ("MatMul:MatMul", 300)))
    assert cause.sentence.text.endswith("Mostly l2_normalize (67 %). Largest op: MatMul (33 %).")
    assert cause.remedy.text.startswith("Let XLA fuse elementwise ops")


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        ("model/attention_1/", "attention"),
        ("StatefulPartitionedCall/replica_1/model/attention/", "attention"),
        ("gradient_tape/model/attention_2/MatMul_1/", "attention"),
        ("model/lstm/while/body/_7/", "lstm"),
        ("model/attention/square/", "attention"),
        ("StatefulPartitionedCall/while/", ""),
        ("", ""),
    ],
)
def test_scopes_are_named_as_the_program_named_them(scope: str, name: str) -> None:
    scopes = host_account(drawn(("Square:Square Softmax:Softmax", 800), scope=scope)).scopes
    assert scopes.names == ([name] if name else [])
    assert scopes.of("attention").sum() == (5 * 800_000_000 if name == "attention" else 0)


@pytest.mark.parametrize(
    "parts",
    [
        [("dense/MatMul:MatMul", 500), ("dense/BiasAdd:BiasAdd", 100), ("Cast:Cast", 300)],
        [(NORMALIZE, 400), ("MatMul:MatMul", 180), ("Sub:Sub", 180), ("Tanh:Tanh", 180)],
    ],
    ids=["its largest op tells as much", "less than half of it"],
)
def test_otherwise_types_of_ops_are_named(parts: list[tuple[str, int]]) -> None:
    text = compute(drawn(*parts)).sentence.text
    assert "MatMul" in text and "dense" not in text and "l2_normalize" not in text


@pytest.mark.parametrize("scope", ["", "StatefulPartitionedCall/replica_1/"])
def test_metrics_that_compare_with_thresholds_are_for_validation(scope: str) -> None:
    host = drawn((AUC, 550), ("model/dense/MatMul:MatMul", 250), scope=scope)
    assert "compares_thresholds" in program_facts(host)
    cause = compute(host)
    assert "Mostly update_confusion_matrix_variables (69 %)" in cause.sentence.text
    assert "in validation only" in cause.remedy.text
    assert cause.gain_ps == 550_000_000


@pytest.mark.parametrize(
    ("names", "time"),
    [(AUC, 220), (AUC.replace("LogicalAnd_3:LogicalAnd", ""), 550), (AUC.replace("Tile_1:Tile", "x/Tile:Tile"), 550)],
    ids=["little of it", "less than a confusion matrix", "in several scopes"],
)
def test_other_comparisons_are_no_such_metrics(names: str, time: int) -> None:
    host = drawn((names, time), ("model/dense/MatMul:MatMul", 700 - time // 2))
    assert "compares_thresholds" not in program_facts(host)
    assert "in validation only" not in compute(host).remedy.text


@pytest.mark.parametrize(("length", "in_steps"), [(1000, True), (300, False)])
def test_metrics_of_validation_between_steps_are_where_they_belong(length: int, in_steps: bool) -> None:
    names = AUC.split()
    ops = " ".join(f"{name}[{320 + 50 * number},50]" for number, name in enumerate(names))
    steps = f"train[0,{length}]{{_r=1, step_num=s}} EagerExecute[0,1] model/dense/MatMul:MatMul[1,298]"
    host = draw.host(f"/host:CPU\n  python | {steps} {ops}", steps=5)
    assert ("compares_thresholds" in program_facts(host)) == in_steps


@pytest.mark.parametrize("scope", ["", "StatefulPartitionedCall/"])
def test_an_optimizer_that_changes_whole_tables(scope: str) -> None:
    host = drawn((ADAM, 560), ("model/dense/MatMul:MatMul", 240), scope=scope)
    assert "updates_tables" in program_facts(host)
    cause = compute(host)
    assert "plain SGD" in cause.remedy.text
    assert cause.gain_ps == 560_000_000


@pytest.mark.parametrize("scope", ["", "StatefulPartitionedCall/"])
def test_a_regularizer_has_gradients_of_whole_tables_too(scope: str) -> None:
    """Gradients of the rows looked up are added to them before the optimizer has either."""
    regularized = ADAM.replace("adam/Unsorted", "AddN_3/inputs_1:Unsorted").replace("1:UnsortedSegmentSum:", "1:")
    host = drawn((regularized, 560), ("model/dense/MatMul:MatMul", 240), scope=scope)
    assert {"updates_tables", "regularizes_tables"} & program_facts(host) == {"regularizes_tables"}
    cause = compute(host)
    assert cause.remedy.text.startswith("Regularize only the embeddings looked up")
    assert cause.gain_ps is None, "what the regularizer takes beside the optimizer is not known"


@pytest.mark.parametrize(("sums", "is_told"), [(100, True), (20, False)])
def test_a_regularizer_beside_an_optimizer_without_a_scope(sums: int, is_told: bool) -> None:
    """As in a loop of the program's own: what the optimizer changes is not known then."""
    own = " ".join(name.replace("adam/", "") for name in ADAM.split()[1:])
    host = drawn(("AddN/inputs_1:UnsortedSegmentSum", sums), (own, 560), ("model/dense/MatMul:MatMul", 240))
    assert ("regularizes_tables" in program_facts(host)) == is_told
    cause = compute(host)
    assert cause.remedy.text.startswith("Regularize only the embeddings looked up") == is_told
    assert cause.gain_ps is None


@pytest.mark.parametrize(
    "parts",
    [
        [(ADAM, 160), ("model/dense/MatMul:MatMul", 640)],
        [(ADAM.replace("adam/Unsorted", "gradient_tape/Unsorted"), 560)],
        [(ADAM.replace("AssignAdd", "Add").replace("AssignSub", "Sub"), 560)],
        [(ADAM.split()[0], 8), (ADAM.partition(" ")[2], 700)],
        [(ADAM.split()[0], 500), (ADAM.partition(" ")[2], 210)],
    ],
    ids=["little of the compute", "a gradient", "no variables", "mostly of other weights", "many rows"],
)
def test_other_sums_of_rows_are_no_update_of_whole_tables(parts: list[tuple[str, int]]) -> None:
    host = drawn(*parts)
    assert "updates_tables" not in program_facts(host)
    assert "plain SGD" not in compute(host).remedy.text


@pytest.mark.parametrize(
    ("read", "time", "copies"),
    [
        ("StatefulPartitionedCall/model/embedding_1/GatherV2/ReadVariableOp:ReadVariableOp", 300, True),
        ("model/embedding_1/GatherV2_2/ReadVariableOp_2:ReadVariableOp", 300, True),
        ("model/embedding_1/GatherV2/ReadVariableOp:ReadVariableOp", 100, False),
        ("model/dense/Cast/ReadVariableOp:ReadVariableOp", 300, False),
    ],
)
def test_lookups_that_copy_a_whole_table(read: str, time: int, copies: bool) -> None:
    host = drawn((read, time), ("model/dense/MatMul:MatMul", 400))
    assert ("copies_tables" in program_facts(host)) == copies
    assert ("in the tf.Variable itself" in compute(host).remedy.text) == copies


GRADIENTS = "gradient_tape/dense/MatMul/pfor/MatMul:MatMul gradient_tape/dense/TanhGrad/pfor/mul_1:Mul"


@pytest.mark.parametrize(
    ("mapped", "scope"),
    [("loop_body/AddN/pfor/AddN:AddN", "jacobian"), ("loop_body/dense/Tanh/pfor/Tanh:Tanh", "dense")],
    ids=["jacobian", "vectorized_map"],
)
def test_gradients_that_are_vectorized_are_a_jacobian(mapped: str, scope: str) -> None:
    """Unless they are those of a function that is vectorized itself."""
    host = drawn((GRADIENTS, 600), (mapped, 100), ("dense/MatMul:MatMul", 200))
    assert scope in host_account(host).scopes.names
    assert ("builds_jacobian" in program_facts(host)) == (scope == "jacobian")
    cause = compute(host)
    assert ("tape.gradient instead of tape.jacobian" in cause.remedy.text) == (scope == "jacobian")
    if scope == "jacobian":
        assert cause.gain_ps == 600 * 10**6
