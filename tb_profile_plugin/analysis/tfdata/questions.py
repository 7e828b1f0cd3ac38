"""The questions of TensorFlow's tf.data guide in their order, each answered with what this capture shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message, message, sentences
from ..activity.states import State
from ..steps import step_time
from .functions import handed_over_ps
from .input_wait_cost import InputCost
from .iterator_calls import SLOW_PS, TfData
from .pipeline_diagnosis import Diagnosis
from .structure import after_prefetch_ps, core_count, lacks_prefetch, last_transformation, prefetch_stage

_POOL_THREAD = "tf_"
"""How TensorFlow names its threads: those of tf.data, and those of the executor, on which maps run too."""

_SATURATED_SHARE = 0.8
"""Cores are fully used if the threads keep such a share of them busy."""


class Check(NamedTuple):
    """One question, answered."""

    id: str
    question: str
    level: str
    """``ok``, ``warn``, ``bad`` or ``unknown``."""
    answer: str
    evidence: str
    todo: str


@dataclass(frozen=True)
class Threads:
    """What TensorFlow's threads did while the pipelines were asked."""

    count: int
    busy: float
    """How many of them were busy on average; one that waits for another's element is not."""
    cores: int
    """The cores that tf.data counted on; 0 where the capture does not say."""


def threads(data: TfData) -> Threads:
    """What the threads of a host did from the first to the last call of any iterator."""
    calls, plane = data.calls, data.calls.plane
    is_of_pool = np.array([name.startswith(_POOL_THREAD) for name in plane.lines.name], bool)
    line = plane.events.line[calls.row]
    if not is_of_pool.any():
        is_of_pool[np.unique(line[calls.linked | ((calls.parent < 0) & ~calls.is_root)])] = True
    low, high = int(calls.begin.min()), int(calls.end.max())
    trace = data.trace
    rows = trace.rows(plane)
    outer = np.flatnonzero((trace.nesting[0][rows] < 0) & is_of_pool[plane.events.line])
    begin = trace.begin[rows][outer].clip(low, high)
    end = trace.end[rows][outer].clip(low, high)
    idle = int(data.times.wait_ps[is_of_pool[line]].sum()) + handed_over_ps(data, is_of_pool)
    occupied = max(int((end - begin).sum()) - idle, 0)
    thread_count = len(np.unique(plane.events.line[outer]))
    return Threads(thread_count, occupied / max(high - low, 1), max(map(core_count, data.pipelines), default=0))


def checklist(
    durations: Mapping[str, Array], diagnoses: Sequence[Diagnosis], busy: Threads, steps: step_time.StepTimes
) -> list[Check]:
    """For the first pipeline, and the threads of its host; `durations` is what `entries` gives."""
    first = diagnoses[0]
    checks = [
        _is_fast_enough(durations, diagnoses),
        _does_prefetch(first),
        _are_cores_used(busy, first.slow and first.pipeline.contended),
        _which_bottleneck(first),
        _how_much_waiting(steps, first.cost),
    ]
    return [
        check._replace(
            question=message(check.question),
            answer=message(check.answer),
            evidence=message(check.evidence),
            todo=message(check.todo),
        )
        for check in checks
    ]


_LABEL_OF_ENTRY = {
    "IteratorGetNextOp::DoCompute": "IteratorGetNext",
    "IteratorGetNextAsOptionalOp::DoCompute": "IteratorGetNextAsOptional",
}


def entries(hosts: Sequence[Host]) -> dict[str, Array]:
    """Durations, ps, of the calls by which programs ask for an element, by their names."""
    durations = [entries_of_host(host) for host in hosts]
    return {name: np.concatenate([by_name[name] for by_name in durations]) for name in _LABEL_OF_ENTRY}


@per_host(keep=True)
def entries_of_host(host: Host) -> dict[str, Array]:
    """`entries` of one host, float64[calls] ps each."""
    durations = {name: np.empty(0) for name in _LABEL_OF_ENTRY}
    if host.cpu:
        events = host.cpu.events
        for name in durations:
            row = np.array([text == name for text in host.cpu.names], bool)
            durations[name] = events.duration[row[events.name]].astype(np.float64)
    return durations


def _is_fast_enough(durations: Mapping[str, Array], diagnoses: Sequence[Diagnosis]) -> Check:
    parts: list[Message] = []
    for name, label in _LABEL_OF_ENTRY.items():
        durations_ps = durations[name]
        if len(durations_ps):
            parts.append(
                Message(
                    "{name}: {count, plural, one {# call} other {# calls}}, {mean_ps} on average, {most_ps} at most.",
                    name=label,
                    count=len(durations_ps),
                    mean_ps=durations_ps.mean(),
                    most_ps=durations_ps.max(),
                )
            )
    pipelines = [diagnosis.pipeline for diagnosis in diagnoses]
    for device, side in ((False, "host"), (True, "device")):
        of_side = [pipeline for pipeline in pipelines if pipeline.device == device]
        if of_side:
            requests = sum(len(pipeline.requests) for pipeline in of_side)
            slow = sum(pipeline.slow_calls for pipeline in of_side)
            parts.append(
                Message(
                    "{count} {side, select, host {host} other {device}} {count, plural, one {pipeline} other "
                    "{pipelines}}: {slow} of {requests} calls took more than 50 µs.",
                    count=len(of_side),
                    side=side,
                    slow=slow,
                    requests=requests,
                )
            )
    slow = sum(pipeline.slow_calls for pipeline in pipelines)
    requests = sum(len(pipeline.requests) for pipeline in pipelines)
    costly = [diagnosis.cost for diagnosis in diagnoses if diagnosis.slow]
    cost = max(costly or [diagnosis.cost for diagnosis in diagnoses], key=lambda cost: cost.share)
    evidence = sentences(*parts, waiting_text(cost))
    if costly and all(diagnosis.pipeline.contended for diagnosis in diagnoses if diagnosis.slow):
        answer = Message("Elements were ready, but the thread that requests them was delayed.")
        return Check("fast", _FAST, "warn", answer, evidence, "Check whether the host's cores are fully used.")
    if costly:
        answer = Message("No.") if 2 * slow >= requests else Message("Not always.")
        level = "bad" if cost.share >= _LARGE_SHARE else "warn"
        return Check("fast", _FAST, level, answer, evidence, "Go on with the next questions.")
    if cost.costs_nothing:
        answer = Message("Fast enough: steps that wait for it last no longer.")
    elif slow:
        answer = Message("Fast enough: steps hardly wait for it.")
    else:
        answer = Message("Yes: all elements were ready at once.")
    return Check("fast", _FAST, "ok", answer, evidence, "")


_FAST = Message("Does tf.data deliver fast enough?")
_LARGE_SHARE = 0.2
"""Share of the step from which waiting is a lot; TensorFlow's profiler calls a program highly input-bound then."""


def waiting_text(cost: InputCost) -> Message:
    """What a step waits for input, in a sentence or two."""
    text = Message(
        "{span, select, step {An average step} other {The capture}} waits {wait_pair} for input ({percent}).",
        span="step" if cost.steps else "capture",
        wait_pair=(cost.waited_ps, cost.step_ps),
        percent=cost.share,
    )
    return sentences(text, "Steps without input wait lasted as long.") if cost.costs_nothing else text


def _does_prefetch(diagnosis: Diagnosis) -> Check:
    question, pipeline = Message("Does the pipeline prefetch?"), diagnosis.pipeline
    if pipeline.device:
        evidence = Message(
            "{pipeline} is the device side of a distribution strategy; the host side made no call.",
            pipeline=pipeline.name,
        )
        return Check("prefetch", question, "unknown", "Unknown.", evidence, "Capture for longer.")
    row, at = last_transformation(pipeline), prefetch_stage(pipeline)
    if row < 0:
        return Check("prefetch", question, "unknown", "Unknown.", "The capture holds no transformation of it.", "")
    behind = pipeline.stages[row].label
    if lacks_prefetch(pipeline):
        level = "bad" if diagnosis.slow else "warn"
        answer = Message("No.") if at < 0 else Message("Not at its end: {stage} comes after it.", stage=behind)
        evidence = Message("The last transformation of {pipeline} is {stage}.", pipeline=pipeline.name, stage=behind)
        todo = Message("End the pipeline with .prefetch(tf.data.AUTOTUNE).")
        return Check("prefetch", question, level, answer, evidence, todo)
    if at < 0:
        evidence = Message(
            "{pipeline} ends with {stage}; the strategy's multi-device iterator reads ahead.",
            pipeline=pipeline.name,
            stage=behind,
        )
        return Check("prefetch", question, "ok", "Yes, by the distribution strategy.", evidence, "")
    stage = pipeline.stages[at]
    limit = stage.settings.get("buffer_limit")
    if row == at:
        position = Message("{pipeline} ends with Prefetch.", pipeline=pipeline.name)
    else:
        position = Message(
            "{pipeline} has Prefetch before {stage}, which takes {behind_ps}.",
            pipeline=pipeline.name,
            stage=behind,
            behind_ps=after_prefetch_ps(pipeline),
        )
    evidence = sentences(
        position,
        Message("Its buffer holds {limit}.", limit=limit) if isinstance(limit, int) else "",
        Message(
            "In {calls, plural, one {# call} other {# calls}} the program waited {wait_ps} for elements: {share} of "
            "the time in Prefetch.",
            calls=stage.calls,
            wait_ps=stage.wait_ps,
            share=stage.wait_ps / max(stage.total_ps, 1),
        ),
    )
    if stage.wait_ps <= stage.calls * SLOW_PS:
        return Check("prefetch", question, "ok", "Yes, and its buffer held elements.", evidence, "")
    answer = Message("Yes, but its buffer was empty: the pipeline is slower than the program.")
    return Check("prefetch", question, "warn", answer, evidence, "Speed up the stages before Prefetch.")


def _are_cores_used(threads: Threads, contended: bool) -> Check:
    question = Message("Are the host's cores fully used?")
    evidence = Message(
        "{busy} of {count} TensorFlow threads were busy on average.", busy=f"{threads.busy:.1f}", count=threads.count
    )
    if not threads.cores:
        return Check("cpu", question, "unknown", "Unknown: the number of cores was not recorded.", evidence, "")
    evidence = sentences(
        evidence, Message("tf.data uses {cores, plural, one {# core} other {# cores}}.", cores=threads.cores)
    )
    if threads.busy >= _SATURATED_SHARE * threads.cores:
        todo = Message(
            "Reduce the work per element: batch before mapping, cache, or use the tf.data service. Set "
            "options.threading.max_intra_op_parallelism = 1."
        )
        return Check("cpu", question, "warn", "Yes: more parallelism alone will not help.", evidence, todo)
    if contended:
        answer = Message("Not on average, but the program's thread was delayed although elements were ready.")
        todo = Message("Look for bursts in the Timeline and for other programs on this host.")
        return Check("cpu", question, "warn", answer, evidence, todo)
    return Check("cpu", question, "ok", "No: there is room for more parallelism.", evidence, "")


def _which_bottleneck(diagnosis: Diagnosis) -> Check:
    question, pipeline = Message("Which transformation is the bottleneck?"), diagnosis.pipeline
    if not diagnosis.slow:
        evidence = sentences(
            Message(
                "{slow} of {requests} calls took more than 50 µs.",
                slow=pipeline.slow_calls,
                requests=len(pipeline.requests),
            ),
            waiting_text(diagnosis.cost),
        )
        return Check("transformation", question, "ok", "None delays the steps.", evidence, "")
    if pipeline.device:
        evidence = Message(
            "{pipeline} is the strategy's generator, which waits for the host's pipeline and the copy. "
            "The host's pipeline made no call in this capture.",
            pipeline=pipeline.name,
        )
        return Check("transformation", question, "unknown", "Unknown: it is in the host's pipeline.", evidence, _LONGER)
    first = diagnosis.findings[0] if diagnosis.findings else None
    if diagnosis.bottleneck is None:
        why = next((finding for finding in diagnosis.findings if finding.id == "contention"), None)
        evidence = message(why.evidence if why else "")
        return Check("transformation", question, "warn", "None: elements were ready.", evidence, "")
    stage, todo = diagnosis.bottleneck, message(first.title if first else "")
    share = stage.blame_ps / pipeline.total_ps
    evidence = Message(
        "{stage}: {blame_pair} of the wait ({share}).",
        stage=stage.long_name,
        blame_pair=(stage.blame_ps, pipeline.total_ps),
        share=share,
    )
    return Check("transformation", question, "bad" if share >= 0.5 else "warn", f"{stage.label}.", evidence, todo)


_LONGER = Message("Capture for longer, so that the host's pipeline makes a call.")


def _how_much_waiting(steps: step_time.StepTimes, cost: InputCost) -> Check:
    question = Message("How much of each step waits for input?")
    if not len(steps):
        todo = Message("Mark steps in the program.")
        return Check("steps", question, "unknown", answer="No steps were found.", evidence="", todo=todo)
    waiting_ps = steps.state_ps[steps.counted, State.INPUT]
    average = steps.duration_ps[steps.counted].mean()
    share = steps.percent(State.INPUT)
    level = "ok" if share < 5 or cost.costs_nothing else "warn" if share < 20 else "bad"
    evidence = Message(
        "{wait_pair} of an average step; {most_ps} at most.",
        wait_pair=(waiting_ps.mean(), average),
        most_ps=waiting_ps.max(),
    )
    return Check("steps", question, level, Message("{percent}.", percent=share / 100), evidence, "")
