"""What modules of PyTorch compute beside their layers: weights from others, by a parametrization or ``weight_norm``,
again for each use; hooks; copies of weights. How often steps call a model.
"""

from __future__ import annotations

import numpy as np

from .....formats.columns import vocabulary
from .....model.events.outermost import are_inside, outermost, outermost_ps, outermost_torch_ops
from .....model.events.trace import Trace
from .....model.host import HostWithSteps
from .....model.names.host_events import is_frame
from .....model.per_host import per_host
from .....runtime.arrays import Array, distinct
from .....runtime.regex import regex
from ....labels.event_names import MODULE_FRAME
from ..step_counts import from_first_step, ops_ps
from .torch_gradients import is_node

_PARAMETRIZATION = regex(r"\$nn\.Module: ParametrizationList_\d+$")
_COMPUTES_WEIGHT = regex(rf"{_PARAMETRIZATION.pattern}|\$torch/nn/utils/(?:weight|spectral)_norm\.py:\d+ __call__$")
"""Frames that compute one weight: of ``torch.nn.utils.parametrize``, of which each weight has a module of its own, and
hooks of the module that has the weight.
"""
COPIES_ALL = regex(r"\$(?:\S*/)?(?:copy\.py:\d+ deepcopy|module\.py:\d+ load_state_dict)\b")
"""Frames that copy all weights."""
_CALLS_MODULE = regex(r"\$torch/nn/modules/module\.py:\d+ (?:_call_impl|inner)$")
"""Frames in which a module calls its hooks and what it does itself."""
_REQUESTS = 4
"""So many calls of a model in a step that computes no gradients may be requests that one batch could take."""
_NO_HOOKS = ("$torch/", "$nn.Module", "$<")
"""Begins of frames that are no hooks of the program: PyTorch's own, and built-in functions."""


@per_host(keep=True)
def repeated_weights_ps(host: HostWithSteps) -> float:
    """ps per step in which PyTorch computes weights again, though no gradient was computed since that could have
    changed them; with the gradients of these. 0 where no frames of Python tell.
    """
    trace, steps = host.trace, host.steps
    calls = trace.events_named(_COMPUTES_WEIGHT.match)
    calls = outermost(trace, from_first_step(host, calls))
    if not len(calls):
        return 0.0
    is_module = trace.are_named(calls, _PARAMETRIZATION.match)
    module = np.where(is_module, calls, trace.nearest_named(calls, lambda name: name.startswith(MODULE_FRAME)))
    gradients = trace.events_named(is_node)
    limits = np.sort(np.concatenate((steps.begin, trace.begin[gradients])))
    weight = np.stack((trace.name_of[module], np.searchsorted(limits, trace.begin[calls], "right")))
    _, use, count = np.unique(weight, axis=1, return_inverse=True, return_counts=True)
    ps = trace.end[calls] - trace.begin[calls]
    repeated_share = float((ps * (1 - 1 / count[use])).sum() / ps.sum())
    events, numbers = trace.stat(vocabulary.SEQUENCE_NUMBER)
    own_numbers = distinct(numbers[are_inside(events, calls, trace.nesting.stop[calls]) & (numbers >= 0)])
    is_gradient = trace.are_named(events, is_node) & np.isin(numbers, own_numbers)
    gradients_ps = (trace.end[events] - trace.begin[events])[is_gradient].sum()
    return repeated_share * float(ps.sum() + gradients_ps) / len(steps)


@per_host(keep=True)
def weight_copies_ps(host: HostWithSteps) -> float:
    """ps per step that devices spend on what ``deepcopy()`` and ``load_state_dict()`` copy; 0 where no frames of
    Python tell.
    """
    trace, steps = host.trace, host.steps
    if not len(steps) or not any(map(COPIES_ALL.match, trace.names)):
        return 0.0
    ops = from_first_step(host, trace.once(outermost_torch_ops))
    return ops_ps(host, ops[trace.nearest_named(ops, COPIES_ALL.match) >= 0]) / len(steps)


@per_host(keep=True)
def hooks_ps(host: HostWithSteps) -> float:
    """ps per step that hooks of modules take, such as those that collect statistics of layers; 0 where no frames of
    Python tell.
    """
    trace, steps = host.trace, host.steps
    if not len(steps) or not any(map(_CALLS_MODULE.match, trace.names)):
        return 0.0
    frames = trace.events_named(_may_be_hook)
    frames = from_first_step(host, frames)
    caller = trace.nesting.parent[frames]
    is_hook = (caller >= 0) & trace.are_named(caller.clip(min=0), _CALLS_MODULE.match)
    return outermost_ps(trace, frames[is_hook]) / len(steps)


def _may_be_hook(name: str) -> bool:
    """Whether it is a frame of the program that is no forward pass."""
    return is_frame(name) and not name.startswith(_NO_HOOKS) and "forward" not in name.rpartition(" ")[2]


def calls_model_again(host: HostWithSteps) -> bool:
    """Whether most steps call the same outermost module several times, and not for one token after the other; False
    where no frames of Python tell.
    """
    trace, steps = host.trace, host.steps
    calls = outermost(trace, trace.events_named(lambda name: name.startswith(MODULE_FRAME)))
    step = np.searchsorted(steps.begin, trace.begin[calls], "right") - 1
    calls, step = calls[step >= 0], step[step >= 0]
    if _draw_tokens(trace, calls, step):
        return False
    (step_of_name, _), counts = np.unique(np.stack((step, trace.name_of[calls])), axis=1, return_counts=True)
    return 2 * len(distinct(step_of_name[counts >= _REQUESTS])) > len(steps) > 0


def _draw_tokens(trace: Trace, calls: Array, step: Array) -> bool:
    """Whether between most calls of a step (int64[k]: of each call, ascending) a token is drawn, which the next needs:
    by chance, or as the likeliest one, which is appended.
    """
    pairs = np.flatnonzero(np.diff(step) == 0)
    since, until = trace.end[calls[pairs]], trace.begin[calls[pairs + 1]]
    is_drawn, is_likeliest, is_appended = (
        np.diff(np.searchsorted(np.sort(trace.begin[trace.events_named(op.__eq__)]), (since, until)), axis=0)[0] > 0
        for op in ("aten::multinomial", "aten::argmax", "aten::cat")
    )
    return bool(2 * (is_drawn | (is_likeliest & is_appended)).sum() > len(pairs) > 0)
