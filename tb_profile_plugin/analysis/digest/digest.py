"""The digest of a session: which steps count, and sums over these of their parts and ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...model.devices.properties import device_count, device_type, host_device_type
from ...model.events.steps import SOURCES
from ...model.framework import framework
from ...model.host import Host, HostWithSteps
from ...model.names import short_kernel_names
from ...model.per_host import need
from ...model.session import Session
from ...runtime.arrays import Array
from ..activity.device_events import Kind
from ..activity.states import STATES
from ..diagnosis.diagnose import NEEDS as DIAGNOSIS
from ..diagnosis.diagnose import Diagnosis, diagnose
from ..health import capture_health
from ..ops import gpu_kernels
from ..steps.step_choice import TYPICAL
from ..steps.typical import Choice, choose
from .blame import HostBlame, host_blame
from .identity import Identity
from .record import LATE_PEER, OTHER_KIND, OTHERS, Digest, DigestCause, DigestKernel, DigestOp, Memory, Part, Steps

NEEDS: tuple[Callable[..., object], ...] = (
    host_blame,
    *DIAGNOSIS,
    *capture_health.NEEDS,
    gpu_kernels.launches,
    host_device_type,
    device_count,
    framework,
)
"""Per-host functions that `digest` merges."""

_MOST_OPS, _MOST_KERNELS, _MOST_CAUSES, _MOST_NAMES = 200, 60, 12, 5
_COMPILE = STATES.index("compile")


def digest(session: Session, host: str = "", step_event: str = "", wanted: str = TYPICAL) -> Digest:
    """Of the session's hosts, or of one; ``wanted`` chooses the steps as `typical.choose` takes it."""
    hosts = session.select(
        host, [need(function, step_event=step_event) for function in dict.fromkeys(NEEDS)], step_event
    )
    blames = [host_blame(host) for host in hosts]
    aligned = _aligned(blames)
    complete, shortest = aligned.complete, aligned.shortest_ps
    joined = _Joined(blames, aligned.host, aligned.row)
    choice = _choice(joined, complete, wanted)
    steps = Steps(
        joined.of(lambda blame: blame.number).tolist(),
        joined.period.tolist(),
        joined.of(lambda blame: blame.step_ps).tolist(),
        choice.reason,
        joined.of(lambda blame: blame.launches[:, _works(blame)].sum(axis=1)).tolist(),
        joined.of(lambda blame: blame.compiles).tolist(),
        joined.of(lambda blame: blame.state_ps[:, : len(Kind)].sum(axis=1)).tolist(),
        (joined.period - shortest).tolist(),
    )
    selected, warm = np.array(steps.selected, np.int64), np.array(steps.warm, np.int64)
    inside = np.isin(warm, selected)
    state_ps = joined.of(lambda blame: blame.state_ps).T
    sums, spreads = state_ps[:, selected].sum(axis=1), variances(state_ps.take(warm, axis=1), inside)
    there = np.flatnonzero(state_ps[:, warm].any(axis=1)).tolist()
    parts = [Part(STATES[state], int(sums[state]), spreads[state]) for state in there]
    return Digest(
        _facts(session, hosts, blames, joined, wanted),
        steps,
        parts,
        _ops(joined, selected, warm, inside),
        _kernels(hosts),
        _memory(blames),
        sorted({program for blame in blames for program in blame.programs}),
        _causes(session, diagnose(hosts, wanted)),
    )


def _causes(session: Session, diagnosis: Diagnosis) -> list[DigestCause]:
    """Those that cost most; of a host that comes late its place instead of its name."""
    answer = []
    for cause in diagnosis.causes[:_MOST_CAUSES]:
        names = [(name, ps) for name, ps, _ in cause.names[:_MOST_NAMES]]
        if cause.id == LATE_PEER and diagnosis.typical.late_peer:
            late = diagnosis.typical.late_peer
            names = [(host_labels(session.hosts)[late.host], round(late.more_ps))]
        answer.append(DigestCause(cause.id, cause.per_step_ps, names))
    return answer


def host_labels(hosts: Sequence[str]) -> dict[str, str]:
    """What digests call the hosts of a session, which have no names in them."""
    return {name: f"host {number} of {len(hosts)}" for number, name in enumerate(hosts, start=1)}


def variances(samples: Array, selected: Array) -> list[int | None]:
    """Of the mean over the kept ones among some samples, ps squared, by row; None where it cannot be told.

    ``samples`` is int64[rows, n], ``selected`` bool[n]. By Yuen: samples beyond those that are kept count
    as the nearest of these.
    """
    n, h = samples.shape[1], int(selected.sum())
    if n < 3 or h < 2:
        return [None] * len(samples)
    inner = samples[:, selected]
    low, high = inner.min(axis=1, keepdims=True), inner.max(axis=1, keepdims=True)
    winsorised = samples.clip(low, high).astype(np.float64).var(axis=1, ddof=1)
    return [round(variance * (n - 1) / (h * (h - 1))) for variance in winsorised.tolist()]


def _works(blame: HostBlame) -> Array:
    """bool[rows]: ops and kernels, not what delays them."""
    return np.array([state < len(Kind) for state, _ in blame.rows], bool)


class _Joined:
    """The steps of all hosts as one series: each as the host lived it that took longest."""

    def __init__(self, blames: Sequence[HostBlame], which: Array, at: Array):
        self.blames, self._which, self._at = blames, which, at
        self.kind = [blames[host].kind[row] for host, row in zip(which.tolist(), at.tolist(), strict=True)]
        self.period = self.of(lambda blame: blame.step_ps + blame.gap_ps)
        self.gap = self.of(lambda blame: blame.gap_ps)
        self.last = self.of(lambda blame: np.arange(len(blame)) == len(blame) - 1)

    def of(self, column: Any) -> Array:
        """Values of a column of each host by step."""
        columns = [column(blame) for blame in self.blames]
        answer = np.zeros((len(self._which), *columns[0].shape[1:]), columns[0].dtype)
        for host, values in enumerate(columns):
            on_host = self._which == host
            answer[on_host] = values[self._at[on_host]]
        return answer


class _Aligned(NamedTuple):
    """The steps of all hosts by number."""

    host: Array
    """Who took longest."""
    row: Array
    """Which of its steps that is."""
    complete: Array
    """bool: whether it is on all hosts."""
    shortest_ps: Array
    """int64: what it took on the host that took shortest."""


def _aligned(blames: Sequence[HostBlame]) -> _Aligned:
    host = np.repeat(np.arange(len(blames)), [len(blame) for blame in blames])
    row = np.concatenate([np.arange(len(blame)) for blame in blames])
    number = np.concatenate([blame.number for blame in blames])
    is_complete = np.concatenate([blame.complete for blame in blames])
    period = np.concatenate([blame.step_ps + blame.gap_ps for blame in blames])
    if len(blames) == 1:
        return _Aligned(host, row, is_complete, period)
    order = np.lexsort((-period, number))
    begins = np.append(True, np.diff(number[order]) != 0)
    first, last = order[begins], order[np.append(begins[1:], True)]
    _, step = np.unique(number, return_inverse=True)
    complete = np.bincount(step.reshape(-1), ~is_complete) == 0
    return _Aligned(host[first], row[first], complete, period[last])


def _choice(joined: _Joined, complete: Array, wanted: str) -> Choice:
    """Steps of the kind that took most time, chosen by their whole time; the last one lacks what follows it."""
    times: Counter[str] = Counter()
    for kind, ps in zip(joined.kind, joined.period.tolist(), strict=True):
        times[kind] += ps
    most = times.most_common(1)[0][0]
    rows = np.flatnonzero(np.array([kind == most for kind in joined.kind], bool))
    is_complete = complete[rows].copy()
    if joined.gap[rows].any() and not joined.last[rows].all():
        is_complete &= ~joined.last[rows]
    compiling = joined.of(lambda blame: blame.state_ps[:, _COMPILE])[rows]
    choice = choose(joined.period[rows], compiling, is_complete, joined.of(lambda blame: blame.number)[rows], wanted)
    reason = np.full(len(joined.kind), OTHER_KIND, object)
    reason[rows] = choice.reason
    return Choice(rows[choice.selected], reason.tolist())


def _facts(
    session: Session, hosts: Sequence[HostWithSteps], blames: Sequence[HostBlame], joined: _Joined, wanted: str
) -> dict[str, Any]:
    steps = [host.steps for host in hosts]
    problems = {finding.code: finding for finding in capture_health.findings(session, hosts)}
    rule = next((host_steps.source for host_steps in steps if len(host_steps)), "none")
    times: Counter[str] = Counter()
    for kind, ps in zip(joined.kind, joined.period.tolist(), strict=True):
        times[kind] += ps
    return {
        "device": device_type(hosts),
        "devices": sum(device_count(host) for host in hosts),
        "hosts": len(hosts),
        "framework": framework(hosts[0]),
        "step_rule": rule,
        "steps_are": SOURCES[rule],
        "step_kind": times.most_common(1)[0][0],
        "step_event": hosts[0].step_event,
        "chosen": wanted,
        "levels": max((blame.levels for blame in blames), key=len),
        "versions": max((blame.versions for blame in blames), key=len),
        "origin_ns": max((host.origin_ns for host in hosts), default=0),
        "problems": sorted(code for code, finding in problems.items() if finding.severity != "info"),
        "errors": sorted(code for code, finding in problems.items() if finding.severity == "error"),
    }


def _ops(joined: _Joined, selected: Array, warm: Array, inside: Array) -> list[DigestOp]:
    """The ops that took most of the kept steps, and one for all others of each part."""
    column_of: dict[tuple[int, Identity], int] = {}
    for host in joined.blames:
        for row in host.rows:
            column_of.setdefault(row, len(column_of))

    def spread(name: str) -> Array:
        def of_host(host: HostBlame) -> Array:
            values = np.zeros((len(host), len(column_of)), np.int64)
            values[:, [column_of[row] for row in host.rows]] = getattr(host, name)
            return values

        return joined.of(of_host)

    blame = np.ascontiguousarray(spread("blame").T)
    launches, total = (spread(name)[selected].sum(axis=0) for name in ("launches", "total"))
    ranked = np.lexsort((np.arange(len(column_of)), -total, -blame[:, selected].sum(axis=1))).tolist()
    keys = list(column_of)
    largest = [[i] for i in ranked[:_MOST_OPS] if keys[i][1].name != OTHERS]
    rest: dict[int, list[int]] = {}
    for i in set(ranked) - {i for group in largest for i in group}:
        rest.setdefault(keys[i][0], []).append(i)
    groups = [*largest, *(sorted(members) for _, members in sorted(rest.items()))]
    series = np.array([blame[members].sum(axis=0) for members in groups]).reshape(len(groups), blame.shape[1])
    answer = []
    totals = zip(
        groups, series[:, selected].sum(axis=1).tolist(), variances(series.take(warm, axis=1), inside), strict=True
    )
    for members, sum_ps, variance in totals:
        state, identity = keys[members[0]]
        if len(members) > 1 or identity.name == OTHERS:
            identity = Identity(identity.side, OTHERS)
        times = {"sum_ps": sum_ps, "variance": variance}
        times |= {"launches": int(launches[members].sum()), "total_ps": int(total[members].sum())}
        if sum_ps or times["launches"] or times["total_ps"]:
            answer.append(DigestOp(STATES[state], **vars(identity), **times))
    return answer


def _kernels(hosts: Sequence[Host]) -> list[DigestKernel]:
    sums: dict[tuple[str, str], list[Any]] = {}
    for kernel in gpu_kernels.kernel_stats(hosts):
        row = sums.setdefault(
            (short_kernel_names.family(kernel.name), kernel.op), [0, 0, kernel.recognition.tensor_core]
        )
        row[0] += kernel.occurrences
        row[1] += kernel.total_ps
        row[2] = row[2] if row[2] == kernel.recognition.tensor_core else None
    rows = [DigestKernel(*key, *row) for key, row in sums.items()]
    return sorted(rows, key=lambda kernel: (-kernel.total_ps, kernel.name, kernel.op))[:_MOST_KERNELS]


def _memory(blames: Sequence[HostBlame]) -> list[Memory]:
    largest: dict[str, tuple[int, int, int]] = {}
    for blame in blames:
        for name, (peak, growth, pieces) in blame.memory.items():
            previous = largest.get(name, (0, 0, 0))
            largest[name] = max(previous[0], peak), max(previous[1], growth, key=abs), max(previous[2], pieces)
    return [Memory(name, *sizes) for name, sizes in sorted(largest.items())]
