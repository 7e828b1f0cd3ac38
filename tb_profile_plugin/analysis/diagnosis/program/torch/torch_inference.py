"""What PyTorch need not compute in inference: low-rank adapters (LoRA) beside the layers that they adapt; dropout; what
it computed in the pass before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

import numpy as np

from .....formats.columns import Plane, vocabulary
from .....model.host import HostWithSteps
from .....model.names import host_events
from .....model.per_host import per_host
from .....runtime.arrays import Array, distinct
from .....runtime.regex import regex
from ..step_counts import from_first_step, ops_ps
from .torch_loops import PRODUCT

_LAYER = regex(r"(?i)\$nn\.Module: \w*lora\w*_\d+$|\$(?:\S*/)?peft/tuners/\w+/\w+\.py:\d+ forward$")
"""Frames of layers with an adapter: of modules that are called so, and of PEFT's."""
_LINEAR = "aten::linear"
_WITH_ADAPTER = 3
"""Products of such a layer, of which the adapter has two: merged into the layer's weights it has none."""
_DROPOUT, _DRAWS = regex(r"aten::(?:\w+_)?dropout$"), regex(r"aten::(?:native_dropout|bernoulli_)$")
"""Dropout, and what it calls only while it drops: in a model that evaluates it returns its input."""
_FIRST_INPUT = regex(r"(?:\[\d+\], ?)?\[([\d, ]*)\], ?(.+)")
"""Of the shapes of a product without the outermost bracket: a bias of one dimension, the rows, and the rest."""
_PASSES = 6
"""So many passes in a step, each of more rows than the one before, are a sequence that is computed anew."""
_GROWTH, _RISES = 1.5, 0.8
"""Passes of a step take longer and longer where the last third takes so many times as long as the first one, and times
correlate with their order so much.
"""


def adapters_ps(host: HostWithSteps) -> float:
    """ps per step that layers with adapters take beside their own products; 0 where no frames of Python tell."""
    trace, steps = host.trace, host.steps
    if not len(steps) or not len(trace.events_named(_LAYER.match)):
        return 0.0
    products = trace.events_named(_LINEAR.__eq__)
    layer = trace.nearest_named(products, _LAYER.match)
    products, layer = products[layer >= 0], layer[layer >= 0]
    calls, own, count = np.unique(layer, return_index=True, return_counts=True)
    calls, own = calls[count == _WITH_ADAPTER], products[own[count == _WITH_ADAPTER]]
    counts = trace.begin[calls] >= steps.begin[0]
    ps = trace.end - trace.begin
    return float((ps[calls] - ps[own])[counts].sum()) / len(steps)


@per_host(keep=True)
def dropout_ps(host: HostWithSteps) -> float:
    """ps per step that devices spend on dropout; 0 without steps."""
    trace, steps = host.trace, host.steps
    draws = trace.events_named(_DRAWS.match)
    calls = trace.nearest_named(from_first_step(host, draws), _DROPOUT.match)
    return ops_ps(host, distinct(calls[calls >= 0])) / max(len(steps), 1)


def computes_again(host: HostWithSteps, plane: Plane) -> bool:
    """Whether most products of the same weights take more and more rows, from pass to pass of a step, or from step to
    step: they compute again what they did. Where shapes are not recorded, whether passes of a step take longer and
    longer.
    """
    if not plane.has_stat(vocabulary.INPUT_SHAPES):
        return _take_longer_and_longer(host)
    trace, stat = host.trace, plane.stat(vocabulary.INPUT_SHAPES)
    events, (codes, texts) = stat.owner + trace.slice_of(plane).start, stat.codes
    is_product = trace.are_named(events, PRODUCT.match)
    step = np.searchsorted(host.steps.begin, trace.begin[events], "right") - 1
    by_step: dict[tuple[int, str, str], list[int]] = {}
    in_all: dict[tuple[str, str], list[int]] = {}
    for index in np.flatnonzero(is_product & (step >= 0 if len(host.steps) else True)).tolist():
        if shapes := _FIRST_INPUT.match(texts[codes[index]][1:]):
            rows, product = prod(map(int, filter(str.strip, shapes[1].split(",")))), trace.name(int(events[index]))
            by_step.setdefault((int(step[index]), product, shapes[2]), []).append(rows)
            in_all.setdefault((product, shapes[2]), []).append(rows)
    return _do_most_grow(by_step.values()) or _do_most_grow(in_all.values())


def _take_longer_and_longer(host: HostWithSteps) -> bool:
    """Whether most steps call a function several times, which takes most of them, and longer from call to call."""
    trace, steps = host.trace, host.steps
    frames = trace.by_time(trace.events_named(host_events.is_frame)) if len(steps) else np.empty(0, np.int64)
    step = np.searchsorted(steps.begin, trace.begin[frames], "right") - 1
    ps = np.where(step >= 0, trace.end[frames] - trace.begin[frames], 0)
    names, name, counts = np.unique(trace.name_of[frames], return_inverse=True, return_counts=True)
    is_candidate = (2 * np.bincount(name, ps, len(names)) >= steps.length.sum()) & (counts >= _PASSES * len(steps))
    return any(_rise(ps[name == code], step[name == code]) for code in np.flatnonzero(is_candidate).tolist())


def _rise(ps: Array, step: Array) -> bool:
    """Whether the calls of a function, in order, take longer from the first to the last one of a step: on average over
    the steps, since machines may be busy.
    """
    by_step = [ps[step == number] for number in distinct(step[step >= 0]).tolist()]
    count = min(map(len, by_step), default=0)
    if count < _PASSES:
        return False
    mean_ps, third = np.mean([ps_of_step[:count] for ps_of_step in by_step], axis=0), count // 3
    grows = mean_ps[-third:].mean() >= _GROWTH * mean_ps[:third].mean()
    return bool(grows and np.corrcoef(mean_ps, np.arange(count))[0, 1] >= _RISES)


def _do_most_grow(sizes_of_products: Collection[Sequence[int]]) -> bool:
    """Whether most products are of those whose sizes, in order of time, grow evenly."""
    growing = sum(len(sizes) for sizes in sizes_of_products if _grow_evenly(sizes))
    return 2 * growing > sum(map(len, sizes_of_products))


def _grow_evenly(sizes: Sequence[int]) -> bool:
    """Whether sizes never fall, and rise by the same again and again."""
    rises = np.diff(sizes)
    return len(rises[rises > 0]) >= _PASSES - 1 and bool((rises >= 0).all()) and len({*rises[rises > 0].tolist()}) == 1
