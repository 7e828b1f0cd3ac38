"""What a thread does during an event, by the event's name: names of frameworks, runtimes and drivers, and of Python.

Of ops of PyTorch what runs within them tells, too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...formats.columns import vocabulary
from ...formats.columns.gather import gather
from ...model.host import Host
from ...model.names import collectives, host_events, op_names
from ...model.per_host import per_host
from ...runtime.arrays import I32, I64, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.regex import regex
from .states import State

NOTHING = 127
"""Class of events that only enclose, and of moments without an event."""
UNKNOWN = 126
"""Class of any other name: one of the program's own on a thread of Python, work of the framework on others."""
GRAPH_BUILDING = regex(r"tf\.function-graph_building$")
"""TensorFlow traces a function of Python, for a ``tf.function`` or for tf.data."""
_CALLED = regex(r"(?:EagerLocalExecute|EagerExecute): |(?<!\w)(?<!\w/)(?:\w+/)*\w+:(?!:)")
"""What stands before an op's type: ``EagerLocalExecute: SaveV2``, ``save/SaveV2:SaveV2``."""

DRIVER_CALL = regex(r"(?:cu|cuda|hip)[A-Z]\w*$")
"""A call of CUDA's or HIP's runtime or driver, by its own name."""

_RULES = (
    (
        State.COMPILE,
        r"tf\.function-graph_building|.*_traced_|TorchDynamo(?! Cache Lookup)|compile_fx|Lazy Function Loading"
        r"|LoadProgram"
        r"|\$\S+ (?:func_graph_from_py_func|trace_to_jaxpr\w*|lower_sharding_computation|compile_or_get_cached)$",
    ),
    (
        State.INPUT,
        r"Iterator(?:GetNext|::)|MultiDeviceIterator|\w+(?:Produce|Consume)$|InstantiatedCapturedFunction"
        r"|InfeedEnqueue|infeed|enumerate\(Data(?:Loader|Pipe)\)"
        r"|\$(?:dataloader|data_loader|dataset|iterator_ops)\.py:|\$builtins next$"
        r"|\$\S+ (?:__next__|next|get_next|(?:\w+_)?(?:generator|gen|loader|batches))$"
        r"|\$\S+ (?:next|get|load|read|make|fetch)_batch$|\$torch/utils/data/dataloader\.py:\d+ (?:__iter__|__del__)$",
    ),
    (
        State.CALLBACK,
        r"(?:Eager)?PyFunc|\w*(?:pure|io|debug)_callback|py_xla_callback|outfeed|Outfeed|xla_\w*?python(?:(?!python)\w)*?_callback"
        r"|numpy_function|\$\S+ (?:pure_callback\w*|io_callback\w*|_flat_callback|_callback)$",
    ),
    (
        State.PAUSE,
        r"(?:Save|Restore|MergeCheckpoints|MergeV2Checkpoints)(?:V2|Slices)?$|ShardedFilename|(?:Write|Flush)\w*Summary"
        r"|(?:Merge|Scalar|Histogram|Image|Audio|Tensor)\w*Summary|Encode(?:Png|Jpeg\w*|Wav)$|StringFormat$|Print(?:V2)?$"
        r"|(?:evaluate|evaluation|validation|checkpoint|save_checkpoint)\b"
        r"|\$(?=\S*(?:checkpoint|saving|saver|serialization|npyio|orbax))\S* (?:(?:save|write)\w*|wait_until_finished)$"
        r"|\$\S+ save_(?:checkpoint|model|weights)$"
        r"|\$\S+ on_(?:train_batch|epoch|test|train|predict)\w*_(?:begin|end)$|\$\S+ evaluate$|\$pickle dumps?$",
    ),
    (
        State.SYNC,
        r".*(?:BlockHostUntilReady|WaitReady|ReadSyncFlag|CompleteCallbacks|\bWait for |Acquire semaphore"
        r"|np\.asarray\(jax\.Array\))|TFE_TensorHandleResolve|\$<unknown> acquire$|\$?<built-in method acquire\b",
    ),
    (
        State.TRANSFER,
        r"tpu::System::Transfer|\w*(?:TransferTo|TransferFrom|CopyTo|CopyFrom|BufferFromHost)\w*|TransposePlan"
        r"|Transpose::|(?:Xla)?(?:De)?[Ll]ineariz|[HD]2[HD] Dispatch|PCIe|cudaMemcpy$|hipMemcpy$"
        r"|ArrayImpl\.copy_to_host|TfrtTpuClient::\w*Buffer",
    ),
    (State.COLLECTIVE_HOST, r"Coordination|RecvTensor|GrpcWorker|\w*ParameterServer"),
    (
        State.ALLOCATOR,
        r"(?:cu|cuda|hip)(?:Mem)?(?:Alloc|Malloc|Free)\w*$|\w*Allocator::|\w*::Defragment|Build buffer allocations"
        r"|Allocate\w*Buffers|PythonRefManager::CollectGarbage|\[memory\]",
    ),
    (State.LAUNCH, r"(?:cu|cuda|hip)\w*(?:Launch|Memcpy|Memset)\w*|DoEnqueueProgram|tpu::System::Execute$"),
    (
        State.DISPATCH,
        rf"{DRIVER_CALL.pattern}|Pj(?:it|map)Function|\w+(?:::\w+)+|TFE_|Eager|Execut|FunctionRun|ParseArguments"
        r"|DevicePut|Handle in"
        r"|shard_args|cpp_pjit|convert_to_tensor|tf\.constant|ValidateInput|Thunks|PJRT_|ScheduleWork|Record|KernelAndDevice|Remote"
        # Between gradients autograd's own code runs, not Python.
        r"|\$<built-in method run_backward of torch\._C",
    ),
)
_OF_POOL = "ThreadpoolListener::"
"""Begin of the names of what threads of a pool are given: a task may stay open long after its work is done."""
_RULE_PATTERNS = [(state, regex(pattern)) for state, pattern in _RULES]


@lru_cache(maxsize=65536)
def class_of(name: str) -> int:
    """The `State` that an event of that name stands for; `NOTHING` for marks; `UNKNOWN` where the name says nothing."""
    # Each check comes before those whose patterns its names would match, too. Marks only enclose.
    if host_events.is_marker(name) or not name or name.startswith(_OF_POOL):
        return NOTHING
    # Before the rules: compilers are called through clients and executables, which dispatch by their names.
    if host_events.is_compiling(name):
        return State.COMPILE
    # The program's own pauses, not those of `State.PAUSE`, which frameworks make.
    if host_events.is_sleeping(name):
        return State.PYTHON
    # From here on the op's type tells, whoever executes it; a frame's file tells, too.
    bare = name if host_events.is_frame(name) else _CALLED.sub("", name, count=1)
    if host_events.asks_for_input(bare) or host_events.MAKES_INPUT.match(bare):
        return State.INPUT
    # Before the rules, too: ``c10d::allreduce_`` would be a call, and waiting for others only a wait.
    if collectives.is_part_on_host(name):
        return State.COLLECTIVE_HOST
    for state, pattern in _RULE_PATTERNS:
        # At the place of SYNC's own rule: what the rules before it know is no wait.
        if state == State.SYNC and host_events.is_waiting(name):
            return State.SYNC
        if pattern.match(bare):
            return state
    # Frames that no rule knows are the program's own work in Python.
    if host_events.is_frame(name):
        return State.PYTHON
    # An op that a framework names is dispatched; of other names nothing is known.
    return State.DISPATCH if op_names.parse(name).is_known else UNKNOWN


@per_host
def dataset_graphs(host: Host) -> tuple[Array, Array]:
    """(graphs, ops), int64[k] each: graphs that TensorFlow builds of functions of tf.data, as those of ``map()``, and
    the single op that takes each: the next one on its thread.
    """
    trace = host.trace
    graphs = trace.events_named(GRAPH_BUILDING.match)
    if not len(graphs):
        return graphs, graphs
    ops = trace.events_named(lambda name: name.startswith(vocabulary.EAGER_OP_CALL))
    next_op = np.searchsorted(ops, trace.nesting.stop[graphs])
    graphs, ops = graphs[next_op < len(ops)], ops[next_op[next_op < len(ops)]]
    is_dataset = trace.line_of[graphs] == trace.line_of[ops]
    is_dataset &= trace.are_named(ops, host_events.MAKES_INPUT.match)
    return graphs[is_dataset], ops[is_dataset]


@per_host
def python_ops(host: Host) -> Array:
    """int64[k]: ops of PyTorch of which more than half is Python that runs within them, as custom ops and hooks do.

    Compiled graphs are not among them: the Python within is what was generated to call their kernels.
    """
    plane, none = host.cpu, np.empty(0, np.int64)
    if plane is None:
        return none
    start = host.trace.slice_of(plane).start
    of_name = np.array(
        [
            category in vocabulary.TORCH_OPS and not name.startswith(vocabulary.COMPILED_GRAPH)
            for name, category in zip(plane.names, plane.categories, strict=True)
        ],
        bool,
    )
    frames = host_events.are_frames(plane.names)
    if not of_name.any() or not frames.any():
        return none
    is_frame = gather(frames, plane.events.name)
    inside_ps = _ps_of_frames_inside(is_frame, plane.events.duration, host.trace.nesting.parent, start)
    return np.flatnonzero(gather(of_name, plane.events.name) & (2 * inside_ps > plane.events.duration)) + start


@jit
def _ps_of_frames_inside(is_frame: Bool, duration: I64, parent: I32, start: Int) -> I64:
    """int64[k] ps: of events from ``start`` on how long the outermost frames within each last."""
    inside_ps = np.zeros(len(is_frame), np.int64)
    for i in range(len(is_frame)):
        if is_frame[i]:
            above = np.int64(parent[i + start]) - start
            # The frame around an op counts for what is around that.
            while above >= 0 and not is_frame[above]:
                inside_ps[above] += duration[i]
                above = np.int64(parent[above + start]) - start
    return inside_ps
