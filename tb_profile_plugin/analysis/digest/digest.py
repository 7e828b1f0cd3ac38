"""The digest of a session: which steps count, and sums over these of their parts and ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model.devices.properties import device_count, device_type, host_device_type
from ...model.framework import framework
from ...model.host import Host, HostWithSteps
from ...model.names import short_kernel_names
from ...model.per_host import need
from ...model.session import Session
from ...model.steps.step_rules import SOURCES
from ...runtime.arrays import Array
from ..activity.devices.work import Kind
from ..activity.states import STATES, State
from ..diagnosis.diagnose import NEEDS as DIAGNOSIS
from ..diagnosis.diagnose import Diagnosis, diagnose
from ..health import capture_health
from ..ops import gpu_kernels
from ..steps.choice_names import TYPICAL
from ..steps.step_choice import choose
from .blame import HostBlame, host_blame
from .record import (
    LATE_PEER,
    OTHER_KIND,
    OTHERS,
    AllocatorMemory,
    Digest,
    DigestCause,
    DigestKernel,
    DigestOp,
    DigestSteps,
    Identity,
    StateTime,
)

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

_MOST_OPS, _MOST_KERNELS, _MOST_CAUSES = 200, 60, 12
"""So many of each a digest names, those that cost most."""
_MOST_NAMES = 5
"""Names of a cause."""


def digest(session: Session, host: str = "", step_event: str = "", step_choice: str = TYPICAL) -> Digest:
    """The digest of the session's hosts, or of one; ``step_choice`` is what `choose` takes."""
    hosts = session.select(
        host, [need(function, step_event=step_event) for function in dict.fromkeys(NEEDS)], step_event
    )
    blames = [host_blame(host) for host in hosts]
    series = _StepSeries(blames)
    steps = DigestSteps(
        number=series.number.tolist(),
        ps=series.period_ps.tolist(),
        step_ps=series.column(lambda blame: blame.step_ps).tolist(),
        reason=_reasons(series, step_choice),
        launches=series.column(lambda blame: blame.launches[:, blame.is_work].sum(axis=1)).tolist(),
        compiles=series.column(lambda blame: blame.compiles).tolist(),
        device_ps=series.column(lambda blame: blame.state_ps[:, : len(Kind)].sum(axis=1)).tolist(),
        spread_ps=(series.period_ps - series.shortest_ps).tolist(),
    )
    selected, warm = np.array(steps.selected, np.int64), np.array(steps.warm, np.int64)
    return Digest(
        facts=_facts(session, hosts, blames, series, step_choice),
        steps=steps,
        parts=_parts(series, selected, warm),
        ops=_ops(series, selected, warm),
        kernels=_kernels(hosts),
        memory=_memory(blames),
        programs=sorted({program for blame in blames for program in blame.programs}),
        causes=_causes(session, diagnose(hosts, step_choice)),
    )


def _parts(series: _StepSeries, selected: Array, warm: Array) -> list[StateTime]:
    """Time of the selected steps by state, of states that any warm step is in."""
    state_ps = series.column(lambda blame: blame.state_ps).T
    sums = state_ps[:, selected].sum(axis=1).tolist()
    variances_ps2 = variances(state_ps.take(warm, axis=1), np.isin(warm, selected))
    states = np.flatnonzero(state_ps[:, warm].any(axis=1)).tolist()
    return [StateTime(STATES[state], sums[state], variances_ps2[state]) for state in states]


def _causes(session: Session, diagnosis: Diagnosis) -> list[DigestCause]:
    """The ones that cost most; a host that comes late is named by its label."""
    largest_causes = []
    for cause in diagnosis.causes[:_MOST_CAUSES]:
        names = [(name, ps) for name, ps, _ in cause.names[:_MOST_NAMES]]
        if cause.id == LATE_PEER and diagnosis.typical.late_peer:
            late_peer = diagnosis.typical.late_peer
            names = [(host_labels(session.hosts)[late_peer.host], round(late_peer.more_ps))]
        largest_causes.append(DigestCause(cause.id, cause.per_step_ps, names))
    return largest_causes


def host_labels(hosts: Sequence[str]) -> dict[str, str]:
    """What digests call the hosts of a session, which have no names in them."""
    return {name: f"host {number} of {len(hosts)}" for number, name in enumerate(hosts, start=1)}


def variances(samples: Array, is_selected: Array) -> list[int | None]:
    """By row, the variance of the mean of the selected samples, ps²; None for fewer than two of them, or three samples.

    ``samples`` is int64[rows, n], ps; ``is_selected`` bool[n]. By Yuen: samples beyond those that are selected count
    as the nearest of these.
    """
    count, selected_count = samples.shape[1], int(is_selected.sum())
    if count < 3 or selected_count < 2:
        return [None] * len(samples)
    selected = samples[:, is_selected]
    low, high = selected.min(axis=1, keepdims=True), selected.max(axis=1, keepdims=True)
    winsorised_variances = samples.clip(low, high).astype(np.float64).var(axis=1, ddof=1)
    divisor = selected_count * (selected_count - 1)
    return [round(variance * (count - 1) / divisor) for variance in winsorised_variances.tolist()]


class _StepSeries:
    """The n steps of all hosts as one series, by number: each as it was on the host where it took longest."""

    def __init__(self, blames: Sequence[HostBlame]):
        self.blames = blames
        host = np.repeat(np.arange(len(blames)), [len(blame) for blame in blames])
        row = np.concatenate([np.arange(len(blame)) for blame in blames])
        number = np.concatenate([blame.number for blame in blames])
        complete = np.concatenate([blame.complete for blame in blames])
        period = np.concatenate([blame.step_ps + blame.between_ps for blame in blames])
        longest = shortest = np.arange(len(number))
        if len(blames) > 1:
            order = np.lexsort((-period, number))
            is_first = np.append(True, np.diff(number[order]) != 0)
            longest, shortest = order[is_first], order[np.append(is_first[1:], True)]
            _, step = np.unique(number, return_inverse=True)
            complete = np.bincount(step, ~complete) == 0
        self._host, self._row = host[longest], row[longest]
        self.number, self.period_ps, self.shortest_ps = number[longest], period[longest], period[shortest]
        """int64[n] each: the number, from begin to begin, and the same on the host where that took shortest."""
        self.complete: Array = complete
        """bool[n]: on all hosts."""
        self.between_ps = self.column(lambda blame: blame.between_ps)
        self.is_last = self.column(lambda blame: np.arange(len(blame)) == len(blame) - 1)
        """bool[n]: the last step of its host."""
        self.kind = [blames[i].kind[row] for i, row in zip(self._host.tolist(), self._row.tolist(), strict=True)]
        self.ops = list(dict.fromkeys(op for blame in blames for op in blame.ops))
        """State and identity of the ops of all hosts."""
        self._column_of_op = {op: column for column, op in enumerate(self.ops)}

    def column(self, host_column: Callable[[HostBlame], Array]) -> Array:
        """[n, …]: a column that each host has, of the steps of this series."""
        return self._of_steps([host_column(blame) for blame in self.blames])

    def op_matrix(self, host_matrix: Callable[[HostBlame], Array]) -> Array:
        """int64[n, ops]: a matrix that each host has for its ops, of the steps of this series and for all `ops`."""
        matrices = []
        for blame in self.blames:
            matrix = np.zeros((len(blame), len(self._column_of_op)), np.int64)
            matrix[:, [self._column_of_op[op] for op in blame.ops]] = host_matrix(blame)
            matrices.append(matrix)
        return self._of_steps(matrices)

    def _of_steps(self, columns: Sequence[Array]) -> Array:
        """[n, …]: the steps of this series from a column of each host."""
        column = np.zeros((len(self._host), *columns[0].shape[1:]), columns[0].dtype)
        for host, values in enumerate(columns):
            on_host = self._host == host
            column[on_host] = values[self._row[on_host]]
        return column

    @property
    def main_kind(self) -> str:
        """The kind of steps that took most time in all."""
        ps_by_kind: Counter[str] = Counter()
        for kind, ps in zip(self.kind, self.period_ps.tolist(), strict=True):
            ps_by_kind[kind] += ps
        return ps_by_kind.most_common(1)[0][0]


def _reasons(series: _StepSeries, step_choice: str) -> list[str]:
    """Why each step is left out: the main kind's are chosen by their period; the last one lacks what follows it."""
    main_kind = series.main_kind
    rows = np.flatnonzero(np.array([kind == main_kind for kind in series.kind], bool))
    complete = series.complete[rows].copy()
    if series.between_ps[rows].any() and not series.is_last[rows].all():
        complete &= ~series.is_last[rows]
    compile_ps = series.column(lambda blame: blame.state_ps[:, State.COMPILE])[rows]
    reason = np.full(len(series.kind), OTHER_KIND, object)
    reason[rows] = choose(series.period_ps[rows], compile_ps, complete, series.number[rows], step_choice).reason
    return reason.tolist()


def _facts(
    session: Session,
    hosts: Sequence[HostWithSteps],
    blames: Sequence[HostBlame],
    series: _StepSeries,
    step_choice: str,
) -> dict[str, Any]:
    steps = [host.steps for host in hosts]
    problems = {finding.code: finding for finding in capture_health.findings(session, hosts)}
    step_rule = next((host_steps.source for host_steps in steps if len(host_steps)), "none")
    return {
        "device": device_type(hosts),
        "devices": sum(device_count(host) for host in hosts),
        "hosts": len(hosts),
        "framework": framework(hosts[0]),
        "step_rule": step_rule,
        "steps_are": SOURCES[step_rule],
        "step_kind": series.main_kind,
        "step_event": hosts[0].step_event,
        "chosen": step_choice,
        "levels": max((blame.levels for blame in blames), key=len),
        "versions": max((blame.versions for blame in blames), key=len),
        "origin_ns": max((host.origin_ns for host in hosts), default=0),
        "problems": sorted(code for code, finding in problems.items() if finding.severity != "info"),
        "errors": sorted(code for code, finding in problems.items() if finding.severity == "error"),
    }


def _ops(series: _StepSeries, selected: Array, warm: Array) -> list[DigestOp]:
    """The ops that took most of the selected steps, and one for all others of each part."""
    blame_ps = np.ascontiguousarray(series.op_matrix(lambda blame: blame.blame_ps).T)
    launches = series.op_matrix(lambda blame: blame.launches)[selected].sum(axis=0)
    total_ps = series.op_matrix(lambda blame: blame.total_ps)[selected].sum(axis=0)
    groups = _op_groups(series.ops, blame_ps[:, selected].sum(axis=1), total_ps)
    group_ps = np.array([blame_ps[members].sum(axis=0) for members in groups]).reshape(len(groups), blame_ps.shape[1])
    sums = group_ps[:, selected].sum(axis=1).tolist()
    variances_ps2 = variances(group_ps.take(warm, axis=1), np.isin(warm, selected))
    digest_ops = []
    for members, sum_ps, variance in zip(groups, sums, variances_ps2, strict=True):
        state, identity = series.ops[members[0]]
        if len(members) > 1 or identity.name == OTHERS:
            identity = Identity(identity.side, OTHERS)
        count, total = int(launches[members].sum()), int(total_ps[members].sum())
        if sum_ps or count or total:
            figures = {"sum_ps": sum_ps, "variance": variance, "launches": count, "total_ps": total}
            digest_ops.append(DigestOp(**vars(identity), part=STATES[state], **figures))
    return digest_ops


def _op_groups(ops: Sequence[tuple[int, Identity]], blame_ps: Array, total_ps: Array) -> list[list[int]]:
    """Indices of ops that a digest counts together: those that took most time alone, then all others by state.

    int64[ops] ps each: by ``blame_ps``, of equal ones by ``total_ps``.
    """
    by_time = np.lexsort((np.arange(len(ops)), -total_ps, -blame_ps)).tolist()
    largest_ops = [[i] for i in by_time[:_MOST_OPS] if ops[i][1].name != OTHERS]
    others_of_state: dict[int, list[int]] = {}
    for i in set(by_time) - {i for group in largest_ops for i in group}:
        others_of_state.setdefault(ops[i][0], []).append(i)
    return [*largest_ops, *(sorted(members) for _, members in sorted(others_of_state.items()))]


def _kernels(hosts: Sequence[Host]) -> list[DigestKernel]:
    """The kernels that took most time, by family and op; None for tensor cores where those of a family differ."""
    by_family: dict[tuple[str, str], DigestKernel] = {}
    for kernel in gpu_kernels.kernel_stats(hosts):
        key, tensor_core = (short_kernel_names.family(kernel.name), kernel.op), kernel.recognition.tensor_core
        previous = by_family.get(key, DigestKernel(*key, 0, 0, tensor_core))
        common_use = tensor_core if tensor_core == previous.tensor_core else None
        launches, total_ps = previous.launches + kernel.occurrences, previous.total_ps + kernel.total_ps
        by_family[key] = DigestKernel(*key, launches, total_ps, common_use)
    return sorted(by_family.values(), key=lambda kernel: (-kernel.total_ps, kernel.name, kernel.op))[:_MOST_KERNELS]


def _memory(blames: Sequence[HostBlame]) -> list[AllocatorMemory]:
    """Each allocator's largest figures over the hosts."""
    largest: dict[str, AllocatorMemory] = {}
    for memory in (memory for blame in blames for memory in blame.memory):
        previous = largest.get(memory.allocator, AllocatorMemory(memory.allocator, 0, 0, 0))
        largest[memory.allocator] = AllocatorMemory(
            memory.allocator,
            max(previous.peak_bytes, memory.peak_bytes),
            max(previous.growth_bytes, memory.growth_bytes, key=abs),
            max(previous.fragmentation_ppm, memory.fragmentation_ppm),
        )
    return [memory for _, memory in sorted(largest.items())]
