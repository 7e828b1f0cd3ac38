"""The diagnosis: everything adds up, the largest fact leads, and all pages say the same."""

import re
import string
from collections.abc import Sequence
from pathlib import Path

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.activity.states import STATES
from tb_profile_plugin.analysis.diagnosis.catalogue import LABELS, TEMPLATES, Sentence
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.labels.device_timeline import timeline
from tb_profile_plugin.export.report.why import as_json
from tb_profile_plugin.runtime.messages import translated, use_language

TRACES = Path(__file__).resolve().parent.parent / "traces"
CAPTURES = sorted({path.parent for path in TRACES.rglob("*.xplane.pb")})
CAUSES = {*STATES, "retrace", "eager", "between_steps", "warmup", "unusual_steps", "late_peer", "not_recorded"}
CAUSES |= {"cpu_ops", "thread_wait", "event_wait", "start_up", "counted", "pauses", "evaluation"}
WORK = "x/MatMul:MatMul"


def loop(step: str, count: int = 6, every: int = 100) -> Diagnosis:
    """Of a program whose thread does this in each step of so many µs."""
    return diagnose([draw.host(f"/host:CPU\n  python | train[0,{every}]{{_r=1}} {step}", steps=count, every=every)])


def told(found: Diagnosis) -> tuple[str, list[str]]:
    return found.headline.sentence.id, [cause.id for cause in found.causes]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.parts[-4] if path.name == "run" else path.name)
def test_all_pages_of_a_capture_say_the_same(capture: Path) -> None:
    session = tb_profile_plugin.open(capture)
    why, overview = session.answer("why"), session.answer("overview_page")
    assert overview["headline"] == why["headline"] | {"tool": "why"}
    found = as_json(why)
    parts_ps = sum(part["ps"] for part in found["accounting"]["parts"] if part["id"] != "profiler")
    assert round(parts_ps / len(session.hosts)) == found["accounting"]["window_ps"]
    for host in session.select(""):
        line = timeline(host)
        assert (line.begin[1:] == line.end[:-1]).all()
        assert (int(line.begin[0]), int(line.end[-1])) == host.window
    ranked = [cause["id"] for cause in found["causes"]]
    assert len(set(ranked)) == len(ranked)
    assert not (found["headline"]["level"] == "ok" and ranked and ranked[0] != "compute")
    step = {column["id"]: column["values"] for column in why["tables"]["step"]["columns"]}
    period = found["steps"]["period_ps"]
    assert period is None or abs(sum(step["time_ps"]) - period) <= len(step["id"])
    said = session.answer("input_pipeline_analyzer")["headline"]["text"]
    waits = 0 if said == "Nothing waits for input." else re.findall(r"([\d.]+) %", said)[0]
    by_state = dict(zip(step["id"], step["share"], strict=True))
    assert abs(float(waits) - 100 * by_state.get("input", 0.0)) <= 1


@pytest.mark.parametrize(
    ("step", "headline", "causes"),
    [
        (f"{WORK}[2,97]", "headline.cpu_compute", ["compute"]),
        (f"IteratorGetNext[0.5,61] {WORK}[61.5,38]", "headline.input", ["input", "compute"]),
        (f"backend_compile[0.5,61] {WORK}[61.5,38]", "headline.compile", ["compile", "compute"]),
        (f"tf.function-graph_building[0.5,61] {WORK}[61.5,38]", "headline.retrace", ["retrace", "compute"]),
        (f"$time sleep[0.5,61] {WORK}[61.5,38]", "headline.python", ["python", "compute"]),
        (f"SaveV2:SaveV2[0.5,61] {WORK}[61.5,38]", "headline.pause", ["pause", "compute"]),
    ],
)
def test_the_largest_loss_leads(step: str, headline: str, causes: list[str]) -> None:
    found = loop(step)
    code, ids = told(found)
    assert (code, ids[: len(causes)]) == (headline, causes)
    assert abs(found.typical.period_ps - 100e6) < 1


def test_what_waits_between_steps_is_helped_as_that_wait() -> None:
    text = f"train[0,100]{{_r=1}} {WORK}[1,98] $serve.py:7 serve[101,98] $selectors.py:468 select[102,95]"
    step = f"/host:CPU\n  python | {text}"
    found = diagnose([draw.host(step, steps=6, every=200)])
    assert found.causes[0].id == "between_steps" and "Overlap this wait" in found.causes[0].remedy.text


def test_time_between_steps_is_told_by_what_runs_there() -> None:
    text = f"/host:CPU\n  python | train[0,30]{{_r=1}} {WORK}[0.5,29] $time sleep[30,70]"
    found = diagnose([draw.host(text, steps=6, every=100)])
    assert told(found) == ("headline.between_steps", ["between_steps", "compute"])
    assert "time.sleep (70.0 µs per step)" in found.causes[0].sentence.text
    assert {part.phase for part in found.accounting} >= {"steps", "between"}


def test_evidence_of_what_was_not_recorded_names_no_event() -> None:
    text = f"/host:CPU\n  python | train[0,30]{{_r=1}} {WORK}[0.5,29] Small[50,1]"
    found = diagnose([draw.host(text, steps=6, every=100)])
    cause = found.causes[0]
    assert (cause.id, cause.sentence.text.rpartition(". ")[2][:20]) == ("between_steps", "Nothing was recorded")
    assert cause.evidence and all(interval.event < 0 and not interval.name for interval in cause.evidence)


def test_time_of_which_nothing_was_recorded_is_told_as_such() -> None:
    text = f"/host:CPU\n  python | train[0,30]{{_r=1}} {WORK}[0.5,29]"
    found = diagnose([draw.host(text, steps=6, every=100)])
    assert told(found)[0] == "headline.between_steps"
    assert "No step runs for 70 %" in found.headline.sentence.text
    assert "Record calls" in found.causes[0].remedy.text


def test_every_tenth_step_is_unusual_and_what_made_it_so_is_named() -> None:
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{1000 * i},{900 if i % 10 == 9 else 100}]{{_r=1, step_num={i}}} {WORK}[{1000 * i + 1},98]"
        + (f" $slow.py:3 save[{1000 * i + 100},790]" if i % 10 == 9 else "")
        for i in range(30)
    )
    found = diagnose([draw.host(text, steps=1)])
    assert [each.step_index for each in found.unusual] == [9, 19, 29]
    assert {each.name for each in found.unusual} == {"save (slow.py:3)"}
    unusual = next(cause for cause in found.causes if cause.id == "unusual_steps")
    assert "every 10 steps" in unusual.sentence.text


def test_what_made_a_step_unusual_is_said_in_its_language() -> None:
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{1000 * i},{900 if i == 9 else 100}]{{_r=1, step_num={i}}} {WORK}[{1000 * i + 1},98]" for i in range(20)
    )
    why = diagnose([draw.host(text, steps=1)]).unusual[0].why.text
    assert "Nothing recorded takes" in why
    with use_language("ko"):
        assert "기록 없음" in translated(why)


def test_the_host_that_comes_last_is_named() -> None:
    """One host sleeps, the other waits for it in the all-reduce."""
    waits = f"{WORK}[1,19] CollectiveReduceV2:CollectiveReduceV2[20,75]"
    sleeps = f"{WORK}[1,19] $time sleep[20,60] CollectiveReduceV2:CollectiveReduceV2[80,15]"
    hosts = [
        draw.host(
            f"/host:CPU\n  python | train[0,100]{{_r=1, step_num=s}} $train.py:1 f[0,1] {text}",
            steps=6,
            every=100,
            name=name,
        )
        for name, text in (("worker-0", waits), ("worker-1", sleeps))
    ]
    found = diagnose(hosts)
    assert told(found)[0] == "headline.late_peer"
    assert "Straggler worker-1 delays others by 60 %" in found.headline.sentence.text
    assert "worker-1, mainly since its time.sleep takes 60.0 µs longer per step." in found.causes[0].sentence.text
    assert abs(found.causes[0].per_step_ps - 60e6) < 1e6


@pytest.mark.parametrize(
    ("does", "told"),
    [("IteratorGetNext", "this worker's input"), (WORK, "equal work"), ("$time sleep", "Call time.sleep less often")],
)
def test_what_helps_a_straggler_is_told_by_what_it_does_longer(does: str, told: str) -> None:
    hosts = [
        draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1, step_num=s}} {WORK}[1,19] {text}", 6, 100, name=name)
        for name, text in (
            ("worker-0", "CollectiveReduceV2:CollectiveReduceV2[20,75]"),
            ("worker-1", f"{does}[20,60] CollectiveReduceV2:CollectiveReduceV2[80,15]"),
        )
    ]
    late = diagnose(hosts).causes[0]
    assert late.id == "late_peer" and told in late.remedy.text


def test_hosts_that_are_late_in_turns_are_no_stragglers() -> None:
    """One is late in a third of the steps, and the other in all others: over all steps one waits longer."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number in range(12):
            at, is_late = 100 * number, (number % 3 == 1) == (host == 0)
            own = f"$time sleep[{at + 20},60] {meets}[{at + 80},15]" if is_late else f"{meets}[{at + 20},75]"
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19] {own}"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    assert "late_peer" not in {cause.id for cause in diagnose(hosts).causes}


@pytest.mark.parametrize(("late", "is_named"), [((3, 7, 11, 15), True), ((3, 4, 11, 14), False)])
def test_a_host_that_does_something_alone_every_few_steps_is_a_straggler(late: Sequence[int], is_named: bool) -> None:
    """As where one rank evaluates: in too few steps to tell from chance, but for their equal distances."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number in range(20):
            at, waits = 100 * number, (host == 0) and number in late
            sleeps = f"$time sleep[{at + 20},60] " * (not waits)
            own = f"{meets}[{at + 20},75]" if waits else f"{sleeps}{meets}[{at + 80},15]"
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19] {own}"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    assert ("late_peer" in {cause.id for cause in diagnose(hosts).causes}) == is_named


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_a_straggler_does_alone_is_named(elsewhere: bool) -> None:
    """One evaluates at the end of each fourth step, so that the other waits in the next; or in others, too."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number in range(24):
            at, waits = 100 * number, host == 1 and number % 4 == 0
            length = 60 if number % 4 == 3 else 5 if elsewhere and number % 4 == 1 else 0
            evaluates = f"$train.py:31 evaluate[{at + 35},{length}]" if host == 0 and length else ""
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19]"
            text += f" {meets}[{at + 20},{75 if waits else 10}] {evaluates}"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    late = next(cause for cause in diagnose(hosts).causes if cause.id == "late_peer")
    assert "the other workers wait for it every 4 steps, mostly in evaluate (train.py:31)." in late.sentence.text
    assert "extra work" in late.remedy.text


@pytest.mark.parametrize(("saves_on", "is_late"), [((0,), True), ((0, 1), False)])
def test_a_host_that_alone_saves_in_each_step_is_late_in_few_steps(saves_on: Sequence[int], is_late: bool) -> None:
    """What it saves takes now longer, now shorter: by the waits of six steps alone it could be so by chance."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number, saved in enumerate((20, 70, 35, 60, 25, 65)):
            at = 100 * number
            work = f"$train.py:9 save_checkpoint[{at + 20},{saved}]" if host in saves_on else ""
            meeting = f"{meets}[{at + 20 + saved * bool(work)},{75 - saved * bool(work)}]"
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19]"
            text += f" {work} {meeting}"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    found = diagnose(hosts)
    assert ("late_peer" in {cause.id for cause in found.causes}) == is_late
    if is_late:
        assert "mostly in save_checkpoint (train.py:9)" in found.headline.sentence.text
        assert found.causes[0].remedy.text.startswith("Call save_checkpoint (train.py:9) less often")


def test_a_straggler_is_named_by_ops_that_it_has_alone() -> None:
    """As where one rank works out histograms of the weights beside the ops that all have."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        own = "x/Quantile:Quantile[20,30] x/Histogram:Histogram[50,20]" if host == 0 else ""
        meeting = f"{meets}[70,25]" if host == 0 else f"{meets}[20,75]"
        text = f"/host:CPU\n  python | train[0,100]{{_r=1, step_num=s}} {WORK}[1,19] {own} {meeting}"
        hosts.append(draw.host(text, steps=6, every=100, name=f"worker-{host}"))
    late = diagnose(hosts).causes[0]
    assert "worker-0, mainly since its Quantile takes 30.0 µs longer per step." in late.sentence.text
    assert late.remedy.text.startswith("Call Quantile less often")


def test_what_all_hosts_do_in_each_step_is_no_work_of_one_alone() -> None:
    """A short call that lasts long in two steps of one host, as where its machine does something else meanwhile."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number, length in enumerate((20, 70, 30, 60, 25, 40)):
            at, length = 100 * number, length if host == 0 else 1
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19]"
            text += f" $train.py:9 zero_grad[{at + 20},{length}] {meets}[{at + 20 + length},{75 - length}]"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    assert not any("less often" in cause.remedy.text for cause in diagnose(hosts).causes)


@pytest.mark.parametrize(("turns", "is_named"), [(3, True), (2, False)])
def test_a_straggler_of_few_turns_is_named_by_what_it_calls_in_them_alone(turns: int, is_named: bool) -> None:
    """One rank validates thrice, and the other waits in the step after that: so often by chance, but for the calls."""
    meets, hosts = "CollectiveReduceV2:CollectiveReduceV2", []
    for host in range(2):
        text = ""
        for number in range(4 * turns + 3):
            at, waits = 100 * number, host == 1 and number % 4 == 0 and number > 0
            validates = f"$train.py:24 validate[{at + 35},60]" if host == 0 and number % 4 == 3 else ""
            text += f" train[{at},100]{{_r=1, step_num={number}}} $train.py:1 f[{at},1] {WORK}[{at + 1},19]"
            text += f" {meets}[{at + 20},{75 if waits else 10 + number % 3}] {validates}"
        hosts.append(draw.host(f"/host:CPU\n  python |{text}", name=f"worker-{host}"))
    causes = {cause.id: cause for cause in diagnose(hosts).causes}
    assert ("late_peer" in causes) == is_named
    communication = causes["exposed_collective"]
    assert sum(ps for _, ps, _ in communication.names) <= communication.per_step_ps * 1.001
    if is_named:
        assert "mostly in validate (train.py:24)" in causes["late_peer"].sentence.text


def test_without_steps_what_lies_between_first_and_last_work_is_diagnosed() -> None:
    text = f"/host:CPU\n  python | init[0,500] {WORK}[500,10] IteratorGetNext[510,60] {WORK}[570,30] exit[600,400]"
    found = diagnose([draw.host(text)])
    assert {part.phase for part in found.accounting} == {"before", "capture", "after"}
    assert abs(found.typical.period_ps - 100e6) < 1
    assert found.headline.sentence.code == "headline.input"
    assert "60 % of the recorded time" in found.headline.sentence.text
    assert {cause.confidence for cause in found.causes} == {"low"}


def test_a_choice_of_steps_changes_all_figures() -> None:
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{100 * i},100]{{_r=1, step_num={i}}} {'IteratorGetNext' if i < 5 else WORK}[{100 * i + 1},98]"
        for i in range(10)
    )
    host = draw.host(text, steps=1)
    leads = {wanted: told(diagnose([host], wanted))[0] for wanted in ("0-4", "5-9")}
    assert leads == {"0-4": "headline.input", "5-9": "headline.cpu_compute"}


@pytest.mark.parametrize("cause", sorted(CAUSES))
def test_every_cause_has_a_label_sentences_and_a_remedy(cause: str) -> None:
    assert {f"headline.{cause}", f"cause.{cause}", f"label.{cause}"} <= set(TEMPLATES)
    assert LABELS[cause]
    assert remedy("tensorflow", cause).text and remedy("jax", cause).text


def test_arguments_are_shown_by_what_their_names_say() -> None:
    known = {"name", "second_name", "third_name", "names", "span", "parts", "period", "few", "host", "label", "factor"}
    known |= {"device", "devices", "line", "stage", "programs", "ranks", "before"}
    units = re.compile(r"(?:_ps|_pair|share|count|steps|every)$")
    for template in TEMPLATES.values():
        for _, argument, _, _ in string.Formatter().parse(template):
            assert argument is None or argument in known or units.search(argument)
    assert Sentence("names.each", {"name": "f", "each_ps": 2_500_000}).text == "f (2.50 µs per step)"
    assert Sentence("names.share", {"name": "f", "share": 0.001}).text == "f (less than 1 %)"
