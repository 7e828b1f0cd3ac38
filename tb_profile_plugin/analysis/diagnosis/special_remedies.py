"""What helps beside what helps most programs, by what else a capture shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.framework import PYTORCH, TENSORFLOW
from ...model.host import HostWithSteps
from ...runtime.messages import Message
from ..activity.states import State
from ..labels.dispatched_calls import calls_per_step, whole_step_functions
from ..steps.late_peer import LatePeer
from ..steps.typical_times import Typical
from .cause_kinds import MOSTLY, PAUSE
from .program import facts
from .program.input_shapes import input_elements
from .program.program_facts import ProgramFacts
from .program.torch.torch_facts import graph_break
from .remedies.remedy import Remedy, remedy
from .time_loss import WORK, TimeLoss
from .work.op_work import fewer_ops, less_work, ops_into_function

_AROUND_REGIONS = ("python", "eager", "unrecorded")
"""Causes that lie between compiled regions of PyTorch."""
_NO_WAITS = 0.01
"""Share of the period, below which a host waits for devices so little that it may run ahead."""
_COPIES, _OTHER_COPIES = ("exposed_copy", "host_offload"), {"copy_within", "copy_back"}
"""Causes whose copies compute could hide, and kinds of copies with remedies of their own."""
_AVOIDABLE_STATES = (PAUSE, WORK, "python")
"""States of a straggler in which it does what it could do less often."""
_CONVERSION, _MANY_CONVERSIONS = ("aten::to", "aten::_to_copy"), 0.1
"""Begins of the names of what converts tensors, and the share of the step from which on that is told."""
_MORE_WORK = 1.25
"""So many times as many ops as the others call, or elements in their inputs, are more work."""
_FORWARD = "forward ("
"""Begin of the labels of what computes a module of PyTorch."""


def special_remedy(
    loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts
) -> Remedy | None:
    """What helps this program against a cause, where that is another thing than most programs need."""
    if advice := _remedy_of_regions(loss, hosts, program):
        return advice
    if loss.id == "python" and program.framework == PYTORCH:
        return _remedy_of_python(loss, hosts, program)
    if loss.id == "late_peer":
        return _remedy_of_straggler(loss, hosts, typical.late_peer, program)
    slices = facts.SLICED & program.facts
    if loss.id in ("eager", "unrecorded") and slices:
        # Gradients and optimizers of slices are many ops, too, with Python between them.
        return remedy(PYTORCH, "eager", facts=slices)
    if loss.id == "unrecorded" and facts.COPIES_WEIGHTS in program.facts:
        return remedy(TENSORFLOW, "copied_weights", facts=program.facts)
    if loss.id in ("eager", "dispatch") and facts.CALLS_FUNCTIONS in program.facts:
        return ops_into_function(hosts, program)
    if loss.id == "latency" and typical.share(State.SYNC) < _NO_WAITS:
        # Devices run dry though nothing waits for them: each launch is slower than its work.
        return remedy(program.framework, "launch", facts=program.facts)
    if loss.id in _COPIES and not _OTHER_COPIES.intersection(loss.kinds[:1]) and _exceeds_compute(loss, typical):
        return remedy(program.framework, "long_copies")
    if loss.id == WORK:
        return _remedy_of_conversions(loss, typical, program) or less_work(loss, hosts, program)
    return None


def _remedy_of_regions(loss: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> Remedy | None:
    """What helps where torch.compile made several regions of a step."""
    is_of_regions = loss.id in _AROUND_REGIONS and (not loss.large_names() or loss.kinds[:1] == ["compiled"])
    if loss.id == WORK and loss.kinds[:1] == ["elementwise"] and facts.GRAPH_BREAKS in program.facts:
        if facts.UPDATES in program.facts:
            # Most of it is the optimizer's, which stands outside of the model's regions.
            return remedy(PYTORCH, "elementwise", facts=program.facts - {facts.GRAPH_BREAKS})
        is_of_regions = True
    if not is_of_regions or facts.MANY_GRAPH_BREAKS not in program.facts:
        return None
    advice = remedy(PYTORCH, "compiled", facts=frozenset({facts.GRAPH_BREAKS}))
    line = next(filter(None, map(graph_break, hosts)), "")
    text = Message("Make the step one compiled region: a graph break after {line} splits it.", line=line)
    return advice._replace(text=text) if line else advice


def _remedy_of_python(loss: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> Remedy | None:
    """What helps against Python in a program of PyTorch."""
    if facts.TRACED not in program.facts:
        # What a range of the program does by itself is not known without its frames.
        return remedy(PYTORCH, "unexplained")
    name = next((name for name, _, _ in loss.by_name()), "")
    if facts.TAKES_SINGLE_REQUESTS in program.facts and name.startswith(_FORWARD):
        return remedy(PYTORCH, "eager", facts=frozenset({facts.TAKES_SINGLE_REQUESTS}))
    if not loss.dispatches_ops:
        return None
    if any(name in whole_step_functions(host) for host in hosts):
        return remedy(PYTORCH, "dispatch", facts=program.facts)
    usual = remedy(PYTORCH, "python")
    is_usual = remedy(PYTORCH, *loss.remedy_keys, facts=program.facts).text == usual.text
    return usual._replace(text=fewer_ops(name)) if is_usual else None


def _remedy_of_straggler(
    loss: TimeLoss, hosts: Sequence[HostWithSteps], late: LatePeer | None, program: ProgramFacts
) -> Remedy | None:
    """What helps where the others wait for one worker. Work that is shared is not gone: each then does a part of it."""
    advice = remedy(program.framework, *loss.remedy_keys, facts=program.facts)
    shared = advice._replace(most_ps=loss.ps * (1 - 1 / len(hosts)))
    if late is not None and late.own_work and not late.every and late.state in _AVOIDABLE_STATES:
        name = (loss.arguments or {})["label"].text
        text = Message("Call {name} less often, or in a background thread: the other workers wait for it.", name=name)
        return remedy(program.framework, *loss.remedy_keys)._replace(text=text)
    if advice.fact == facts.BROADCASTS_BATCHES:
        return shared
    if late is None or late.state != WORK or late.own_work:
        return None
    more_work = _more_work(hosts, late.host)
    return shared._replace(text=more_work) if more_work else None


def _more_work(hosts: Sequence[HostWithSteps], name: str) -> Message | None:
    """What helps a host that has more work than the others, in ops or in elements; None where it has not."""
    ops_factor, size_factor = (_factor(hosts, name, of) for of in (calls_per_step, input_elements))
    if ops_factor >= _MORE_WORK:
        return Message(
            "Give all workers equal work, such as sequences of like lengths: {host} calls {factor} times as many ops.",
            host=name,
            factor=f"{ops_factor:.1f}",
        )
    if size_factor >= _MORE_WORK:
        return Message(
            "Give all workers equal work, such as sequences of like lengths: {host} has {factor} times as large "
            "arrays.",
            host=name,
            factor=f"{size_factor:.1f}",
        )
    return None


def _factor(hosts: Sequence[HostWithSteps], name: str, count: Callable[[HostWithSteps], float]) -> float:
    """How many times as much of something a host has in each step as the others on average; 1 where these have none."""
    counts = {host.name: count(host) for host in hosts}
    own = counts.pop(name)
    others = sum(counts.values())
    return own * len(counts) / others if others >= len(counts) else 1.0


def _remedy_of_conversions(loss: TimeLoss, typical: Typical, program: ProgramFacts) -> Remedy | None:
    """What helps where inference converts much, as weights that are quantized."""
    if loss.kinds[:1] != ["elementwise"] or facts.INFERS_ON_CPU not in program.facts:
        return None
    conversions_ps = sum(ps for name, ps, _ in loss.by_name() if name.startswith(_CONVERSION))
    return remedy(PYTORCH, "conversions") if conversions_ps >= _MANY_CONVERSIONS * typical.period_ps else None


def _exceeds_compute(copies: TimeLoss, typical: Typical) -> bool:
    """Whether compute is too little to hide most of these copies."""
    return float(typical.state_ps[State.COMPUTE]) < MOSTLY * copies.ps
