"""A filter, or shard, of a tf.data pipeline that throws away what a costly map worked for."""

from __future__ import annotations

from ...model.iterators import SHUFFLES, TRANSPARENT
from ...runtime.messages import Message, sentences
from ...runtime.records import NamedTuple
from . import snippets
from .pipeline import Pipeline, Stage
from .pipeline_finding import PipelineFinding

_LEAST_INPUT_RATIO = 2
"""What takes so many elements for each that it passes on throws most of its input's work away."""
_MAPS = frozenset(["Map", "ParallelMap"])
_ONE_FOR_ONE = _MAPS | TRANSPARENT | SHUFFLES | frozenset(["Prefetch"])
"""Kinds that hand on as many elements as they take, between which a filter can move."""


class _Cure(NamedTuple):
    """What to do about a stage that throws elements away."""

    id: str
    title: Message
    snippet: str


_CURES = {
    "Filter": _Cure(
        "late_filter",
        Message("Filter before the map, by what is cheap to read, so that only elements that stay are transformed."),
        snippets.FILTER_FIRST,
    ),
    "Shard": _Cure(
        "late_shard",
        Message("Shard before the map, right after reading, so that each worker transforms only its own elements."),
        snippets.SHARD_FIRST,
    ),
}
"""By kind of stage."""


def late_filter_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """A filter, or shard, that throws most elements away, after a map whose functions run longer than its own; one of
    the two is to blame for most of the wait.
    """
    for row, stage in enumerate(pipeline.stages):
        inputs = [pipeline.stages[index] for index in _stages_before(pipeline, row)] if stage.kind in _CURES else []
        costly_map = max((source for source in inputs if source.kind in _MAPS), key=_work_ps, default=None)
        is_slow = pipeline.bottleneck >= 0 and pipeline.stages[pipeline.bottleneck] in (stage, costly_map)
        if costly_map and is_slow and _work_ps(costly_map) > _work_ps(stage):
            discarded, inputs_read = _discarded_and_read(stage, inputs[0])
            if inputs_read >= _LEAST_INPUT_RATIO * (inputs_read - discarded):
                return _finding(pipeline, row, discarded, inputs_read, costly_map)
    return None


def _discarded_and_read(stage: Stage, source: Stage) -> tuple[int, int]:
    """How many elements a stage throws away, of how many; of a shard of so many that each passes on one."""
    if stage.kind == "Filter":
        return source.calls - stage.calls, source.calls
    shards = stage.settings.get("num_shards")
    return (shards - 1, shards) if isinstance(shards, int) and shards > 0 else (0, 1)


def _finding(pipeline: Pipeline, row: int, discarded: int, inputs_read: int, costly_map: Stage) -> PipelineFinding:
    """For the stage at that row, which threw so many of the elements away that the costly map had worked for."""
    stage = pipeline.stages[row]
    map_ps, filter_ps = _work_ps(costly_map), _work_ps(stage)
    wait_ps = float(costly_map.blame_ps)
    if costly_map.is_asynchronous:
        # Its functions run on the threads that those of the filter wait for.
        wait_ps += stage.blame_ps * map_ps / (map_ps + filter_ps)
    evidence = sentences(
        Message(
            "{filter} throws away {count} of {all_count} elements.",
            filter=stage.label,
            count=discarded,
            all_count=inputs_read,
        ),
        Message(
            "{map} worked {vain_pair} for them in vain, summed over threads.",
            map=costly_map.label,
            vain_pair=(discarded / inputs_read * map_ps, map_ps),
        ),
    )
    cure = _CURES[stage.kind]
    gain_ps, snippet = discarded / inputs_read * wait_ps, snippets.runnable(cure.snippet)
    return PipelineFinding(cure.id, cure.title, evidence, gain_ps, "bad", snippet, stage=row)


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
