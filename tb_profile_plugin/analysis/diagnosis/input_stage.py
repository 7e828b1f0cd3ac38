"""What holds a tf.data pipeline up, as far as a step waits for it: the same finding as the page tf.data shows."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.host import HostWithSteps
from ...runtime.messages import Message
from ..tfdata import pipeline_diagnosis
from ..tfdata.input_wait_cost import input_cost
from ..tfdata.pipeline_diagnosis import diagnoses, findings_of_hosts
from ..tfdata.structure import python_works_ahead
from .remedies import Remedy
from .time_loss import TimeLoss

NEEDS = pipeline_diagnosis.NEEDS
"""Per-host functions that this rests on."""
_MOST = 0.5
"""Of the time waited for input, from which on one pipeline is what the step waits for."""


def name_input_stage(loss: TimeLoss, hosts: Sequence[HostWithSteps]) -> None:
    """Give a wait for input what makes the pipeline slow that is most of it, and what helps there.

    That is its slowest stage; or, where elements were ready and the thread that asks for them was held up, Python that
    runs in the pipeline, or other threads. Where steps that do not wait last as long, neither helps.
    """
    costs = [cost for host in hosts if (cost := input_cost(host)).notable]
    if costs and all(cost.costs_nothing for cost in costs):
        loss.arguments, loss.most_ps = {"idle": True}, sum(cost.gain_ps for cost in costs) / len(costs)
        loss.remedy = Remedy(Message("Make the other causes smaller first; faster input alone saves nothing."), "")
        return
    slow = [
        diagnosis
        for host in hosts
        for diagnosis in diagnoses(host)
        if diagnosis.slow and not diagnosis.pipeline.device and diagnosis.findings
    ]
    slowest = max(slow, key=lambda diagnosis: diagnosis.waited_ps, default=None)
    if slowest is None or slowest.waited_ps < _MOST * loss.ps:
        return
    stage = slowest.bottleneck
    if stage is None and not slowest.pipeline.contended:
        return
    if stage:
        loss.arguments = {"stage": stage.label}
    elif python_works_ahead(slowest.pipeline):
        loss.arguments = {"python": True}
    else:
        loss.arguments = {"ready": True}
    first = slowest.findings[0]
    of_hosts = findings_of_hosts(hosts).get(first.title)
    loss.remedy = Remedy(first.title, first.code, most_ps=of_hosts.gain_ps if of_hosts else None)
