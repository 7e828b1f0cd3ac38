"""Column by column and property by property against xprof, on this project's captures.

Needs an interpreter that has xprof: `scripts/test` makes one in .venv-parity, another can be named in XPROF_PYTHON.
Whatever differs must be in `DIFFERENCES`, whose ids are rows of docs/differences.md.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.steps import step_time, typical_times
from tb_profile_plugin.analysis.steps.choice_names import ALL
from tb_profile_plugin.analysis.steps.step_time import StepTimes
from tb_profile_plugin.compat import pod_viewer
from tb_profile_plugin.compat.step_account import step_table

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
TRACES = ROOT / "tests" / "traces"
TOOLS = ("overview_page", "input_pipeline_analyzer", "framework_op_stats", "pod_viewer")
PROGRAMS = sorted(path.name for path in TRACES.iterdir() if (path / "plugins").is_dir())

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no interpreter with xprof; see XPROF_PYTHON")


Rule = Callable[[Any, Any], bool]
"""Whether xprof's value and ours differ as they should."""


@dataclass(frozen=True)
class Difference:
    """Where figures may differ on purpose."""

    row: str
    """Of docs/differences.md."""
    place: str
    """Regular expression for the figure's path."""
    captures: tuple[str, ...] = ()
    """Only on these; everywhere if empty."""
    rule: Rule = lambda theirs, ours: True


def blank_for(filler: Any) -> Rule:
    """What xprof fills in for the unknown is blank with us."""
    return lambda theirs, ours: theirs == filler and ours in (None, "")


def all_ours(theirs: Any, ours: Any) -> bool:
    """xprof has nothing."""
    return float(theirs) == 0.0 < float(ours)


def less(theirs: Any, ours: Any) -> bool:
    return float(ours) < float(theirs)


def explained(difference: Difference, capture: str, place: str, theirs: Any, ours: Any) -> bool:
    """Whether this difference is listed for this figure of this capture."""
    meant = not difference.captures or capture in difference.captures
    return meant and bool(re.search(difference.place, place)) and difference.rule(theirs, ours)


JAX = ("jax_steps", "jax_async_marked", "jax_async_unmarked", "jax_helpers")
TWO_WORKERS = ("two_workers",)
LOOPS = ("keras_lstm_marked", "keras_lstm_unmarked")
WITHOUT_MARKERS = ("keras_fit", "keras_one_batch", *LOOPS, *JAX[2:])
EAGER = (
    "custom_loop",
    "eager_loop",
    "keras_fit",
    "keras_one_batch",
    "prefetch_take",
    "starved_input",
    "two_workers",
    *LOOPS,
)
DIFFERENCES = (
    Difference("S1", r"\[1\]\.(\w+ )*\w+\.stepnum$", WITHOUT_MARKERS),
    Difference("S1", r"\[1\]\.p\.(?!hardware|step_time_graph)|overview_page\[3\]\.p\.", WITHOUT_MARKERS),
    Difference("S1", r"\[[46]\]\.(WARNING|WARNING\..*)$|diagnostics\.warnings", WITHOUT_MARKERS),
    Difference("S10", r"\[1\]\.p\.steptime_ms_", TWO_WORKERS),
    Difference("O6", r"framework_op_stats\[\d\]\.(Host |p\.)|overview_page\[0\]\.p\.host_tf_op_percent", JAX),
    Difference("O10", r"framework_op_stats.*(\.(rank|operation)|_percent)$|\.Host IDLE\.", EAGER),
    Difference("O10", r"host_op_time_eager_percent$|eager_statement$|host_tf_op_percent$", EAGER),
    Difference(
        "S4", r"\[1\]\.|stepBreakdownUs|totalDurationUs|bottleneck$|overview_page\[3\]\.p\.", ("jax_async_marked",)
    ),
    Difference(
        "O8",
        r"framework_op_stats.*\.(occurrences|avg_time|avg_self_time|\w+_percent)$|\.Host IDLE\.",
        ("starved_input",),
    ),
    Difference(
        "I2", r"input_pipeline_analyzer\[2\]\.(.*\.category|p\.(preprocessing|\w*file_read|unclassified)\w*_us)$"
    ),
    Difference("S21", r"\[1\]\..*deviceCollectivesTimeMs$|collectives_time_ms_(avg|sdv)$", TWO_WORKERS, all_ours),
    Difference("S21", r"stepBreakdownUs\.3$", TWO_WORKERS, all_ours),
    Difference("S21", r"\[1\]\..*hostComputeTimeMs$|host_compute_time_ms_avg$", TWO_WORKERS, less),
    Difference("S21", r"stepBreakdownUs\.4$", TWO_WORKERS, less),
    Difference("S21", r"\[1\]\..*tooltip$|device_collectives_(bottleneck|statement)$", TWO_WORKERS),
    Difference(
        "S21",
        r"podStatsPerCore\.\d+\.bottleneck$",
        TWO_WORKERS,
        lambda theirs, ours: (theirs, ours) == ("Host compute", "Device collective communication"),
    ),
    # The step's end, in which only the closure of a collective goes on.
    Difference("S21", r"podStatsMap\[2\]\.podStatsPerCore\.1001\.stepBreakdownUs\.9$", TWO_WORKERS),
    Difference(
        "W3",
        r"overview_page\[0\]\.p\.(device_\w+|host_idle_time|hbm_utilization|mxu_utilization)_percent$"
        r"|_utilization_relative_to_(roofline|hw_limit)$",
        rule=blank_for("0.0%"),
    ),
    Difference(
        "O12", r"framework_op_stats\[\d\]\..*\.(\w+_flop_rate|\w+_memory_bw|\w+_intensity)$", rule=blank_for(0.0)
    ),
    Difference("O12", r"framework_op_stats\[\d\]\..*\.bound_by$", rule=blank_for("Unknown")),
    Difference("B1", r"podStatsMap\[\d+\]\.(podStatsPerCore\.\d+\.)?stepNum$", TWO_WORKERS),
)

SENTENCES = re.compile(r"(statement|conclusion|\[1\]\.p\.\w+_bottleneck|tooltip)$")
"""Worded anew (W1): the numbers in them, and the words in capitals, are compared."""
WORDS = re.compile(r"(link|description|message|summary_nextstep)$")
"""Worded anew without figures (W1): there must be some text."""


@pytest.fixture(scope="module", params=PROGRAMS)
def asked(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A capture, and what xprof answers for it."""
    files = sorted(str(path) for path in (TRACES / request.param).rglob("*.xplane.pb"))
    command = [str(PYTHON), str(Path(__file__).with_name("ask_xprof.py")), *files, "--", *TOOLS]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return request.param, json.loads(answer.stdout)


@pytest.mark.parametrize("tool", TOOLS)
def test_figures(asked: tuple[str, dict[str, Any]], tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    capture, answers = asked
    leave_out_what_xprof_drops(answers, monkeypatch)
    theirs = dict(figures(answers[tool], tool))
    ours = dict(figures(tb_profile_plugin.open(TRACES / capture).xprof(tool), tool))
    rows = {place for place in theirs.keys() ^ ours.keys() if ROW.search(place)}
    different = {
        place: (theirs.get(place, "absent"), ours.get(place, "absent"))
        for place in theirs.keys() | rows
        if not alike(place, theirs.get(place), ours.get(place))
    }
    assert {
        place: values
        for place, values in different.items()
        if not any(explained(difference, capture, place, *values) for difference in DIFFERENCES)
    } == {}
    assert len(theirs) >= 20


def leave_out_what_xprof_drops(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """xprof drops the first and last of more than 5 steps (S6), and shows the steps of the first host (S10)."""
    steps = answers["overview_page"][1]
    kept = {row["c"][0]["v"] for row in steps["rows"]}
    host_steps = step_time.host_steps

    def some(host: Any) -> StepTimes:
        whole = host_steps(host)
        rows = [i for i, name in enumerate(whole.name) if name in kept]
        return whole.take(np.array(rows, np.int64))

    def of_first_host(hosts: Sequence[Any], wanted: str = ALL) -> StepTimes:
        return replace(some(hosts[0]), wanted=wanted)

    if kept:
        for module in (step_time, typical_times, step_table):
            monkeypatch.setattr(module, "slowest_steps", of_first_host)
    monkeypatch.setattr(pod_viewer, "host_steps", some)


def figures(answer: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every value with its path; rows by what they are about, not by their position."""
    if isinstance(answer, dict) and {"cols", "rows"} <= set(answer):
        yield from table(answer, place)
    elif isinstance(answer, dict):
        for key, value in answer.items():
            yield from figures(value, f"{place}.{key}")
    elif isinstance(answer, list):
        for i, value in enumerate(answer):
            yield from figures(value, f"{place}[{i}]")
    else:
        yield place, answer


ROW = re.compile(r"\.(operation|stepnum|opName)$")
"""Cells that tell one row from another: neither side has rows that the other lacks."""
NAMES = ({"host_or_device", "operation"}, {"stepnum"}, {"opName"}, {"severity"})


def table(answer: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    ids = [column["id"] for column in answer["cols"]]
    for column in answer["cols"]:
        yield f"{place}.{column['id']}", (column["label"], column["type"])
    for key, value in answer.get("p", {}).items():
        yield f"{place}.p.{key}", value
    naming = next((names for names in NAMES if names <= set(ids)), set())
    for i, row in enumerate(answer["rows"]):
        cells = {key: cell.get("v") for key, cell in zip(ids, row["c"], strict=True)}
        name = " ".join(cells[key] for key in ids if key in naming) or f"row{i}"
        for key, value in cells.items():
            yield f"{place}.{name}.{key}", value


def alike(place: str, theirs: Any, ours: Any) -> bool:
    """Equal, but for the last digits of a double and the wording of a sentence."""
    if isinstance(theirs, str) and WORDS.search(place):
        return bool(ours) or not theirs
    if isinstance(theirs, str) and SENTENCES.search(place) and isinstance(ours, str):
        return telling(theirs) == telling(ours)
    if isinstance(theirs, float) and isinstance(ours, int | float):
        return theirs == pytest.approx(ours, rel=1e-9, abs=1e-9)
    return bool(theirs == ours)


def telling(text: str) -> tuple[Sequence[str], Sequence[str]]:
    """Numbers, and words in capitals, of a sentence."""
    return re.findall(r"\d+\.\d+", text), re.findall(r"\b[A-Z]{3,}\b", text)


def test_every_difference_is_documented() -> None:
    text = (ROOT / "tb_profile_plugin" / "docs" / "differences.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| (\w+) \|", text, re.MULTILINE))
    assert {difference.row for difference in DIFFERENCES} | {"W1", "S6"} <= documented
