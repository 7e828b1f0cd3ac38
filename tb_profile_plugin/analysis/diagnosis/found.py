"""What was found under a cause, by the names of what takes its time: what is said, and what helps, differ by it."""

from __future__ import annotations

from collections.abc import Iterable

from ...runtime.regex import regex

NAMED_SHARE = 0.15
"""A name, or a kind of names, is told where it takes so much of a cause."""
PAUSE = "pause"
_OPTIMIZER = ("optimizer", r"Optimizer\.step")
_KINDS = {
    PAUSE: (
        ("checkpoint", r"(?i).*(?:save|checkpoint|restore|shardedfilename|pickle)|Merge|dumps?\b"),
        ("evaluation", r"(?i).*(?:evaluat|validat|on_test|on_predict)|__inference_"),
        ("summary", r"(?i).*summary|Encode"),
        ("printing", r"(?i).*print|StringFormat"),
        ("hook", r"on_\w+"),
    ),
    "input": (("input_workers", r".*MultiProcessing"),),
    "exposed_copy": (
        ("copy_within", r".*(?:DtoD|D2D)"),
        ("copy_back", r".*(?:DtoH|D2H)"),
        ("copy_pageable", r".*Pageable"),
        ("copy_in", r".*(?:HtoD|H2D)"),
    ),
    "compute": (("float32", r".*(?:sgemm|simt|scudnn|f32f32_f32f32_f32|_engine<float)"),),
    "allocator": (("freed", r"(?:cu|cuda|hip)(?:Mem)?Free"),),
    "eager": (
        _OPTIMIZER,
        ("compiled", r".*Compiled(?:Function|FxGraph)|Torch-Compiled"),
    ),
    "python": (_OPTIMIZER,),
    "launch": (_OPTIMIZER,),
    "dispatch": (
        _OPTIMIZER,
        ("compiled", r".*Compiled(?:Function|FxGraph)|Torch-Compiled"),
    ),
}
"""Of causes whose kinds differ in what helps: names as PyTorch, CUDA's profiler, XLA and TensorFlow give them."""
PAUSES = tuple(kind for kind, _ in _KINDS[PAUSE])


def kinds(cause: str, names: Iterable[tuple[str, float]], whole: float) -> list[str]:
    """The kinds of a cause that take their share of the whole, the largest first; names come with their times."""
    patterns = [(kind, regex(pattern)) for kind, pattern in _KINDS.get(cause, ())]
    times = dict.fromkeys((kind for kind, _ in patterns), 0.0)
    for name, time in names:
        kind = next((kind for kind, pattern in patterns if pattern.match(name)), None)
        if kind:
            times[kind] += time
    told = [kind for kind, time in times.items() if time and time >= NAMED_SHARE * whole]
    return sorted(told, key=lambda kind: -times[kind])
