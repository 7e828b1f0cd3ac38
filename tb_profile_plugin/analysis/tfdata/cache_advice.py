"""Where a cache() helps a tf.data pipeline, and where one that is there does not."""

from __future__ import annotations

from ...model.iterators import CACHES, REPEATS, SHUFFLES, TRANSPARENT
from ...runtime.messages import Message, all_of
from . import snippets
from .cures import BATCHES
from .pipeline import Pipeline
from .pipeline_finding import PipelineFinding
from .structure import NEGLIGIBLE, all_inputs, has_cache, is_read_again

_TRANSFORMATIONS = frozenset(
    "Map ParallelMap MapAndBatch Filter ParallelFilter FlatMap Interleave ParallelInterleave LegacyParallelInterleave "
    "Generator ParseExample Scan GroupByWindow GroupByReducer".split()
)
"""Kinds that run a function on elements: work that a cache after them saves."""


def late_cache_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """A cache after a repeat: it is never used."""
    for row in _cache_stages(pipeline):
        inputs = all_inputs(pipeline, row)
        repeat = next((pipeline.stages[index] for index in inputs if pipeline.stages[index].kind in REPEATS), None)
        if repeat:
            cost_ps = sum(pipeline.stages[index].blame_ps for index in inputs)
            evidence = Message(
                "The cache comes after {repeat}, so it is never complete and never used. The stages before it cost "
                "{cost_pair} of the wait in {calls, plural, one {# call} other {# calls}}.",
                repeat=repeat.label,
                calls=len(pipeline.requests),
                cost_pair=(cost_ps, pipeline.total_ps),
            )
            title, snippet = Message("Put cache() before repeat()."), snippets.runnable(snippets.CACHE_BEFORE_REPEAT)
            return PipelineFinding("late_cache", title, evidence, cost_ps, "bad", snippet, stage=row)
    return None


def early_cache_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """A cache before a slow transformation, which every epoch runs again."""
    cache = next(iter(_cache_stages(pipeline)), None)
    if cache is None or not pipeline.slow_calls:
        return None
    later_stages = [stage for stage in pipeline.above(cache) if stage.kind in _TRANSFORMATIONS]
    slowest = max(later_stages, key=lambda stage: stage.blame_ps, default=None)
    if slowest is None or slowest.blame_ps <= NEGLIGIBLE * pipeline.total_ps:
        return None
    evidence = Message("{stage} runs after the cache, so every epoch repeats its work.", stage=slowest.label)
    title = Message("Put cache() after the slow transformation, if its results fit into memory and are not random.")
    snippet = snippets.runnable(f"{snippets.PARALLEL_MAP}\n{snippets.CACHE}")
    return PipelineFinding(
        "early_cache",
        title,
        evidence,
        slowest.blame_ps,
        "bad" if is_read_again(pipeline, pipeline.stages.index(slowest)) else "info",
        snippet,
        stage=cache,
    )


def cache_finding(pipeline: Pipeline, row: int, is_random: bool) -> PipelineFinding | None:
    """A cache after the slowest stage: what is before it costs nothing from the second epoch on. No guess where the
    capture holds several epochs, and nothing in them is random.
    """
    stage, inputs = pipeline.stages[row], all_inputs(pipeline, row)
    ordered = {pipeline.stages[index].kind for index in inputs} & (SHUFFLES | REPEATS)
    if has_cache(pipeline) or stage.kind in _NOT_WORTH_CACHING or (stage.kind in BATCHES and ordered):
        return None
    kinds = {input_stage.kind for input_stage in pipeline.stages}
    calls = [call for call, kinds_of_call in (("shuffle()", SHUFFLES), ("repeat()", REPEATS)) if kinds & kinds_of_call]
    if calls:
        title = Message(
            "Cache the output of {stage}, before {calls}, if it is finite, fits into memory and is not random.",
            stage=stage.label,
            calls=all_of(calls),
        )
    else:
        title = Message(
            "Cache the output of {stage} if it is finite, fits into memory and is not random.", stage=stage.label
        )
    cost_ps = sum(pipeline.stages[index].blame_ps for index in (row, *inputs))
    return PipelineFinding(
        "cache",
        title,
        Message(
            "From the second epoch on, this removes {cost_pair} of the wait in "
            "{calls, plural, one {# call} other {# calls}}.",
            cost_pair=(cost_ps, pipeline.total_ps),
            calls=len(pipeline.requests),
        ),
        cost_ps,
        "bad" if is_read_again(pipeline, row) and not is_random else "info",
        code=snippets.runnable(snippets.CACHE),
        stage=row,
    )


_NOT_WORTH_CACHING = TRANSPARENT | SHUFFLES | frozenset(["Prefetch", "Range", "TensorSlice", "FromTensor", "Tensor"])
"""Kinds whose elements lie in memory, or that only hand on what others make."""


def _cache_stages(pipeline: Pipeline) -> list[int]:
    """The caches (rows); their inner halves belong to them."""
    is_cache = [stage.kind in CACHES for stage in pipeline.stages]
    return [
        row
        for row, stage in enumerate(pipeline.stages)
        if is_cache[row] and not (stage.parent >= 0 and is_cache[stage.parent])
    ]
