"""What the host does to prepare input: its ops by kind, and how its time splits between these kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import iterators
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ..ops.device_event_kinds import DeviceKind
from ..ops.host_ops import host_ops
from ..ops.op_table import INPUT_PIPELINE, Op, merged
from ..steps.typical_times import Typical
from .functions import FILE_READERS, transformation_ps

DEMANDED, ADVANCED = Message("Reading files on demand"), Message("Reading files in advance")
PREPROCESSING, ENQUEUE = Message("Preprocessing"), Message("Enqueuing to the device")
WAITING, UNKNOWN = Message("Wait for threads"), Message("Unknown")
"""Kinds of input ops. The page tf.data says `WAITING`, too."""

_KIND_OF_STAGE = {"enqueue": ENQUEUE, "read": DEMANDED, "preprocessing": PREPROCESSING, "unknown": UNKNOWN}
_AHEAD_STAGES = ("::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap")
"""Begins of stages in long names of iterators, below which files are read ahead of demand."""


class HostInput(NamedTuple):
    """The host's input processing, in ps over the whole capture."""

    ops: list[tuple[Op, str]]
    """Input ops with their kind, by self time descending."""
    demanded_ps: float
    """Reading files when the data is asked for."""
    advanced_ps: float
    """Reading files ahead: inside interleave, prefetch, parallel map."""
    preprocessing_ps: float
    """Transforming data, the functions that run for it on the executor's threads with it. Waiting for elements that
    other threads make is none."""
    enqueue_ps: float
    """Handing data to the device."""
    other_ps: float

    @property
    def self_ps(self) -> int:
        """Self time of all input ops."""
        return sum(op.self_ps for op, _ in self.ops)


def kind_of(op: Op) -> str:
    """The kind of an input op; empty for an op that is none."""
    if op.framework == INPUT_PIPELINE:
        return _KIND_OF_STAGE.get(op.type.lower(), "")
    if _enqueues(op.type):
        return ENQUEUE
    if not op.is_dataset:
        return ""
    last_stage = op.name.rpartition("::")[2]
    if iterators.kind_of(last_stage) in FILE_READERS and "::" in op.name:
        return ADVANCED if any(stage in op.name for stage in _AHEAD_STAGES) else DEMANDED
    # It has threads of its own: the one that asks it waits for them.
    return WAITING if iterators.kind_of(last_stage) in iterators.ASYNCHRONOUS else PREPROCESSING


def host_input(hosts: Sequence[Host], typical: Typical) -> HostInput:
    """Input ops of the hosts, and the split of input time.

    What the enqueuing thread spends outside of enqueuing is taken as the time that the rest of the pipeline costs;
    it is shared among the kinds by their self times. Without such a thread the self times themselves stand.
    """
    table = merged([host_ops(host) for host in hosts])
    ops = [(op, kind) for op in table.ops if (kind := kind_of(op))]
    kind_ps: dict[str, int] = dict.fromkeys((ENQUEUE, DEMANDED, ADVANCED, PREPROCESSING, WAITING, UNKNOWN), 0)
    for op, kind in ops:
        kind_ps[kind] += op.self_ps
    kind_ps[PREPROCESSING] += sum(_missing_preprocessing_ps(host) for host in hosts)
    kinds = (DEMANDED, ADVANCED, PREPROCESSING)
    working_ps = sum(kind_ps[kind] for kind in kinds)
    ratio = _enqueue_ratio(hosts, typical)
    enqueue_ps = float(kind_ps[ENQUEUE])
    outside_ps = enqueue_ps * (1 - ratio) / ratio if ratio and enqueue_ps else float(working_ps)
    shares_ps = [outside_ps * kind_ps[kind] / working_ps if working_ps else 0.0 for kind in kinds]
    demanded_ps, advanced_ps, preprocessing_ps = shares_ps
    other_ps = max(0.0, outside_ps - sum(shares_ps))
    return HostInput(ops, demanded_ps, advanced_ps, preprocessing_ps, enqueue_ps, other_ps)


def _missing_preprocessing_ps(host: Host) -> int:
    """ps that the self times of a host's iterators lack of its preprocessing; negative where they hold more.

    They hold the waiting for functions that run on the executor's threads, but not these functions.
    """
    transformation = transformation_ps(host)
    counted_ps = sum(op.self_ps for op in host_ops(host).ops if op.is_dataset and kind_of(op) == PREPROCESSING)
    return 0 if transformation is None else transformation - counted_ps


def _enqueues(op_type: str) -> bool:
    return op_type.startswith("InfeedEnqueue") or op_type == op_names.COPY_TO_DEVICE


class EnqueueTimes(NamedTuple):
    """What the threads of a host that hand data to the device do."""

    busy_ps: int
    """Time in which they enqueue."""
    period_ps: int
    """Time from the begin of each such event to the next one's."""


@per_host(keep=True)
def enqueue_times(host: Host) -> EnqueueTimes:
    """The times of one host; 0 without such threads."""
    plane = host.cpu
    if plane is None:
        return EnqueueTimes(0, 0)
    parsed = enumerate(map(op_names.parse, plane.names))
    events = plane.events.rows_of_names([row for row, op in parsed if op.is_known and _enqueues(op.type)])
    is_same_thread = plane.events.line[events][1:] == plane.events.line[events][:-1]
    busy_ps = plane.events.duration[events][:-1][is_same_thread].sum()
    return EnqueueTimes(int(busy_ps), int(np.diff(plane.events.begin[events])[is_same_thread].sum()))


def _enqueue_ratio(hosts: Sequence[Host], typical: Typical) -> float:
    """Share of its time that the enqueuing thread enqueues; by the copies to the device where no thread does."""
    times = [enqueue_times(host) for host in hosts]
    period_ps = sum(host_times.period_ps for host_times in times)
    if period_ps > 0:
        return min(1.0, sum(host_times.busy_ps for host_times in times) / period_ps)
    copied_ps = float(typical.device_kind_ps[DeviceKind.TO_DEVICE])
    steps_ps = float(typical.step_ps.sum())
    return copied_ps / steps_ps if typical.has_steps and steps_ps else 0.0
