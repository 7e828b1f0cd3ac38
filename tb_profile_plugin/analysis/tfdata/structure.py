"""What a tf.data pipeline is made of: its last transformation, where it prefetches, which caches it has already.

Stages are named by their rows in `Pipeline.stages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...model.iterators import CACHES, REPEATS, TRANSPARENT
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from .pipeline import Pipeline

_PADDED_BATCH, _SHAPE, _VARIES = "PaddedBatch", regex(r"\[([^\[\]]*)\]"), "?"
_LEAST_REMADE = 3
"""So many pipelines of the same stages are one that the program makes again and again."""
_LEAST_ITERATORS = 3
"""Of so many iterators that a repeat() made one after the other, those in the middle were read from begin to end."""
CHEAP_CALL_PS = 200_000_000
"""A call of a function or a generator itself costs some tens of µs: one that takes much longer does not get faster by
being rarer."""
NEGLIGIBLE = 0.05
"""Up to this share of the pipeline's time stages are not worth a change of the program."""


def main_chain(pipeline: Pipeline) -> list[int]:
    """Stages from the outermost on, as long as each has a single input."""
    chain = [0]
    while len(below := pipeline.children[chain[-1]]) == 1:
        chain += below
    return chain


def last_transformation(pipeline: Pipeline) -> int:
    """The program's last transformation that does anything with an element; -1 where the capture holds none."""
    return next((row for row in main_chain(pipeline) if pipeline.stages[row].kind not in TRANSPARENT), -1)


def prefetch_stage(pipeline: Pipeline) -> int:
    """The Prefetch that works ahead for the program, or -1: the first one on the main chain."""
    return next((row for row in main_chain(pipeline) if pipeline.stages[row].kind == "Prefetch"), -1)


def after_prefetch_ps(pipeline: Pipeline) -> int:
    """ps of the requests in stages after the Prefetch, which the program's thread runs itself; in all without one."""
    rows = main_chain(pipeline)
    later_rows = rows[: rows.index(prefetch_stage(pipeline))] if prefetch_stage(pipeline) >= 0 else rows
    return sum(pipeline.stages[row].blame_ps for row in later_rows if pipeline.stages[row].kind not in TRANSPARENT)


def lacks_prefetch(pipeline: Pipeline) -> bool:
    """Whether a Prefetch at its end would let it work ahead: nothing else does, and some transformation is known."""
    if pipeline.is_for_device or pipeline.is_served or last_transformation(pipeline) < 0:
        return False
    return prefetch_stage(pipeline) < 0 or after_prefetch_ps(pipeline) > NEGLIGIBLE * pipeline.total_ps


def prefetch_gain_ps(pipeline: Pipeline) -> int:
    """ps of all requests that a Prefetch at the end would save at most, by working between requests."""
    waited_ps = pipeline.total_ps if prefetch_stage(pipeline) < 0 else after_prefetch_ps(pipeline)
    return min(waited_ps, pipeline.between_ps)


def has_cache(pipeline: Pipeline) -> bool:
    """Whether any part of it is cached."""
    return any(stage.kind in CACHES for stage in pipeline.stages)


def is_read_again(pipeline: Pipeline, row: int) -> bool:
    """Whether a repeat() asked this stage for all of its elements within the capture, and began anew then."""
    chain = [pipeline.stages[row], *pipeline.above(row)]
    below_repeat = (stage for stage, stage_above in pairwise(chain) if stage_above.kind in REPEATS)
    return any(stage.iterators >= _LEAST_ITERATORS for stage in below_repeat)


def all_inputs(pipeline: Pipeline, row: int) -> list[int]:
    """All stages that work for this one, directly or through others."""
    inputs, to_visit = [], list(pipeline.children[row])
    while to_visit:
        inputs.append(to_visit.pop())
        to_visit += pipeline.children[inputs[-1]]
    return inputs


def python_works_ahead(pipeline: Pipeline) -> bool:
    """Whether Python code of it runs on threads of its own, so that the program's Python waits for the same lock."""
    python_rows = [row for row, stage in enumerate(pipeline.stages) if stage.python_calls]
    return any(above.is_asynchronous for row in python_rows for above in (pipeline.stages[row], *pipeline.above(row)))


def parallel_gain_ps(pipeline: Pipeline, row: int, call_limit: int) -> int:
    """ps of all requests saved at most if a sequential stage ran so many calls at a time, and so worked ahead, too."""
    blame_ps = pipeline.stages[row].blame_ps
    works_ahead = any(stage.is_asynchronous for stage in pipeline.above(row))
    return min(blame_ps, int(blame_ps * (1 - 1 / call_limit)) + (0 if works_ahead else pipeline.between_ps))


def core_count(pipeline: Pipeline) -> int:
    """The cores that tf.data counted on; 0 where the capture does not say."""
    budget = pipeline.stages[0].settings.get("cpu_budget", 0)
    return budget if isinstance(budget, int) else 0


class PipelineCounts(NamedTuple):
    """How many pipelines of a host have the same stages."""

    all: int = 1
    filled: int = 1
    """Those that filled a buffer or a cache."""


def fills_again(pipeline: Pipeline, same_stages: PipelineCounts) -> bool:
    """Whether what only the start should need was filled several times, as by an iterator for each step or epoch: by
    this pipeline, or by several of the same stages. Two in all may be those of training and of evaluation.
    """
    is_remade = same_stages.all >= _LEAST_REMADE and same_stages.filled > 1
    return int(pipeline.starting.sum()) > 1 or (is_remade and bool(pipeline.starting.any()))


def shape(pipeline: Pipeline) -> tuple[str, ...]:
    """Equal for pipelines of a host that have the same stages."""
    return (pipeline.host, *(stage.long_name for stage in pipeline.stages))


def filled_stage(pipeline: Pipeline) -> int:
    """The shuffle or cache that most of the requests' time went into filling; -1 where most went elsewhere."""
    filled_ps = [stage.filled_ps for stage in pipeline.stages]
    return filled_ps.index(max(filled_ps)) if 2 * sum(filled_ps) > pipeline.total_ps else -1


def pads_to_length(pipeline: Pipeline) -> bool:
    """Whether it pads rows of any length to one that is always the same, as its recorded shapes tell."""
    stages = pipeline.stages
    return any(
        _has_fixed_length(_dimensions(stage.settings), _dimensions(stages[below].settings))
        for row, stage in enumerate(stages)
        if stage.kind == _PADDED_BATCH
        for below in pipeline.children[row]
    )


def _dimensions(settings: Mapping[str, Any]) -> list[list[str]]:
    """The sizes of each tensor of a stage's elements, such as ``12``; ``?`` where these vary."""
    return [shape.split(",") for shape in _SHAPE.findall(str(settings.get("shapes", "")))]


def _has_fixed_length(padded: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a size that varies from row to row is a number in batches of these, whose first size is that of rows."""
    return len(padded) == len(rows) and any(
        size == _VARIES and batch_size.isdecimal()
        for batch, row in zip(padded, rows, strict=True)
        for batch_size, size in zip(batch[1:], row, strict=False)
    )
