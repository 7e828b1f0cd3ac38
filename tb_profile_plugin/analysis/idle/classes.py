"""What each thread of a host does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...arrays import I8, I32, I64, Array
from ...columns import Plane, vocabulary
from ...jit import jit
from ...model import names
from ...model.host import Host
from ...model.links import CALL, LAUNCH, RUN
from ...model.per_host import per_host
from .. import hostnames
from ..hostops import kernels_of_single_ops
from .states import State

NOTHING = 127
"""Class of events that only enclose, and of moments without an event."""
_UNKNOWN = 126
"""Class of a name that says nothing: a container on a thread of Python, work of the framework on any other."""
_PYTHON_THREAD = re.compile(r"(python[\d.]*|main|MainThread)\b", re.IGNORECASE)
_CALLBACK_THREAD = re.compile(r"py_xla_callback\b")
_CALLED = re.compile(r"(?:EagerLocalExecute|EagerExecute): |(?:\w+/)*\w+:")
"""What stands before an op's type: ``EagerLocalExecute: SaveV2``, ``save/SaveV2:SaveV2``."""

_RULES = (
    (
        State.COMPILE,
        r"tf\.function-graph_building|.*_traced_|TorchDynamo|compile_fx|Lazy Function Loading|LoadProgram"
        r"|\$\S+ (?:func_graph_from_py_func|trace_to_jaxpr\w*|lower_sharding_computation|compile_or_get_cached)$",
    ),
    (
        State.INPUT,
        r"Iterator(?:GetNext|::)|MultiDeviceIterator|\w+(?:Produce|Consume)$|InstantiatedCapturedFunction"
        r"|MakeIterator|InfeedEnqueue|infeed|enumerate\(Data(?:Loader|Pipe)\)"
        r"|\$(?:dataloader|data_loader|dataset|iterator_ops)\.py:|\$builtins next$"
        r"|\$\S+ (?:__next__|next|get_next|(?:\w+_)?(?:generator|gen|loader|batches))$"
        r"|\$\S+ (?:next|get|load|read|make|fetch)_batch$",
    ),
    (
        State.CALLBACK,
        r"(?:Eager)?PyFunc|\w*(?:pure|io|debug)_callback|py_xla_callback|outfeed|Outfeed|xla_\w*python\w*_callback"
        r"|numpy_function|\$\S+ (?:pure_callback\w*|io_callback\w*|_flat_callback|_callback)$",
    ),
    (
        State.PAUSE,
        r"(?:Save|Restore|MergeCheckpoints|MergeV2Checkpoints)(?:V2|Slices)?$|ShardedFilename|(?:Write|Flush)\w*Summary"
        r"|(?:Merge|Scalar|Histogram|Image)\w*Summary|(?:evaluate|evaluation|validation|checkpoint|save_checkpoint)\b"
        r"|\$\S*(?:checkpoint|saving|saver|npyio|orbax)\S* (?:save|write)\w*$"
        r"|\$\S+ save_(?:checkpoint|model|weights)$"
        r"|\$\S+ on_(?:train_batch|epoch|test|train|predict)\w*_(?:begin|end)$|\$\S+ evaluate$|\$pickle dumps?$",
    ),
    (
        State.SYNC,
        r".*(?:BlockHostUntilReady|WaitReady|ReadSyncFlag|CompleteCallbacks|\bWait for |Acquire semaphore"
        r"|np\.asarray\(jax\.Array\))|TFE_TensorHandleResolve",
    ),
    (
        State.TRANSFER,
        r"tpu::System::Transfer|\w*(?:TransferTo|TransferFrom|CopyTo|CopyFrom|BufferFromHost)\w*|TransposePlan"
        r"|Transpose::|(?:Xla)?(?:De)?[Ll]ineariz|[HD]2[HD] Dispatch|PCIe|cudaMemcpy$|hipMemcpy(?:WithStream)?$"
        r"|ArrayImpl\.copy_to_host|TfrtTpuClient::\w*Buffer",
    ),
    (State.COLLECTIVE_HOST, r"gloo:|c10d::|Coordination|\w*Barrier\b|RecvTensor|GrpcWorker|\w*ParameterServer"),
    (
        State.ALLOCATOR,
        r"(?:cu|cuda|hip)(?:Mem)?(?:Alloc|Malloc|Free)\w*$|\w*Allocator::|\w*::Defragment|Build buffer allocations"
        r"|Allocate\w*Buffers|PythonRefManager::CollectGarbage|\[memory\]",
    ),
    (State.LAUNCH, r"(?:cu|cuda|hip)\w*(?:Launch|Memcpy|Memset)\w*|DoEnqueueProgram|tpu::System::Execute$"),
    (
        State.DISPATCH,
        r"Pj(?:it|map)Function|\w+(?:::\w+)+|TFE_|Eager|Execut|FunctionRun|ParseArguments|DevicePut|Handle in"
        r"|shard_args|cpp_pjit|convert_to_tensor|tf\.constant|ValidateInput|Thunks|PJRT_|ScheduleWork|Record|KernelAndDevice|Remote",
    ),
)
_COMPILED = [(state, re.compile(pattern)) for state, pattern in _RULES]


@dataclass(frozen=True)
class Activity:
    """What the threads of a host do, by thread: stretches ``first[t]:first[t + 1]``, disjoint and in order of time.

    Lines that hold nothing but a thread's calls of the driver are part of that thread.
    """

    first: Array
    """int64[lines + 1], by line of the trace."""
    begin: Array
    """int64[k] ps."""
    end: Array
    """int64[k] ps."""
    state: Array
    """int8[k]: `State` from ``COMPILE`` to ``PYTHON``."""
    event: Array
    """int32[k]: the longest of the events that tell so."""
    thread: Array
    """int32[lines]: the line whose thread each line is part of."""
    python: Array
    """bool[lines]: where a moment without an event is Python's."""
    loop: int
    """The line on which the program's loop runs, or -1."""
    line_of: Array
    """int32[events]: the line of each event."""
    came_from: Array
    """int32[events]: the latest event on another thread that led to this one, or -1."""


def class_of(name: str) -> int:
    """The `State` that an event of that name stands for; `NOTHING` for marks; 126 where the name says nothing."""
    if hostnames.is_marker(name) or not name:
        return NOTHING
    if hostnames.is_compiling(name):
        return State.COMPILE
    if hostnames.is_sleeping(name):
        return State.PYTHON
    bare = _CALLED.sub("", name, count=1)
    if hostnames.asks_for_input(bare):
        return State.INPUT
    for state, pattern in _COMPILED:
        if state == State.SYNC and hostnames.is_waiting(name):
            return State.SYNC
        if pattern.match(bare):
            return state
    if name.startswith(hostnames.PYTHON):
        return State.PYTHON
    return State.DISPATCH if names.parse(name).known else _UNKNOWN


@per_host
def event_classes(host: Host) -> Array:
    """int8[events]: the class of each event of the host's threads, `NOTHING` for everything else."""
    answer = np.full(len(host.trace), NOTHING, np.int8)
    plane = host.cpu
    if plane is None:
        return answer
    rows = host.trace.rows(plane)
    by_name = np.array([class_of(name) for name in plane.names], np.int8)
    mine = by_name[plane.events.name]
    launches = plane.stat(vocabulary.CORRELATION_ID).owner
    mine[launches[mine[launches] >= State.DISPATCH]] = State.LAUNCH
    calls = [row for row, name in enumerate(plane.names) if name.startswith(hostnames.CALLS[0])]
    waiting = np.setdiff1d(np.flatnonzero(np.isin(plane.events.name, calls)), kernels_of_single_ops(host, plane))
    mine[waiting] = State.SYNC
    python = python_lines(plane)
    unknown = np.flatnonzero(mine == _UNKNOWN)
    mine[unknown] = np.where(python[plane.events.line[unknown]], NOTHING, State.DISPATCH)
    callback = np.array([bool(_CALLBACK_THREAD.match(name)) for name in plane.lines.name], bool)
    if callback.any():
        mine[callback[plane.events.line]] = State.CALLBACK
    steps = host.steps_named()
    if steps.source in ("markers", "numbers", "chosen"):
        marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)] - rows.start
        mine[marks[mine[marks] >= State.DISPATCH]] = NOTHING
    answer[rows] = mine
    return answer


def python_lines(plane: Plane) -> Array:
    """bool[lines]: threads on which Python's frames were recorded, or that are named as Python's main thread is."""
    answer = np.array([bool(_PYTHON_THREAD.match(name)) for name in plane.lines.name], bool)
    frames = np.array([name.startswith(hostnames.PYTHON) for name in plane.names], bool)
    if frames.any():
        answer[np.unique(plane.events.line[frames[plane.events.name]])] = True
    return answer


def line_of_events(host: Host) -> Array:
    """int32[events]: the line of each event, counted over all planes."""
    lines = host.trace.lines
    return np.repeat(np.arange(len(lines) - 1, dtype=np.int32), np.diff(lines))


@per_host
def activity(host: Host) -> Activity:
    """What each thread does at every moment, and what led from one to another."""
    trace, line_of = host.trace, line_of_events(host)
    count = len(trace.lines) - 1
    thread = _threads(host, line_of)
    python = np.zeros(count, bool)
    begin, end, classes = trace.begin, trace.end, event_classes(host)
    if host.cpu is not None:
        first = int(np.searchsorted(trace.lines, trace.rows(host.cpu).start, "right")) - 1
        python[first : first + len(host.cpu.lines)] = python_lines(host.cpu)
    loop = _loop(host, line_of, python)
    if loop >= 0:
        python[loop] = True
    end, classes = _stretched(host, line_of, end, classes)
    begin = _pauses(host, line_of, loop, begin, end, classes)
    rows, starts = _by_thread(line_of, thread, begin, end, classes, loop if begin is not trace.begin else -1)
    stretches = _sweep(starts, rows, begin, end, classes)
    came_from = np.full(len(trace), -1, np.int32)
    links = trace.links
    led = np.isin(links.kind, (LAUNCH, CALL, RUN), invert=True)
    led &= thread[line_of[links.source]] != thread[line_of[links.target]]
    _latest_source(links.source[led], links.target[led], trace.begin, came_from)
    return Activity(*stretches, thread, python, loop, line_of, came_from)


def _threads(host: Host, line_of: Array) -> Array:
    """int32[lines]: lines of driver's calls belong to the thread that most of their calls were made on."""
    links = host.trace.links
    thread = np.arange(len(host.trace.lines) - 1, dtype=np.int32)
    calls = links.kind == CALL
    callers, apart = line_of[links.source[calls]], line_of[links.target[calls]]
    for line in np.unique(apart).tolist():
        thread[line] = np.bincount(callers[apart == line]).argmax()
    return thread


def _loop(host: Host, line_of: Array, python: Array) -> int:
    """The line of most steps' marks, else the one named as Python's with most events, else the first of the host's."""
    steps, plane = host.steps_named(), host.cpu
    if plane is None or not len(plane.events):
        return -1
    rows = host.trace.rows(plane)
    marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)]
    if len(marks):
        return int(np.bincount(line_of[marks]).argmax())
    sizes = np.diff(host.trace.lines) * python
    return int(sizes.argmax()) if sizes.any() else int(line_of[rows.start])


def _stretched(host: Host, line_of: Array, end: Array, classes: Array) -> tuple[Array, Array]:
    """Ends and classes with what two events tell together.

    A wait that is recorded as its begin and its end lasts from one to the other; a function that is called and
    compiled by that is traced and lowered until then.
    """
    trace, end, classes = host.trace, end.copy(), classes.copy()
    links = trace.links
    source, target = links.source, links.target
    waits = (classes[source] == State.SYNC) & (classes[target] == State.SYNC) & (line_of[source] == line_of[target])
    end[source[waits]] = np.maximum(end[source[waits]], trace.begin[target[waits]])
    parent, _ = trace.nesting
    calls = np.zeros(len(trace), bool)
    calls[trace.named(lambda name: name.startswith("PjitFunction"))] = True
    compiling = np.flatnonzero(classes == State.COMPILE)
    above = parent[compiling]
    at, until = np.full(len(compiling), -1, np.int64), trace.end[compiling]
    while (above >= 0).any():
        at = np.where((above >= 0) & calls[above], above, at)
        above = np.where(above >= 0, parent[above], -1)
    held = at >= 0
    traced = np.zeros(len(trace) if held.any() else 0, np.int64)
    np.maximum.at(traced, at[held], until[held])
    outer = np.unique(at[held])
    classes[outer], end[outer] = State.COMPILE, traced[outer]
    return end, classes


def _pauses(host: Host, line_of: Array, loop: int, begin: Array, end: Array, classes: Array) -> Array:
    """Begins of events, where the first pause between two steps' marks begins with the first mark's end.

    A checkpoint is made ready before it is written. ``end`` is changed in place, for the last pause to be their end.
    """
    steps, trace = host.steps_named(), host.trace
    marks = np.sort(steps.marker[steps.marker >= 0])
    marks = marks[line_of[marks] == loop]
    pauses = np.flatnonzero(classes == State.PAUSE)
    pauses = pauses[line_of[pauses] == loop]
    place = np.searchsorted(trace.begin[marks], begin[pauses], "right") - 1
    between = (place >= 0) & (begin[pauses] >= trace.end[marks[place.clip(0)]]) if len(marks) else place > 0
    pauses, place = pauses[between], place[between]
    if not len(pauses):
        return begin
    first = np.flatnonzero(np.append(True, np.diff(place) != 0))
    moved: Array = begin.copy()
    moved[pauses[first]] = trace.end[marks[place[first]]]
    end[pauses[first]] = np.maximum.reduceat(end[pauses], first)
    return moved


def _by_thread(
    line_of: Array, thread: Array, begin: Array, end: Array, classes: Array, unsorted: int
) -> tuple[Array, Array]:
    """(rows, starts): the events that tell something, thread by thread, outer before inner; int64 both."""
    rows = np.flatnonzero((classes != NOTHING) & (end > begin))
    owner = thread[line_of[rows]]
    several = np.unique(np.append(thread[thread != np.arange(len(thread))], unsorted))
    shared = np.isin(owner, several)
    if shared.any():
        mine = rows[shared]
        mine = mine[np.lexsort((-end[mine], begin[mine], owner[shared]))]
        rows, owner = np.concatenate((rows[~shared], mine)), np.concatenate((owner[~shared], thread[line_of[mine]]))
        order = np.argsort(owner, kind="stable")
        rows, owner = rows[order], owner[order]
    starts = np.searchsorted(owner, np.arange(len(thread) + 1)).astype(np.int64)
    return rows, starts


@jit
def _latest_source(source: I32, target: I32, begin: I64, answer: I32) -> None:
    """For each event the latest of its sources that began before it."""
    for k in range(len(source)):
        s, t = source[k], target[k]
        if begin[s] <= begin[t] and s != t and (answer[t] < 0 or begin[s] > begin[answer[t]]):
            answer[t] = s


@jit
def _sweep(starts: I64, rows: I64, begin: I64, end: I64, classes: I8) -> tuple[I64, I64, I64, I8, I32]:
    """The strongest class at every moment, thread by thread; see `Activity`. Runs twice: to count, and to write."""
    first = np.zeros(len(starts), np.int64)
    out_begin = np.empty(0, np.int64)
    out_end = np.empty(0, np.int64)
    out_state = np.empty(0, np.int8)
    out_event = np.empty(0, np.int32)
    stack = np.empty(64, np.int64)
    state = np.empty(64, np.int64)
    teller = np.empty(64, np.int64)
    for writing in (False, True):
        if writing:
            out_begin = np.empty(first[len(first) - 1], np.int64)
            out_end = np.empty(first[len(first) - 1], np.int64)
            out_state = np.empty(first[len(first) - 1], np.int8)
            out_event = np.empty(first[len(first) - 1], np.int32)
        count = np.int64(0)
        for line in range(len(starts) - 1):
            depth, at = 0, np.int64(-(1 << 62))
            last_state, last_end, longest = np.int64(-1), np.int64(-(1 << 62)), np.int64(0)
            for i in range(starts[line], starts[line + 1] + 1):
                closing = i == starts[line + 1]
                now = np.int64(0) if closing else begin[rows[i]]
                while depth > 0:
                    top = stack[depth - 1]
                    until = end[top] if closing else min(end[top], now)
                    if until > at:
                        if last_state == state[depth - 1] and last_end == at:
                            if writing:
                                out_end[count - 1] = until
                                if until - at > longest:
                                    out_event[count - 1] = teller[depth - 1]
                        else:
                            if writing:
                                out_begin[count], out_end[count] = at, until
                                out_state[count], out_event[count] = state[depth - 1], teller[depth - 1]
                            count += 1
                            longest = np.int64(0)
                        longest = max(longest, until - at)
                        last_state, last_end = state[depth - 1], until
                        at = until
                    if not closing and end[top] > now:
                        break
                    depth -= 1
                if closing:
                    break
                if depth == len(stack):
                    stack, state, teller = _twice(stack), _twice(state), _twice(teller)
                own = np.int64(classes[rows[i]])
                stack[depth], state[depth], teller[depth] = rows[i], own, rows[i]
                if depth > 0 and state[depth - 1] < own:
                    state[depth], teller[depth] = state[depth - 1], teller[depth - 1]
                depth += 1
                at = max(at, now)
            first[line + 1] = count
    return first, out_begin, out_end, out_state, out_event


@jit
def _twice(values: I64) -> I64:
    answer = np.empty(2 * len(values), np.int64)
    for i in range(len(values)):
        answer[i] = values[i]
    return answer
