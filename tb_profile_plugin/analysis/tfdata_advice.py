"""What holds a tf.data pipeline up, and the code that helps: from its shape and from what its stages cost."""

from __future__ import annotations

from dataclasses import dataclass

from .tfdata import SLOW_PS, Pipeline, Stage
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
REPEATS = frozenset(["Repeat", "ForeverRepeat", "FiniteRepeat", "ShuffleAndRepeat"])
CACHES = frozenset(["MemoryCache", "MemoryCacheImpl", "Cache", "FileCache", "FileCacheImpl"])


@dataclass(frozen=True)
class Finding:
    """One thing to do about a pipeline."""

    code: str
    """What it is about, e.g. ``slow_map``; stable."""
    title: str
    evidence: str
    snippet: str
    """The code to write; empty where code does not help."""
    stage: int
    """Row in the pipeline's stages, -1 for the pipeline as a whole."""
    gain_ps: int
    """At most, of all requests together: the critical time that would go."""
    level: str
    """``bad``, ``warn`` or ``info``."""


def findings(pipeline: Pipeline) -> list[Finding]:
    """What to do about a pipeline of a host, the largest gain first; small print for one that is fast."""
    found = [
        _bottleneck(pipeline),
        *_caches(pipeline),
        _prefetch(pipeline),
        *_shuffles(pipeline),
        _contention(pipeline),
    ]
    return sorted((each for each in found if each), key=lambda each: (each.level == "info", -each.gain_ps))


def _bottleneck(pipeline: Pipeline) -> Finding | None:
    row = pipeline.bottleneck
    if row < 0 or not pipeline.slow or pipeline.contended:
        return None
    stage = pipeline.stages[row]
    code, title, snippet = _cure(pipeline, row)
    share = 100 * stage.blame_ps / pipeline.total_ps
    evidence = (
        f"{stage.label} is to blame for {share:.0f} % of what the program waited for {pipeline.name}: "
        f"{duration(stage.blame_ps)} of {duration(pipeline.total_ps)}."
    )
    return Finding(code, title, evidence, snippet, row, stage.blame_ps, "bad" if share >= 50 else "warn")


def _cure(pipeline: Pipeline, row: int) -> tuple[str, str, str]:
    """(code, what to do, how to write it) for the stage that holds the pipeline up."""
    stage, kind = pipeline.stages[row], pipeline.stages[row].kind
    if kind == "Generator":
        return _GENERATOR
    if stage.python_calls:
        return _PYTHON
    if kind == "DataService":
        return _SERVICE
    if kind in REMOTE:
        return "remote_source", "Profile the host that serves this data: the time is spent there.", ""
    if kind in FILES:
        return _source(pipeline.above(row))
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if kind == "Prefetch" or stage.wrapper:
        return _UNSEEN
    return (
        "slow_transformation",
        f"Look into what {stage.label} does per element, and cache its result if it fits.",
        ("dataset = dataset.cache()  # after the slow transformation"),
    )


def _source(above: list[Stage]) -> tuple[str, str, str]:
    kinds = [stage.kind for stage in above]
    if "Interleave" in kinds and "ParallelInterleave" not in kinds:
        return (
            "sequential_interleave",
            "The interleave reads one source at a time: let it read several in parallel.",
            "dataset = files.interleave(open_one, cycle_length=8,\n"
            "                           num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
        )
    if "ParallelInterleave" in kinds:
        return (
            "slow_source",
            "The sources are slow though they are read in parallel: keep the data nearer, or read more at a time.",
            "dataset = files.interleave(open_one, cycle_length=32,\n"
            "                           num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
        )
    return (
        "slow_source",
        "Reading is slow: split the data into several files and read them in parallel, near this host.",
        "files = tf.data.Dataset.list_files(pattern)\n"
        "dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=8,\n"
        "                           num_parallel_calls=tf.data.AUTOTUNE)",
    )


_OUTER = (
    "def part(index):\n"
    "    return make_dataset().shard(PARTS, index).filter(predicate)  # and what else is sequential\n\n"
    "dataset = tf.data.Dataset.range(PARTS).interleave(part, cycle_length=PARTS,\n"
    "                                                  num_parallel_calls=tf.data.AUTOTUNE)"
)
_PARALLEL_MAP = (
    "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)\n"
    "# dataset = dataset.cache()  # if the results fit into memory"
)
_GENERATOR = (
    "generator",
    "The Python generator makes one element at a time, under Python's lock: "
    "write its data to files, or run several generators.",
    "dataset = tf.data.Dataset.range(4).interleave(\n"
    "    lambda part: tf.data.Dataset.from_generator(numbers, args=[part], output_signature=spec),\n"
    "    cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)",
)
_PYTHON = (
    "py_function",
    "The function runs Python code, one thread at a time: write it with TensorFlow's ops, or prepare the data offline.",
    "dataset = dataset.map(function_of_tensorflow_ops, num_parallel_calls=tf.data.AUTOTUNE)",
)
_SERVICE = ("data_service", "Profile the workers of the tf.data service: the time is spent there.", "")
_UNSEEN = (
    "unrecorded",
    "The program waited for work that is not in this capture: capture longer, so that it holds whole elements.",
    "",
)
_BY_KIND = {
    "Map": ("slow_map", "Run the map's function in parallel, and cache its results if they fit.", _PARALLEL_MAP),
    "ParallelMap": (
        "slow_parallel_map",
        "The map already runs in parallel: make its function cheaper, cache its results, batch before it, "
        "or give it more cores with the tf.data service.",
        "dataset = dataset.batch(size).map(function_of_batches, num_parallel_calls=tf.data.AUTOTUNE)\n"
        "dataset = dataset.cache()",
    ),
    "MapAndBatch": (
        "slow_parallel_map",
        "The map's function, run in parallel and fused with batch, does not keep up: make it cheaper, cache its "
        "results, batch before it, or give it more cores with the tf.data service.",
        "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE).cache().batch(size)",
    ),
    "Interleave": (
        "sequential_interleave",
        "Open and read the interleave's sources in parallel.",
        "dataset = files.interleave(open_one, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)",
    ),
    "ParallelInterleave": (
        "slow_parallel_interleave",
        "The interleave waits for its sources though it reads them in parallel: raise its cycle_length, "
        "or keep the data nearer.",
        "dataset = files.interleave(open_one, cycle_length=32, num_parallel_calls=tf.data.AUTOTUNE)",
    ),
    "Filter": (
        "slow_filter",
        "Filter runs one element at a time: filter several parts of the data side by side.",
        _OUTER,
    ),
    "Unbatch": ("slow_unbatch", "Unbatch runs one element at a time: work on several parts side by side.", _OUTER),
    "Batch": (
        "slow_batch",
        "Batching copies one batch at a time: copy several in parallel, or make elements smaller first.",
        "dataset = dataset.batch(size, num_parallel_calls=tf.data.AUTOTUNE)",
    ),
    "PaddedBatch": ("slow_batch", "Padding and copying runs one batch at a time: work on parts side by side.", _OUTER),
    "Shuffle": (
        "slow_shuffle",
        "Filling the shuffle buffer takes this time: make the buffer smaller, or shuffle file names before reading.",
        "files = files.shuffle(number_of_files)\ndataset = files.interleave(open_one).shuffle(buffer_size=1000)",
    ),
}


def _caches(pipeline: Pipeline) -> list[Finding]:
    row = pipeline.bottleneck
    if row < 0:
        return []
    found = []
    stages, slow = pipeline.stages, pipeline.stages[row]
    for at, stage in enumerate(stages):
        if stage.kind not in CACHES or stages[stage.parent].kind in CACHES:
            continue
        below = _below(pipeline, at)
        repeat = next((stages[i] for i in below if stages[i].kind in REPEATS), None)
        gain = sum(stages[i].blame_ps for i in below)
        if repeat:
            evidence = (
                f"The cache stands behind {repeat.label}, so it never sees the data end and never serves from memory: "
                f"what is before it cost {duration(gain)} of the {duration(pipeline.total_ps)} waited."
            )
            code = "dataset = dataset.map(function).cache().repeat()"
            found.append(Finding("late_cache", "Put cache() before repeat().", evidence, code, at, gain, "bad"))
        elif row not in below and slow.kind not in CACHES and not slow.wrapper and pipeline.slow:
            if any(above is stage for above in pipeline.above(row)) or not _is_above(pipeline, row, at):
                continue
            evidence = f"{slow.label} runs after the cache, so every epoch pays for it again."
            code = "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE).cache()"
            title = "Put cache() behind the slow transformation, if its results fit and are not random."
            found.append(Finding("early_cache", title, evidence, code, at, slow.blame_ps, "info"))
    return found


def _below(pipeline: Pipeline, row: int) -> list[int]:
    answer, waiting = [], list(pipeline.children[row])
    while waiting:
        answer.append(waiting.pop())
        waiting += pipeline.children[answer[-1]]
    return answer


def _is_above(pipeline: Pipeline, upper: int, lower: int) -> bool:
    return lower in _below(pipeline, upper)


def outermost(pipeline: Pipeline) -> int:
    """The program's last transformation, -1 if there is none; a Prefetch before ones that cost nothing counts as it."""
    cheap = 0
    last = -1
    for row, stage in enumerate(pipeline.stages):
        if stage.kind == "Prefetch" and 20 * cheap <= pipeline.total_ps:
            return row
        last = row if last < 0 and not stage.wrapper else last
        cheap += stage.blame_ps
        if len(pipeline.children[row]) != 1:
            break
    return last


def _prefetch(pipeline: Pipeline) -> Finding | None:
    row = outermost(pipeline)
    if row < 0 or pipeline.stages[row].kind == "Prefetch" or not pipeline.slow:
        return None
    label = pipeline.stages[row].label
    evidence = f"{label} is the last transformation: it starts on an element only when the program asks for it."
    gain = min(pipeline.total_ps, pipeline.between_ps)
    code = "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last call on the dataset"
    title = "Prefetch, so that the input is made while the model computes."
    return Finding("missing_prefetch", title, evidence, code, row, gain, "bad")


def _shuffles(pipeline: Pipeline) -> list[Finding]:
    found = []
    for row, stage in enumerate(pipeline.stages):
        size = stage.settings.get("buffer_size")
        batches = [above.settings.get("batch_size") for above in pipeline.above(row)]
        batch = next((value for value in batches if isinstance(value, int)), 0)
        if stage.kind != "Shuffle" or not isinstance(size, int) or not 0 < size < batch:
            continue
        evidence = f"Its buffer holds {size} elements, a batch {batch}: elements hardly leave their place."
        code = "dataset = dataset.shuffle(buffer_size=1000)"
        # It costs no time, but what is learned: a mistake for certain, unlike a thread that was held up now and then.
        found.append(Finding("small_shuffle", "Shuffle with a larger buffer.", evidence, code, row, 0, "warn"))
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
    code = (
        "options = tf.data.Options()\n"
        "options.threading.private_threadpool_size = cores - 1\n"
        "options.threading.max_intra_op_parallelism = 1\n"
        "dataset = dataset.with_options(options)"
    )
    return Finding("contention", title, evidence, code, pipeline.bottleneck, held, level)
