"""What helps the stage that is a tf.data pipeline's bottleneck, by its kind and by the stages that ask it."""

from __future__ import annotations

from ...model.iterators import SHUFFLES, TRANSPARENT
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from . import snippets
from .pipeline import Pipeline, Stage
from .structure import CHEAP_CALL_PS, all_inputs, main_chain

SOURCES = frozenset(
    "TFRecord SSTable RecordIO Spanner TFColumn SleepwalkRemoteDataset TextLine StitchedTimelineDataset DateKeyDataset "
    "CapacitorProto LMDB ExternalDataset PearModel FixedLengthRecord FromTensor TensorSlice Generator "
    "SyntheticDatasetOp Range".split()
)
"""Kinds that read data from files or memory."""
REMOTE = frozenset(
    "GuzzlerDataGuzzlerRemoteDataset ReverbDataset DatasetSampleGame Courier ReverbEpisodeDataset".split()
)
"""Kinds that read data from another host."""

BATCHES = frozenset(["Batch", "PaddedBatch", "ParallelBatch", "MapAndBatch"])
_COPYING_BATCHES = frozenset(["Batch", "ParallelBatch"])
_GENERATOR = "Generator"
_FLAT_MAP = "FlatMap"
"""What ``from_generator()`` puts around the generator, and what makes rows or windows of datasets."""
_WINDOW = "Window"
"""What ``window()`` makes datasets with, and each of these datasets."""
_ONE_FOR_ONE = TRANSPARENT | SHUFFLES | frozenset(["Map", "ParallelMap", "Prefetch"])
"""Kinds that hand on as many elements as they take."""
_MANY_ROWS = 8
"""From so many elements in a batch on, work for all of them at once is a gain worth a change of the program."""
_TENSOR_SLICE = "TensorSlice"
_IN_MEMORY = frozenset([_TENSOR_SLICE, "Range"])
_SMALL_TENSOR_PS = 2_000_000
"""A tensor of a row costs about 1 µs to take and to copy, however small: one that takes longer than this is large."""


class Cure(NamedTuple):
    """What helps a stage."""

    finding_id: str
    title: Message
    """What to do."""
    snippet: str = ""
    """Code that does it; empty for none."""


def cure(pipeline: Pipeline, row: int) -> Cure:
    """For the stage that holds the pipeline up: what its kind lacks. What else helps depends on the data."""
    stage, kind = pipeline.stages[row], pipeline.stages[row].kind
    if stage.python_calls and kind != _GENERATOR:
        return _PYTHON
    if kind == _GENERATOR:
        return ROW_GENERATOR if yields_rows(pipeline, row) else _cure_of_generator(_above_generator(pipeline, row))
    if row_numbers_gain_ps(pipeline, row):
        return ROW_NUMBERS
    if windows_gain_ps(pipeline, row):
        return WINDOWS
    if kind in _CURE_OF_KIND:
        return _CURE_OF_KIND[kind]
    if kind in REMOTE:
        return Cure("remote_source", Message("Profile the host that serves this data, where the time is spent."))
    if kind in SOURCES:
        return _cure_of_source(pipeline.above(row))
    if kind == "ParallelInterleave":
        title = Message(
            "Raise the interleave's cycle_length, or move the data closer; its parallel reads are still slow."
        )
        return Cure("slow_parallel_interleave", title, snippets.interleave(_twice_as_many(stage)))
    if kind in TRANSPARENT:
        return NOT_RECORDED
    return Cure("slow_transformation", Message("Reduce the work of {stage} per element.", stage=stage.label))


def yields_rows(pipeline: Pipeline, row: int) -> bool:
    """Whether a stage is a generator that does little for each of its elements, many of which make up a batch."""
    stage = pipeline.stages[row]
    above = _above_generator(pipeline, row)
    batch = next((stage_above for stage_above in above if stage_above.kind not in _ONE_FOR_ONE), None)
    if stage.kind != _GENERATOR or batch is None or batch.kind not in BATCHES:
        return False
    return stage.calls >= _MANY_ROWS * batch.calls and stage.self_ps <= CHEAP_CALL_PS * stage.calls


def row_numbers_gain_ps(pipeline: Pipeline, row: int) -> int:
    """ps of all requests saved at most by row numbers in place of rows that ``from_tensor_slices()`` cuts for a batch.

    A row number is one tensor, where a row is several. 0 if the stage has no part in that, or if tensors are large.
    """
    chain = main_chain(pipeline)
    batch = next((index for index in chain[-2::-1] if pipeline.stages[index].kind not in TRANSPARENT | SHUFFLES), -1)
    stages = [pipeline.stages[index] for index in chain if index >= batch >= 0]
    if row < batch or not stages or stages[0].kind not in _COPYING_BATCHES or stages[-1].kind != _TENSOR_SLICE:
        return 0
    row_count, tensor_count = stages[-1].calls, len(str(stages[-1].settings.get("types", "")).split())
    if row_count < _MANY_ROWS * stages[0].calls or not tensor_count:
        return 0
    are_small = sum(stage.self_ps for stage in stages) <= _SMALL_TENSOR_PS * row_count * tensor_count
    return int(sum(stage.blame_ps for stage in stages) * (1 - 1 / tensor_count)) if are_small else 0


def windows_gain_ps(pipeline: Pipeline, row: int) -> int:
    """ps of all requests saved at most by gathering batches of windows, in place of a dataset for each window.

    0 if the stage has no part in that, if the rows are not in memory, or if they are large.
    """
    stages = pipeline.stages
    for window_row, stage in enumerate(stages):
        flat_map = stage.parent
        if stage.kind != _WINDOW or stages[flat_map].kind != _FLAT_MAP:
            continue
        sources = all_inputs(pipeline, window_row)
        datasets = [i for i in all_inputs(pipeline, flat_map) if i != window_row and i not in sources]
        rows = [i for i in datasets if stages[i].kind == _WINDOW and stages[stages[i].parent].kind in BATCHES]
        are_in_memory = all(stages[i].kind in _IN_MEMORY for i in sources if not pipeline.children[i])
        copies_ps = sum(stages[i].self_ps for i in datasets)
        are_small = copies_ps <= _SMALL_TENSOR_PS * sum(stages[i].calls for i in rows)
        if row in (flat_map, window_row, *datasets) and are_in_memory and rows and are_small:
            return sum(stages[i].blame_ps for i in (flat_map, window_row, *datasets))
    return 0


def _above_generator(pipeline: Pipeline, row: int) -> list[Stage]:
    """What the program has after a generator, nearest first."""
    above = pipeline.above(row)
    return above[1:] if above and above[0].kind == _FLAT_MAP else above


def _cure_of_generator(above: list[Stage]) -> Cure:
    """For a generator that yields whole batches, or works long for an element; Keras' own have no stage after them."""
    may_be_of_keras = all(stage.kind in TRANSPARENT or stage.kind == "Prefetch" for stage in above)
    title = Message(
        "Move the generator's work into map(), by TensorFlow ops or Keras layers on whole batches, or write data to "
        "files; raise a PyDataset's workers."
        if may_be_of_keras
        else "Move the generator's work into map(), by TensorFlow ops on whole batches, or write its data to files."
    )
    return Cure("generator", title, snippets.BATCH_FIRST)


def _cure_of_source(above: list[Stage]) -> Cure:
    """For a stage that reads data; ``above`` are the stages that ask it, nearest first."""
    interleave = next((stage for stage in above if stage.kind in ("Interleave", "ParallelInterleave")), None)
    if interleave is None:
        title = Message(
            "Split the data into several files, read them in parallel, and leave them uncompressed where space allows."
        )
        return Cure("slow_source", title, snippets.interleave())
    if interleave.kind == "Interleave":
        title = Message("Let the interleave read several sources in parallel; it reads one at a time.")
        return Cure("sequential_interleave", title, snippets.interleave())
    title = Message("Move the data closer, or read more sources at once; parallel reads are still slow.")
    return Cure("slow_source", title, snippets.interleave(_twice_as_many(interleave)))


def _twice_as_many(interleave: Stage) -> int:
    """Sources to read at a time: twice as many as now, 32 where that is not known."""
    cycle_length = interleave.settings.get("cycle_length")
    return 2 * cycle_length if isinstance(cycle_length, int) and cycle_length > 0 else 32


_PYTHON = Cure(
    "py_function",
    Message("Write the function in TensorFlow ops instead of Python, or prepare the data offline."),
    snippets.TENSORFLOW_OPS,
)
ROW_GENERATOR = Cure(
    "row_generator",
    Message(
        "Let the generator yield whole batches, without batch() after it, instead of single rows; or use "
        "from_tensor_slices."
    ),
    snippets.GENERATED_BATCHES,
)
ROW_NUMBERS = Cure(
    "single_rows",
    Message(
        "Batch row numbers instead of rows, and gather each batch in one map(): every tensor of every row is copied by "
        "itself."
    ),
    snippets.ROW_NUMBERS,
)
WINDOWS = Cure(
    "nested_windows",
    Message(
        "Batch the row numbers at which windows begin, and gather each batch in one map(): each window is a dataset of "
        "its own."
    ),
    snippets.WINDOWS,
)
_PARALLEL_MAP = Cure(
    "slow_parallel_map",
    Message("Make the map's function cheaper, or add cores with the tf.data service; it already runs in parallel."),
)
NOT_RECORDED = Cure(
    "unrecorded",
    Message("Capture longer: the work that the program waited for was not recorded."),
)
_CURE_OF_KIND: dict[str, Cure] = {
    "Map": Cure("slow_map", Message("Run the map's function in parallel."), snippets.PARALLEL_MAP),
    "ParallelMap": _PARALLEL_MAP,
    "MapAndBatch": _PARALLEL_MAP,
    "DataService": Cure(
        "data_service", Message("Profile the workers of the tf.data service, where the time is spent.")
    ),
    "Prefetch": NOT_RECORDED,
    "Interleave": Cure(
        "sequential_interleave",
        Message("Open and read the interleave's sources in parallel."),
        snippets.interleave(),
    ),
    "Filter": Cure(
        "slow_filter",
        Message("Filter several shards of the data in parallel; the filter handles one element at a time."),
        snippets.parallel_shards(".filter(keep)"),
    ),
    "Unbatch": Cure(
        "slow_unbatch",
        Message("Unbatch several shards of the data in parallel; unbatch handles one element at a time."),
        snippets.parallel_shards(".batch(batch_size).unbatch()"),
    ),
    "Batch": Cure(
        "slow_batch",
        Message("Copy several batches in parallel, or make elements smaller first."),
        snippets.PARALLEL_BATCH,
    ),
    "ParallelBatch": Cure(
        "slow_parallel_batch", Message("Make elements smaller before batching; batches are already copied in parallel.")
    ),
    "PaddedBatch": Cure(
        "slow_batch",
        Message("Pad several shards of the data in parallel; padding handles one batch at a time."),
        snippets.parallel_shards(".padded_batch(batch_size, padded_shapes=[])"),
    ),
    "Shuffle": Cure(
        "slow_shuffle",
        Message("Use a smaller shuffle buffer, or shuffle file names before reading."),
        snippets.SHUFFLE_FILES,
    ),
}
