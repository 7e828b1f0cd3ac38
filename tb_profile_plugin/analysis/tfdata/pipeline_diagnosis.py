"""The pipelines of a host, what they cost its steps, and what to do about each: one diagnosis for all pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.memo import lazy
from ...runtime.records import record
from . import input_wait_cost, iterator_calls
from .advice import FILLING, findings
from .functions import function_ps, has_random_ops
from .input_wait_cost import InputCost, input_cost
from .pipeline import Pipeline, Stage
from .pipeline_finding import PipelineFinding
from .pool_threads import are_cores_busy
from .structure import PipelineCounts, filled_stage, fills_again, lacks_prefetch, prefetch_stage, shape

NEEDS = (iterator_calls.pipelines, function_ps, has_random_ops, are_cores_busy, *input_wait_cost.NEEDS)
"""Per-host functions that this rests on."""


@record
class PipelineDiagnosis:
    """A pipeline, and what it does to the steps of its host."""

    pipeline: Pipeline
    cost: InputCost
    """Cost of all the pipelines of the host together."""
    share: float
    """This one's part in the time that the program waited for the host's pipelines, 0–1."""
    function_ps: int | None = None
    """As `functions.function_ps` says of the host."""
    same_stages: PipelineCounts = PipelineCounts()
    """Those of the host that have these stages, itself included."""
    is_random: bool = False
    """As `functions.has_random_ops` says of the host."""
    are_cores_busy: bool = False
    """As `pool_threads.are_cores_busy` says of the host."""

    @property
    def slow(self) -> bool:
        """Whether it holds the steps up: its calls take long, and the steps last longer for it."""
        return self.pipeline.slow_calls > 0 and self.cost.costly

    @property
    def sets_pace(self) -> bool:
        """Whether nearly all steps wait for it though it works ahead: with less to compute they would wait longer. Not
        where elements were ready, and the thread that asks for them did not continue.
        """
        works_ahead = prefetch_stage(self.pipeline) >= 0 and not lacks_prefetch(self.pipeline)
        return self.slow and self.cost.recurs and works_ahead and not self.pipeline.is_contended

    @property
    def waited_ps(self) -> float:
        """What an average step waits for it."""
        return self.cost.waited_ps * self.share

    @property
    def bottleneck(self) -> Stage | None:
        """The stage to blame for most of the waiting; None where none is, or where elements were ready."""
        row = self.pipeline.bottleneck
        return None if row < 0 or self.pipeline.is_contended else self.pipeline.stages[row]

    @property
    def finding_of_long_waits(self) -> PipelineFinding | None:
        """What helps first where steps wait long for it, however few; None for what only the start of it costs."""
        of_waits = () if self.pipeline.is_for_device else self._findings(costly=True)
        return next((finding for finding in of_waits if not finding.id.startswith(FILLING)), None)

    @lazy
    def findings(self) -> list[PipelineFinding]:
        """What to do, the largest gain first; nothing for a pipeline of a device. Gains are of an average step, and not
        known where the pipeline takes cores from a CPU that computes meanwhile.
        """
        if self.pipeline.is_for_device:
            return []
        takes_cores = self.sets_pace and self.cost.cpu_computes_ps > self.cost.waited_ps
        per_step = self.cost.gain_ps * self.share / max(self.pipeline.total_ps, 1)
        return [
            replace(finding, gain_ps=None if finding.gain_ps is None or takes_cores else finding.gain_ps * per_step)
            for finding in self._findings(self.cost.costly)
        ]

    def _findings(self, costly: bool) -> list[PipelineFinding]:
        return findings(self.pipeline, costly, self.function_ps, self.same_stages, self.is_random, self.are_cores_busy)


@per_host
def diagnoses(host: HostWithSteps) -> list[PipelineDiagnosis]:
    """The host's pipelines in the order of their first calls; see `NEEDS`."""
    pipelines = iterator_calls.pipelines(host)
    return diagnoses_of(host, pipelines) if pipelines else []


def findings_of_hosts(hosts: Sequence[HostWithSteps]) -> dict[str, PipelineFinding]:
    """By title what to do about pipelines that steps wait for, unless only their start was captured. Gains are means
    over all hosts, which meet in each step.
    """
    findings_by_title: dict[str, PipelineFinding] = {}
    for host in hosts:
        for diagnosis in diagnoses(host):
            pipeline = diagnosis.pipeline
            if diagnosis.slow and (filled_stage(pipeline) < 0 or fills_again(pipeline, diagnosis.same_stages)):
                for finding in diagnosis.findings:
                    previous, own_ps = findings_by_title.get(finding.title), finding.gain_ps
                    previous_ps = 0.0 if previous is None else previous.gain_ps
                    gain_ps = None if own_ps is None or previous_ps is None else previous_ps + own_ps / len(hosts)
                    findings_by_title[finding.title] = replace(previous or finding, gain_ps=gain_ps)
    return findings_by_title


def diagnoses_of(host: HostWithSteps, pipelines: Sequence[Pipeline]) -> list[PipelineDiagnosis]:
    """These pipelines of one host, and what they cost its steps."""
    cost, host_function_ps = input_cost(host), function_ps(host)
    same_stages = Counter(map(shape, pipelines))
    filled_shapes = Counter(shape(pipeline) for pipeline in pipelines if pipeline.starting.any())
    total_ps = Counter[bool]()
    for pipeline in pipelines:
        total_ps[pipeline.is_for_device] += pipeline.total_ps
    # What is waited until pipelines are built is no wait for their stages.
    total_ps[False] = max(total_ps[False], cost.waited_for_new_ps)
    return [
        PipelineDiagnosis(
            pipeline,
            cost,
            share=pipeline.total_ps / max(total_ps[pipeline.is_for_device], 1),
            function_ps=host_function_ps,
            same_stages=PipelineCounts(same_stages[shape(pipeline)], filled_shapes[shape(pipeline)]),
            is_random=has_random_ops(host),
            are_cores_busy=are_cores_busy(host),
        )
        for pipeline in pipelines
    ]
