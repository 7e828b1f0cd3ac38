"""The table of steps and facts about them, for all tools that have steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.activity.states import CATEGORIES
from ...analysis.diagnosis import headlines
from ...analysis.health import capture_health
from ...analysis.statistics import summary
from ...analysis.steps import step_coverage
from ...analysis.steps.choice_names import ALL, TYPICAL
from ...analysis.steps.step_time import StepTimes
from ...model import clock
from ...model.host import Host, HostWithSteps
from ...model.steps.step_rules import SOURCES
from ...runtime.arrays import Array, median
from ...runtime.messages import listed
from ...runtime.problems import AVERAGE, CLOCKS, HOST, SPREAD, Problem
from ...runtime.units import PS_PER_MS
from ..answers.answer import Column, Headline, Keyed, Table, flag, number, text
from ..answers.tool import Param

STEPS_PARAM = Param(
    "steps",
    TYPICAL,
    f"Steps that figures cover: {TYPICAL} (without warm-up and outliers), {ALL} complete steps, or a range such as "
    "5-20.",
)
"""The option of every tool whose figures go over steps."""

UNEVEN_TIMES = (
    number("shortest_ps", "Shortest", "ps", "Shortest counted step; blank if steps take similar times.", AVERAGE),
    number("median_ps", "Median", "ps", "Median of the counted steps; blank if steps take similar times.", AVERAGE),
    number("longest_ps", "Longest", "ps", "Longest counted step; blank if steps take similar times.", AVERAGE),
)
_NEAR_MEAN = 0.1
"""Steps whose times differ from the mean by no more than this share of it take that time; where these are no more than
half of all, as where steps are of two kinds, the mean alone misleads.
"""

_COVERAGE = "Covers the typical or chosen steps."


def uneven_time_values(steps: StepTimes) -> dict[str, int | None]:
    """The values of `UNEVEN_TIMES`."""
    counted_ps = steps.duration_ps[steps.counted]
    mean_ps = counted_ps.mean() if len(counted_ps) else 0.0
    are_near = np.abs(counted_ps - mean_ps) <= _NEAR_MEAN * mean_ps
    if not len(counted_ps) or 2 * are_near.sum() > len(counted_ps):
        return {column.id: None for column in UNEVEN_TIMES}
    return {
        "shortest_ps": int(counted_ps.min()),
        "median_ps": round(median(counted_ps)),
        "longest_ps": int(counted_ps.max()),
    }


def spread_facts(prefix: str, label: str, unit: str, doc: str, depends: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """Average, median and so on of samples; ids are ``{prefix}_average_{unit}``, or ``{prefix}_average`` of shares."""
    suffix = "" if unit == "share" else f"_{unit}"
    depends_by_figure = {"deviation": SPREAD, "average": AVERAGE}
    return tuple(
        number(
            f"{prefix}_{figure}{suffix}",
            f"{label}, {figure}",
            unit,
            f"{doc} {'Sample standard deviation. ' if figure == 'deviation' else ''}{_COVERAGE}",
            *([depends_by_figure[figure]] if figure in depends_by_figure else []),
            *depends,
            compared=figure == "average",
        )
        for figure in ("average", "median", "deviation", "minimum", "maximum")
    )


def spread_values(prefix: str, unit: str, samples: Array) -> dict[str, float | None]:
    """The values of `spread_facts` with that prefix and unit; ``samples`` is float64[n], in that unit."""
    suffix = "" if unit == "share" else f"_{unit}"
    return {f"{prefix}_{figure}{suffix}": value for figure, value in summary(samples)._asdict().items()}


STEP_FACTS = (
    number("steps_kept", "Counted steps", doc="Number of steps that averages cover."),
    number("steps_complete", "Complete steps", doc="Number of steps that the capture holds from start to end."),
    number(
        "steps_incomplete",
        "Incomplete steps",
        doc="Number of steps cut by the capture's start or end; averages leave them out.",
    ),
    text("step_source", "Step rule", "Rule by which the steps were found."),
    number(
        "steps_window_share",
        "Capture time in steps",
        "share",
        "Share of the capture's time, first to last event, in which a step runs.",
    ),
    number(
        "steps_work_share",
        "Device work in steps",
        "share",
        "Share of the recorded device work that lies in steps; without devices, of the work of XLA and executors.",
    ),
    *spread_facts("step", "Step time", "ms", "Time from a step's start to its end."),
    flag("tf_data", "tf.data", "Whether the host runs a tf.data pipeline.", HOST),
)

EXAMPLE_FACTS = (
    text("example_step", "Typical step", "Name of the counted step whose time is nearest to the mean."),
    text("example_host", "Its host", "Host on which the typical step took longest."),
    number("example_begin_ms", "Its start", "ms", "Start of the typical step, after its host's first event."),
)

STEP_KEY = Keyed("name", step="name", means=("duration_ms", *(f"{category.id}_ms" for category in CATEGORIES)))

STEPS = Table(
    "steps",
    "Steps",
    (
        text("name", "Step", "Name that the program gives the step."),
        number("duration_ms", "Step time", "ms", "The step's whole time: the sum of its parts."),
        *(
            number(f"{category.id}_ms", category.label, "ms", category.doc, *category.depends)
            for category in CATEGORIES
        ),
        flag("complete", "Complete", "Whether the capture holds the step from start to end."),
        text(
            "left_out",
            "Left out",
            "Why averages leave the step out: cut, warm_up, unusual, extreme or not_chosen; else blank.",
        ),
        text("host", "Host", "The host on which this step took longest."),
        number("begin_ms", "Start", "ms", "Start of the step, after the first event on any host shown.", CLOCKS),
        number("number", "Number", doc="Number by which the option steps chooses a range."),
    ),
    doc="Steps on their slowest hosts, and what their time is spent on.",
    keyed=STEP_KEY,
)

STEP_CHOICES = Table(
    "step_choices",
    "Other events that may be steps",
    (
        text("name", "Events", "Name of events that the option step_event can make steps."),
        number("count", "Calls", doc="Number of calls that are not nested in another one."),
        number(
            "work_ms",
            "Work",
            "ms",
            "Device time of the work that the calls launched; without devices, time in XLA or executors.",
        ),
        number("host_ms", "On the host", "ms", "Sum of the calls' durations on the host."),
    ),
)


def step_columns(steps: StepTimes, hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    """The columns of `STEPS`."""
    shift_ps = {host.name: shift for host, shift in zip(hosts, clock.shifts(hosts), strict=True)}
    begins = zip(steps.begin.tolist(), steps.host, strict=True)
    return {
        "name": steps.name,
        "duration_ms": (steps.duration_ps / PS_PER_MS).tolist(),
        "complete": steps.complete.tolist(),
        "left_out": [reason or None for reason in steps.choice.reason],
        "host": steps.host,
        "begin_ms": [(begin + shift_ps[host]) / PS_PER_MS for begin, host in begins],
        "number": steps.number.tolist(),
    } | {
        f"{category.id}_ms": (ps / PS_PER_MS).tolist()
        for category, ps in zip(CATEGORIES, steps.by_category().T, strict=True)
    }


def step_facts(steps: StepTimes, hosts: Sequence[HostWithSteps], tf_data: bool) -> dict[str, Any]:
    """The values of `STEP_FACTS`."""
    sources = dict.fromkeys(SOURCES[host.steps.source] for host in hosts)
    window_share, work_share = step_coverage.covered_shares(hosts) if len(steps) else (None, None)
    complete = int(steps.complete.sum())
    return {
        "steps_kept": len(steps.counted),
        "steps_complete": complete,
        "steps_incomplete": len(steps) - complete,
        "step_source": listed(list(sources)),
        "steps_window_share": window_share,
        "steps_work_share": work_share,
        "tf_data": tf_data,
    } | spread_values("step", "ms", steps.duration_ps[steps.counted] / PS_PER_MS)


def example_values(steps: StepTimes) -> dict[str, Any]:
    """The values of `EXAMPLE_FACTS`: of the step whose states differ least from the mean."""
    if not len(steps.counted):
        return {}
    states_ps = steps.state_ps[steps.counted].astype(np.float64)
    nearest = np.abs(states_ps - states_ps.mean(axis=0)).sum(axis=1).argmin()
    step = int(np.arange(len(steps))[steps.counted][nearest])
    begin_ms = float(steps.begin[step]) / PS_PER_MS
    return {"example_step": steps.name[step], "example_host": steps.host[step], "example_begin_ms": begin_ms}


def step_choice_columns(hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    """The columns of `STEP_CHOICES`."""
    choices = step_coverage.candidates_of_hosts(hosts)
    return {
        "name": [choice.name for choice in choices],
        "count": [choice.count for choice in choices],
        "work_ms": [choice.work_ps / PS_PER_MS for choice in choices],
        "host_ms": [choice.host_ps / PS_PER_MS for choice in choices],
    }


def headline(diagnosis: headlines.DiagnosisHeadline, notes: Sequence[Problem], tool: str = "") -> Headline:
    """A headline of the diagnosis with the doubt that notes cast on it; ``tool`` is the one that shows more."""
    doubt = capture_health.doubt(notes)
    return Headline(diagnosis.sentence.text, diagnosis.level, tool, doubt, diagnosis.sentence.id)
