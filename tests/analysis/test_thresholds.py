"""The classification at its boundaries, which are the established plugin's, and the sentences' figures."""

import draw
import pytest
from figures import judged

from tb_profile_plugin.analysis.steps.choice_names import TYPICAL
from tb_profile_plugin.analysis.steps.typical_times import typical_times
from tb_profile_plugin.compat.step_account.bottlenecks import Bottleneck
from tb_profile_plugin.model.host import HostWithSteps


def cpu(waiting: float, other: float) -> HostWithSteps:
    """A step of 1000 µs that waits, computes, and leaves a rest unexplained."""
    rest = 1000 - waiting - other
    text = f"train[0,1000]{{_r=1, step_num=s}} IteratorGetNext[0,{waiting}] work[{waiting},{rest}]"
    return draw.host(f"/host:CPU\n  python | {text}")


def gpu(kernel: str, share: float, launch: float = 0) -> HostWithSteps:
    """A step of 1000 µs, filled by kernels of 32-bit but for the share of another kernel, and for launching."""
    return draw.host(
        f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} Launch[0,{max(launch, 0.1)}]{{c=0}}
         | Launch[{max(launch, 0.1)},0.1]{{c=1}}
/device:GPU:0
  Stream #13 | sgemm[{launch},{1000 - launch - share}]{{c=0}} {kernel}[{1000 - share},{share}]{{c=1}}
"""
    )


@pytest.mark.parametrize(
    ("waiting", "other", "kind", "word", "figure"),
    [
        (200, 0, "high", "HIGHLY", "20.0%"),
        (199, 0, "moderate", "MODERATELY", "19.9%"),
        (50, 0, "moderate", "MODERATELY", "5.0%"),
        (49, 0, "no", "NOT", "4.9%"),
        (49, 30, "moderate", "POTENTIALLY", "3.0%"),
        (49, 29, "no", "NOT", "4.9%"),
        (0, 0, "no", "NOT", "0.0%"),
    ],
)
def test_input(waiting: float, other: float, kind: str, word: str, figure: str) -> None:
    found = judged(cpu(waiting, other))["input"]
    assert found.level == kind
    assert word in found.statement and figure in found.statement


@pytest.mark.parametrize(
    ("other", "kind"), [(29, "no"), (30, "moderate"), (149, "moderate"), (150, "high"), (700, "high")]
)
def test_all_others(other: float, kind: str) -> None:
    # With 20 % of input the unexplained time is not yet explained as potential input.
    found = judged(cpu(200, other))["other"]
    assert found.level == kind
    assert (f"{other / 10:.1f} %" in found.statement) == (kind != "no")


def test_unexplained_time_is_told_once() -> None:
    found = judged(cpu(0, 500))
    assert "POTENTIALLY" in found["input"].statement
    assert found["other"] == Bottleneck("no", "")


@pytest.mark.parametrize(("share", "kind"), [(29, "no"), (30, "moderate"), (149, "moderate"), (150, "high")])
def test_collectives(share: float, kind: str) -> None:
    found = judged(gpu("ncclAllReduce", share))["collectives"]
    assert found.level == kind
    assert (f"{share / 10:.1f} %" in found.statement) == (kind != "no")


@pytest.mark.parametrize(("launch", "kind"), [(29, "no"), (30, "moderate"), (149, "moderate"), (150, "high")])
def test_kernel_launch(launch: float, kind: str) -> None:
    found = judged(gpu("sgemm", 100, launch))["kernel_launch"]
    assert found.level == kind
    assert (f"{launch / 10:.1f} %" in found.statement) == (kind != "no")


def test_launching_competes_with_tf_data() -> None:
    host = gpu("sgemm", 100, 150)
    assert "TF_GPU_THREAD_MODE=gpu_private" in judged(host, uses_tf_data=True)["kernel_launch"].statement
    assert "TF_GPU" not in judged(host)["kernel_launch"].statement


@pytest.mark.parametrize(("share", "told"), [(99, "9.9%"), (100, "")])
def test_precision(share: float, told: str, tmp_path: object) -> None:
    host = gpu("volta_h884gemm", share)
    half, single, rest = typical_times([host], TYPICAL, replays=False).precision_shares
    assert (half, single, rest) == pytest.approx((share / 1000, 1 - share / 1000, 0))
    session = draw.session(tmp_path, vm=drawn(share))  # type: ignore[arg-type]
    statement = session.xprof("overview_page")[3]["p"]["precision_statement"]
    assert (told in statement) if told else not statement


def drawn(share: float) -> object:
    return draw.space(
        f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} Launch[0,1]{{c=0}} Launch[1,1]{{c=1}}
/device:GPU:0
  Stream #13 | sgemm[0,{1000 - share}]{{c=0}} volta_h884gemm[{1000 - share},{share}]{{c=1}}
"""
    )


def test_without_steps_nothing_is_claimed() -> None:
    found = judged(draw.host("/host:CPU\n  t | work[0,10]"))
    assert {each.level for each in found.values()} == {None}
    assert [part for part, each in found.items() if each.statement] == ["input"]
