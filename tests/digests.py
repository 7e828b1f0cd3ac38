"""Digests for tests, of a few numbers: steps in ps, and how each of them divides into ops."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tb_profile_plugin.analysis.digest.digest import variances
from tb_profile_plugin.analysis.digest.record import Digest, DigestKernel, DigestOp, DigestSteps, StateTime

FACTS = {
    "device": "GPU",
    "devices": 1,
    "hosts": 1,
    "framework": "jax",
    "step_rule": "markers",
    "steps_are": "marks of the program",
    "step_kind": "train",
    "step_event": "",
    "chosen": "typical",
    "levels": {"python_tracer_level": 0, "host_tracer_level": 2},
    "versions": {"jax": "0.10"},
    "origin_ns": 0,
    "problems": [],
    "errors": [],
}
_WORK = ("compute", "exposed_collective", "exposed_copy")


def trimmed(samples: Sequence[int]) -> list[int]:
    """Indices of the samples without the shortest and the longest: one of each in every ten, from five on."""
    n = len(samples)
    cut = max(1, n // 10) if n >= 5 else 0
    order = sorted(range(n), key=lambda i: samples[i])
    return sorted(order[cut : n - cut])


def digest(
    ps: Sequence[int],
    ops: Mapping[str, Sequence[int]] | None = None,
    details: Mapping[str, Mapping[str, Any]] | None = None,
    kernels: Sequence[DigestKernel] = (),
    programs: Sequence[tuple[str, str]] = (),
    selected: Sequence[int] | None = None,
    **facts: Any,
) -> Digest:
    """Of steps that last ``ps`` each; ``ops`` are times by ``part/name``, ``details`` further fields of each op."""
    period_ps = np.array(ps, np.int64)
    columns = {name: np.array(values, np.int64) for name, values in (ops or {}).items()}
    others_ps = period_ps - sum(columns.values(), np.zeros_like(period_ps))
    if others_ps.any():
        columns["compute/(others)"] = others_ps
    rows_selected = trimmed(list(ps)) if selected is None else list(selected)
    is_selected = np.isin(np.arange(len(ps)), rows_selected)
    reason = ["" if counts else "extreme" for counts in is_selected.tolist()]
    rows = []
    for key, times in columns.items():
        part, _, name = key.partition("/")
        total = int(times[is_selected].sum())
        more: dict[str, Any] = dict.fromkeys(("module", "origin", "shape", "operands", "body", "source"), "")
        more |= {"side": "device", "type": "dot", "launches": len(rows_selected), "total_ps": total, "name": name}
        more |= {"sum_ps": total, "variance": variances(times[None], is_selected)[0]} | dict(
            (details or {}).get(key, {})
        )
        rows.append(DigestOp(part=part, **more))
    parts: dict[str, Any] = {}
    for key, times in columns.items():
        parts[key.partition("/")[0]] = parts.get(key.partition("/")[0], np.zeros_like(period_ps)) + times
    steps = DigestSteps(
        list(range(len(ps))),
        list(ps),
        list(ps),
        reason,
        [sum(key.partition("/")[0] in _WORK for key in columns)] * len(ps),
        [0] * len(ps),
        list(ps),
        [0] * len(ps),
    )
    part_rows = [
        StateTime(id, int(times[is_selected].sum()), variances(times[None], is_selected)[0])
        for id, times in parts.items()
    ]
    return Digest(FACTS | facts, steps, part_rows, rows, list(kernels), [], list(programs), [])
