"""What a program calls again and again: the candidates for steps where nothing marks them, and which of them train."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import I32, I64, Array, Bool, distinct
from ...runtime.jit import jit
from ...runtime.records import record
from ...runtime.regex import regex
from ..events import ownership
from ..events.groups import IMPLICIT_ROOTS, dataset_steps, group_several_roots, marked_roots
from ..events.joins import is_among
from ..events.outermost import outermost
from ..events.trace import Trace
from ..names import host_events
from . import torch_steps

_FUNCTION = regex(r"EagerExecute: __(inference|forward|backward)_|PjitFunction\(")
_DATA_THREAD = regex(r"tf_data_|tf_Compute|tf_XLA|tf_pjrt|tf_numa|py_xla_execute")
_NOTABLE_SHARE = 0.01
"""A candidate that owns less than this share of the most work of any is not offered."""

_LEAST_ROUNDS = 3
"""Calls are rounds if they follow one another in the same order at least so often."""
_FUNCTION_RUN = regex(r"Eager(?:Local)?Execute: __inference_")
"""A run of one variant of a function: TensorFlow 2 makes one for each kind of arguments, with a name of its own.
Keras calls those that train, evaluate and predict by one name."""
_GRADIENT = regex(r"gradient|.*(?:Grad\b|Grad_|Backprop)")


@record
class Candidate:
    """Events of one name, of which each may be a step."""

    name: str
    count: int
    """Its outermost calls."""
    work_ps: int
    """What they led to on the devices, ps; where devices recorded nothing, what `owned_work_ps` takes for work."""
    host_ps: int
    """How long the calls themselves last, ps."""


def candidates(trace: Trace) -> list[Candidate]:
    """What may be chosen as steps: marks, numbered events, functions and Python frames; most work first."""
    work = ownership.owned_work_ps(trace)
    marks, _ = trace.once(marked_roots)
    numbered, _ = trace.stat(vocabulary.STEP_NUM)
    explicit = [marks[~trace.are_named(marks, IMPLICIT_ROOTS.__contains__)], numbered]
    events = distinct(np.concatenate([*explicit, torch_steps.profiler_marks(trace), _calls_with_work(trace, work)]))
    rows, row_of = np.unique(trace.name_of[events], return_inverse=True)
    candidates = []
    for row in range(len(rows)):
        calls = outermost(trace, events[row_of == row])
        time = int((trace.end[calls] - trace.begin[calls]).sum())
        name = trace.name(int(calls[0]))
        # No name means "by the rule" where steps are chosen; a frame that is called once is around the loop.
        if name and (len(calls) > 1 or not host_events.is_frame(name)):
            candidates.append(Candidate(name, len(calls), int(work[calls].sum()), time))
    least = _NOTABLE_SHARE * max((candidate.work_ps for candidate in candidates), default=0)
    candidates = [candidate for candidate in candidates if candidate.work_ps >= least]
    return sorted(candidates, key=lambda candidate: (-candidate.work_ps, -candidate.host_ps, candidate.name))


def step_calls(trace: Trace) -> tuple[Array, Array]:
    """(calls, steps), int64[k] each: the calls that are most likely the steps, and the step of each, from 0.

    They have one name and one thread, and there are none without candidates.

    From outside to inside: of the calls that nothing else encloses the name that owns most work, then most time. What
    is called once only is a frame around the loop, so the search goes on within; where nothing in it is called twice
    the function that was called once is the step. Helpers own little work, so they never win. Where no name owns half
    of the work and the thread's calls follow one another in rounds, a round is a step.
    """
    work = ownership.owned_work_ps(trace)
    calls = _calls_with_work(trace, work)
    if not len(calls):
        return calls, calls
    is_call = np.zeros(len(trace), bool)
    is_call[calls] = True
    enclosing_call = _enclosing_calls(is_call, trace.nesting.parent)[calls]
    line = np.searchsorted(trace.lines, calls, side="right").astype(np.int64)
    # Calls of one name on one thread are of one kind.
    _, kind = np.unique(line << 32 | trace.name_of[calls], return_inverse=True)
    called_once = calls[:0]
    outer = -1
    while True:
        level = np.flatnonzero(enclosing_call == outer)
        if not len(level):
            return called_once, np.arange(len(called_once))
        best = level[kind[level] == _best_kind(trace, calls[level], kind[level], work)]
        if len(best) > 1:
            if 2 * work[calls[best]].sum() < work[calls[level]].sum():
                on_line = level[line[level] == line[best[0]]]
                on_line = on_line[np.argsort(trace.begin[calls[on_line]], kind="stable")]
                first, length = _rounds(kind[on_line], int(kind[best[0]]))
                if length:
                    return calls[on_line[first:]], np.arange(len(on_line) - first) // length
            return trace.by_time(calls[best]), np.arange(len(best))
        outer = int(calls[best[0]])
        if not len(called_once) and not host_events.is_frame(trace.name(outer)):
            called_once = calls[best]
        if len(called_once) and 2 * work[calls[enclosing_call == outer]].sum() < work[outer]:
            return called_once, np.arange(len(called_once))


def _rounds(kinds: Array, kind: int) -> tuple[int, int]:
    """(first, length) of the rounds in which calls of these kinds follow one another; length 0 where they do not.

    Between any two calls of the wanted kind there are the same others.
    """
    positions = np.flatnonzero(kinds == kind)
    start, last = int(positions[0]), int(positions[-1])
    length = int(positions[1]) - start
    is_repeated = (kinds[start + length : last] == kinds[start : last - length]).all()
    if len(positions) < _LEAST_ROUNDS or length < 2 or not is_repeated:
        return 0, 0
    # A round may begin with calls before the first one of this kind.
    first = start
    while first > 0 and first > start - length + 1 and kinds[first - 1] == kinds[first - 1 + length]:
        first -= 1
    return first, length


def _best_kind(trace: Trace, calls: Array, kind: Array, work: Array) -> int:
    """The kind whose calls own most work, of several the one that takes most time."""
    work_ps, call_ps = np.zeros((2, int(kind.max()) + 1), np.int64)
    np.add.at(work_ps, kind, work[calls])
    np.add.at(call_ps, kind, trace.end[calls] - trace.begin[calls])
    return int(np.lexsort((call_ps, work_ps))[-1])


def _calls_with_work(trace: Trace, work: Array) -> Array:
    """int64[k], ascending: calls of functions and Python frames that own work, but for those of tf.data's threads.

    Where no function was called so that its name is known, runs of functions stand for them.
    """
    function_calls = [plane.stat(vocabulary.TF_FUNCTION_CALL).owner + first for first, plane in trace.parts]
    functions = np.concatenate([trace.events_named(_FUNCTION.match), *function_calls])
    frames = trace.events_named(host_events.is_frame)
    calls = distinct(np.concatenate([functions, frames[work[frames] > 0]]))
    if not len(calls):
        calls = trace.events_named("FunctionRun".__eq__)
        calls = calls[~is_among(trace.numbers(vocabulary.ID, calls), trace.once(dataset_steps))]
    return calls[_is_off_data_threads(trace, calls)]


def _is_off_data_threads(trace: Trace, events: Array) -> Array:
    """bool[k]: which events do not lie on tf.data's threads."""
    names = [name for plane in trace.planes for name in plane.lines.name]
    usable = np.array([not _DATA_THREAD.match(name) for name in names], bool)
    return usable[np.searchsorted(trace.lines, events, side="right") - 1]


def training_calls(trace: Trace, calls: Array) -> Array:
    """bool[k]: which of some calls, ascending by their events, run a variant of the function that works out gradients.

    All of them where no variant does, or each; calls in which no run of a variant was recorded count as training.
    """
    all_true = np.ones(len(calls), bool)
    function_runs = trace.events_named(_FUNCTION_RUN.match)
    if not len(function_runs) or not len(calls):
        return all_true
    nest_end = trace.nesting.stop
    next_run = np.searchsorted(function_runs, calls)
    has_run = next_run < len(function_runs)
    has_run[has_run] = function_runs[next_run[has_run]] < nest_end[calls[has_run]]
    names = np.where(has_run, trace.name_of[function_runs[next_run.clip(max=len(function_runs) - 1)]], -1)
    variants, variant_of_call = np.unique(names, return_inverse=True)
    gradients = trace.events_named(_GRADIENT.match)
    if len(variants) < 2 or not len(gradients):
        return all_true
    group = group_several_roots(trace, calls, np.arange(len(calls))).group_of[gradients]
    trains = np.zeros(len(variants), bool)
    trains[variant_of_call[group[group >= 0]]] = True
    trains[variants < 0] = True
    return trains[variant_of_call] if trains[variants >= 0].any() else all_true


@jit
def _enclosing_calls(is_call: Bool, parent: I32) -> I64:
    """int64[n]: the innermost call that encloses each event, or -1; events follow what encloses them."""
    answer = np.full(len(parent), -1, np.int64)
    for i in range(len(parent)):
        if parent[i] >= 0:
            answer[i] = parent[i] if is_call[parent[i]] else answer[parent[i]]
    return answer
