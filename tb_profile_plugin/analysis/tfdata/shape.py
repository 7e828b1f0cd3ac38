"""What a tf.data pipeline is made of: its last transformation, where it prefetches, what it has already."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.iterators import CACHES, TRANSPARENT
from .iterator_calls import Pipeline

_NEGLIGIBLE = 0.05
"""Share of the pipeline's time up to which what stands behind a Prefetch is not worth another one."""


def chain(pipeline: Pipeline) -> list[int]:
    """Stages (rows) from the outermost on, as long as each has a single input."""
    answer = [0]
    while len(below := pipeline.children[answer[-1]]) == 1:
        answer += below
    return answer


def last(pipeline: Pipeline) -> int:
    """The program's last transformation that does anything with an element; -1 where the capture holds none."""
    return next((row for row in chain(pipeline) if pipeline.stages[row].kind not in TRANSPARENT), -1)


def prefetch(pipeline: Pipeline) -> int:
    """The Prefetch (row) that works ahead for the program, or -1: the first one with a single input all the way."""
    return next((row for row in chain(pipeline) if pipeline.stages[row].kind == "Prefetch"), -1)


def behind_ps(pipeline: Pipeline) -> int:
    """Of the requests' time, what stages behind the Prefetch took: the program's thread runs those itself."""
    rows = chain(pipeline)
    behind = rows[: rows.index(prefetch(pipeline))] if prefetch(pipeline) >= 0 else rows
    return sum(pipeline.stages[row].blame_ps for row in behind if pipeline.stages[row].kind not in TRANSPARENT)


def lacks_prefetch(pipeline: Pipeline) -> bool:
    """Whether a Prefetch at its end would let it work ahead: nothing else does, and some transformation is known."""
    if pipeline.device or pipeline.served or last(pipeline) < 0:
        return False
    return prefetch(pipeline) < 0 or behind_ps(pipeline) > _NEGLIGIBLE * pipeline.total_ps


def prefetch_gain_ps(pipeline: Pipeline) -> int:
    """ps at most, over all requests, where `lacks_prefetch`: what can be done while the program does something else."""
    waited = pipeline.total_ps if prefetch(pipeline) < 0 else behind_ps(pipeline)
    return min(waited, pipeline.between_ps)


def has_cache(pipeline: Pipeline) -> bool:
    """Whether any part of it is cached."""
    return any(stage.kind in CACHES for stage in pipeline.stages)


def stages_below(pipeline: Pipeline, row: int) -> list[int]:
    """All stages (rows) that work for this one, directly or through others."""
    answer, waiting = [], list(pipeline.children[row])
    while waiting:
        answer.append(waiting.pop())
        waiting += pipeline.children[answer[-1]]
    return answer


def python_works_ahead(pipeline: Pipeline) -> bool:
    """Whether Python code runs for it on threads of its own, beside the program's Python, which needs the same lock."""
    python = [row for row, stage in enumerate(pipeline.stages) if stage.python_calls]
    return any(above.asynchronous for row in python for above in (pipeline.stages[row], *pipeline.above(row)))


def parallel_gain_ps(pipeline: Pipeline, row: int, most: int) -> int:
    """ps at most, over all requests, if a sequential stage ran ``most`` calls at a time, and so worked ahead, too."""
    stage = pipeline.stages[row]
    ahead = any(above.asynchronous for above in pipeline.above(row))
    return min(stage.blame_ps, int(stage.blame_ps * (1 - 1 / most)) + (0 if ahead else pipeline.between_ps))


def cores(pipeline: Pipeline) -> int:
    """The cores that tf.data counted on; 0 where the capture does not say."""
    budget = pipeline.stages[0].settings.get("cpu_budget", 0)
    return budget if isinstance(budget, int) else 0


def filled(pipeline: Pipeline) -> int:
    """The shuffle or cache (row) that most of the requests' time went into filling; -1 where most went elsewhere."""
    sizes: Sequence[int] = [stage.filled_ps for stage in pipeline.stages]
    if 2 * sum(sizes) <= pipeline.total_ps:
        return -1
    return sizes.index(max(sizes))
