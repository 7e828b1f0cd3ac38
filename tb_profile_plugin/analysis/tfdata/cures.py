"""What helps the stage that holds a tf.data pipeline up, as its kind and its place say."""

from __future__ import annotations

from ...model.iterators import TRANSPARENT
from . import code
from .iterator_calls import Pipeline, Stage

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

BATCHES = frozenset(["Batch", "PaddedBatch", "ParallelBatch", "MapAndBatch"])

Cure = tuple[str, str, str]
"""(code, what to do, how to write it)."""


def cure(pipeline: Pipeline, row: int) -> Cure:
    """For the stage that holds the pipeline up: what its kind lacks. What else helps depends on the data."""
    stage, kind = pipeline.stages[row], pipeline.stages[row].kind
    if stage.python_calls and kind != "Generator":
        return _PYTHON
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind in REMOTE:
        return "remote_source", "Profile the host that serves this data: the time is spent there.", ""
    if kind in FILES:
        return _source(pipeline.above(row))
    if kind == "ParallelInterleave":
        return _slow_interleave(stage)
    if kind in TRANSPARENT:
        return _UNSEEN
    return "slow_transformation", f"Look into what {stage.label} does per element.", ""


def _source(above: list[Stage]) -> Cure:
    interleave = next((stage for stage in above if stage.kind in ("Interleave", "ParallelInterleave")), None)
    if interleave is None:
        title = "Reading is slow: split the data into several files and read them in parallel, near this host."
        return "slow_source", title, code.interleave()
    if interleave.kind == "Interleave":
        title = "The interleave reads one source at a time: let it read several in parallel."
        return "sequential_interleave", title, code.interleave()
    title = "The sources are slow though they are read in parallel: keep the data nearer, or read more at a time."
    return "slow_source", title, code.interleave(_more(interleave))


def _slow_interleave(stage: Stage) -> Cure:
    title = (
        "The interleave waits for its sources though it reads them in parallel: raise its cycle_length, "
        "or keep the data nearer."
    )
    return "slow_parallel_interleave", title, code.interleave(_more(stage))


def _more(interleave: Stage) -> int:
    """Sources to read at a time: twice as many as now."""
    now = interleave.settings.get("cycle_length")
    return 2 * now if isinstance(now, int) and now > 0 else 32


_PYTHON = (
    "py_function",
    "The function runs Python code: write it with TensorFlow's ops, or prepare the data offline.",
    code.TENSORFLOW_OPS,
)
_PARALLEL_MAP = (
    "slow_parallel_map",
    "The map already runs in parallel: make its function cheaper, or give it more cores with the tf.data service.",
    "",
)
_UNSEEN = (
    "unrecorded",
    "The program waited for work that is not in this capture: capture longer, so that it holds whole elements.",
    "",
)
_SIMPLE: dict[str, Cure] = {
    "Generator": (
        "generator",
        "The Python generator makes one element at a time: write its data to files, and read several in parallel.",
        code.interleave(),
    ),
    "Map": ("slow_map", "Run the map's function in parallel.", code.PARALLEL_MAP),
    "ParallelMap": _PARALLEL_MAP,
    "MapAndBatch": _PARALLEL_MAP,
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
