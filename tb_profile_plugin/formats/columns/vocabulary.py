"""Names that profilers give to planes, lines and stats, each once.

From TensorFlow's and XLA's profiler (``xplane_schema``), JAX, the tracers of CUPTI and ROCm, and PyTorch's (Kineto).
"""

from __future__ import annotations

# Planes.
HOST_CPU = "/host:CPU"
METADATA = "/host:metadata"
"""Holds XLA programs as stats of event metadata."""
TASK_ENVIRONMENT = "Task Environment"
DEVICE = "/device:"
GPU = "/device:GPU:"
TPU = "/device:TPU:"
CUSTOM = "/device:CUSTOM:"
"""Begins of devices' names."""

PROFILER_OVERHEAD = "Profiler overhead"
"""Plane of the time that the profiler took for itself, as PyTorch's states it."""

# Lines of devices.
STEPS = "Steps"
COUNTERS = "_counters_"
FIRST_DERIVED_LINE = -559038737
"""The first id of lines that a profiler derived from other lines: 0xDEADBEEF as int32."""
XLA_MODULES = "XLA Modules"
XLA_OPS = "XLA Ops"
ASYNC_XLA_OPS = "Async XLA Ops"
FRAMEWORK_OPS = "Framework Ops"
TENSORFLOW_OPS = "TensorFlow Ops"

# Begins of names of events.
PYTHON_FRAME = "$"
"""Of the names that Python's tracer gives to calls, ``$file.py:12 function``."""
TORCH_OP = "aten::"
"""Of PyTorch's ops, but for its backends' collectives."""
AUTOGRAD_NODE = "autograd::engine::evaluate_function"
"""Of PyTorch's ranges in which gradients are computed."""
INPUT_SHAPES = "Input Dims"
"""Stat of PyTorch's ops, with ``record_shapes``."""
TORCH_MODULE = "nn.Module: "
"""Of PyTorch's Python frames which are calls of modules."""
COMPILED_GRAPH = "## Call CompiledFxGraph"
"""Of PyTorch's ops that run compiled code."""
EAGER_OP_CALL = "EagerLocalExecute: "
"""Of TensorFlow's calls of single ops and functions, before the name of what is called."""

# Names of events.
EAGER_EXECUTE, EAGER_KERNEL_EXECUTE = "EagerExecute", "EagerKernelExecute"
"""TensorFlow's call of a single op or a function, and of the kernel that does it."""
EXECUTOR_RUN = "ExecutorState::Process"
"""Where a thread of TensorFlow's executor runs ops of a function."""

# Stats: links between events.
PRODUCER_TYPE, PRODUCER_ID = "_pt", "_p"
CONSUMER_TYPE, CONSUMER_ID = "_ct", "_c"
ROOT = "_r"
"""Marks the root of a group: a step."""
ASYNC = "_a"
CORRELATION_ID = "correlation_id"
CORRELATION = "correlation"
"""Stat that links launch and kernel in PyTorch's traces, where also what only waits for work has one."""
STREAM, WAIT_ON_STREAM = "stream", "wait_on_stream"
"""Stats of PyTorch's events of synchronisation: the stream that waits, and the one that it waits for."""
COLLECTIVE_NAME = "Collective name"
PROCESS_GROUP = "Process Group Name"
PROCESS_GROUP_RANKS = "Process Group Ranks"
SEQUENCE_NUMBER, FORWARD_THREAD = "Sequence number", "Fwd thread id"
"""Stats of PyTorch's ops: which node of autograd they made or run; which thread made it, of those that run it."""
EXTERNAL_ID = "External id"
"""PyTorch's number of an op, which counts up by one."""
RUN_ID = "run_id"
GROUP_ID = "group_id"
ID, PARENT_ID, ELEMENT_ID = "id", "parent_id", "element_id"

# Stats: steps.
STEP_NUM, STEP_NAME, ITER_NUM, GRAPH_TYPE = "step_num", "step_name", "iter_num", "graph_type"

# Stats of the `METADATA` plane, which are facts of the host.
FRAMEWORK = "framework"
"""Which framework ran the program, as formats other than XSpace state it."""
RANK, WORLD_SIZE = "rank", "world_size"
"""Which of how many workers of a job the host was."""

# Stats: ops, functions and programs.
TF_OP, HLO_OP, HLO_MODULE, HLO_CATEGORY, PROGRAM_ID = "tf_op", "hlo_op", "hlo_module", "hlo_category", "program_id"
LEVEL_0, ANNOTATION, NAME = "level 0", "annotation", "name"
"""Stats by which TensorFlow 2.3 to 2.10 name the op of a kernel, not `TF_OP`; behind ``#`` the second goes on, and the
third is a path of scopes."""
TF_FUNCTION_CALL = "tf_function_call"
EAGER_OP, IS_EAGER, IS_FUNC = "eager_op", "is_eager", "is_func"
EQUATION, SHAPE, DATA_TYPE = "equation", "shape", "data_type"

CATEGORY = "category"
"""Stat of event metadata: what PyTorch's profiler says that the events are."""

# Categories of PyTorch's events.
TORCH_OPS = ("cpu_op", "Operator")
"""Ops; the second until torch 1.11."""
TORCH_RANGE = "user_annotation"
"""Ranges that a program names."""
TORCH_INSTANT = "cpu_instant_event"
"""Moments, such as those of allocations."""
TORCH_COUNTER_RANGE = "cuda_profiler_range"
"""Kernels in which CUPTI counted, whose times are not theirs."""

# Stats: devices and allocations.
ALLOCATOR_NAME = "allocator_name"
KERNEL_DETAILS, MEMCPY_DETAILS = "kernel_details", "memcpy_details"

# Stats: input pipelines.
STAGE_ID, STAGE_NAME, STAGE_CATEGORY = "_ipl_stage_id", "_ipl_stage_name", "_ipl_stage_cat"
