"""Why: where the wall time goes, what makes the step as long as it is, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.activity.states import STATES
from ..analysis.diagnosis.capture_account import PROFILER, begins_with_driver
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.diagnosis.causes import Cause
from ..analysis.diagnosis.critical_path import PathFigures, path_figures
from ..analysis.diagnosis.diagnose import NEEDS, Diagnosis, diagnose
from ..analysis.diagnosis.findings import findings
from ..analysis.diagnosis.rules import kernel_times
from ..analysis.health import capture_health
from ..analysis.ops.device_ops import device_ops
from ..analysis.ops.op_costs import rates
from ..analysis.ops.op_table import merged
from ..analysis.steps import step_coverage
from ..analysis.steps.choice_names import checked_choice
from ..analysis.steps.typical_times import Typical
from ..analysis.steps.what_if import paths, what_if
from ..model.host import HostWithSteps
from ..model.session import Session
from ..model.steps.step_rules import SOURCES
from ..runtime.messages import listed
from ..runtime.problems import AVERAGE, CLOCKS
from .answers.answer import Answer, Keyed, Table, by_column, flag, number, text
from .answers.tool import STEP_EVENT, tool
from .columns import device_work
from .columns.findings import FINDINGS, finding_values
from .columns.op_costs import RATES, rate_values
from .columns.steps import STEPS_PARAM, UNEVEN_TIMES, headline, uneven_time_values
from .columns.wall_time import ACCOUNTING, PHASES, accounting_columns, phase_columns

_FACTS = (
    number(
        "window_ps",
        "Recorded",
        "ps",
        "Time from the first to the last event without the profiler's own start and stop, mean of the hosts shown.",
        CLOCKS,
    ),
    text("step_rule", "Step rule", "Rule by which the steps were found."),
    number("steps_count", "Steps", doc="Number of steps found."),
    number("steps_kept", "Counted steps", doc="Number of steps that the figures cover."),
    text("steps_chosen", "Chosen", "Which steps were chosen: typical, all, or a range of numbers."),
    number("typical_ps", "Step", "ps", "Mean time of the counted steps; blank if no step was found.", AVERAGE),
    *UNEVEN_TIMES,
    number(
        "period_ps",
        "From step to step",
        "ps",
        "Mean time from the start of a step to the start of the next.",
        AVERAGE,
        compared=True,
    ),
    number("coverage", "Capture time in steps", "share", "Share of the recorded time in which a step runs."),
    number("path_switches", "Switches", doc="Number of changes between host and device on a step's critical path."),
    number(
        "violations", "Contradictions", doc="Number of waits that contradict their times; the replay leaves them out."
    ),
    *RATES,
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
        text("id", "Part"),
        text("label", "What", translated=True),
        number("step_ps", "In the step", "ps", "Mean time within the counted steps.", AVERAGE),
        number("gap_ps", "Until the next", "ps", "Mean time between a step and the next.", AVERAGE),
        number("time_ps", "Together", "ps", "Mean time from step to step.", AVERAGE),
        number("share", "Share", "share", "Share of the time from step to step."),
    ),
    doc="What the devices do from step to step, or why they are idle; rows sum to the period.",
    keyed=Keyed("id", "label", means=("time_ps",)),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        number("rank", "Rank", doc="Rank of the cause; 1 is what the headline speaks of."),
        text("id", "Cause", "Id of the cause, for scripts."),
        text("label", "Why", translated=True),
        number("share", "Share", "share", "Share of the time from step to step."),
        number("per_step_ps", "Per step", "ps", "Mean time per step, over the counted steps.", AVERAGE),
        number(
            "gain_ps",
            "Potential saving",
            "ps",
            "Upper bound of the time saved per step without this cause, from a replay; blank if unknown.",
        ),
        text("confidence", "Confidence", "How much of the step is explained: high, medium or low."),
        text("then", "Then", "Id of the cause that limits the step once this one is removed."),
        text("then_label", "Next bottleneck", translated=True),
        text("text", "Explanation"),
        text("remedy", "What to do"),
        text("code", "For example", "Complete example code."),
        flag("saves", "Saves time", "Whether that shortens steps; false where more is to be recorded."),
    ),
    doc="Causes of the step's length, what the headline speaks of first. Shares are of the typical step; of warm-up "
    "and unusual steps of the mean of all. Savings are upper bounds.",
    keyed=Keyed("id", "label", means=("per_step_ps",), only_largest=True),
)

_NAMES = Table(
    "names",
    "By name",
    (
        text("cause", "Cause"),
        text("name", "Name", "Name of the events that take the time."),
        number("per_step_ps", "Per step", "ps", "Mean time per step, over the counted steps.", AVERAGE),
        number("count", "Times per step", doc="Number of intervals under that name."),
    ),
    doc="Events that take the time of a cause, the largest first.",
    keyed=Keyed("name", within=("cause",), means=("per_step_ps",), only_largest=True),
)

_EVIDENCE = Table(
    "evidence",
    "Evidence",
    (
        text("cause", "Cause"),
        text("host", "Host"),
        number("begin_ps", "Start", "ps", "Start time on the host's own clock."),
        number("time_ps", "Time", "ps", "Duration of the interval."),
        number("event", "Event", doc="Number of the event in the host's trace; blank if there is none."),
        text("name", "Name"),
    ),
    doc="Longest intervals of the causes.",
)

_SCENARIOS = Table(
    "scenarios",
    "What if",
    (
        text("id", "Scenario"),
        text("label", "Without", translated=True),
        number("gain_ps", "Potential saving", "ps", "Upper bound of the time saved from step to step."),
        number("period_ps", "New step-to-step time", "ps", "Time from step to step in the replay of the same steps."),
        number("shorter_share", "Shorter steps", "share", "Share of the replayed steps that become shorter."),
    ),
    doc="Replays of the recording in which something takes no time; the order on threads and streams stays.",
    keyed=Keyed("id", "label", means=("gain_ps",), only_largest=True),
)

_PATH = Table(
    "path",
    "Critical path",
    (
        text("id", "Part"),
        text("label", "What", translated=True),
        text("name", "Name", "Name of the events; blank for the whole part."),
        number("per_step_ps", "Per step", "ps", "Mean time per step, over the counted steps.", AVERAGE),
        number("share", "Share", "share", "Share of the critical path, which is as long as the step."),
        number("steps_share", "Steps", "share", "Share of the counted steps with this on their critical path."),
    ),
    doc="Chain of work that determines the step's length, traced back from the step's end.",
    keyed=Keyed("name", "label", within=("id",), means=("per_step_ps",), only_largest=True),
)

_UNUSUAL = Table(
    "unusual",
    "Unusual steps",
    (
        number("place", "Place", doc="Position of the step in time, from 0."),
        text("step", "Step"),
        text("host", "Host"),
        text("reason", "Left out", "Why averages leave the step out: warm_up or unusual."),
        number("time_ps", "Step time", "ps", "Time of this step."),
        number("more_ps", "Difference from typical", "ps", "Step time minus the typical step time."),
        text("cause", "Cause", "Cause whose time differs most."),
        text("name", "Name", "Name of the events whose time differs most."),
        text("why", "Why"),
    ),
    doc="Steps that averages leave out: warm-up, and steps far longer or shorter than the others.",
)


@tool(
    "Why",
    group="Summary",
    order=5,
    shown_on="overview_page",
    params=[STEP_EVENT, STEPS_PARAM],
    facts=_FACTS,
    tables=(
        *(_CAUSES, _FINDINGS, _STEP, PHASES, ACCOUNTING, _UNUSUAL, _NAMES, _EVIDENCE, _SCENARIOS, _PATH),
        *device_work.TABLES,
    ),
    needs=(
        *NEEDS,
        begins_with_driver,
        what_if,
        kernel_times,
        device_ops,
        *capture_health.NEEDS,
        *device_work.NEEDS,
        paths,
        rates,
    ),
)
def why(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Why does a step take as long as it does, and what would make it shorter?"""
    diagnosis = diagnose(hosts, checked_choice(steps), replays=True)
    path = path_figures(hosts, diagnosis.typical)
    notes = capture_health.findings(session, hosts)
    tables: dict[str, Mapping[str, Sequence[Any]]] = {
        "causes": _cause_columns(diagnosis.causes),
        "findings": finding_values(
            findings(diagnosis, hosts, merged([device_ops(host) for host in hosts])), diagnosis.typical.period_ps
        ),
        "step": _step_columns(diagnosis),
        "places": phase_columns(diagnosis, hosts),
        "accounting": accounting_columns(diagnosis),
        "unusual": _unusual_columns(diagnosis),
        "names": by_column(_NAMES, [(cause.id, *row) for cause in diagnosis.causes for row in cause.names]),
        "evidence": _evidence_columns(diagnosis.causes),
        "scenarios": _scenario_columns(diagnosis),
        "path": _path_columns(path),
        **device_work.device_work(hosts, diagnosis.devices),
    }
    return Answer(_fact_values(diagnosis, path, hosts), tables, headline(diagnosis.headline, notes), notes)


def _fact_values(diagnosis: Diagnosis, path: PathFigures, hosts: Sequence[HostWithSteps]) -> dict[str, Any]:
    typical = diagnosis.typical
    sources = dict.fromkeys(SOURCES[host.steps.source] for host in hosts)
    return {
        "window_ps": round(sum(part.ps for part in diagnosis.accounting if part.phase != PROFILER) / len(hosts)),
        "step_rule": listed(list(sources)),
        "steps_count": len(typical.steps),
        "steps_kept": len(typical.choice.selected),
        "steps_chosen": typical.steps.wanted,
        "typical_ps": round(float(typical.step_ps.sum())) if typical.has_steps else None,
        **uneven_time_values(typical.steps),
        "period_ps": round(typical.period_ps) if typical.has_steps else None,
        "path_switches": path.switches,
        "violations": path.violations,
        "coverage": step_coverage.covered_shares(hosts)[0] if typical.has_steps else None,
        **rate_values(hosts),
    }


def _cause_columns(causes: Sequence[Cause]) -> dict[str, list[Any]]:
    fields = ("id", "label", "share", "per_step_ps", "gain_ps", "confidence", "then")
    return {
        "rank": list(range(1, len(causes) + 1)),
        **{name: [getattr(cause, name) for cause in causes] for name in fields},
        "then_label": [LABELS.get(cause.then) for cause in causes],
        "text": [cause.sentence.text for cause in causes],
        "remedy": [cause.remedy.text or None for cause in causes],
        "code": [cause.remedy.code or None for cause in causes],
        "saves": [cause.remedy.saves for cause in causes],
    }


def _step_columns(diagnosis: Diagnosis) -> dict[str, list[Any]]:
    typical, period_ps = diagnosis.typical, diagnosis.typical.period_ps
    rows = [
        (
            state,
            LABELS[state],
            round(step_ps),
            round(between_ps),
            round(step_ps + between_ps),
            (step_ps + between_ps) / period_ps,
        )
        for state, step_ps, between_ps in zip(
            STATES, typical.step_ps.tolist(), typical.between_ps.tolist(), strict=True
        )
        if step_ps + between_ps > 0
    ]
    return by_column(_STEP, rows)


def _unusual_columns(diagnosis: Diagnosis) -> dict[str, list[Any]]:
    rows = [
        (
            step.step_index,
            step.step,
            step.host,
            step.reason,
            step.ps,
            step.more_ps,
            step.id or None,
            step.name or None,
            step.why.text,
        )
        for step in diagnosis.unusual
    ]
    return by_column(_UNUSUAL, rows)


def _evidence_columns(causes: Sequence[Cause]) -> dict[str, list[Any]]:
    rows = [
        (
            cause.id,
            interval.host,
            interval.begin,
            interval.end - interval.begin,
            interval.event if interval.event >= 0 else None,
            interval.name or None,
        )
        for cause in causes
        for interval in cause.evidence
    ]
    return by_column(_EVIDENCE, rows)


def _scenario_columns(diagnosis: Diagnosis) -> dict[str, list[Any]]:
    typical, gains = diagnosis.typical, sorted(diagnosis.scenario_gains.items(), key=lambda item: -item[1])
    rows = [
        (id, LABELS[id], round(gain_ps), round(typical.period_ps - gain_ps), _shorter_share(typical, id, gain_ps))
        for id, gain_ps in gains
    ]
    return by_column(_SCENARIOS, rows)


def _shorter_share(typical: Typical, scenario: str, gain_ps: float) -> float | None:
    """Share of the steps that become shorter; None without steps, and where the gain is not the replay's own."""
    replay = (typical.replayed or {})[scenario]
    return replay.shorter_share if len(typical.choice.selected) and gain_ps == replay.gain_ps else None


def _path_columns(path: PathFigures) -> dict[str, list[Any]]:
    rows = [
        (row.state, LABELS[row.state], row.name or None, round(row.per_step_ps), row.share, row.steps_share)
        for row in (*path.by_state, *path.by_name)
    ]
    return by_column(_PATH, rows)
