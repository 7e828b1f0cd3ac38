"""The questions of TensorFlow's tf.data guide in their order, each answered with what this capture shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message, message, sentences
from ...runtime.records import NamedTuple
from .input_wait_cost import InputCost
from .pipeline import SLOW_PS, Pipeline
from .pipeline_diagnosis import PipelineDiagnosis
from .pool_threads import PoolThreads
from .structure import after_prefetch_ps, lacks_prefetch, last_transformation, prefetch_stage

_LABEL_OF_ENTRY = {
    "IteratorGetNextOp::DoCompute": "IteratorGetNext",
    "IteratorGetNextAsOptionalOp::DoCompute": "IteratorGetNextAsOptional",
}
_SATURATED_SHARE = 0.8
"""Cores are fully used if the threads keep such a share of them busy."""
_MOST_OF_THE_WAIT = 0.5
"""Share of the wait from which on a transformation is a bad bottleneck."""

_QUESTIONS = {
    "fast": Message("Does tf.data deliver fast enough?"),
    "prefetch": Message("Does the pipeline prefetch?"),
    "cpu": Message("Are the host's cores fully used?"),
    "transformation": Message("Which transformation is the bottleneck?"),
    "steps": Message("How much of each step waits for input?"),
}
_LONGER = Message("Capture for longer, so that the host's pipeline makes a call.")


class Check(NamedTuple):
    """One question, answered."""

    id: str
    question: str
    level: str
    """``ok``, ``warn``, ``bad`` or ``unknown``."""
    answer: str
    evidence: str
    todo: str


class _Outcome(NamedTuple):
    """What a question is answered with."""

    level: str
    answer: str
    evidence: str = ""
    todo: str = ""


def checklist(
    durations: Mapping[str, Array],
    diagnoses: Sequence[PipelineDiagnosis],
    pool_threads: PoolThreads,
) -> list[Check]:
    """For the first pipeline, and the threads of its host; `durations` is what `entries` gives."""
    first = diagnoses[0]
    outcomes = {
        "fast": _is_fast_enough(durations, diagnoses),
        "prefetch": _does_prefetch(first),
        "cpu": _are_cores_used(pool_threads, first.slow and first.pipeline.is_contended),
        "transformation": _which_bottleneck(first),
        "steps": _how_much_waiting(first.cost),
    }
    return [Check(id, _QUESTIONS[id], level, *map(message, texts)) for id, (level, *texts) in outcomes.items()]


def entries(hosts: Sequence[Host]) -> dict[str, Array]:
    """Durations, ps, of the calls by which programs ask for an element, by their names."""
    durations = [entries_of_host(host) for host in hosts]
    return {name: np.concatenate([by_name[name] for by_name in durations]) for name in _LABEL_OF_ENTRY}


@per_host(keep=True)
def entries_of_host(host: Host) -> dict[str, Array]:
    """`entries` of one host, float64[calls] ps each."""
    plane = host.cpu
    if plane is None:
        return {name: np.empty(0) for name in _LABEL_OF_ENTRY}
    return {name: plane.events.duration[plane.rows_named(name.__eq__)].astype(np.float64) for name in _LABEL_OF_ENTRY}


def _is_fast_enough(durations: Mapping[str, Array], diagnoses: Sequence[PipelineDiagnosis]) -> _Outcome:
    pipelines = [diagnosis.pipeline for diagnosis in diagnoses]
    slow = sum(pipeline.slow_calls for pipeline in pipelines)
    requests = sum(len(pipeline.requests) for pipeline in pipelines)
    slow_diagnoses = [diagnosis for diagnosis in diagnoses if diagnosis.slow]
    cost = max((diagnosis.cost for diagnosis in slow_diagnoses or diagnoses), key=lambda cost: cost.share)
    evidence = sentences(*_entry_texts(durations), *_slow_call_texts(pipelines), waiting_text(cost))
    if slow_diagnoses and all(diagnosis.pipeline.is_contended for diagnosis in slow_diagnoses):
        return _Outcome(
            level="warn",
            answer="Elements were ready, but the thread that requests them was delayed.",
            evidence=evidence,
            todo="Check whether the host's cores are fully used.",
        )
    if slow_diagnoses:
        return _Outcome(
            level="bad" if cost.large else "warn",
            answer="No." if 2 * slow >= requests else "Not always.",
            evidence=evidence,
            todo="Go on with the next questions.",
        )
    if cost.costs_nothing:
        answer = Message("Fast enough: steps that wait for it last no longer.")
    elif slow:
        answer = Message("Fast enough: steps hardly wait for it.")
    else:
        answer = Message("Yes: all elements were ready at once.")
    return _Outcome(level="ok", answer=answer, evidence=evidence)


def _entry_texts(durations: Mapping[str, Array]) -> list[Message]:
    """A sentence about each kind of call by which the program asks for an element."""
    return [
        Message(
            "{name}: {count, plural, one {# call} other {# calls}}, {mean_ps} on average, {most_ps} at most.",
            name=label,
            count=len(durations[name]),
            mean_ps=durations[name].mean(),
            most_ps=durations[name].max(),
        )
        for name, label in _LABEL_OF_ENTRY.items()
        if len(durations[name])
    ]


def _slow_call_texts(pipelines: Sequence[Pipeline]) -> list[Message]:
    """A sentence about the pipelines on the host, and one about those on devices."""
    texts: list[Message] = []
    for is_for_device, side in ((False, "host"), (True, "device")):
        side_pipelines = [pipeline for pipeline in pipelines if pipeline.is_for_device == is_for_device]
        if side_pipelines:
            text = Message(
                "{count} {side, select, host {host} other {device}} {count, plural, one {pipeline} other "
                "{pipelines}}: {slow} of {requests} calls took more than 50 µs.",
                count=len(side_pipelines),
                side=side,
                slow=sum(pipeline.slow_calls for pipeline in side_pipelines),
                requests=sum(len(pipeline.requests) for pipeline in side_pipelines),
            )
            texts.append(text)
    return texts


def waiting_text(cost: InputCost) -> Message:
    """What a step waits for input, in a sentence or two."""
    text = Message(
        "{span, select, step {An average step} period {From step to step, the loop} other {The capture}} waits "
        "{wait_pair} for input ({percent}).",
        span=cost.span,
        wait_pair=(cost.waited_ps, cost.step_ps),
        percent=cost.share,
    )
    return sentences(text, "Steps without input wait lasted as long.") if cost.costs_nothing else text


def _does_prefetch(diagnosis: PipelineDiagnosis) -> _Outcome:
    pipeline = diagnosis.pipeline
    if pipeline.is_for_device:
        evidence = Message(
            "{pipeline} is the device side of a distribution strategy; the host side made no call.",
            pipeline=pipeline.name,
        )
        return _Outcome(level="unknown", answer="Unknown.", evidence=evidence, todo="Capture for longer.")
    last_row, prefetch_row = last_transformation(pipeline), prefetch_stage(pipeline)
    if last_row < 0:
        return _Outcome(level="unknown", answer="Unknown.", evidence="The capture holds no transformation of it.")
    label = pipeline.stages[last_row].label
    if lacks_prefetch(pipeline):
        not_last = Message("Not at its end: {stage} comes after it.", stage=label)
        return _Outcome(
            level="bad" if diagnosis.slow else "warn",
            answer=Message("No.") if prefetch_row < 0 else not_last,
            evidence=Message("The last transformation of {pipeline} is {stage}.", pipeline=pipeline.name, stage=label),
            todo="End the pipeline with .prefetch(tf.data.AUTOTUNE).",
        )
    if prefetch_row < 0:
        evidence = Message(
            "{pipeline} ends with {stage}; the strategy's multi-device iterator reads ahead.",
            pipeline=pipeline.name,
            stage=label,
        )
        return _Outcome(level="ok", answer="Yes, by the distribution strategy.", evidence=evidence)
    stage, evidence = pipeline.stages[prefetch_row], _prefetch_evidence(pipeline)
    if stage.wait_ps <= stage.calls * SLOW_PS:
        return _Outcome(level="ok", answer="Yes, and its buffer held elements.", evidence=evidence)
    return _Outcome(
        level="warn",
        answer="Yes, but its buffer was empty: the pipeline is slower than the program.",
        evidence=evidence,
        todo="Speed up the stages before Prefetch.",
    )


def _prefetch_evidence(pipeline: Pipeline) -> Message:
    """Where a pipeline prefetches, how much its buffer holds, and how long the program waited for it."""
    last_row, prefetch_row = last_transformation(pipeline), prefetch_stage(pipeline)
    stage = pipeline.stages[prefetch_row]
    limit = stage.settings.get("buffer_limit")
    if last_row == prefetch_row:
        position = Message("{pipeline} ends with Prefetch.", pipeline=pipeline.name)
    else:
        position = Message(
            "{pipeline} has Prefetch before {stage}, which takes {behind_ps}.",
            pipeline=pipeline.name,
            stage=pipeline.stages[last_row].label,
            behind_ps=after_prefetch_ps(pipeline),
        )
    return sentences(
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


def _are_cores_used(threads: PoolThreads, is_contended: bool) -> _Outcome:
    evidence = Message(
        "{busy} of {count} TensorFlow threads were busy on average.",
        busy=f"{threads.busy_threads:.1f}",
        count=threads.count,
    )
    if not threads.cores:
        return _Outcome(level="unknown", answer="Unknown: the number of cores was not recorded.", evidence=evidence)
    evidence = sentences(
        evidence, Message("tf.data uses {cores, plural, one {# core} other {# cores}}.", cores=threads.cores)
    )
    if threads.busy_threads >= _SATURATED_SHARE * threads.cores:
        todo = Message(
            "Reduce the work per element: batch before mapping, cache, or use the tf.data service. Set "
            "options.threading.max_intra_op_parallelism = 1."
        )
        return _Outcome(level="warn", answer="Yes: more parallelism alone will not help.", evidence=evidence, todo=todo)
    if is_contended:
        return _Outcome(
            level="warn",
            answer="Not on average, but the program's thread was delayed although elements were ready.",
            evidence=evidence,
            todo="Look for bursts in the Timeline and for other programs on this host.",
        )
    return _Outcome(level="ok", answer="No: there is room for more parallelism.", evidence=evidence)


def _which_bottleneck(diagnosis: PipelineDiagnosis) -> _Outcome:
    pipeline, stage = diagnosis.pipeline, diagnosis.bottleneck
    if not diagnosis.slow:
        evidence = sentences(
            Message(
                "{slow} of {requests} calls took more than 50 µs.",
                slow=pipeline.slow_calls,
                requests=len(pipeline.requests),
            ),
            waiting_text(diagnosis.cost),
        )
        return _Outcome(level="ok", answer="None delays the steps.", evidence=evidence)
    if pipeline.is_for_device:
        evidence = Message(
            "{pipeline} is the strategy's generator, which waits for the host's pipeline and the copy. "
            "The host's pipeline made no call in this capture.",
            pipeline=pipeline.name,
        )
        return _Outcome(
            level="unknown", answer="Unknown: it is in the host's pipeline.", evidence=evidence, todo=_LONGER
        )
    if stage is None:
        contention = next((finding for finding in diagnosis.findings if finding.id == "contention"), None)
        return _Outcome(
            level="warn", answer="None: elements were ready.", evidence=contention.evidence if contention else ""
        )
    share = stage.blame_ps / pipeline.total_ps
    evidence = Message(
        "{stage}: {blame_pair} of the wait in {calls, plural, one {# call} other {# calls}} ({share}).",
        stage=stage.long_name,
        calls=len(pipeline.requests),
        blame_pair=(stage.blame_ps, pipeline.total_ps),
        share=share,
    )
    return _Outcome(
        level="bad" if share >= _MOST_OF_THE_WAIT and diagnosis.cost.large else "warn",
        answer=f"{stage.label}.",
        evidence=evidence,
        todo=diagnosis.findings[0].title if diagnosis.findings else "",
    )


def _how_much_waiting(cost: InputCost) -> _Outcome:
    if not cost.steps:
        return _Outcome(level="unknown", answer="No steps were found.", todo="Mark steps in the program.")
    is_little = not cost.notable or cost.costs_nothing
    evidence = Message(
        "{wait_pair} {span, select, period {from step to step} other {of an average step}}; {most_ps} at most.",
        span=cost.span,
        wait_pair=(cost.waited_ps, cost.step_ps),
        most_ps=cost.most_waited_ps,
    )
    return _Outcome(
        level="ok" if is_little else "bad" if cost.large else "warn",
        answer=Message("{percent}.", percent=cost.share),
        evidence=evidence,
    )
