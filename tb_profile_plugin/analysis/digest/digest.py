"""The digest of a session: which steps count, and sums over these of their parts and ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model.devices.properties import device_count, device_type, host_device_type
from ...model.events.steps import SOURCES
from ...model.framework import framework
from ...model.host import Host
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
    hosts = session.select(host, [need(each, step_event=step_event) for each in dict.fromkeys(NEEDS)])
    found = [host_blame(each, step_event) for each in hosts]
    which, at, complete, shortest = _aligned(found)
    joined = _Joined(found, which, at)
    choice = _chosen(joined, complete, wanted)
    steps = Steps(
        joined.of(lambda each: each.number).tolist(),
        joined.period.tolist(),
        joined.of(lambda each: each.step_ps).tolist(),
        choice.reason,
        joined.of(lambda each: each.launches[:, _works(each)].sum(axis=1)).tolist(),
        joined.of(lambda each: each.compiles).tolist(),
        joined.of(lambda each: each.state_ps[:, : len(Kind)].sum(axis=1)).tolist(),
        (joined.period - shortest).tolist(),
    )
    kept, warm = np.array(steps.kept, np.int64), np.array(steps.warm, np.int64)
    inside = np.isin(warm, kept)
    state_ps = joined.of(lambda each: each.state_ps).T
    sums, spreads = state_ps[:, kept].sum(axis=1), variances(state_ps.take(warm, axis=1), inside)
    there = np.flatnonzero(state_ps[:, warm].any(axis=1)).tolist()
    parts = [Part(STATES[state], int(sums[state]), spreads[state]) for state in there]
    return Digest(
        _facts(session, hosts, found, joined, step_event, wanted),
        steps,
        parts,
        _ops(joined, kept, warm, inside),
        _kernels(hosts),
        _memory(found),
        sorted({program for each in found for program in each.programs}),
        _causes(session, diagnose(hosts, step_event, wanted)),
    )


def _causes(session: Session, found: Diagnosis) -> list[DigestCause]:
    """Those that cost most; of a host that comes late its place instead of its name."""
    answer = []
    for cause in found.causes[:_MOST_CAUSES]:
        names = [(name, ps) for name, ps, _ in cause.names[:_MOST_NAMES]]
        if cause.id == LATE_PEER and found.typical.late:
            late = found.typical.late
            names = [(by_place(session.hosts)[late.host], round(late.more_ps))]
        answer.append(DigestCause(cause.id, cause.per_step_ps, names))
    return answer


def by_place(hosts: Sequence[str]) -> dict[str, str]:
    """What digests call the hosts of a session, which have no names in them."""
    return {name: f"host {place} of {len(hosts)}" for place, name in enumerate(hosts, start=1)}


def variances(samples: Array, kept: Array) -> list[int | None]:
    """Of the mean over the kept ones among some samples, ps squared, by row; None where it cannot be told.

    ``samples`` is int64[rows, n], ``kept`` bool[n]. By Yuen: samples beyond those that are kept count as the nearest of
    these.
    """
    n, h = samples.shape[1], int(kept.sum())
    if n < 3 or h < 2:
        return [None] * len(samples)
    inner = samples[:, kept]
    low, high = inner.min(axis=1, keepdims=True), inner.max(axis=1, keepdims=True)
    found = samples.clip(low, high).astype(np.float64).var(axis=1, ddof=1)
    return [round(each * (n - 1) / (h * (h - 1))) for each in found.tolist()]


def _works(found: HostBlame) -> Array:
    """bool[rows]: ops and kernels, not what delays them."""
    return np.array([state < len(Kind) for state, _ in found.rows], bool)


class _Joined:
    """The steps of all hosts as one series: each as the host lived it that took longest."""

    def __init__(self, found: Sequence[HostBlame], which: Array, at: Array):
        self.found, self._which, self._at = found, which, at
        self.kind = [found[host].kind[row] for host, row in zip(which.tolist(), at.tolist(), strict=True)]
        self.period = self.of(lambda each: each.step_ps + each.gap_ps)
        self.gap = self.of(lambda each: each.gap_ps)
        self.last = self.of(lambda each: np.arange(len(each)) == len(each) - 1)

    def of(self, column: Any) -> Array:
        """Values of a column of each host by step."""
        columns = [column(each) for each in self.found]
        answer = np.zeros((len(self._which), *columns[0].shape[1:]), columns[0].dtype)
        for host, each in enumerate(columns):
            mine = self._which == host
            answer[mine] = each[self._at[mine]]
        return answer


def _aligned(found: Sequence[HostBlame]) -> tuple[Array, Array, Array, Array]:
    """(host, row, complete, shortest): by number of a step who took longest; it is complete if it is on all hosts.

    ``shortest`` is what it took on the host that took shortest, int64 ps.
    """
    host = np.repeat(np.arange(len(found)), [len(each) for each in found])
    row = np.concatenate([np.arange(len(each)) for each in found])
    number = np.concatenate([each.number for each in found])
    whole = np.concatenate([each.complete for each in found])
    period = np.concatenate([each.step_ps + each.gap_ps for each in found])
    if len(found) == 1:
        return host, row, whole, period
    order = np.lexsort((-period, number))
    begins = np.append(True, np.diff(number[order]) != 0)
    first, last = order[begins], order[np.append(begins[1:], True)]
    _, place = np.unique(number, return_inverse=True)
    complete = np.bincount(place.reshape(-1), ~whole) == 0
    return host[first], row[first], complete, period[last]


def _chosen(joined: _Joined, complete: Array, wanted: str) -> Choice:
    """Steps of the kind that took most time, chosen by their whole time; the last one lacks what follows it."""
    times: Counter[str] = Counter()
    for kind, ps in zip(joined.kind, joined.period.tolist(), strict=True):
        times[kind] += ps
    most = times.most_common(1)[0][0]
    mine = np.flatnonzero(np.array([kind == most for kind in joined.kind], bool))
    whole = complete[mine].copy()
    if joined.gap[mine].any() and not joined.last[mine].all():
        whole &= ~joined.last[mine]
    compiling = joined.of(lambda each: each.state_ps[:, _COMPILE])[mine]
    choice = choose(joined.period[mine], compiling, whole, joined.of(lambda each: each.number)[mine], wanted)
    reason = np.full(len(joined.kind), OTHER_KIND, object)
    reason[mine] = choice.reason
    return Choice(mine[choice.kept], reason.tolist())


def _facts(
    session: Session, hosts: Sequence[Host], found: Sequence[HostBlame], joined: _Joined, step_event: str, wanted: str
) -> dict[str, Any]:
    steps = [host.steps_named(step_event) for host in hosts]
    problems = {each.code: each for each in capture_health.findings(session, hosts, step_event)}
    rule = next((each.source for each in steps if len(each)), "none")
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
        "step_event": step_event,
        "chosen": wanted,
        "levels": max((each.levels for each in found), key=len),
        "versions": max((each.versions for each in found), key=len),
        "origin_ns": max((host.origin_ns for host in hosts), default=0),
        "problems": sorted(code for code, each in problems.items() if each.severity != "info"),
        "errors": sorted(code for code, each in problems.items() if each.severity == "error"),
    }


def _ops(joined: _Joined, kept: Array, warm: Array, inside: Array) -> list[DigestOp]:
    """The ops that took most of the kept steps, and one for all others of each part."""
    place: dict[tuple[int, Identity], int] = {}
    for each in joined.found:
        for row in each.rows:
            place.setdefault(row, len(place))

    def spread(name: str) -> Array:
        def of_host(each: HostBlame) -> Array:
            values = np.zeros((len(each), len(place)), np.int64)
            values[:, [place[row] for row in each.rows]] = getattr(each, name)
            return values

        return joined.of(of_host)

    blame = np.ascontiguousarray(spread("blame").T)
    launches, total = (spread(name)[kept].sum(axis=0) for name in ("launches", "total"))
    ranked = np.lexsort((np.arange(len(place)), -total, -blame[:, kept].sum(axis=1))).tolist()
    keys = list(place)
    chosen = [[i] for i in ranked[:_MOST_OPS] if keys[i][1].name != OTHERS]
    rest: dict[int, list[int]] = {}
    for i in set(ranked) - {i for each in chosen for i in each}:
        rest.setdefault(keys[i][0], []).append(i)
    groups = [*chosen, *(sorted(each) for _, each in sorted(rest.items()))]
    series = np.array([blame[members].sum(axis=0) for members in groups]).reshape(len(groups), blame.shape[1])
    answer = []
    told = zip(groups, series[:, kept].sum(axis=1).tolist(), variances(series.take(warm, axis=1), inside), strict=True)
    for members, sum_ps, variance in told:
        state, identity = keys[members[0]]
        if len(members) > 1 or identity.name == OTHERS:
            identity = Identity(identity.side, OTHERS)
        times = {"sum_ps": sum_ps, "variance": variance}
        times |= {"launches": int(launches[members].sum()), "total_ps": int(total[members].sum())}
        if sum_ps or times["launches"] or times["total_ps"]:
            answer.append(DigestOp(STATES[state], **vars(identity), **times))
    return answer


def _kernels(hosts: Sequence[Host]) -> list[DigestKernel]:
    found: dict[tuple[str, str], list[Any]] = {}
    for each in gpu_kernels.kernel_stats(hosts):
        row = found.setdefault((short_kernel_names.family(each.name), each.op), [0, 0, each.known.tensor_core])
        row[0] += each.occurrences
        row[1] += each.total_ps
        row[2] = row[2] if row[2] == each.known.tensor_core else None
    rows = [DigestKernel(*key, *row) for key, row in found.items()]
    return sorted(rows, key=lambda each: (-each.total_ps, each.name, each.op))[:_MOST_KERNELS]


def _memory(found: Sequence[HostBlame]) -> list[Memory]:
    largest: dict[str, tuple[int, int, int]] = {}
    for each in found:
        for name, (peak, growth, pieces) in each.memory.items():
            known = largest.get(name, (0, 0, 0))
            largest[name] = max(known[0], peak), max(known[1], growth, key=abs), max(known[2], pieces)
    return [Memory(name, *sizes) for name, sizes in sorted(largest.items())]
