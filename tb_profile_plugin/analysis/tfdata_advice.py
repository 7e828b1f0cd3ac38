"""What holds a tf.data pipeline up, and the code that helps: from its shape and from what its stages cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..model.iterators import CACHES, REPEATS, TRANSPARENT
from . import tfdata_code as code
from .tfdata import SLOW_PS, Pipeline, Stage
from .tfdata_shape import filled, has_cache, lacks_prefetch, last, prefetch, prefetch_gain_ps
from .words import duration

FILES = frozenset(
    "TFRecord SSTable RecordIO Spanner TFColumn SleepwalkRemoteDataset TextLine StitchedTimelineDataset DateKeyDataset "
    "CapacitorProto LMDB ExternalDataset PearModel FixedLengthRecord FromTensor TensorSlice Generator "
    "SyntheticDatasetOp Range".split()
)
REMOTE = frozenset(
    "GuzzlerDataGuzzlerRemoteDataset ReverbDataset DatasetSampleGame Courier ReverbEpisodeDataset".split()
)
PARALLELISABLE = frozenset(["Map", "Interleave"])
SEQUENTIAL = frozenset(["Filter", "Batch", "PaddedBatch", "Unbatch"])
_BATCHES = frozenset(["Batch", "PaddedBatch", "ParallelBatch", "MapAndBatch"])


class Finding(NamedTuple):
    """One thing to do about a pipeline."""

    code: str
    """What it is about, e.g. ``slow_map``; stable."""
    title: str
    evidence: str
    snippet: str
    """The code to write, which runs as it stands; empty where code does not help."""
    stage: int
    """Row in the pipeline's stages, -1 for the pipeline as a whole."""
    gain: float
    """At most: the part of the time waited for this pipeline that would go, 0–1."""
    level: str
    """``bad``, ``warn`` or ``info``."""


def findings(pipeline: Pipeline, costs: bool) -> list[Finding]:
    """What to do about a pipeline of a host, the largest gain first.

    ``costs`` tells whether the program's steps wait for it notably: otherwise only what is wrong for certain is found.
    """
    rules = (_bottleneck, _late_cache, _early_cache, _prefetch, _contention) if costs else ()
    found = [finding for rule in rules if (finding := rule(pipeline))]
    found = sorted([*found, *_shuffles(pipeline)], key=lambda each: (each.level == "info", -each.gain))
    start = _filling(pipeline) if costs else None
    # What only the start costs makes all else that is found doubtful.
    return [start, *found] if start else found


def _bottleneck(pipeline: Pipeline) -> Finding | None:
    row = pipeline.bottleneck
    if row < 0 or not pipeline.slow or pipeline.contended:
        return None
    stage = pipeline.stages[row]
    name, title, snippet = _cure(pipeline, row)
    share = stage.blame_ps / pipeline.total_ps
    evidence = (
        f"{stage.label} is to blame for {100 * share:.0f} % of what the program waited for {pipeline.name}: "
        f"{duration(stage.blame_ps)} of {duration(pipeline.total_ps)}."
    )
    level = "bad" if share >= 0.5 else "warn"
    return Finding(name, title, evidence, code.ready(snippet), row, share, level)


_Cure = tuple[str, str, str]
"""(code, what to do, how to write it)."""


def _cure(pipeline: Pipeline, row: int) -> _Cure:
    """For the stage that holds the pipeline up; nothing that it has already."""
    stage, kind = pipeline.stages[row], pipeline.stages[row].kind
    if stage.python_calls and kind != "Generator":
        return _PYTHON
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind in REMOTE:
        return "remote_source", "Profile the host that serves this data: the time is spent there.", ""
    if kind in FILES:
        return _source(pipeline.above(row))
    if kind in _MAPS:
        return _MAPS[kind](pipeline, row)
    if kind == "ParallelInterleave":
        return _slow_interleave(stage)
    if kind in TRANSPARENT:
        return _UNSEEN
    cached = has_cache(pipeline)
    title = f"Look into what {stage.label} does per element{'' if cached else ', and cache its result if it fits'}."
    return "slow_transformation", title, "" if cached else code.CACHE


def _source(above: list[Stage]) -> _Cure:
    interleave = next((stage for stage in above if stage.kind in ("Interleave", "ParallelInterleave")), None)
    if interleave is None:
        title = "Reading is slow: split the data into several files and read them in parallel, near this host."
        return "slow_source", title, code.interleave()
    if interleave.kind == "Interleave":
        title = "The interleave reads one source at a time: let it read several in parallel."
        return "sequential_interleave", title, code.interleave()
    title = "The sources are slow though they are read in parallel: keep the data nearer, or read more at a time."
    return "slow_source", title, code.interleave(_more(interleave))


def _slow_interleave(stage: Stage) -> _Cure:
    title = (
        "The interleave waits for its sources though it reads them in parallel: raise its cycle_length, "
        "or keep the data nearer."
    )
    return "slow_parallel_interleave", title, code.interleave(_more(stage))


def _more(interleave: Stage) -> int:
    """Sources to read at a time: twice as many as now."""
    now = interleave.settings.get("cycle_length")
    return 2 * now if isinstance(now, int) and now > 0 else 32


def _map(pipeline: Pipeline, row: int) -> _Cure:
    if has_cache(pipeline):
        return "slow_map", "Run the map's function in parallel.", code.PARALLEL_MAP
    title = "Run the map's function in parallel, and cache its results if they fit."
    return "slow_map", title, f"{code.PARALLEL_MAP}\n{code.CACHE}"


def _parallel_map(pipeline: Pipeline, row: int) -> _Cure:
    """It is parallel: what is left is to do less, once, or elsewhere."""
    batched = any(pipeline.stages[below].kind in _BATCHES for below in _below(pipeline, row))
    cached = has_cache(pipeline)
    ways = [
        "make its function cheaper",
        *([] if cached else ["cache its results"]),
        *([] if batched else ["batch before it"]),
        "give it more cores with the tf.data service",
    ]
    title = f"The map already runs in parallel: {', '.join(ways[:-1])}, or {ways[-1]}."
    snippet = [] if batched else [code.BATCH_FIRST]
    return "slow_parallel_map", title, "\n".join([*snippet, *([] if cached else [code.CACHE])])


_MAPS: dict[str, Callable[[Pipeline, int], _Cure]] = {
    "Map": _map,
    "ParallelMap": _parallel_map,
    "MapAndBatch": _parallel_map,
}
_PYTHON = (
    "py_function",
    "The function runs Python code, one thread at a time: write it with TensorFlow's ops, or prepare the data offline.",
    code.TENSORFLOW_OPS,
)
_UNSEEN = (
    "unrecorded",
    "The program waited for work that is not in this capture: capture longer, so that it holds whole elements.",
    "",
)
_SIMPLE: dict[str, _Cure] = {
    "Generator": (
        "generator",
        "The Python generator makes one element at a time, under Python's lock: "
        "write its data to files, or run several generators.",
        code.GENERATORS,
    ),
    "DataService": ("data_service", "Profile the workers of the tf.data service: the time is spent there.", ""),
    "Prefetch": _UNSEEN,
    "Interleave": ("sequential_interleave", "Open and read the interleave's sources in parallel.", code.interleave()),
    "Filter": (
        "slow_filter",
        "Filter runs one element at a time: filter several parts of the data side by side.",
        code.side_by_side(".filter(keep)"),
    ),
    "Unbatch": (
        "slow_unbatch",
        "Unbatch runs one element at a time: work on several parts side by side.",
        code.side_by_side(".batch(batch_size).unbatch()"),
    ),
    "Batch": (
        "slow_batch",
        "Batching copies one batch at a time: copy several in parallel, or make elements smaller first.",
        code.PARALLEL_BATCH,
    ),
    "ParallelBatch": (
        "slow_parallel_batch",
        "Batches are already copied in parallel: make elements smaller before they are batched.",
        "",
    ),
    "PaddedBatch": (
        "slow_batch",
        "Padding and copying runs one batch at a time: work on parts side by side.",
        code.side_by_side(".padded_batch(batch_size, padded_shapes=[])"),
    ),
    "Shuffle": (
        "slow_shuffle",
        "The shuffle's buffer takes this time: make it smaller, or shuffle file names before reading.",
        code.SHUFFLE_FILES,
    ),
}


def _filling(pipeline: Pipeline) -> Finding | None:
    """Most of the time went into what only the start of a pipeline, or of an epoch, needs."""
    row = filled(pipeline)
    if row < 0:
        return None
    stage, reads = pipeline.stages[row], _reads(pipeline, row)
    share = stage.filled_ps / pipeline.total_ps
    calls = f"{int(pipeline.starting.sum())} of {len(pipeline.requests)} calls"
    spent = f"{calls} of {pipeline.name} spent {duration(stage.filled_ps)} on it, in which {reads} elements were taken"
    if stage.kind in CACHES:
        title = "This is the first epoch: capture a later one, which reads from the cache."
        evidence = f"{stage.label} was being filled: {spent}. From the second epoch on what is before it costs nothing."
        return Finding("filling_cache", title, evidence, "", row, share, "warn")
    title = "This is warm-up: capture some steps later, when the shuffle's buffer is full."
    evidence = f"{stage.label} was filling its buffer: {spent}. Later calls take one element for each that they give."
    return Finding("filling_shuffle", title, evidence, "", row, share, "warn")


def _reads(pipeline: Pipeline, row: int) -> int:
    """How many elements a stage took from the one that it asks."""
    below = pipeline.children[row]
    while below and pipeline.stages[below[0]].kind in CACHES:
        below = pipeline.children[below[0]]
    return sum(pipeline.stages[each].calls for each in below)


def _caches(pipeline: Pipeline) -> list[int]:
    """The caches (rows); their inner halves belong to them."""
    stages = pipeline.stages
    return [
        row
        for row, stage in enumerate(stages)
        if stage.kind in CACHES and not (stage.parent >= 0 and stages[stage.parent].kind in CACHES)
    ]


def _late_cache(pipeline: Pipeline) -> Finding | None:
    for row in _caches(pipeline):
        below = _below(pipeline, row)
        repeat = next((pipeline.stages[each] for each in below if pipeline.stages[each].kind in REPEATS), None)
        if repeat:
            cost = sum(pipeline.stages[each].blame_ps for each in below)
            evidence = (
                f"The cache stands behind {repeat.label}, so it never sees the data end and never serves from memory: "
                f"what is before it cost {duration(cost)} of the {duration(pipeline.total_ps)} waited."
            )
            gain = cost / max(pipeline.total_ps, 1)
            snippet = code.ready(code.CACHE_BEFORE_REPEAT)
            return Finding("late_cache", "Put cache() before repeat().", evidence, snippet, row, gain, "bad")
    return None


def _early_cache(pipeline: Pipeline) -> Finding | None:
    row = pipeline.bottleneck
    if row < 0 or pipeline.stages[row].kind in CACHES or pipeline.stages[row].kind in TRANSPARENT or not pipeline.slow:
        return None
    slow, below = pipeline.stages[row], set(_below(pipeline, row))
    cache = next((each for each in _caches(pipeline) if each in below), -1)
    if cache < 0:
        return None
    evidence = f"{slow.label} runs after the cache, so every epoch pays for it again."
    title = "Put cache() behind the slow transformation, if its results fit and are not random."
    snippet = code.ready(f"{code.PARALLEL_MAP}\n{code.CACHE}")
    return Finding("early_cache", title, evidence, snippet, cache, slow.blame_ps / pipeline.total_ps, "info")


def _below(pipeline: Pipeline, row: int) -> list[int]:
    answer, waiting = [], list(pipeline.children[row])
    while waiting:
        answer.append(waiting.pop())
        waiting += pipeline.children[answer[-1]]
    return answer


def _prefetch(pipeline: Pipeline) -> Finding | None:
    if not lacks_prefetch(pipeline) or not pipeline.slow:
        return None
    row = last(pipeline)
    stage, gain = pipeline.stages[row], prefetch_gain_ps(pipeline) / pipeline.total_ps
    how = (
        "works ahead only as far as its own buffer goes"
        if stage.asynchronous
        else "starts on an element only when the program asks for it"
    )
    evidence = f"{stage.label} is the last transformation: it {how}."
    title = "Prefetch, so that the input is made while the model computes."
    if prefetch(pipeline) >= 0:
        evidence = f"{stage.label} stands behind Prefetch: it {how}."
        title = "Prefetch last, so that all of the input is made while the model computes."
    return Finding("missing_prefetch", title, evidence, code.ready(code.PREFETCH), row, gain, "bad")


def _shuffles(pipeline: Pipeline) -> list[Finding]:
    found = []
    for row, stage in enumerate(pipeline.stages):
        size = stage.settings.get("buffer_size")
        batches = [above.settings.get("batch_size") for above in pipeline.above(row)]
        batch = next((value for value in batches if isinstance(value, int)), 0)
        if stage.kind != "Shuffle" or not isinstance(size, int) or not 0 < size < batch:
            continue
        evidence = f"Its buffer holds {size} elements, a batch {batch}: elements hardly leave their place."
        snippet = code.ready(code.shuffle(max(1000, 10 * batch)))
        # It costs no time, but what is learned: a mistake for certain, unlike a thread that was held up now and then.
        found.append(Finding("small_shuffle", "Shuffle with a larger buffer.", evidence, snippet, row, 0.0, "warn"))
    return found


def _contention(pipeline: Pipeline) -> Finding | None:
    if not pipeline.contended or not pipeline.slow:
        return None
    held = pipeline.held_ps
    level = "warn" if held > 4 * SLOW_PS * len(pipeline.requests) else "info"
    evidence = (
        f"Elements were there, but the program's thread needed {duration(held)} of {duration(pipeline.total_ps)} "
        "to go on with them: most likely other threads had the cores."
    )
    title = "Leave the consumer a core: fewer threads for the input, or less work per element."
    snippet = code.ready(code.FEWER_THREADS)
    return Finding("contention", title, evidence, snippet, pipeline.bottleneck, held / pipeline.total_ps, level)
