"""Products of TensorFlow with one-hot vectors are lookups, which cost less; so does a part of what is sorted."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps


def lookups(
    product: str = "embed/MatMul:MatMul", one_hot: int = 100, each: int = 150, between: str = ""
) -> HostWithSteps:
    """Five steps of 1 ms: one-hot vectors, what comes next on their thread, a gradient of the product, and the rest."""
    name, kind = product.split(":")
    ops = f"embed/one_hot:OneHot[2,{one_hot}] {between} {product}[{one_hot + 20},{each}]"
    gradient = f"gradient_tape/{name}/MatMul_1:{kind}[400,{each}] dense/Relu:Relu[600,300]"
    return draw.host(
        f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[0,1] {ops} {gradient}", steps=5
    )


@pytest.mark.parametrize("product", ["embed/MatMul:MatMul", "matmul:_MklBatchMatMulV2", "embed/einsum/Einsum:Einsum"])
def test_products_with_one_hot_vectors_are_lookups(product: str) -> None:
    host = lookups(product)
    assert "multiplies_one_hot" in program_facts(host)
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert "tf.gather" in compute.remedy.text
    assert compute.gain_ps == 400 * 10**6


@pytest.mark.parametrize(
    "host",
    [
        lookups("embed/Sum:Sum"),
        lookups(one_hot=10),
        lookups(each=20),
        lookups(between="embed/Softmax:Softmax[105,10]"),
    ],
    ids=["no product", "labels beside the first layer", "little of the step", "of another op's result"],
)
def test_other_one_hot_vectors_have_another_use(host: HostWithSteps) -> None:
    assert "multiplies_one_hot" not in program_facts(host)


@pytest.mark.parametrize(
    ("op", "thread", "are_sorted"),
    [
        ("decode/argsort/TopKV2", "python", True),
        ("sort_1/TopKV2", "python", True),
        ("TopKV2", "python", False),
        ("argsort/TopKV2", "tf_data_private_threadpool", False),
    ],
)
def test_whole_rows_that_are_sorted_are_told(op: str, thread: str, are_sorted: bool) -> None:
    """Those of the model, not of its input."""
    sorts = f"{op}:TopKV2[20,800]" if thread == "python" else "x/MatMul:MatMul[20,800]"
    text = f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[0,1] {sorts}"
    text += "" if thread == "python" else f"\n  {thread} | Iterator::Root::Map[10,900] {op}:TopKV2[20,800]"
    host = draw.host(text, steps=5)
    assert ("sorts_rows" in program_facts(host)) == are_sorted
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert ("tf.math.top_k" in compute.remedy.text) == are_sorted
    assert compute.gain_ps == (800 * 10**6 if are_sorted else None)
