"""What holds a tf.data pipeline up, and the code that helps: from its shape and from what its stages cost."""

from __future__ import annotations

from ...model.iterators import CACHES, TRANSPARENT
from ...runtime.messages import Message, sentences
from ..finding import Level
from . import snippets
from .cache_advice import cache_finding, early_cache_finding, late_cache_finding
from .cures import (
    NOT_RECORDED,
    ROW_GENERATOR,
    ROW_NUMBERS,
    WINDOWS,
    cure,
    row_numbers_gain_ps,
    windows_gain_ps,
    yields_rows,
)
from .filter_advice import late_filter_finding
from .pipeline import SLOW_PS, Pipeline
from .pipeline_finding import PipelineFinding
from .structure import (
    CHEAP_CALL_PS,
    PipelineCounts,
    all_inputs,
    core_count,
    filled_stage,
    fills_again,
    has_cache,
    lacks_prefetch,
    last_transformation,
    parallel_gain_ps,
    prefetch_gain_ps,
    prefetch_stage,
    python_works_ahead,
)

FILLING = "filling_"
"""Begin of the ids of what is found where only the start of a pipeline was captured."""
_REFILLED = "refilled_shuffle"
"""Id of the finding that each new iterator fills a shuffle buffer."""
_MAPS = ("Map", "ParallelMap")
"""Kinds that run the program's function on each element."""


def findings(
    pipeline: Pipeline,
    costly: bool,
    function_ps: int | None,
    same_stages: PipelineCounts,
    is_random: bool = False,
    are_cores_busy: bool = False,
) -> list[PipelineFinding]:
    """What to do about a pipeline of a host, the largest gain first; last what only helps if the data or code allow it.

    ``costly`` tells whether the program's steps wait for it notably: otherwise only what is wrong for certain is found.
    Gains are of all its calls together, `Pipeline.total_ps`. The functions of all pipelines of the host ran for
    ``function_ps``, where that is known. ``is_random`` says that their elements may differ from epoch to epoch,
    ``are_cores_busy`` that a Prefetch could not work ahead.
    """
    # Of equal gains the one without the work comes first.
    rules = (late_cache_finding, early_cache_finding, _bottleneck_finding, _contention_finding)
    candidates = [*(rule(pipeline) for rule in rules), _prefetch_finding(pipeline, are_cores_busy)] if costly else []
    row, is_slow = pipeline.bottleneck, costly and pipeline.slow_calls and not pipeline.is_contended
    if is_slow and row >= 0:
        candidates = [cache_finding(pipeline, row, is_random), *candidates, _parallel_python_finding(pipeline, row)]
        batch_first = _batch_first_finding(pipeline, row, function_ps)
        candidates.append(batch_first)
        if batch_first and batch_first.level == "bad":
            # What does next to nothing cannot be made cheaper: its calls are what costs.
            candidates = [other for other in candidates if other is None or other.id != "slow_parallel_map"]
    advice = [finding for finding in [*candidates, *_shuffle_findings(pipeline)] if finding]
    advice.sort(key=lambda finding: (finding.level == "info", -(finding.gain_ps or 0.0)))
    filling = filling_finding(pipeline, same_stages) if costly else None
    late_filter = late_filter_finding(pipeline) if is_slow else None
    # What only the start costs makes all else that is found doubtful; work in vain is left out before it gets faster.
    return [first for first in (filling, late_filter) if first] + advice


def _bottleneck_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """The stage to blame for most of the wait: what makes it faster."""
    row = pipeline.bottleneck
    if row < 0 or not pipeline.slow_calls or pipeline.is_contended:
        return None
    stage = pipeline.stages[row]
    finding_id, title, snippet = cure(pipeline, row)
    share = stage.blame_ps / pipeline.total_ps
    evidence = Message(
        "{stage} accounts for {share} of the wait for {pipeline} ({blame_pair} in "
        "{calls, plural, one {# call} other {# calls}}).",
        stage=stage.label,
        share=share,
        pipeline=pipeline.name,
        calls=len(pipeline.requests),
        blame_pair=(stage.blame_ps, pipeline.total_ps),
    )
    level: Level = "bad" if share >= 0.5 else "warn"
    gain_ps: float | None = stage.blame_ps
    if finding_id == NOT_RECORDED.finding_id:
        gain_ps = None
    elif finding_id == "slow_map":
        gain_ps = parallel_gain_ps(pipeline, row, _most_parallel_calls(pipeline, row))
    elif finding_id == ROW_NUMBERS.finding_id:
        gain_ps = row_numbers_gain_ps(pipeline, row)
    elif finding_id == WINDOWS.finding_id:
        gain_ps = windows_gain_ps(pipeline, row)
    return PipelineFinding(finding_id, title, evidence, gain_ps, level, snippets.runnable(snippet), stage=row)


def filling_finding(pipeline: Pipeline, same_stages: PipelineCounts) -> PipelineFinding | None:
    """A finding where most of the time went into what only the start of a pipeline, or of an epoch, needs."""
    row = filled_stage(pipeline)
    if row < 0:
        return None
    stage, inputs_read = pipeline.stages[row], _input_count(pipeline, row)
    cost_text = Message(
        "{calls} of {all_calls} calls of {pipeline} spent {filled_ps} on {stage} and took {reads} elements.",
        calls=int(pipeline.starting.sum()),
        all_calls=len(pipeline.requests),
        pipeline=pipeline.name,
        filled_ps=stage.filled_ps,
        stage=stage.label,
        reads=inputs_read,
    )
    if stage.kind in CACHES:
        title = Message("Capture a later epoch: this is the first one, which fills the cache.")
        evidence = sentences(cost_text, "From the second epoch on, the stages before the cache cost nothing.")
        return PipelineFinding(f"{FILLING}cache", title, evidence, None, "warn", stage=row)
    if fills_again(pipeline, same_stages):
        is_mapped = any(pipeline.stages[below].kind in _MAPS for below in all_inputs(pipeline, row))
        title = Message(
            "Shuffle before the map, or keep one iterator for all epochs: each new one fills the shuffle buffer again."
            if is_mapped
            else "Keep one iterator for all steps, by repeat(): each new one fills the shuffle buffer again."
        )
        others = (
            Message("{count} pipelines with these stages filled their own.", count=same_stages.filled)
            if same_stages.filled > 1
            else ""
        )
        evidence, snippet = sentences(cost_text, others), snippets.SHUFFLE_FIRST if is_mapped else ""
        return PipelineFinding(
            _REFILLED, title, evidence, stage.filled_ps, "bad", snippets.runnable(snippet), stage=row
        )
    title = Message("Capture some steps later: this is warm-up, which fills the shuffle buffer.")
    evidence = sentences(cost_text, "Later calls take one element per element returned.")
    return PipelineFinding(f"{FILLING}shuffle", title, evidence, None, "warn", stage=row)


def _input_count(pipeline: Pipeline, row: int) -> int:
    """How many elements a stage took from the one that it asks."""
    below = pipeline.children[row]
    while below and pipeline.stages[below[0]].kind in CACHES:
        below = pipeline.children[below[0]]
    return sum(pipeline.stages[child].calls for child in below)


def _parallel_python_finding(pipeline: Pipeline, row: int) -> PipelineFinding | None:
    """Run the slowest stage's Python on several threads.

    Whether that code lets other threads run is in no capture: an event lasts while it waits for the lock, too.
    """
    stage = pipeline.stages[row]
    kinds_above = {stage_above.kind for stage_above in pipeline.above(row)}
    if not stage.python_calls or stage.kind not in _PARALLEL_WAYS or "ParallelInterleave" in kinds_above:
        return None
    call_limit = _most_parallel_calls(pipeline, row)
    gain_ps = parallel_gain_ps(pipeline, row, call_limit)
    if not gain_ps:
        return None
    title, snippet = _PARALLEL_WAYS["Interleave" if "Interleave" in kinds_above else stage.kind]
    return PipelineFinding(
        "parallel_python",
        title,
        Message(
            "Its {calls} calls ran one at a time. Running {most} at once saves {gain_pair} of the wait; "
            "code that holds the GIL gains nothing.",
            calls=stage.calls,
            most=call_limit,
            gain_pair=(gain_ps, pipeline.total_ps),
        ),
        gain_ps,
        code=snippets.runnable(snippet),
        stage=row,
    )


def _most_parallel_calls(pipeline: Pipeline, row: int) -> int:
    """How many calls of a stage could run at once: as many as cores, or as there are calls if those are not known."""
    calls = pipeline.stages[row].calls
    return min(calls, core_count(pipeline) or calls)


_PARALLEL_WAYS = {
    "Map": (
        Message("Run its function in parallel, if the Python code releases the GIL, as most of NumPy does."),
        snippets.PARALLEL_MAP,
    ),
    "Filter": (
        Message(
            "Run filters of several parts in parallel, if the Python code releases the GIL, as most of NumPy does."
        ),
        snippets.parallel_shards(".filter(keep)"),
    ),
    "Generator": (
        Message("Run several generators in parallel, if the Python code releases the GIL, as most of NumPy does."),
        snippets.GENERATORS,
    ),
    "Interleave": (
        Message(
            "Read the interleave's inputs in parallel, if the Python code releases the GIL, as most of NumPy does."
        ),
        snippets.interleave(),
    ),
}
"""By the kind of a sequential stage: what of it can run in parallel, and how that is written."""


def _batch_first_finding(pipeline: Pipeline, row: int, function_ps: int | None) -> PipelineFinding | None:
    """Batch before a map: its function is called once for each batch, which pays where a call does little.

    A call lasts until a thread has run the function, which other work of the machine delays. Where the threads' own
    time is known, that of all functions is the most that this one can have taken.
    """
    stage = pipeline.stages[row]
    batch = next((stage_above for stage_above in pipeline.above(row) if stage_above.kind not in TRANSPARENT), None)
    # What tf.data makes of a map and the batch after it.
    is_fused = stage.kind == "MapAndBatch"
    batch = stage if is_fused else batch
    size = batch.settings.get("batch_size") if batch else None
    if stage.kind not in ("Map", "ParallelMap", "MapAndBatch") or not isinstance(size, int) or size < 2:
        return None
    calls = stage.calls * size if is_fused else stage.calls
    is_parallel = stage.kind != "Map"
    work_ps = stage.self_ps
    if function_ps is not None:
        work_ps = function_ps if is_parallel else min(work_ps, function_ps)
    if work_ps > CHEAP_CALL_PS * calls:
        return None
    is_bare = is_parallel and function_ps is not None and work_ps <= _EMPTY_CALL_PS * calls
    return PipelineFinding(
        "batch_first",
        Message("Batch before the map, if its function can process whole batches."),
        Message(
            "{stage} was called {calls} times, {mean_ps} on average. On batches of {size}, one call replaces {size}.",
            stage=stage.label,
            calls=calls,
            mean_ps=work_ps / calls,
            size=size,
        ),
        stage.blame_ps * (1 - 1 / size),
        "bad" if is_bare else "info",
        code=snippets.runnable(snippets.BATCH_FIRST),
        stage=row,
    )


_EMPTY_CALL_PS = 100_000_000
"""A call that takes hardly longer than calling itself does little else."""


def _prefetch_finding(pipeline: Pipeline, are_cores_busy: bool) -> PipelineFinding | None:
    """A pipeline that does not work ahead at its end: only to be known where the cores have no time for that."""
    if not lacks_prefetch(pipeline) or not pipeline.slow_calls:
        return None
    row = last_transformation(pipeline)
    stage, gain_ps = pipeline.stages[row], prefetch_gain_ps(pipeline)
    if prefetch_stage(pipeline) >= 0:
        position = Message("{stage} comes after Prefetch.", stage=stage.label)
        title = Message("Move prefetch() to the end, so that all input is produced while the model computes.")
    else:
        position = Message("{stage} is the last transformation.", stage=stage.label)
        title = Message("End the pipeline with prefetch(), so that input is produced while the model computes.")
    if stage.is_asynchronous:
        evidence = sentences(position, "It works ahead only within its own buffer.")
    else:
        evidence = sentences(position, "It produces an element only when the program requests it.")
    level: Level = "bad"
    if are_cores_busy:
        gain_ps, level, evidence = 0, "info", sentences(evidence, "The cores are busy already.")
    return PipelineFinding(
        "missing_prefetch", title, evidence, gain_ps, level, snippets.runnable(snippets.PREFETCH), stage=row
    )


def _shuffle_findings(pipeline: Pipeline) -> list[PipelineFinding]:
    """Shuffles whose buffer is smaller than a batch."""
    shuffle_findings = []
    for row, stage in enumerate(pipeline.stages):
        size = stage.settings.get("buffer_size")
        batches = [stage_above.settings.get("batch_size") for stage_above in pipeline.above(row)]
        batch = next((value for value in batches if isinstance(value, int)), 0)
        if stage.kind != "Shuffle" or not isinstance(size, int) or not 0 < size < batch:
            continue
        evidence = Message(
            "Its buffer holds {size} elements, fewer than a batch of {batch}, so the order hardly changes.",
            size=size,
            batch=batch,
        )
        snippet = snippets.runnable(snippets.shuffle(max(1000, 10 * batch)))
        # It costs no time, but what is learned: a mistake for certain, unlike a thread that was held up now and then.
        title = Message("Use a larger shuffle buffer.")
        shuffle_findings.append(PipelineFinding("small_shuffle", title, evidence, 0.0, "warn", snippet, stage=row))
    return shuffle_findings


def _contention_finding(pipeline: Pipeline) -> PipelineFinding | None:
    """Elements that were ready while the program's thread did not get on."""
    if not pipeline.is_contended or not pipeline.slow_calls:
        return None
    delay_ps = pipeline.scheduling_delay_ps
    level: Level = "warn" if delay_ps > 4 * SLOW_PS * len(pipeline.requests) else "info"
    delay = Message(
        "Elements were ready, but the program's thread continued {delay_ps} late in "
        "{calls, plural, one {# call} other {# calls}}, of a wait of {total_ps}.",
        delay_ps=delay_ps,
        calls=len(pipeline.requests),
        total_ps=pipeline.total_ps,
    )
    if not python_works_ahead(pipeline):
        title = Message(
            "Reserve a CPU core for the training thread: use fewer input threads, or less work per element."
        )
        evidence, code = sentences(delay, "Most likely, other threads used the cores."), snippets.FEWER_THREADS
        return PipelineFinding(
            "contention", title, evidence, delay_ps, level, snippets.runnable(code), stage=pipeline.bottleneck
        )
    title = Message(
        "Replace Python code in the pipeline, which blocks the program's own: use TensorFlow ops, or cache its output."
    )
    code = snippets.TENSORFLOW_OPS
    if any(yields_rows(pipeline, row) for row in range(len(pipeline.stages))):
        title, code = ROW_GENERATOR.title, ROW_GENERATOR.snippet
    elif has_cache(pipeline):
        title = Message("Replace Python code in the pipeline, which blocks the program's own: use TensorFlow ops.")
    evidence = sentences(delay, "Most likely, other threads used the cores, or the pipeline's Python held the GIL.")
    # The lock holds up the rest of the step as well, by nobody knows how much.
    return PipelineFinding(
        "contention", title, evidence, None, level, snippets.runnable(code), stage=pipeline.bottleneck
    )
