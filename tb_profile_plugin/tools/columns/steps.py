"""Steps as the tools that speak of them answer: the table of steps and its facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.activity.states import CATEGORIES
from ...analysis.diagnosis import headlines
from ...analysis.health import capture_health
from ...analysis.steps import step_evidence
from ...analysis.steps.step_choice import ALL, TYPICAL
from ...analysis.steps.step_time import StepTimes, summary
from ...model import clock
from ...model.events.steps import SOURCES
from ...model.host import Host, HostWithSteps
from ...runtime.arrays import Array
from ...runtime.messages import listed
from ...runtime.problems import AVERAGE, CLOCKS, HOST, SPREAD, Problem
from ...runtime.units import PS_PER_MS
from ..answers.answer import Column, Headline, Keyed, Table
from ..answers.tool import Param

CHOICE = Param(
    "steps",
    TYPICAL,
    f"Steps that figures cover: {TYPICAL} (without warm-up and outliers), {ALL} complete steps, or a range such as "
    "5-20.",
)
"""The option of every tool whose figures go over steps."""

_OVER = "Covers the typical or chosen steps."


def spread(of: str, label: str, unit: str, doc: str, depends: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """Facts that describe samples, named ``{of}_average_{unit}`` and so on; shares have no suffix."""
    suffix = "" if unit == "share" else f"_{unit}"
    rests_on = {"deviation": SPREAD, "average": AVERAGE}
    return tuple(
        Column(
            f"{of}_{figure}{suffix}",
            f"{label}, {figure}",
            unit=unit,
            doc=f"{doc} {'Sample standard deviation. ' if figure == 'deviation' else ''}{_OVER}",
            depends=(*([rests_on[figure]] if figure in rests_on else []), *depends),
            compared=figure == "average",
        )
        for figure in ("average", "median", "deviation", "minimum", "maximum")
    )


def spread_of(of: str, unit: str, samples: Array) -> dict[str, float | None]:
    """The values of `spread`'s facts for float64[n]."""
    suffix = "" if unit == "share" else f"_{unit}"
    return {f"{of}_{figure}{suffix}": value for figure, value in summary(samples)._asdict().items()}


STEP_FACTS = (
    Column("steps_kept", "Steps", doc="Number of steps that averages cover."),
    Column("steps_complete", "Complete steps", doc="Number of steps that the capture holds from start to end."),
    Column(
        "steps_incomplete",
        "Incomplete steps",
        doc="Number of steps cut by the capture's start or end; averages leave them out.",
    ),
    Column("step_source", "Step rule", "string", doc="Rule by which the steps were found."),
    Column(
        "steps_window_share",
        "Capture time in steps",
        unit="share",
        doc="Share of the capture's time, first to last event, in which a step runs.",
    ),
    Column(
        "steps_work_share",
        "Device work in steps",
        unit="share",
        doc="Share of the recorded device work that lies in steps; without devices, of the work of XLA and executors.",
    ),
    *spread("step", "Step time", "ms", "Time from a step's start to its end."),
    Column("tf_data", "tf.data", "boolean", doc="Whether the host runs a tf.data pipeline.", depends=(HOST,)),
)

EXAMPLE_FACTS = (
    Column("example_step", "Typical step", "string", doc="Name of the counted step whose time is nearest to the mean."),
    Column("example_host", "Its host", "string", doc="Host on which the typical step took longest."),
    Column("example_begin_ms", "Its start", unit="ms", doc="Start of the typical step, after its host's first event."),
)

STEP_KEY = Keyed("name", step="name", means=("duration_ms", *(f"{category.id}_ms" for category in CATEGORIES)))

STEPS = Table(
    "steps",
    "Steps",
    (
        Column("name", "Step", "string", doc="Name that the program gives the step."),
        Column("duration_ms", "Step time", unit="ms", doc="The step's whole time: the sum of its parts."),
        *(
            Column(f"{category.id}_ms", category.label, unit="ms", doc=category.doc, depends=category.depends)
            for category in CATEGORIES
        ),
        Column("complete", "Complete", "boolean", doc="Whether the capture holds the step from start to end."),
        Column(
            "left_out",
            "Left out",
            "string",
            doc="Why averages leave the step out: cut, warm_up, unusual, extreme or not_chosen; else blank.",
        ),
        Column("host", "Host", "string", doc="The host on which this step took longest."),
        Column(
            "begin_ms",
            "Start",
            unit="ms",
            doc="Start of the step, after the first event on any host shown.",
            depends=(CLOCKS,),
        ),
        Column("number", "Number", doc="Number by which the option steps chooses a range."),
    ),
    doc="Steps on their slowest hosts, and what their time is spent on.",
    keyed=STEP_KEY,
)

STEP_CHOICES = Table(
    "step_choices",
    "Other events that may be steps",
    (
        Column("name", "Events", "string", doc="Name of events that the option step_event can make steps."),
        Column("count", "Calls", doc="Number of calls that are not nested in another one."),
        Column(
            "work_ms",
            "Work",
            unit="ms",
            doc="Device time of the work that the calls launched; without devices, time in XLA or executors.",
        ),
        Column("host_ms", "On the host", unit="ms", doc="Sum of the calls' durations on the host."),
    ),
)


def step_table(steps: StepTimes, hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    """The columns of `STEPS`."""
    shifts = {host.name: shift for host, shift in zip(hosts, clock.shifts(hosts), strict=True)}
    begins = zip(steps.begin.tolist(), steps.host, strict=True)
    return {
        "name": steps.name,
        "duration_ms": (steps.duration_ps / PS_PER_MS).tolist(),
        "complete": steps.complete.tolist(),
        "left_out": [reason or None for reason in steps.choice.reason],
        "host": steps.host,
        "begin_ms": [(begin + shifts[host]) / PS_PER_MS for begin, host in begins],
        "number": steps.number.tolist(),
    } | {
        f"{category.id}_ms": (times / PS_PER_MS).tolist()
        for category, times in zip(CATEGORIES, steps.by_category().T, strict=True)
    }


def step_facts(steps: StepTimes, hosts: Sequence[HostWithSteps], tf_data: bool) -> dict[str, Any]:
    """The values of `STEP_FACTS`."""
    sources = dict.fromkeys(SOURCES[host.steps.source] for host in hosts)
    window, work = step_evidence.covered_shares(hosts) if len(steps) else (None, None)
    complete = int(steps.complete.sum())
    return {
        "steps_kept": len(steps.counted),
        "steps_complete": complete,
        "steps_incomplete": len(steps) - complete,
        "step_source": listed(list(sources)),
        "steps_window_share": window,
        "steps_work_share": work,
        "tf_data": tf_data,
    } | spread_of("step", "ms", steps.duration_ps[steps.counted] / PS_PER_MS)


def example_values(steps: StepTimes) -> dict[str, Any]:
    """The values of `EXAMPLE_FACTS`: of the step whose states differ least from the mean."""
    if not len(steps.counted):
        return {}
    states = steps.state_ps[steps.counted].astype(np.float64)
    at = int(np.arange(len(steps))[steps.counted][np.abs(states - states.mean(axis=0)).sum(axis=1).argmin()])
    begin = float(steps.begin[at]) / PS_PER_MS
    return {"example_step": steps.name[at], "example_host": steps.host[at], "example_begin_ms": begin}


def step_choices(hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    """The columns of `STEP_CHOICES`."""
    choices = step_evidence.candidates_of_hosts(hosts)
    return {
        "name": [choice.name for choice in choices],
        "count": [choice.count for choice in choices],
        "work_ms": [choice.work_ps / PS_PER_MS for choice in choices],
        "host_ms": [choice.host_ps / PS_PER_MS for choice in choices],
    }


def headline(of: headlines.Headline, notes: Sequence[Problem], tool: str = "") -> Headline:
    """A sentence of the diagnosis, with what speaks against it, and the tool that shows more."""
    return Headline(of.sentence.text, of.level, tool, capture_health.doubt(notes), of.sentence.id)
