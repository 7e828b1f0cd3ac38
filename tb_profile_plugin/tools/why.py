"""Why: what the wall clock went into, what makes the step as long as it is, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.activity.states import STATES
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.diagnosis.causes import Cause
from ..analysis.diagnosis.critical_path import PathFigures, path_figures
from ..analysis.diagnosis.diagnose import NEEDS, Diagnosis, diagnose
from ..analysis.health import capture_health
from ..analysis.ops.op_costs import rates
from ..analysis.steps import step_evidence
from ..analysis.steps.step_choice import checked
from ..analysis.steps.what_if import paths, what_if
from ..model.events.steps import SOURCES
from ..model.host import Host
from ..model.session import Session
from ..runtime.problems import AVERAGE, CLOCKS
from .answers.answer import Answer, Column, Keyed, Table, time_column
from .answers.tool import STEP_EVENT, tool
from .columns import device_work
from .columns.op_costs import RATES, rate_values
from .columns.steps import CHOICE, headline

_PHASE_LABELS = {
    "steps": "In steps",
    "between": "Between steps",
    "before": "Before the first step",
    "after": "After the last step",
    "profiler": "The profiler's own start and stop",
    "capture": "In the capture",
}


_FACTS = (
    time_column("window_ps", "Recorded", "From the first to the last event, summed over the hosts shown.", CLOCKS),
    Column("step_rule", "Steps are", "string", doc="By which rule the steps were found."),
    Column("steps_count", "Steps", doc="All that were found."),
    Column("steps_kept", "Steps that count", doc="Those that the figures go over."),
    Column("steps_chosen", "Chosen", "string", doc="typical, all, or the first and the last number."),
    time_column("typical_ps", "Step", "Mean over the steps that count; blank where no step was found.", AVERAGE),
    time_column("period_ps", "From step to step", "The mean step, and until the next one.", AVERAGE, compared=True),
    Column("coverage", "Of the capture, in steps", unit="share", doc="Time in which a step runs."),
    Column("path_switches", "Switches", doc="How often the critical path of a step changes between host and device."),
    Column("violations", "Contradictions", doc="Where the record contradicts itself; the replay leaves that out."),
    *RATES,
)

_ACCOUNTING = Table(
    "accounting",
    "What the wall clock went into",
    (
        Column("host", "Host", "string"),
        Column("place", "Place", "string", doc="As in the table of places."),
        Column("id", "Part", "string", doc="What the devices did, or why they were idle."),
        Column("label", "What", "string"),
        time_column("time_ps", "Time", "Over the whole capture."),
        Column("share", "Share", unit="share", doc="Of what was recorded on this host."),
    ),
    doc="Every picosecond from the first to the last event of each host, once.",
)

_PHASES = Table(
    "places",
    "Where the wall clock went",
    (
        Column("place", "Place", "string", doc="steps, between, before, after, profiler, or capture without steps."),
        Column("label", "Where", "string"),
        time_column("time_ps", "Time", "Over the whole capture, and all hosts shown."),
        Column("share", "Share", unit="share", doc="Of all that was recorded."),
    ),
)

_STEP = Table(
    "step",
    "The step",
    (
        Column("id", "Part", "string"),
        Column("label", "What", "string"),
        time_column("step_ps", "In the step", "Mean over the steps that count.", AVERAGE),
        time_column("gap_ps", "Until the next", "Mean over the times between steps.", AVERAGE),
        time_column("time_ps", "Together", "From step to step.", AVERAGE),
        Column("share", "Share", unit="share", doc="Of the time from step to step."),
    ),
    doc="What the devices do in the mean step and until the next one, or why they are idle; it sums to the period.",
    keyed=Keyed("id", "label", means=("time_ps",)),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        Column("rank", "Rank", doc="1 is the largest."),
        Column("id", "Cause", "string", doc="For scripts."),
        Column("label", "Why", "string"),
        Column("share", "Share", unit="share", doc="Of the time from step to step."),
        time_column("per_step_ps", "Per step", "Mean over the steps that count.", AVERAGE),
        time_column(
            "gain_ps", "At most won", "How much shorter a step would be without it, replayed; blank if unknown."
        ),
        Column("confidence", "Confidence", "string", doc="high, medium or low: how much of the step is explained."),
        Column("then", "Then", "string", doc="The cause that limits the step once this one is gone."),
        Column("then_label", "Then limited by", "string"),
        Column("text", "What it is", "string"),
        Column("remedy", "What to do", "string"),
        Column("code", "For example", "string", doc="Code that runs as it stands."),
    ),
    doc="What makes the step as long as it is; gains are ceilings.",
    keyed=Keyed("id", "label", means=("per_step_ps",), largest=True),
)

_NAMES = Table(
    "names",
    "By name",
    (
        Column("cause", "Cause", "string"),
        Column("name", "Name", "string", doc="Of the events that take the time."),
        time_column("per_step_ps", "Per step", "Mean over the steps that count.", AVERAGE),
        Column("count", "Times per step", doc="Stretches of time under that name."),
    ),
    doc="What takes each cause's time, the largest first.",
    keyed=Keyed("name", within=("cause",), means=("per_step_ps",), largest=True),
)

_EVIDENCE = Table(
    "evidence",
    "Evidence",
    (
        Column("cause", "Cause", "string"),
        Column("host", "Host", "string"),
        time_column("begin_ps", "Begin", "On the host's own clock."),
        time_column("time_ps", "Time", "How long it lasts."),
        Column("event", "Event", doc="Its number in the host's trace; blank where none tells."),
        Column("name", "Name", "string"),
    ),
    doc="The longest stretches of each cause.",
)

_SCENARIOS = Table(
    "scenarios",
    "What if",
    (
        Column("id", "Scenario", "string"),
        Column("label", "Without", "string"),
        time_column("gain_ps", "At most won", "How much shorter the step would be, with the time until the next."),
        time_column("period_ps", "From step to step then", "Replayed over the same steps."),
        Column(
            "shorter_share",
            "Shorter steps",
            unit="share",
            doc="Of the steps that were replayed, those that would be shorter.",
        ),
    ),
    doc="The recording replayed with something taking no time; the order on threads and streams stays.",
    keyed=Keyed("id", "label", means=("gain_ps",), largest=True),
)

_PATH = Table(
    "path",
    "Critical path",
    (
        Column("id", "Part", "string"),
        Column("label", "What", "string"),
        Column("name", "Name", "string", doc="Blank where the row is all of the part."),
        time_column("per_step_ps", "Per step", "Mean over the steps that count.", AVERAGE),
        Column("share", "Share", unit="share", doc="Of the path, which is as long as the step."),
        Column("steps_share", "Steps", unit="share", doc="Of the steps that count, those on whose path it is."),
    ),
    doc="Back from a step's end, each time to what the work waited for: the path is as long as the step.",
    keyed=Keyed("name", "label", within=("id",), means=("per_step_ps",), largest=True),
)

_UNUSUAL = Table(
    "unusual",
    "Unusual steps",
    (
        Column("place", "Place", doc="Among the steps in order of time, from 0."),
        Column("step", "Step", "string"),
        Column("host", "Host", "string"),
        Column("reason", "Left out", "string", doc="warm_up or unusual."),
        time_column("time_ps", "Step time", "Of this step."),
        time_column("more_ps", "More than typical", "Less where it is negative."),
        Column("cause", "Cause", "string", doc="Of what differs most."),
        Column("name", "Name", "string", doc="Of what differs most."),
        Column("why", "Why", "string"),
    ),
    doc="Steps that do not count as typical: those that warm up, and those far longer or shorter than the others.",
)


@tool(
    "Why",
    group="Summary",
    order=5,
    shown_on="overview_page",
    params=[STEP_EVENT, CHOICE],
    facts=_FACTS,
    tables=(
        *(_CAUSES, _STEP, _PHASES, _ACCOUNTING, _UNUSUAL, _NAMES, _EVIDENCE, _SCENARIOS, _PATH),
        *device_work.TABLES,
    ),
    needs=(*NEEDS, what_if, *capture_health.NEEDS, *device_work.NEEDS, paths, rates),
)
def why(session: Session, hosts: Sequence[Host], step_event: str, steps: str) -> Answer:
    """Why does a step take as long as it does, and what would make it shorter?"""
    diagnosis = diagnose(hosts, step_event, checked(steps), replays=True)
    path = path_figures(hosts, diagnosis.typical, step_event)
    notes = capture_health.findings(session, hosts, step_event)
    tables: dict[str, Mapping[str, Sequence[Any]]] = {
        "causes": _causes(diagnosis.causes),
        "step": _step(diagnosis),
        "places": _phases(diagnosis),
        "accounting": _accounting(diagnosis),
        "unusual": _unusual(diagnosis),
        "names": _names(diagnosis),
        "evidence": _evidence(diagnosis.causes),
        "scenarios": _scenarios(diagnosis),
        "path": _path(path),
        **device_work.device_work(hosts, diagnosis.devices, step_event),
    }
    return Answer(_facts(diagnosis, path, hosts, step_event), tables, headline(diagnosis.headline, notes), notes)


def _facts(diagnosis: Diagnosis, path: PathFigures, hosts: Sequence[Host], step_event: str) -> dict[str, Any]:
    typical = diagnosis.typical
    sources = dict.fromkeys(SOURCES[host.steps_named(step_event).source] for host in hosts)
    return {
        "window_ps": sum(part.ps for part in diagnosis.accounting),
        "step_rule": "; ".join(sources),
        "steps_count": len(typical.steps),
        "steps_kept": len(typical.choice.kept),
        "steps_chosen": typical.steps.wanted,
        "typical_ps": round(float(typical.step_ps.sum())) if typical.counted else None,
        "period_ps": round(typical.period_ps) if typical.counted else None,
        "path_switches": path.switches,
        "violations": path.violations,
        "coverage": step_evidence.shares(hosts, step_event)[0] if typical.counted else None,
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
    times = {phase: sum(part.ps for part in diagnosis.accounting if part.place == phase) for phase in _PHASE_LABELS}
    used = [(phase, ps) for phase, ps in times.items() if ps]
    total = sum(ps for _, ps in used)
    return {
        "place": [phase for phase, _ in used],
        "label": [_PHASE_LABELS[phase] for phase, _ in used],
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
        "place": [part.place for part in parts],
        "id": [part.id for part in parts],
        "label": [LABELS[part.id] for part in parts],
        "time_ps": [part.ps for part in parts],
        "share": [part.ps / total_of_host[part.host] for part in parts],
    }


def _unusual(diagnosis: Diagnosis) -> dict[str, Sequence[Any]]:
    rows = diagnosis.unusual
    return {
        "place": [row.place for row in rows],
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
    period, steps = diagnosis.typical.period_ps, len(diagnosis.typical.choice.kept)
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
