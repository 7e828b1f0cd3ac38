"""The diagnosis of a session: what the wall clock went into, why, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...formats.columns import vocabulary
from ...model.devices.properties import device_count, host_device_type
from ...model.framework import PYTORCH, framework
from ...model.host import HostWithSteps
from ...model.profiler_options import counter_range_count, leaves_gpu_unused, one_op_of
from ...model.ranks import missing, rank
from ...runtime.messages import Message, message
from ...runtime.records import NamedTuple
from ..activity.states import State
from ..labels.calls_between import called_between, function_between
from ..labels.dispatched_calls import (
    calling_function,
    calls_per_step,
    one_by_one_share,
    short_ops_ps,
    whole_step_functions,
)
from ..labels.event_names import display_name, short_name
from ..labels.python_waits import timed_out_ps, timed_out_waits
from ..steps import step_coverage, step_time
from ..steps.choice_names import TYPICAL
from ..steps.host_account import Interval, host_account
from ..steps.typical_times import NamedTime, Typical, typical_times, typical_windows
from . import input_stage
from .capture_account import CapturePart, Device, capture_parts, counted_ps, devices_of, devices_sentence
from .catalogue import TEMPLATES, Sentence
from .cause_kinds import MOSTLY
from .cause_order import by_cost, by_gain
from .causes import HOST_LATE, NAMES, TINY_CALLS, Cause, Confidence, DispatchedCalls, losses_by_cause, name_pauses
from .gains import gain, gains_more, saves_little_alone, scenario_gains, sets_pace_of_compute, works_elsewhere
from .headlines import NOTABLE, DiagnosisHeadline, has_devices, headline
from .program import facts
from .program.input_shapes import input_elements
from .program.program_facts import ProgramFacts, program_facts, program_of
from .program.torch.torch_facts import graph_break
from .program.torch.torch_gradients import unused_nodes
from .remedies.remedy import Remedy, remedy
from .remedies.work_texts import LARGEST_OPS
from .special_remedies import special_remedy
from .time_loss import COMMUNICATION, UNUSED, WORK, TimeLoss
from .unusual_steps import (
    UnusualStep,
    cause_of_unusual,
    cause_of_warm_up,
    early_share,
    few_steps_sentence,
    unusual_steps,
)
from .work.op_work import NEEDS as WORK_NEEDS
from .work.op_work import calling_function_of, fewer_calls, name_calling_function, name_work
from .work.xla_work import name_xla_work

NEEDS = (
    *(*step_time.NEEDS, host_account, step_coverage.coverage, calls_per_step, calling_function, timed_out_waits),
    *(one_by_one_share, short_ops_ps, whole_step_functions, called_between, function_between),
    *(device_count, host_device_type, framework, rank, leaves_gpu_unused, one_op_of, counter_range_count, counted_ps),
    *(program_facts, input_elements, unused_nodes, early_share, graph_break),
    *WORK_NEEDS,
    *input_stage.NEEDS,
)
"""Per-host functions that `diagnose` merges.

Gains rest on `analysis.steps.what_if.what_if`, too, which takes as much time and memory again.
"""

_COSTS_OF_FRAMEWORK = ("dispatch", "launch", "latency", "between", "eager", "executor", "unrecorded")
"""Causes that every program of a framework has some of."""
_NEARLY_ALL = 0.9
"""Share of a step's ops that a function dispatches which is to be looked at by itself."""
_EVIDENCE = 5
"""So many intervals are shown of each cause."""
_NO_GAIN = 0.005
"""Share of the period, below which a gain is none."""
_OF_SINGLE_STEPS = ("warmup", "unusual_steps")
_HIGH_CONFIDENCE, _LOW_CONFIDENCE = 0.05, 0.15
"""Shares of the period that nothing explains, up to which confidence is high, and from which on it is low."""


class Diagnosis(NamedTuple):
    """What a page, the command line and comparisons quote."""

    headline: DiagnosisHeadline
    accounting: list[CapturePart]
    """Per host it sums to the time from the first to the last event."""
    typical: Typical
    causes: list[Cause]
    """First what the headline speaks of; the others by what each saves at most, without replays by what they take."""
    scenario_gains: dict[str, float]
    """As `gains.scenario_gains` has them; nothing without replays."""
    unusual: list[UnusualStep]
    devices: list[Device]
    program: ProgramFacts


def diagnose(hosts: Sequence[HostWithSteps], wanted: str = TYPICAL, replays: bool = False) -> Diagnosis:
    """The diagnosis over some hosts; ``wanted`` chooses the steps as `step_choice.choose` takes it.

    Only with ``replays`` causes have gains and are ranked by these; nothing else differs. What ops of which most were
    not recorded would take cannot be replayed.
    """
    program = program_of(hosts)
    typical = typical_times(hosts, wanted, replays and facts.SAMPLED not in program.facts)
    unusual = unusual_steps(hosts, typical)
    early = max(early_share(host) for host in hosts)
    losses = _losses(hosts, typical, program)
    if (of_unusual := cause_of_unusual(typical, unusual)) is not None:
        input_stage.name_slow_pipeline(of_unusual, hosts)
        losses.append(of_unusual)
    if (of_warm_up := cause_of_warm_up(typical, unusual, early)) is not None:
        losses.append(of_warm_up)
    counted = sum(counter_range_count(host) for host in hosts)
    ranked = (
        [_counted_loss(counted, hosts, typical)]
        if counted
        else by_cost(losses, typical.period_ps, bool(facts.WASTEFUL & program.facts), _of_framework(losses, program))
    )
    evidence = [interval for host in hosts for interval in host_account(host).evidence]
    causes = [_cause(loss, typical, program, evidence, ranked) for loss in ranked]
    accounting = [part for host in hosts for part in capture_parts(host)]
    devices = [device for host in hosts for device in devices_of(host)]
    return Diagnosis(
        headline=headline(ranked, typical, hosts, causes[0].remedy.fact if causes else ""),
        accounting=accounting,
        typical=typical,
        causes=by_gain(ranked, causes),
        scenario_gains=scenario_gains([*zip(ranked, (cause.gain_ps for cause in causes), strict=True)], typical),
        unusual=unusual,
        devices=devices,
        program=program,
    )


def _losses(hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> list[TimeLoss]:
    """What takes the time of the typical step, by cause, with what its sentences say."""
    calls = DispatchedCalls(
        max(map(calls_per_step, hosts)),
        max(map(one_by_one_share, hosts)),
        max(map(short_ops_ps, hosts)),
        max(_long_share(host, typical) for host in hosts),
    )
    gap_cause = next(filter(None, (called_between(host) for host in hosts)), "")
    on_cpu = not has_devices(hosts)
    losses = losses_by_cause(typical, calls, facts.UNRECORDED_DEVICE in program.facts, gap_cause)
    if any(leaves_gpu_unused(host) for host in hosts):
        for loss in losses:
            loss.id = UNUSED if loss.id == WORK else loss.id
    for loss in losses:
        _explain(loss, hosts, typical, program)
        if len(hosts) == 1:
            loss.few_steps = few_steps_sentence(loss, hosts[0], typical)
    if on_cpu:
        name_pauses(losses)
        for loss in losses:
            loss.awaited_unseen = loss.id in (*COMMUNICATION, "unrecorded")
            loss.shares_cores = loss.id not in COMMUNICATION
    return losses


def _explain(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> None:
    """Add what a cause's sentences say beside its names, and what helps this program."""
    loss.remedy = special_remedy(loss, hosts, typical, program)
    if loss.id == "eager":
        name_calling_function(loss, hosts, program)
    if loss.id in ("thread_wait", "input"):
        _tell_timeouts(loss, hosts, typical)
    if loss.id == "sync":
        loss.arguments = {"count": round(loss.count)}
    if loss.id == "unrecorded":
        loss.arguments = {"before": _sentence_of_next_call(hosts)}
    if loss.id in COMMUNICATION and (ranks := missing(hosts)) is not None:
        arguments = {"count": ranks.world_size - ranks.missing, "ranks_count": ranks.world_size}
        loss.arguments = {"ranks": Sentence("ranks.missing", arguments)}
    if loss.id == "input" and not loss.arguments:
        input_stage.name_input_stage(loss, hosts)
    if loss.id == "input":
        input_stage.name_input_loop(loss, hosts)
        loss.sets_pace = input_stage.sets_pace(hosts, program)
    name_xla_work(loss, hosts, typical, program)
    name_work(loss, hosts, typical, program)
    if loss.id in (WORK, "exposed_collective"):
        loss.line = _line_of_largest(loss, hosts)
    if loss.id == WORK:
        loss.arguments = {**(loss.arguments or {}), "devices": devices_sentence(hosts, typical)}
    if loss.id == "between_steps" and loss.is_work:
        _name_function(loss, next(filter(None, map(function_between, hosts)), ""))
    elif loss.id == "between_steps":
        loss.is_of_loop = all(host.steps.source == "functions" for host in hosts)
        function = calling_function_of(hosts)
        if function.calls_per_step >= TINY_CALLS and [function.name] == [name for name, _, _ in loss.large_names()[:1]]:
            loss.remedy = fewer_calls(function, program)


def _sentence_of_next_call(hosts: Sequence[HostWithSteps]) -> Sentence:
    """What comes after most of the time in steps of which nothing was recorded; without words where nothing does."""
    for of_host in map(host_account, hosts):
        silent_ps = int(of_host.state_ps[of_host.steps, int(State.UNRECORDED)].sum())
        if of_host.after_silence.name and of_host.after_silence.ps >= MOSTLY * silent_ps:
            return Sentence("before.some", {"name": of_host.after_silence.name})
    return Sentence("before.none")


def _long_share(host: HostWithSteps, typical: Typical) -> float:
    """`DispatchedCalls.long_share` of a host."""
    of_host = host_account(host)
    if not of_host.has_steps:
        return 0.0
    # Windows are a step and the time until the next by turns.
    selected = (typical_windows(host, typical.steps).steps - of_host.steps.start) // 2
    silent_ps = of_host.step_ps[selected, int(State.UNRECORDED)].sum()
    return float(of_host.long_silent_ps[selected].sum() / max(silent_ps, 1))


def _name_function(loss: TimeLoss, name: str) -> None:
    """Name what devices do between few steps by the function of the program that does it."""
    if name and loss.long_pauses is not None:
        loss.names = [NamedTime(WORK, name, 0.0, 0.0, loss.ps, loss.long_pauses.count / loss.long_pauses.pauses)]


def _tell_timeouts(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical) -> None:
    """Say that timeouts end most of the waits for other threads, where they do: then these threads do not matter."""
    ended_ps = sum(
        typical_windows(host, typical.steps).period_ps(timed_out_ps(host, host_account(host).edges)) for host in hosts
    )
    if ended_ps >= MOSTLY * len(hosts) * loss.ps:
        loss.arguments = {"timeout": True}


def _of_framework(losses: Sequence[TimeLoss], program: ProgramFacts) -> list[str]:
    """Causes that a CPU which does the work has of every such program: nothing is seen that this one does too often,
    and no function of the program dispatches nearly all of its ops.
    """
    if facts.ON_CPU not in program.facts:
        return []
    fact_of = {id: remedy(program.framework, id, facts=program.facts).fact for id in _COSTS_OF_FRAMEWORK}
    of_one_function = [loss.id for loss in losses if loss.id == "eager" and _is_of_one_function(loss.arguments or {})]
    return [id for id, fact in fact_of.items() if fact in facts.KINDS_OF_PROGRAMS and id not in of_one_function]


def _is_of_one_function(arguments: Mapping[str, Any]) -> bool:
    """Whether a function dispatches nearly all of a step's ops, by the arguments of `name_calling_function`."""
    return "name" in arguments and arguments["count"] >= _NEARLY_ALL * arguments["all_count"]


def _counted_loss(kernels: int, hosts: Sequence[HostWithSteps], typical: Typical) -> TimeLoss:
    """The time of kernels in which the profiler counted: what the program did by itself cannot be told beside that."""
    ps = sum(typical_windows(host, typical.steps).period_ps(counted_ps(host)) for host in hosts) / len(hosts)
    return TimeLoss("counted", ps, arguments={"count": kernels})


def _replay_words(loss: TimeLoss, typical: Typical) -> dict[str, Sentence]:
    """What a sentence adds where a replay gains next to nothing, since the step waits for something else, too; or
    little alone, or more than the cause's own time.
    """
    gain_ps, period_ps = gain(loss, typical), typical.period_ps
    names = loss.names_sentence(typical.has_steps)
    if loss.id == "late_peer" and loss.remedy is not None and loss.remedy.most_ps is not None:
        return {"names": Sentence("won.shared", {"names": names, "share": loss.remedy.most_ps / loss.ps})}
    if sets_pace_of_compute(loss, typical):
        return {"names": Sentence("won.ahead" if loss.shares_cores else "won.pace", {"names": names})}
    if gain_ps is None or typical.replayed is None or loss.ps < _NO_GAIN * period_ps:
        return {}
    if gains_more(gain_ps, loss, typical):
        return {"names": Sentence("won.more", {"names": names})}
    if saves_little_alone(gain_ps, loss, typical):
        return {"names": Sentence("won.together", {"names": names})}
    if gain_ps >= _NO_GAIN * period_ps:
        return {}
    by_host = typical.replayed.get("host")
    host_limits = by_host is not None and by_host.gain_ps >= NOTABLE * period_ps and loss.id not in HOST_LATE
    return {"names": Sentence("won.host" if host_limits else "won.others", {"names": names})}


def _sentence(loss: TimeLoss, typical: Typical, program: ProgramFacts) -> Sentence:
    """What the cause is, with the names of what takes the time."""
    words = {"names": loss.names_sentence(typical.has_steps), "programs": Sentence("programs.none")}
    arguments = {**words, "ranks": Sentence("ranks.none_missing"), "device": program.device, **(loss.arguments or {})}
    is_unrecorded = facts.UNRECORDED_DEVICE in program.facts
    code = f"cause.{loss.id}{loss.variant}"
    if loss.id == "eager" and loss.ops_ps >= MOSTLY * loss.ps:
        code += ".short"
    elif loss.id == "eager" and loss.ps > typical.state_ps[State.COMPUTE] and not is_unrecorded:
        code += ".slow"
    if is_unrecorded and (unrecorded := f"{code}.unrecorded") in TEMPLATES:
        code = unrecorded
    return Sentence(code, arguments | _replay_words(loss, typical))


def _next_limit(loss: TimeLoss, ranked: Sequence[TimeLoss]) -> str:
    """What takes most of a step beside a loss: its id. What single steps take longer is no part of each."""
    others = [other for other in ranked if other is not loss and other.id not in _OF_SINGLE_STEPS]
    return max(others, key=lambda other: other.ps, default=TimeLoss("")).id


def _cause(
    loss: TimeLoss, typical: Typical, program: ProgramFacts, evidence: Sequence[Interval], ranked: Sequence[TimeLoss]
) -> Cause:
    period_ps = typical.period_ps
    return Cause(
        id=loss.id,
        per_step_ps=round(loss.ps),
        share=loss.ps / (loss.base_ps or period_ps),
        gain_ps=None if works_elsewhere(program, typical) else gain(loss, typical),
        confidence=_confidence(typical, ranked),
        then=_next_limit(loss, ranked),
        sentence=_sentence(loss, typical, program),
        remedy=_named_remedy(
            loss, loss.remedy or remedy(program.framework, *loss.remedy_keys, facts=program.facts), program
        ),
        names=[(name, round(ps), count) for name, ps, count in loss.by_name()[:NAMES] if name],
        evidence=loss.own_evidence(evidence)[:_EVIDENCE],
        base_ps=loss.base_ps,
    )


def _named_remedy(loss: TimeLoss, remedy: Remedy, program: ProgramFacts) -> Remedy:
    """The remedy; where that is only to start with what is largest, with the name of that, and its line."""
    if remedy.text != message(LARGEST_OPS) or not (names := loss.large_names()):
        return remedy
    name = short_name(names[0][0])
    if loss.line:
        line = short_name(loss.line)
        text = Message("Start with {name} in {line}; the Ops page lists all ops.", name=name, line=line)
    elif program.framework == PYTORCH and facts.TRACED not in program.facts:
        text = Message("Start with {name}; with_stack=True records its lines.", name=name)
    else:
        text = Message("Start with {name}; the Ops page lists all ops.", name=name)
    return remedy._replace(text=text)


def _line_of_largest(loss: TimeLoss, hosts: Sequence[HostWithSteps]) -> str:
    """The line that most of its largest name comes from, of the first host that knows it; empty for none."""
    largest = next((name for name, _, _ in loss.by_name()), "")
    lines = (
        line
        for host in hosts
        for (state, name), line in zip(host_account(host).names, host_account(host).lines, strict=True)
        if state == loss.id and name == largest and line
    )
    return display_name(f"{vocabulary.PYTHON_FRAME}{line}") if (line := next(lines, "")) else ""


def _confidence(typical: Typical, ranked: Sequence[TimeLoss]) -> Confidence:
    """By the share of the period that nothing explains; low without steps."""
    unexplained = sum(loss.ps for loss in ranked if loss.id == "unexplained") / typical.period_ps
    if not typical.has_steps or unexplained >= _LOW_CONFIDENCE:
        return "low"
    return "high" if unexplained < _HIGH_CONFIDENCE else "medium"
