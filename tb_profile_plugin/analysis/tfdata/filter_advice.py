"""A filter of a tf.data pipeline that throws away what a costly map worked for."""

from __future__ import annotations

from ...model.iterators import SHUFFLES, TRANSPARENT
from ...runtime.messages import Message, sentences
from . import snippets
from .pipeline import Pipeline, Stage
from .pipeline_finding import PipelineFinding

_LEAST_INPUT_RATIO = 2
"""A filter that takes so many elements for each that it passes on throws most of its input's work away."""
_MAPS = frozenset(["Map", "ParallelMap"])
_ONE_FOR_ONE = _MAPS | TRANSPARENT | SHUFFLES | frozenset(["Prefetch"])
"""Kinds that hand on as many elements as they take, between which a filter can move."""


def late_filter_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """A filter that throws most elements away, after a map whose functions run longer than its own; one of the two is
    to blame for most of the wait.
    """
    for row, stage in enumerate(pipeline.stages):
        inputs = [pipeline.stages[index] for index in _stages_before(pipeline, row)] if stage.kind == "Filter" else []
        costly_map = max((source for source in inputs if source.kind in _MAPS), key=_work_ps, default=None)
        is_slow = pipeline.bottleneck >= 0 and pipeline.stages[pipeline.bottleneck] in (stage, costly_map)
        if (
            costly_map
            and is_slow
            and inputs[0].calls >= _LEAST_INPUT_RATIO * stage.calls
            and _work_ps(costly_map) > _work_ps(stage)
        ):
            return _finding(pipeline, row, inputs[0].calls, costly_map)
    return None


def _finding(pipeline: Pipeline, row: int, input_count: int, costly_map: Stage) -> PipelineFinding:
    """For the filter at that row, which took so many elements that the costly map had worked for."""
    stage = pipeline.stages[row]
    discarded, map_ps, filter_ps = input_count - stage.calls, _work_ps(costly_map), _work_ps(stage)
    wait_ps = float(costly_map.blame_ps)
    if costly_map.is_asynchronous:
        # Its functions run on the threads that those of the filter wait for.
        wait_ps += stage.blame_ps * map_ps / (map_ps + filter_ps)
    evidence = sentences(
        Message(
            "{filter} throws away {count} of {all_count} elements.",
            filter=stage.label,
            count=discarded,
            all_count=input_count,
        ),
        Message(
            "{map} worked {vain_pair} for them in vain, summed over threads.",
            map=costly_map.label,
            vain_pair=(discarded / input_count * map_ps, map_ps),
        ),
    )
    title = Message("Filter before the map, by what is cheap to read, so that only elements that stay are transformed.")
    gain_ps, snippet = discarded / input_count * wait_ps, snippets.runnable(snippets.FILTER_FIRST)
    return PipelineFinding("late_filter", title, evidence, gain_ps, "bad", snippet, stage=row)


def _stages_before(pipeline: Pipeline, row: int) -> list[int]:
    """What a stage asks, nearest first, as long as each has one input and hands on as many elements as it takes."""
    rows: list[int] = []
    inputs = pipeline.children[row]
    while len(inputs) == 1 and pipeline.stages[inputs[0]].kind in _ONE_FOR_ONE:
        rows += inputs
        inputs = pipeline.children[inputs[0]]
    return rows


def _work_ps(stage: Stage) -> int:
    """ps that its functions ran; its own time where that was not recorded, and it does not wait for other threads."""
    return stage.function_ps or (0 if stage.is_asynchronous else stage.self_ps)
