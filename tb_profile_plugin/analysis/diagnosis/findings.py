"""All that is worth doing, of causes and of single rules, ranked together by what each saves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...model.framework import TENSORFLOW
from ...model.host import HostWithSteps
from ...runtime.regex import regex
from ..finding import Finding
from ..ops.op_table import OpTable
from .catalogue import Sentence
from .causes import HOST_LATE, Cause
from .diagnose import Diagnosis
from .gains import works_elsewhere
from .headlines import BAD, HOST_OVERHEAD
from .program.facts import UNFUSED_ATTENTION, UNUSED_GRAPH, WASTEFUL
from .remedies.remedy import advised, remedy
from .remedies.texts import LOOK_AT_STEPS
from .rules import Evidence, rule_findings
from .time_loss import WORK

_SMALL_SHARE = 0.03
"""Share of the period: less than that is nothing to begin with."""
_PASSING = ("warmup", "start_up")
"""Causes that pass by themselves: advice on these, as on work that is not wasteful, is given only where they lead."""
_TOOL_OF_CAUSE = {
    WORK: "framework_op_stats",
    "exposed_collective": "communication",
    "late_peer": "pod_viewer",
    "allocator": "memory_profile",
}
"""Tools that show more of a cause; Why has all."""
_CALL = regex(r"\b\w+\(")


def findings(diagnosis: Diagnosis, hosts: Sequence[HostWithSteps], device_ops: OpTable) -> list[Finding]:
    """What is worth doing: first what the headline speaks of, then by what each saves at most; each thing once.

    Without `Typical.replayed` causes are ranked by what they take. ``device_ops`` are those of all hosts.
    """
    typical, program = diagnosis.typical, diagnosis.program
    no_fault = _PASSING if program.facts & WASTEFUL else (WORK, *_PASSING)
    of_causes = [
        _finding_of_cause(cause, program.framework)
        for rank, cause in enumerate(_largest_first(diagnosis))
        if cause.remedy.text and (rank == 0 or _is_habit(cause, no_fault)) and cause.gain_ps != 0
    ]
    of_causes += _other_waste(diagnosis)
    of_rules = rule_findings(Evidence(hosts, program, typical, device_ops))
    advice = _without_repetition(of_causes, of_rules, typical.period_ps)
    first, others = advice[: len(of_causes[:1])], advice[len(of_causes[:1]) :]
    titles = [finding.title for finding in first]
    to_record = [finding for finding in _recording_finding(diagnosis) if finding.title not in titles]
    return [*first, *to_record, *sorted(others, key=lambda finding: -finding.size_ps)]


def _largest_first(diagnosis: Diagnosis) -> list[Cause]:
    """The causes; where several ways in which the host is late lead together, the one that costs most is first."""
    causes = diagnosis.causes
    if diagnosis.headline.sentence.id != HOST_OVERHEAD:
        return causes
    largest = max(
        (cause for cause in causes if cause.id in HOST_LATE), key=lambda cause: cause.gain_ps or cause.per_step_ps
    )
    return [largest, *(cause for cause in causes if cause is not largest)]


def _is_habit(cause: Cause, no_fault: Sequence[str]) -> bool:
    """Whether the program could do it otherwise: steps that are only to be looked at may be so by chance."""
    advice = cause.remedy
    is_avoidable = cause.id not in no_fault or advice.fact == UNFUSED_ATTENTION or advice.most_ps is not None
    return is_avoidable and (cause.remedy.saves or cause.id != LOOK_AT_STEPS)


def _finding_of_cause(cause: Cause, framework: str) -> Finding:
    """What helps against a cause, with what it takes."""
    return Finding(
        id=cause.id,
        title=cause.remedy.text,
        evidence=cause.sentence.text,
        gain_ps=cause.remedy.gain_ps(cause.gain_ps),
        level="bad" if cause.share >= BAD else "warn",
        code=cause.remedy.code,
        tool="tf_data_bottleneck_analysis"
        if cause.id == "input" and framework == TENSORFLOW
        else _TOOL_OF_CAUSE.get(cause.id, "why"),
        takes_ps=cause.per_step_ps,
        base_ps=cause.base_ps,
    )


def _other_waste(diagnosis: Diagnosis) -> list[Finding]:
    """What else makes compute that need not be: the remedy of a cause is for one of several such habits."""
    program = diagnosis.program
    work = next((cause for cause in diagnosis.causes if cause.id == WORK and cause.remedy.text), None)
    if work is None:
        return []
    habits = sorted(program.facts & WASTEFUL)
    advice = [remedy(program.framework, WORK, facts=frozenset({habit})) for habit in habits]
    finding = replace(_finding_of_cause(work, program.framework), gain_ps=None)
    return [
        replace(finding, id=one.fact, title=one.text, code=one.code)
        for one in advice
        if one.fact and one.text != work.remedy.text
    ]


def _without_repetition(of_causes: Iterable[Finding], of_rules: Iterable[Finding], period_ps: float) -> list[Finding]:
    """One finding of each title, that of the first cause before all; the others only if they are not small.

    A remedy of several causes saves what they save together, unless a rule tells what it saves. What a rule advises is
    left out where a title or code says so already. That a graph is made for nothing is told though no time is known of
    it.
    """
    least_ps = _SMALL_SHARE * period_ps
    by_title: dict[str, Finding] = {}
    for finding in of_causes:
        first = by_title.setdefault(finding.title, finding)
        if first is not finding:
            by_title[finding.title] = _joined_finding(first, finding, period_ps)
    ranked = [finding for rank, finding in enumerate(by_title.values()) if rank == 0 or finding.size_ps > least_ps]
    by_title = {finding.title: finding for finding in ranked}
    for finding in of_rules:
        is_small = finding.id != UNUSED_GRAPH and finding.size_ps <= least_ps
        if is_small or (finding.title not in by_title and _repeats(finding, ranked)):
            continue
        first = by_title.setdefault(finding.title, finding)
        if first.gain_ps is None:
            by_title[finding.title] = replace(first, gain_ps=finding.gain_ps)
    return list(by_title.values())


def _joined_finding(first: Finding, other: Finding, period_ps: float) -> Finding:
    """The first of two findings of one remedy, with what both save, of the longer of the steps that they are parts of;
    unknown where that of one is.
    """
    if first.gain_ps is None or other.gain_ps is None:
        return replace(first, gain_ps=None)
    base_ps = max(first.base_ps or period_ps, other.base_ps or period_ps)
    return replace(first, gain_ps=first.gain_ps + other.gain_ps, base_ps=base_ps)


def _recording_finding(diagnosis: Diagnosis) -> list[Finding]:
    """That a device is to be recorded, where none was and no cause is that: what a change saves cannot be told."""
    program = diagnosis.program
    if not works_elsewhere(program, diagnosis.typical) or any(
        cause.id in ("not_recorded", "counted") for cause in diagnosis.causes
    ):
        return []
    evidence = Sentence("cause.not_recorded", {"device": program.device, "names": Sentence("names.none")}).text
    finding = advised(program, "not_recorded", "not_recorded", evidence)
    return [finding] if finding else []


def _repeats(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether another one calls the function that a title names, e.g. ``prefetch(``: then it is the same advice."""
    call = _CALL.search(finding.title)
    return call is not None and any(call.group() in f"{other.title} {other.code}" for other in others)
