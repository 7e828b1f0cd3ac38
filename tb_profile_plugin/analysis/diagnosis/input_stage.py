"""What holds input up, as far as a step waits for it: of tf.data the same finding as its page shows, and loops over
values that PyTorch's DataLoader calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model.host import HostWithSteps
from ...runtime.messages import Message
from ..labels.label_texts import WITHIN
from ..labels.program_functions import loops_of_loader
from ..tfdata import pipeline_diagnosis
from ..tfdata.advice import FILLING
from ..tfdata.functions import ops_of_functions
from ..tfdata.input_wait_cost import input_cost
from ..tfdata.pipeline_diagnosis import diagnoses, findings_of_hosts
from ..tfdata.structure import python_works_ahead, shape
from .cause_kinds import MOSTLY, NEW_INPUT
from .program.facts import WORKER_PROCESSES
from .program.program_facts import ProgramFacts
from .remedies.remedy import Remedy
from .time_loss import TimeLoss

NEEDS = (*pipeline_diagnosis.NEEDS, loops_of_loader, ops_of_functions)
"""Per-host functions that this rests on."""
_MAPS = "Map"
"""Part of the labels of stages that run a function of the program's for each element."""
_MAIN_SHARE = 0.5
"""Share of the wait for input from which on one pipeline is to blame for it."""


def name_slow_pipeline(loss: TimeLoss, hosts: Sequence[HostWithSteps]) -> None:
    """Add to unusual steps that wait for input, again and again, what helps the pipeline that they wait for longest."""
    if loss.main_cause != "input" or not loss.recurs:
        return
    all_diagnoses = [diagnosis for host in hosts for diagnosis in diagnoses(host)]
    longest = max(all_diagnoses, key=lambda diagnosis: diagnosis.pipeline.total_ps, default=None)
    finding = longest.finding_of_long_waits if longest is not None else None
    if finding is not None:
        loss.remedy = Remedy(finding.title, finding.code)


def name_input_stage(loss: TimeLoss, hosts: Sequence[HostWithSteps]) -> None:
    """Add to a wait for input why the pipeline that most of it is for is slow, and what helps there.

    It is its slowest stage; or, where elements were ready and the thread that asks for them did not continue, Python in
    the pipeline, or other threads. Where most of the wait is for a pipeline to be made, no stage is to blame. Where
    steps that do not wait last as long, nothing of that helps.
    """
    costs = [cost for host in hosts if (cost := input_cost(host)).notable]
    if costs and all(cost.compared for cost in costs):
        loss.most_ps = sum(cost.gain_ps for cost in costs) / len(costs)
    if costs and all(cost.costs_nothing for cost in costs):
        loss.arguments = {"idle": True}
        loss.remedy = Remedy(Message("Make the other causes smaller first; faster input alone saves nothing."), "")
        return
    made_ps = sum(time.ps for time in loss.names if NEW_INPUT[1].match(time.name))
    if made_ps >= _MAIN_SHARE * loss.ps > 0:
        return
    slow = [
        diagnosis
        for host in hosts
        for diagnosis in diagnoses(host)
        if diagnosis.slow and not diagnosis.pipeline.is_for_device and diagnosis.findings
    ]
    # Each epoch may make its pipeline anew.
    waited_ps: dict[tuple[str, ...], float] = {}
    for diagnosis in slow:
        own = shape(diagnosis.pipeline)
        waited_ps[own] = waited_ps.get(own, 0.0) + diagnosis.waited_ps
    slowest = max(slow, key=lambda one: (waited_ps[shape(one.pipeline)], one.waited_ps), default=None)
    if slowest is None or waited_ps[shape(slowest.pipeline)] < _MAIN_SHARE * loss.ps:
        return
    stage = slowest.bottleneck
    if stage is None and not slowest.pipeline.is_contended:
        return
    if stage:
        loss.arguments = {"stage": _with_ops(stage.label, hosts)}
    elif python_works_ahead(slowest.pipeline):
        loss.arguments = {"python": True}
    else:
        loss.arguments = {"ready": True}
    first = slowest.findings[0]
    of_hosts = findings_of_hosts(hosts).get(first.title)
    most_ps = of_hosts.gain_ps if of_hosts else None
    loss.remedy = Remedy(first.title, first.code, saves=not first.id.startswith(FILLING), most_ps=most_ps)


def _with_ops(stage: str, hosts: Sequence[HostWithSteps]) -> str:
    """A stage's label; of one that maps with the types of the ops, at most two, that functions mostly run."""
    if _MAPS not in stage:
        return stage
    type_ps = sum((Counter(ops_of_functions(host)) for host in hosts), Counter[str]())
    if not type_ps:
        return stage
    largest, total_ps = type_ps.most_common(2), type_ps.total()
    names = [name for name, _ in largest[: 1 if largest[0][1] >= MOSTLY * total_ps else 2]]
    return f"{stage} ({', '.join(names)})" if sum(type_ps[name] for name in names) >= MOSTLY * total_ps else stage


def sets_pace(hosts: Sequence[HostWithSteps], program: ProgramFacts) -> bool:
    """Whether nearly all steps wait for input though workers, or pipelines, make it ahead of them."""
    if WORKER_PROCESSES in program.facts:
        return all(input_cost(host).recurs for host in hosts)
    return all(any(diagnosis.sets_pace for diagnosis in diagnoses(host)) for host in hosts)


def name_input_loop(loss: TimeLoss, hosts: Sequence[HostWithSteps]) -> None:
    """Advise against the loop over values that holds most of a wait for PyTorch's DataLoader."""
    name, ps, _ = next(iter(loss.by_name()), ("", 0.0, 0.0))
    if ps < MOSTLY * loss.ps:
        return
    loops = frozenset[str]().union(*map(loops_of_loader, hosts))
    loop = next((function for function in reversed(name.split(WITHIN)) if function in loops), "")
    if loop:
        text = Message(
            "Write {name} as array operations, or load batches in worker processes (num_workers).", name=loop
        )
        loss.remedy = Remedy(text)
