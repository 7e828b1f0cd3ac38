"""Why: what the wall clock went into, what makes the step as long as it is, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.activity.states import STATES
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.diagnosis.causes import Cause
from ..analysis.diagnosis.critical_path import PathFigures, path_figures
from ..analysis.diagnosis.diagnose import NEEDS, Diagnosis, diagnose
from ..analysis.diagnosis.findings import findings
from ..analysis.health import capture_health
from ..analysis.ops.device_ops import device_ops
from ..analysis.ops.op_costs import rates
from ..analysis.ops.op_table import merged
from ..analysis.steps import step_evidence
from ..analysis.steps.step_choice import checked
from ..analysis.steps.what_if import paths, what_if
from ..model.events.steps import SOURCES
from ..model.host import HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, listed
from ..runtime.problems import AVERAGE, CLOCKS
from .answers.answer import Answer, Column, Keyed, Table, time_column
from .answers.tool import STEP_EVENT, tool
from .columns import device_work
from .columns.findings import FINDINGS, finding_values
from .columns.op_costs import RATES, rate_values
from .columns.steps import CHOICE, headline

_PHASE_LABELS = {
    "capture": Message("From the program's first to its last event"),
    "steps": Message("In steps"),
    "between": Message("Between steps"),
    "before": Message("Before the first step"),
    "after": Message("After the last step"),
    "profiler": Message("Profiler start and stop"),
}
_PHASE_LABELS_WITHOUT_STEPS = _PHASE_LABELS | {
    "before": Message("Before the program's first event"),
    "after": Message("After the program's last event"),
}


_FACTS = (
    time_column("window_ps", "Recorded", "Time from the first to the last event, summed over the hosts shown.", CLOCKS),
    Column("step_rule", "Step rule", "string", doc="Rule by which the steps were found."),
    Column("steps_count", "Steps", doc="Number of steps found."),
    Column("steps_kept", "Counted steps", doc="Number of steps that the figures cover."),
    Column("steps_chosen", "Chosen", "string", doc="Which steps were chosen: typical, all, or a range of numbers."),
    time_column("typical_ps", "Step", "Mean time of the counted steps; blank if no step was found.", AVERAGE),
    time_column(
        "period_ps",
        "From step to step",
        "Mean time from the start of a step to the start of the next.",
        AVERAGE,
        compared=True,
    ),
    Column("coverage", "Capture time in steps", unit="share", doc="Share of the recorded time in which a step runs."),
    Column("path_switches", "Switches", doc="Number of changes between host and device on a step's critical path."),
    Column(
        "violations", "Contradictions", doc="Number of waits that contradict their times; the replay leaves them out."
    ),
    *RATES,
)

_ACCOUNTING = Table(
    "accounting",
    "Wall-time breakdown",
    (
        Column("host", "Host", "string"),
        Column("place", "Place", "string", doc="Part of the capture, as in the table of places."),
        Column("id", "Part", "string", doc="What the devices do, or why they are idle."),
        Column("label", "What", "string", texts=True),
        time_column("time_ps", "Time", "Time over the whole capture."),
        Column("share", "Share", unit="share", doc="Share of the time recorded on this host."),
    ),
    doc="Wall time of each host from its first to its last event; each picosecond counts once.",
)

_PHASES = Table(
    "places",
    "Wall time by place",
    (
        Column(
            "place",
            "Place",
            "string",
            doc="Part of the capture: steps, between, before, after, profiler, or capture if there are no steps.",
        ),
        Column("label", "Where", "string", texts=True),
        time_column("time_ps", "Time", "Time over the whole capture, summed over the hosts shown."),
        Column("share", "Share", unit="share", doc="Share of the recorded time."),
    ),
)

_FINDINGS = Table(
    "findings",
    "What to do next",
    FINDINGS,
    doc="What is worth doing: first what the headline speaks of, then by potential saving.",
)

_STEP = Table(
    "step",
    "The step",
    (
        Column("id", "Part", "string"),
        Column("label", "What", "string", texts=True),
        time_column("step_ps", "In the step", "Mean time within the counted steps.", AVERAGE),
        time_column("gap_ps", "Until the next", "Mean time between a step and the next.", AVERAGE),
        time_column("time_ps", "Together", "Mean time from step to step.", AVERAGE),
        Column("share", "Share", unit="share", doc="Share of the time from step to step."),
    ),
    doc="What the devices do from step to step, or why they are idle; rows sum to the period.",
    keyed=Keyed("id", "label", means=("time_ps",)),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        Column("rank", "Rank", doc="Rank of the cause; 1 is the largest."),
        Column("id", "Cause", "string", doc="Id of the cause, for scripts."),
        Column("label", "Why", "string", texts=True),
        Column("share", "Share", unit="share", doc="Share of the time from step to step."),
        time_column("per_step_ps", "Per step", "Mean time per step, over the counted steps.", AVERAGE),
        time_column(
            "gain_ps",
            "Potential saving",
            "Upper bound of the time saved per step without this cause, from a replay; blank if unknown.",
        ),
        Column("confidence", "Confidence", "string", doc="How much of the step is explained: high, medium or low."),
        Column("then", "Then", "string", doc="Id of the cause that limits the step once this one is removed."),
        Column("then_label", "Next bottleneck", "string", texts=True),
        Column("text", "Explanation", "string"),
        Column("remedy", "What to do", "string"),
        Column("code", "For example", "string", doc="Complete example code."),
        Column(
            "saves", "Saves time", "boolean", doc="Whether that shortens steps; false where more is to be recorded."
        ),
    ),
    doc="Causes of the step's length, the largest first; potential savings are upper bounds.",
    keyed=Keyed("id", "label", means=("per_step_ps",), largest=True),
)

_NAMES = Table(
    "names",
    "By name",
    (
        Column("cause", "Cause", "string"),
        Column("name", "Name", "string", doc="Name of the events that take the time."),
        time_column("per_step_ps", "Per step", "Mean time per step, over the counted steps.", AVERAGE),
        Column("count", "Times per step", doc="Number of intervals under that name."),
    ),
    doc="Events that take the time of a cause, the largest first.",
    keyed=Keyed("name", within=("cause",), means=("per_step_ps",), largest=True),
)

_EVIDENCE = Table(
    "evidence",
    "Evidence",
    (
        Column("cause", "Cause", "string"),
        Column("host", "Host", "string"),
        time_column("begin_ps", "Start", "Start time on the host's own clock."),
        time_column("time_ps", "Time", "Duration of the interval."),
        Column("event", "Event", doc="Number of the event in the host's trace; blank if there is none."),
        Column("name", "Name", "string"),
    ),
    doc="Longest intervals of the causes.",
)

_SCENARIOS = Table(
    "scenarios",
    "What if",
    (
        Column("id", "Scenario", "string"),
        Column("label", "Without", "string", texts=True),
        time_column("gain_ps", "Potential saving", "Upper bound of the time saved from step to step."),
        time_column("period_ps", "New step-to-step time", "Time from step to step in the replay of the same steps."),
        Column(
            "shorter_share",
            "Shorter steps",
            unit="share",
            doc="Share of the replayed steps that become shorter.",
        ),
    ),
    doc="Replays of the recording in which something takes no time; the order on threads and streams stays.",
    keyed=Keyed("id", "label", means=("gain_ps",), largest=True),
)

_PATH = Table(
    "path",
    "Critical path",
    (
        Column("id", "Part", "string"),
        Column("label", "What", "string", texts=True),
        Column("name", "Name", "string", doc="Name of the events; blank for the whole part."),
        time_column("per_step_ps", "Per step", "Mean time per step, over the counted steps.", AVERAGE),
        Column("share", "Share", unit="share", doc="Share of the critical path, which is as long as the step."),
        Column(
            "steps_share", "Steps", unit="share", doc="Share of the counted steps with this on their critical path."
        ),
    ),
    doc="Chain of work that determines the step's length, traced back from the step's end.",
    keyed=Keyed("name", "label", within=("id",), means=("per_step_ps",), largest=True),
)

_UNUSUAL = Table(
    "unusual",
    "Unusual steps",
    (
        Column("place", "Place", doc="Position of the step in time, from 0."),
        Column("step", "Step", "string"),
        Column("host", "Host", "string"),
        Column("reason", "Left out", "string", doc="Why averages leave the step out: warm_up or unusual."),
        time_column("time_ps", "Step time", "Time of this step."),
        time_column("more_ps", "Difference from typical", "Step time minus the typical step time."),
        Column("cause", "Cause", "string", doc="Cause whose time differs most."),
        Column("name", "Name", "string", doc="Name of the events whose time differs most."),
        Column("why", "Why", "string"),
    ),
    doc="Steps that averages leave out: warm-up, and steps far longer or shorter than the others.",
)


@tool(
    "Why",
    group="Summary",
    order=5,
    shown_on="overview_page",
    params=[STEP_EVENT, CHOICE],
    facts=_FACTS,
    tables=(
        *(_CAUSES, _FINDINGS, _STEP, _PHASES, _ACCOUNTING, _UNUSUAL, _NAMES, _EVIDENCE, _SCENARIOS, _PATH),
        *device_work.TABLES,
    ),
    needs=(*NEEDS, what_if, device_ops, *capture_health.NEEDS, *device_work.NEEDS, paths, rates),
)
def why(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Why does a step take as long as it does, and what would make it shorter?"""
    diagnosis = diagnose(hosts, checked(steps), replays=True)
    path = path_figures(hosts, diagnosis.typical)
    notes = capture_health.findings(session, hosts)
    tables: dict[str, Mapping[str, Sequence[Any]]] = {
        "causes": _causes(diagnosis.causes),
        "findings": finding_values(findings(diagnosis, hosts, merged([device_ops(host) for host in hosts]))),
        "step": _step(diagnosis),
        "places": _phases(diagnosis),
        "accounting": _accounting(diagnosis),
        "unusual": _unusual(diagnosis),
        "names": _names(diagnosis),
        "evidence": _evidence(diagnosis.causes),
        "scenarios": _scenarios(diagnosis),
        "path": _path(path),
        **device_work.device_work(hosts, diagnosis.devices),
    }
    return Answer(_facts(diagnosis, path, hosts), tables, headline(diagnosis.headline, notes), notes)


def _facts(diagnosis: Diagnosis, path: PathFigures, hosts: Sequence[HostWithSteps]) -> dict[str, Any]:
    typical = diagnosis.typical
    sources = dict.fromkeys(SOURCES[host.steps.source] for host in hosts)
    return {
        "window_ps": sum(part.ps for part in diagnosis.accounting),
        "step_rule": listed(list(sources)),
        "steps_count": len(typical.steps),
        "steps_kept": len(typical.choice.selected),
        "steps_chosen": typical.steps.wanted,
        "typical_ps": round(float(typical.step_ps.sum())) if typical.has_steps else None,
        "period_ps": round(typical.period_ps) if typical.has_steps else None,
        "path_switches": path.switches,
        "violations": path.violations,
        "coverage": step_evidence.covered_shares(hosts)[0] if typical.has_steps else None,
        **rate_values(hosts),
    }


def _causes(causes: Sequence[Cause]) -> dict[str, Sequence[Any]]:
    plain = ("id", "label", "share", "per_step_ps", "gain_ps", "confidence", "then")
    return {
        "rank": list(range(1, len(causes) + 1)),
        **{name: [getattr(cause, name) for cause in causes] for name in plain},
        "then_label": [LABELS.get(cause.then) for cause in causes],
        "text": [cause.sentence.text for cause in causes],
        "remedy": [cause.remedy.text or None for cause in causes],
        "code": [cause.remedy.code or None for cause in causes],
        "saves": [cause.remedy.saves for cause in causes],
    }


def _step(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    typical, period_ps = diagnosis.typical, diagnosis.typical.period_ps
    used = [i for i in range(len(STATES)) if typical.step_ps[i] + typical.gap_ps[i] > 0]
    return {
        "id": [STATES[i] for i in used],
        "label": [LABELS[STATES[i]] for i in used],
        "step_ps": [round(float(typical.step_ps[i])) for i in used],
        "gap_ps": [round(float(typical.gap_ps[i])) for i in used],
        "time_ps": [round(float(typical.step_ps[i] + typical.gap_ps[i])) for i in used],
        "share": [float(typical.step_ps[i] + typical.gap_ps[i]) / period_ps for i in used],
    }


def _phases(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    times = {phase: sum(part.ps for part in diagnosis.accounting if part.phase == phase) for phase in _PHASE_LABELS}
    used = [(phase, ps) for phase, ps in times.items() if ps]
    total = sum(ps for _, ps in used)
    labels = _PHASE_LABELS if diagnosis.typical.has_steps else _PHASE_LABELS_WITHOUT_STEPS
    return {
        "place": [phase for phase, _ in used],
        "label": [labels[phase] for phase, _ in used],
        "time_ps": [ps for _, ps in used],
        "share": [ps / total for _, ps in used],
    }


def _accounting(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    parts = diagnosis.accounting
    total_of_host: dict[str, int] = {}
    for part in parts:
        total_of_host[part.host] = total_of_host.get(part.host, 0) + part.ps
    return {
        "host": [part.host for part in parts],
        "place": [part.phase for part in parts],
        "id": [part.id for part in parts],
        "label": [LABELS[part.id] for part in parts],
        "time_ps": [part.ps for part in parts],
        "share": [part.ps / total_of_host[part.host] for part in parts],
    }


def _unusual(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    rows = diagnosis.unusual
    return {
        "place": [row.step_index for row in rows],
        "step": [row.step for row in rows],
        "host": [row.host for row in rows],
        "reason": [row.reason for row in rows],
        "time_ps": [row.ps for row in rows],
        "more_ps": [row.more_ps for row in rows],
        "cause": [row.id or None for row in rows],
        "name": [row.name or None for row in rows],
        "why": [row.why.text for row in rows],
    }


def _names(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    rows = [(cause.id, *row) for cause in diagnosis.causes for row in cause.names]
    return {id: [row[i] for row in rows] for i, id in enumerate(("cause", "name", "per_step_ps", "count"))}


def _evidence(causes: Sequence[Cause]) -> dict[str, Sequence[Any]]:
    rows = [(cause.id, interval) for cause in causes for interval in cause.evidence]
    return {
        "cause": [id for id, _ in rows],
        "host": [interval.host for _, interval in rows],
        "begin_ps": [interval.begin for _, interval in rows],
        "time_ps": [interval.end - interval.begin for _, interval in rows],
        "event": [interval.event if interval.event >= 0 else None for _, interval in rows],
        "name": [interval.name or None for _, interval in rows],
    }


def _scenarios(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    period, steps = diagnosis.typical.period_ps, len(diagnosis.typical.choice.selected)
    tried = sorted((diagnosis.typical.replayed or {}).items(), key=lambda item: -item[1].gain_ps)
    return {
        "id": [id for id, _ in tried],
        "label": [LABELS[id] for id, _ in tried],
        "gain_ps": [round(scenario.gain_ps) for _, scenario in tried],
        "period_ps": [round(period - scenario.gain_ps) for _, scenario in tried],
        "shorter_share": [scenario.shorter_share if steps else None for _, scenario in tried],
    }


def _path(path: PathFigures) -> dict[str, Sequence[Any]]:
    rows = [*path.by_state, *path.by_name]
    return {
        "id": [row.state for row in rows],
        "label": [LABELS[row.state] for row in rows],
        "name": [row.name or None for row in rows],
        "per_step_ps": [round(row.per_step_ps) for row in rows],
        "share": [row.share for row in rows],
        "steps_share": [row.steps for row in rows],
    }
