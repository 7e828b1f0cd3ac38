"""Headlines are short, however long the names are that programs give."""

import re
from collections.abc import Iterator
from itertools import product

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.catalogue import LABELS, TEMPLATES, Sentence, joined
from tb_profile_plugin.analysis.diagnosis.headlines import headline
from tb_profile_plugin.analysis.diagnosis.program import facts
from tb_profile_plugin.analysis.diagnosis.time_loss import TimeLoss
from tb_profile_plugin.analysis.labels.event_names import display_name, short_name
from tb_profile_plugin.analysis.steps.typical_times import NamedTime, typical_times
from tb_profile_plugin.model.host import HostWithSteps

WORDS, LETTERS = 20, 210
LONG = (
    "void at::native::unrolled_kernel<{0}, std::array<char*, 3ul>>(int, {0}, std::array<char*, 3ul>)",
    "_ZN2at6native13unrolled_kernel{0}EvT_",
    "{0}_64x4_1x2_h_bz_coopA_bias_TNT",
    "my {0} step of the model with many words",
    "enumerate(DataLoader)#_{0}.__next__",
    "$train_{0}.py:1234 compute_{0}",
    "Memcpy HtoD (Pageable -> Device, {0})",
)
VARIANTS: dict[str, tuple[dict[str, object], ...]] = {
    "input": ({"stage": "Stage" * 40}, {"ready": True}, {"python": True}, {}),
    "sync": ({"count": 1228}, {"count": 1}),
    "pause": ({"parts": joined([Sentence("pause.checkpoint"), Sentence("pause.evaluation")])}, {}),
    "unusual_steps": tuple({"count": 50, "steps": 2000, "factor": "8.4", "every": every} for every in (0, 50)),
    "late_peer": ({"host": "worker-0.cluster." * 12, "label": Sentence("label.exposed_collective")},),
    "eager": ({"count": 1228},),
    "counted": ({"count": 1228},),
}
"""What the sentences of these causes say beside names."""


@pytest.fixture(scope="module", params=["/device:GPU:0\n  Stream #7 | gemm[500,400]{c=1}", ""], ids=["GPU", "CPU"])
def host(request: pytest.FixtureRequest) -> HostWithSteps:
    launch = "cuLaunchKernel[5,3]{c=1}" if request.param else "tf_op:MatMul[5,900]"
    rows = f"/host:CPU\n  python | train[0,900]{{_r=1, step_num=s}} {launch}"
    return draw.host(f"{request.param}\n{rows}", steps=6, every=46_900)


def losses(id: str, ps: float) -> Iterator[TimeLoss]:
    """With names of all forms and lengths, of which one, two or none are most of it."""
    for form, length in product(LONG, (30, 300)):
        names = [display_name(form.format(letter * length)) for letter in "AB"]
        for shares, arguments in product(((0.9, 0.1), (0.3, 0.3), (0.2, 0.1)), VARIANTS.get(id, ({},))):
            parts = zip(names, (ps * share for share in shares), strict=True)
            times = [NamedTime("python", *part, 1.0, 0.0, 0.0) for part in parts]
            yield TimeLoss(id, ps, times, arguments=arguments)


@pytest.mark.parametrize("id", [id for id in LABELS if id not in ("profiler", "host")])
def test_long_names_leave_headlines_short(id: str, host: HostWithSteps) -> None:
    typical = typical_times([host], "typical", False)
    for loss in losses(id, 0.8 * typical.period_ps):
        text = headline([loss], typical, [host]).sentence.text
        assert len(text.split()) <= WORDS and len(text) <= LETTERS, text


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("flip_filter<float>", "flip_filter<float>"),
        ("FmhaBwdDQDKDVKernel<BlockFmhaBwdDQDKDVPipeline, …>", "FmhaBwdDQDKDVKernel"),
        (
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)",
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        ),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "_MultiProcessingDataLoaderIter.__next__"),
        ("wait_until_finished (async_checkpointer.py:300)", "wait_until_finished (async_checkpointer.py:300)"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "_matmul_ogs_NNT_bf16xbf1…fp4_16x128x256x1_swiglu"),
        ("one two three four five six", "one two three … six"),
        ("a" * 63 + "…" + "b" * 16, "a" * 31 + "…" + "b" * 16),
        ("a" * 40 + "b" * 40, "a" * 24 + "…" + "b" * 23),
        ("", ""),
    ],
)
def test_what_tells_a_name_apart_stays(name: str, short: str) -> None:
    assert short_name(name) == short


def test_names_that_are_one_for_short_are_said_once() -> None:
    names = [f"unrolled_kernel<{'abc'[at] * 40}, …>" for at in range(2)]
    loss = TimeLoss("compute", 100.0, [NamedTime("compute", name, 40.0, 1.0, 0.0, 0.0) for name in names])
    assert re.search(r"mostly unrolled_kernel$", loss.headline_names()[0].text)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("step (program.py:19), in debug (logging/__init__.py:1477)", "step (program.py:19), in debug"),
        ("f (a.py:1), in g (b.py:2)", "f (a.py:1), in g (b.py:2)"),
    ],
)
def test_of_a_function_and_what_it_calls_the_place_of_the_first_stays(name: str, short: str) -> None:
    assert short_name(name) == short


@pytest.mark.parametrize(("count", "both"), [(3.0, 3.0), (0.6, 1.0), (0.2, 0.4)])
def test_a_call_that_is_in_several_states_is_counted_once(count: float, both: float) -> None:
    states = ("dispatch", 40.0), ("sync", 30.0)
    loss = TimeLoss("between_steps", 100.0, [NamedTime(state, "predict", 0.0, 0.0, ps, count) for state, ps in states])
    assert loss.by_name() == [("predict", 70.0, both)]


@pytest.mark.parametrize("fact", [fact for fact in vars(facts).values() if f"mostly.{fact}" in TEMPLATES])
def test_headlines_of_work_that_need_not_be_are_short(fact: str, host: HostWithSteps) -> None:
    typical = typical_times([host], "typical", False)
    loss = TimeLoss("compute", 0.8 * typical.period_ps, [NamedTime("compute", "aten::mm", 9.0, 1.0, 0.0, 0.0)])
    text = headline([loss], typical, [host], fact).sentence.text
    assert TEMPLATES[f"mostly.{fact}"] in text and len(text.split()) <= WORDS, text
