"""What would help against each cause, by framework and by what a capture shows."""

from __future__ import annotations

from ....model.framework import JAX, PYTORCH, TENSORFLOW
from ..program import facts
from .work_texts import (
    FUSE_UPDATES_TORCH,
    NO_PYTHON_TENSORFLOW,
    OTHER_AXIS_JAX,
    UNRECORDED_AMD_REMEDY,
    UNRECORDED_NVIDIA_REMEDY,
    UNRECORDED_REMEDY,
    WORK_REMEDIES,
)

LOOK_AT_STEPS, SPREAD = "unusual_steps", "recurring_work"
"""Causes that are known by their remedies, too."""
_OF_TORCH = ("eager", "dispatch", "python", "compute", "optimizer", "other_optimizer")
"""Causes, and kinds of them, that checks of each result make longer."""
NO_CHECKS_TORCH = "Check for NaN only while debugging: drop set_detect_anomaly, and isnan() in each step."
NO_CHECKS_TENSORFLOW = "Check for NaN only while debugging: drop tf.debugging.enable_check_numerics."
NO_CHECKS_JAX = "Check for NaN only while debugging: leave jax_debug_nans off."
DETACH_TORCH = "Keep no graph from step to step (detach(), item()): each step runs more ops than the one before."
LATER_STEPS = "Start the capture after the first steps; first calls matter only in short runs."
FEWER_TURNS_JAX = "Let loops that run until a condition holds end earlier: looser tolerances, fewer iterations."
LARGER_TURNS_JAX = "Give each turn of the program's loop more work: jax.vmap, lax.map's batch_size, or scan's unroll."
MORE_WORKERS_TORCH = "Start more DataLoader workers (num_workers), or give each less to do."
LOAD_BATCHES = (
    "Load batches in worker processes (the DataLoader's num_workers), or take whole batches at once (array[indices])."
)
ONE_BATCH_TORCH = "Run several requests in one batch: each step calls the model many times, one after the other."
READ_AT_ONCE_TORCH = "Read values at once (tolist(), or NumPy), instead of item() one by one."
COMPILE_TORCH = "Compile the step (torch.compile), so that few calls are left."
FEWER_TORCH = "Start fewer, larger collectives ahead of their use (async_op=True)."
STEPS_PER_CALL_JAX = "Run several steps per call (lax.scan), so that the host does less for each."
REQUESTS_PER_CALL_JAX = "Take more items, or several steps (lax.scan), per call, so that the host does less for each."
STEPS_PER_CALL_TENSORFLOW = "Run several steps per call: a loop in one tf.function, or Keras' steps_per_execution."
BATCH_REQUESTS = "Answer several requests in one call: one batch for one tf.function."
OVERLAP = "Overlap communication with compute, send less, or use larger batches."
ONE_GRAPH_TENSORFLOW = "Wrap the step in tf.function, so that it runs as one graph; in Keras, remove run_eagerly=True."
INTO_FUNCTION_TENSORFLOW = "Put the ops outside the tf.function into it, or run them every N steps."
ARGUMENTS_ONCE_JAX = (
    "Put arrays on the mesh (jax.device_put with a NamedSharding), once if they stay the same. "
    "Now each call copies them from one device."
)
REDUCE_ONCE_JAX = "Sum gradients on each device over the loop, and reduce them once after it (jax.shard_map, psum)."
NO_SYNC_TORCH = "Reduce gradients once a step: run all but the last micro-batch under no_sync()."
GRAPH_BREAKS_TORCH = "Make the step one compiled region: TORCH_LOGS=graph_breaks lists what splits it."
REDUCE_ONCE_TORCH = (
    "Reduce gradients once per optimizer step, joined into one tensor, instead of after each backward pass."
)
OWN_REDUCTIONS_TORCH = (
    "Reduce less in calls of your own (dist.all_reduce): stack values into one tensor, or reduce every N steps; DDP "
    "reduces gradients itself."
)
OWN_BATCHES_TORCH = (
    "Let each worker load its own part of the data (DistributedSampler, or dispatch_batches=False in Accelerate): one "
    "loads for all, and sends batches."
)
MICRO_BATCHES_TORCH = (
    "Split batches into micro-batches (torch.distributed.pipelining), so that all devices compute at once."
)
TABLES_ONCE = "Make lookup tables once, outside of the loop: each step fills one anew."
SUMMARIES = "Write summaries less often."
WEIGHTS_IN_GRAPH = (
    "Copy weights by assign() within a tf.function: get_weights() and set_weights() take them through NumPy."
)
ATTENTION_AT_ONCE_TORCH = (
    "Use F.scaled_dot_product_attention, and one layer, for all rows and heads at once, instead of slice by slice."
)
EXPERTS_AT_ONCE_TORCH = (
    "Compute all groups (such as experts) at once: sort rows by group, pad, and multiply by stacked weights "
    "(torch.bmm)."
)
MERGE_TORCH = (
    "Add LoRA adapters that all requests share to the weights, once before serving (PEFT's merge_and_unload())."
)
SHARD_BLOCKS_TORCH = (
    "Shard whole blocks (fully_shard on each block, not on each of its layers), so that gathers are few and large."
)
KEEP_WEIGHTS_TORCH = (
    "Keep weights gathered, and gradients unreduced, until the last micro-batch if memory allows "
    "(reshard_after_forward=False, set_requires_gradient_sync(False))."
)
VIEW_BUCKETS_TORCH = (
    "Let DDP copy less: gradient_as_bucket_view=True, and broadcast_buffers=False if workers need not have the same "
    "buffers."
)
PROCESS_PER_GPU_TORCH = (
    "Use DistributedDataParallel, with one process per GPU: DataParallel runs all GPUs from one, and copies the model "
    "in each step."
)
_OF_ONE_PROCESS = ("eager", "launch", "dispatch", "python", "exposed_copy", "exposed_collective", "broadcast")
"""Causes that grow where one process runs several GPUs."""
FEWER_MESSAGES = "Run small work in this process, and send other processes fewer, larger messages."
REMEDIES: dict[tuple[str, str, str], str] = {
    # What the loop waits for.
    ("input", TENSORFLOW, ""): "Prefetch and parallelize the input pipeline; the tf.data page shows its slowest stage.",
    ("input", JAX, ""): "Prepare the next batches in a background thread while the device computes.",
    ("input", PYTORCH, ""): "Load batches in worker processes (num_workers), into pinned memory.",
    ("input", PYTORCH, facts.LOADS_ROWS): (
        "Load whole batches at once (tensor[indices], or __getitems__): rows are taken one by one."
    ),
    ("input", PYTORCH, facts.STARTS_WORKERS): (
        "Loop over the DataLoader, or keep iter(loader): each step starts its worker processes anew."
    ),
    ("input", "", facts.WORKER_PROCESSES): MORE_WORKERS_TORCH,
    **{("input", framework, facts.USES_DATALOADER): LOAD_BATCHES for framework in (JAX, TENSORFLOW)},
    ("input", PYTORCH, facts.ON_CPU): "Load batches in worker processes (num_workers).",
    ("python_input", TENSORFLOW, ""): (
        "Replace the Python generator or py_function in tf.data by TensorFlow ops or files."
    ),
    ("new_input", "", ""): (
        "Make the input once: each predict(), evaluate(), fit() or iter() builds it anew; or call the model itself."
    ),
    ("input_workers", PYTORCH, ""): MORE_WORKERS_TORCH,
    ("workers_again", PYTORCH, ""): "Keep DataLoader workers from epoch to epoch (persistent_workers=True).",
    ("cpu_ops", PYTORCH, ""): "Move these ops to the GPU, or into the workers of a DataLoader.",
    ("cpu_ops", "", ""): "Move these ops to the device, or prepare their results ahead of time.",
    ("thread_wait", "", ""): "Let the other thread or process work further ahead; the Timeline shows what it does.",
    ("timeout", "", ""): "Use a shorter timeout for this wait: nothing arrived before it ended.",
    ("event_wait", "", ""): "Overlap this wait with computation, or give the program more work at a time.",
    ("network", "", ""): "Request the next data in a background thread while the step runs.",
    ("sync", JAX, ""): (
        "Read results (float(), print, block_until_ready) once the next step is dispatched, or every N steps."
    ),
    ("sync", TENSORFLOW, ""): "Read results (.numpy(), print) every N steps, and keep metrics as tensors.",
    ("sync", TENSORFLOW, facts.OWN_OPS): STEPS_PER_CALL_TENSORFLOW,
    ("sync", PYTORCH, ""): "Read results (.item(), .cpu(), print) every N steps.",
    # Compiling.
    ("compile", TENSORFLOW, ""): "Compile once: pad batches to one shape, or leave the size open in the signature.",
    ("compile", JAX, ""): "Compile once: pad arrays to few sizes, and pass values that change as arrays.",
    ("compile", JAX, facts.COMPILES_AGAIN): (
        "Call jax.jit once, and keep what it returns: the same program is compiled again and again."
    ),
    ("compile", JAX, facts.COMPILES_VALUES): (
        "Pass values that change as arrays, not as static arguments or in closures: each value is compiled anew."
    ),
    ("compile", JAX, facts.GROWING_ARGUMENTS): (
        "Keep what grows out of the arguments of jax.jit: for each length of a list it compiles anew."
    ),
    ("compile", PYTORCH, ""): "Compile once: mark sizes that change as dynamic, or pad to few sizes.",
    ("retrace", "", ""): "Trace once: keep shapes and Python values the same from call to call.",
    ("retrace", TENSORFLOW, ""): "Trace once: pass tensors instead of Python numbers, and create functions outside the "
    "loop.",
    # What the host does too slowly.
    **{(cause, PYTORCH, facts.CHECKS_NUMERICS): NO_CHECKS_TORCH for cause in _OF_TORCH},
    **{
        (cause, TENSORFLOW, facts.CHECKS_NUMERICS): NO_CHECKS_TENSORFLOW
        for cause in ("executor", "dispatch", "between_steps", "compute")
    },
    **{(cause, JAX, facts.CHECKS_NUMERICS): NO_CHECKS_JAX for cause in ("sync", "dispatch", "python")},
    **{(cause, PYTORCH, facts.GROWS): DETACH_TORCH for cause in ("eager", "compute")},
    **{(cause, PYTORCH, facts.APPLIES_ADAPTERS): MERGE_TORCH for cause in ("compute", "dispatch", "eager", "launch")},
    **{
        (cause, PYTORCH, facts.SLICES_ATTENTION): ATTENTION_AT_ONCE_TORCH
        for cause in ("compute", "dispatch", "eager", "launch")
    },
    **{
        (cause, PYTORCH, facts.LOOPS_OVER_EXPERTS): EXPERTS_AT_ONCE_TORCH
        for cause in ("compute", "dispatch", "eager", "launch", "sync")
    },
    ("eager", TENSORFLOW, facts.WRITES_SUMMARIES): SUMMARIES,
    **{(cause, TENSORFLOW, facts.COPIES_WEIGHTS): WEIGHTS_IN_GRAPH for cause in ("eager", "copied_weights")},
    **{
        (cause, TENSORFLOW, facts.MAKES_TABLES): TABLES_ONCE
        for cause in ("between_steps", "compute", "dispatch", "eager", "executor")
    },
    ("executor", TENSORFLOW, facts.MAPS_IN_LOOP): (
        "Call the function of tf.map_fn once for the whole batch, or use tf.vectorized_map (or jit_compile=True)."
    ),
    ("eager", TENSORFLOW, ""): ONE_GRAPH_TENSORFLOW,
    **{(cause, TENSORFLOW, facts.CALLS_FUNCTIONS): INTO_FUNCTION_TENSORFLOW for cause in ("eager", "dispatch")},
    ("dispatch", TENSORFLOW, facts.SINGLE_OPS): ONE_GRAPH_TENSORFLOW,
    ("eager", JAX, ""): "Put the step under one jax.jit, so that its ops are fused into few programs.",
    ("eager", PYTORCH, ""): "Compile the step as a CUDA graph: torch.compile(mode='reduce-overhead').",
    ("eager", PYTORCH, facts.INFERS_ON_CPU): (
        "Compile the step (torch.compile), or run several requests in one batch, so that fewer calls are left."
    ),
    ("eager", PYTORCH, facts.TAKES_SINGLE_REQUESTS): ONE_BATCH_TORCH,
    ("eager", PYTORCH, facts.READS_ONE_BY_ONE): READ_AT_ONCE_TORCH,
    ("eager", PYTORCH, facts.ON_CPU): COMPILE_TORCH,
    ("optimizer", PYTORCH, ""): FUSE_UPDATES_TORCH,
    ("other_optimizer", PYTORCH, ""): "Compile the optimizer's step (torch.compile), or use one that PyTorch fuses "
    "(AdamW, SGD).",
    **{(cause, PYTORCH, facts.GRAPH_BREAKS): GRAPH_BREAKS_TORCH for cause in ("compiled", "dispatch", "elementwise")},
    ("optimizer", PYTORCH, facts.GRAPH_BREAKS): (
        "Use a fused optimizer (fused=True), then make the rest of the step one compiled region."
    ),
    ("compiled", PYTORCH, facts.ON_CPU): "Use larger batches: a call of compiled code costs the same for any size.",
    ("compiled", PYTORCH, ""): "Replay the compiled step as a CUDA graph: torch.compile(mode='reduce-overhead').",
    ("dispatch", TENSORFLOW, ""): STEPS_PER_CALL_TENSORFLOW,
    ("dispatch", TENSORFLOW, facts.INFERS): BATCH_REQUESTS,
    ("executor", TENSORFLOW, facts.CALLS_PYTHON): NO_PYTHON_TENSORFLOW,
    ("executor", "", ""): "Let XLA fuse small ops (jit_compile=True), or do the same in fewer, larger ops.",
    ("dispatch", JAX, ""): STEPS_PER_CALL_JAX,
    ("dispatch", JAX, facts.INFERS): REQUESTS_PER_CALL_JAX,
    ("dispatch", PYTORCH, ""): "Compile the model (torch.compile), and use a fused optimizer.",
    **{("dispatch", PYTORCH, fact): COMPILE_TORCH for fact in (facts.INFERS, facts.SPARSE_GRADIENTS)},
    ("launch", TENSORFLOW, ""): "Launch fewer, larger kernels: let XLA fuse them, and use larger batches.",
    ("launch", TENSORFLOW, facts.ON_CPU): "Run fewer, larger ops: let XLA fuse them (jit_compile=True).",
    ("launch", JAX, ""): (
        "Launch fewer, larger kernels: put the whole step under one jax.jit, or scan over several steps."
    ),
    ("launch", JAX, facts.ON_CPU): "Call fewer, larger programs: put the whole step under one jax.jit.",
    ("launch", JAX, facts.ONE_PROGRAM): STEPS_PER_CALL_JAX,
    **{(cause, PYTORCH, facts.DATA_PARALLEL): PROCESS_PER_GPU_TORCH for cause in _OF_ONE_PROCESS},
    ("launch", PYTORCH, ""): "Replay the step as a CUDA graph, which takes one launch.",
    ("launch", PYTORCH, facts.ON_CPU): "Compile the step (torch.compile), so that fewer ops are left.",
    ("between", "", ""): "Fuse short kernels into longer ones, by the compiler or by larger batches.",
    ("between", "", facts.ON_CPU): "Run fewer, larger ops: compile the step, or use larger batches.",
    ("between", JAX, facts.ON_CPU): (
        "Run fewer, larger ops: larger batches, or several steps in one jitted call (lax.scan)."
    ),
    **{(cause, JAX, facts.SMALL_TURNS): LARGER_TURNS_JAX for cause in ("between", "compute", "dispatch")},
    **{(cause, JAX, facts.UNTIL_CONDITION): FEWER_TURNS_JAX for cause in ("between", "compute", "dispatch")},
    ("pauses", "", ""): "Check the load of the machine: threads that wait for a core leave such pauses.",
    ("latency", "", ""): "Let the host run ahead: read results every N steps instead of in every step.",
    ("python", TENSORFLOW, ""): "Move this Python code into tf.function or tf.data.",
    ("indexing", JAX, ""): (
        "Put the loop under jax.jit (lax.scan): each element that Python takes of an array is a program of its own."
    ),
    ("python", JAX, ""): "Move this Python code under jax.jit, or into a background thread.",
    ("python", PYTORCH, ""): "Write this code as tensor operations, or run it less often or in another process.",
    ("python", "", facts.QUERIES_ROWS): "Fetch all rows in one query, or keep them in memory: a query runs for each.",
    ("python", "", ""): "Move this Python code out of the loop, or into another thread or process.",
    **{(cause, "", facts.EXCHANGES_MESSAGES): FEWER_MESSAGES for cause in ("python", "thread_wait")},
    ("nested_lists", JAX, ""): "Make a NumPy array first (np.asarray): JAX looks at each element of nested lists.",
    ("loop", "", ""): (
        "Run this loop over Python values once if its result stays the same; else use array operations, or another "
        "process."
    ),
    ("between_steps", "", ""): (
        "Run what lies between steps less often or in a background thread; mark what belongs to the step."
    ),
    ("work_between_steps", "", ""): ("Run this work less often, or on fewer batches; mark what belongs to the step."),
    ("unexplained", JAX, ""): "Record Python: set python_tracer_level=1 in jax.profiler.ProfileOptions.",
    ("unexplained", TENSORFLOW, ""): (
        "Record Python: start the program's profiler server, then tb-profile capture ADDRESS LOGDIR "
        "--python-tracer-level 1, or the Capture button."
    ),
    ("unexplained", PYTORCH, ""): "Record Python: torch.profiler.profile(with_stack=True).",
    ("unexplained", "", ""): "Record calls or stacks, which name what runs.",
    ("unexplained", "", facts.SAMPLED): "Open the original trace of the profiler: this one lacks most of the ops.",
    ("unexplained", "", facts.TRACED): (
        "Look at these gaps in the Timeline: Python was recorded, so native code or a wait is left."
    ),
    ("warmup_compiled", "", ""): (
        "Compile ahead in short runs, and keep compiled programs; long runs hardly notice warm-up."
    ),
    ("warmup_same_work", "", ""): (
        "Capture later steps: the first ones take longer for the same work, as with cold caches or on a busy machine."
    ),
    **{(cause, "", ""): LATER_STEPS for cause in ("start_up", "warmup")},
    ("warmup", PYTORCH, ""): "Capture later steps: in the first ones caches, memory pools and workers are made.",
    **{
        (cause, "", fact): text
        for cause in ("dispatch", "executor")
        for fact, text in (
            (facts.UNRECORDED_DEVICE, UNRECORDED_REMEDY),
            (facts.UNRECORDED_NVIDIA, UNRECORDED_NVIDIA_REMEDY),
            (facts.UNRECORDED_AMD, UNRECORDED_AMD_REMEDY),
        )
    },
    # What single rules find.
    ("slower_steps", "", ""): (
        "Look for what grows from step to step, such as tensors, lists or caches; else check the device's clock."
    ),
    ("slower_steps", "", facts.ON_CPU): (
        "Look for what grows from step to step, such as tensors, lists or caches; else for other programs on the "
        "machine."
    ),
    ("channels_last", PYTORCH, ""): (
        "Use channels_last for the model and its input: convolutions convert arrays to it, and back."
    ),
    ("layout", "", ""): "Keep arrays in the layout that convolutions and matrix products use.",
    ("alignment", "", ""): (
        "Pad sizes of matrix products to multiples of 8, such as vocabularies, heads and sequences."
    ),
    ("algorithm", PYTORCH, ""): (
        "Set torch.backends.cudnn.benchmark = True, if inputs keep their sizes: cuDNN then measures which algorithm is "
        "fastest."
    ),
    ("outside_compilation", "", ""): "Move these ops into the compiled program.",
    ("zero_grad", PYTORCH, ""): (
        "Use zero_grad(set_to_none=True), which frees gradients instead of filling them with zeros."
    ),
    # Copies and memory.
    ("arguments", JAX, facts.COPIES_ARGUMENTS): ARGUMENTS_ONCE_JAX,
    **{(cause, JAX, facts.AWAITS_ARGUMENTS): ARGUMENTS_ONCE_JAX for cause in ("exposed_collective", "gradients")},
    **{
        (cause, JAX, ""): "Call jax.device_put ahead of time, in the dtype that the program uses."
        for cause in ("arguments", "transfer")
    },
    ("transfer", PYTORCH, ""): "Copy from pinned memory without blocking (non_blocking=True).",
    ("transfer", "", ""): "Copy less, ahead of time, and in the dtype that the program uses.",
    ("exposed_copy", "", ""): "Copy ahead of time while the device computes, and keep reused arrays on the device.",
    ("copy_back", "", ""): "Reduce on the device, and copy only the result to the host.",
    **{(cause, PYTORCH, facts.COPIES_BUCKETS): VIEW_BUCKETS_TORCH for cause in ("copy_within", "ddp_copies")},
    ("copy_within", JAX, ""): "Donate input buffers: jax.jit(step, donate_argnums=0).",
    ("copy_within", "", ""): "Change arrays in place instead of copying them.",
    ("copy_pageable", PYTORCH, ""): "Copy from pinned memory while the device computes (DataLoader: pin_memory=True).",
    ("host_offload", "", ""): "Keep what each step needs in device memory, or copy it ahead of time.",
    ("long_copies", "", ""): (
        "Keep what each step needs in device memory, or copy less. There is too little compute to hide copies behind."
    ),
    ("allocator", "", ""): "Keep arrays of one size, so that the framework reuses their memory.",
    ("freed", PYTORCH, ""): "Stop freeing memory: drop torch.cuda.empty_cache(), or set "
    "PYTORCH_ALLOC_CONF=expandable_segments:True.",
    # What interrupts the loop.
    ("callback", JAX, ""): "Write the callback in jax.numpy; if it only reports, call it every N steps.",
    ("callback", TENSORFLOW, ""): (
        "Write the work of tf.py_function in TensorFlow ops; if it only reports, call it every N steps."
    ),
    ("checkpoint", TENSORFLOW, ""): "Save less often, and only the weights (in Keras: save_freq, save_weights_only).",
    ("checkpoint", JAX, ""): "Save less often, or let orbax's AsyncCheckpointer write while steps go on.",
    ("checkpoint", JAX, facts.SAVES_ASYNCHRONOUSLY): (
        "Save less often, and wait for a save only before the next one begins."
    ),
    ("checkpoint", "", ""): "Save less often, or write a copy in a background thread.",
    ("evaluation", TENSORFLOW, ""): "Evaluate less often, or on fewer batches (in Keras: validation_freq, "
    "validation_steps).",
    ("evaluation", "", ""): "Evaluate less often, or on fewer batches.",
    ("summary", "", ""): SUMMARIES,
    ("printing", "", ""): "Print every N steps.",
    ("encoding", "", ""): "Send arrays as bytes (NumPy's tobytes), not as text, or encode them in another process.",
    ("reading", "", ""): (
        "Read files once and keep their content in memory, instead of in each step; read new ones ahead in a "
        "background thread."
    ),
    ("hook", "", ""): "Run the callback less often, or in a background thread.",
    ("pause", "", ""): "Run what steps pause for less often, or in a background thread on a copy.",
    (LOOK_AT_STEPS, "", ""): "Look at what these steps do that the others do not.",
    (SPREAD, "", ""): "Run this work less often, or in smaller parts over more steps.",
    # Several devices.
    ("peer", "", ""): "Split batches into smaller ones, so that all devices compute at the same time.",
    **{(cause, PYTORCH, ""): MICRO_BATCHES_TORCH for cause in ("peer", "point_to_point")},
    ("point_to_point", PYTORCH, facts.MICRO_BATCHES): (
        "Use more micro-batches, give all stages equal work, and alternate forward and backward passes (1F1B)."
    ),
    ("peer", JAX, ""): "Shard arrays over the devices (jax.sharding), so that all devices compute at once.",
    ("stream", "", ""): "Capture more steps, so that the work it waits for is recorded.",
    ("collective_host", "", ""): (
        "Find the worker that arrives last, and send less: larger batches, fewer or compressed gradients."
    ),
    ("collective_host", PYTORCH, facts.ON_CPU): FEWER_TORCH,
    ("barrier", "", ""): ("Remove barriers that results do not need: collectives wait for all workers by themselves."),
    ("broadcast", PYTORCH, facts.BROADCASTS_BUFFERS): (
        "Use DDP's broadcast_buffers=False, if workers need not have the same buffers in each forward pass."
    ),
    ("exposed_collective", JAX, facts.REDUCES_IN_LOOP): REDUCE_ONCE_JAX,
    ("gradients", JAX, facts.REDUCES_IN_LOOP): REDUCE_ONCE_JAX,
    ("gradients", "", ""): "Overlap communication with compute, use larger batches, or send bfloat16 gradients.",
    ("sharded_index", "", ""): (
        "Keep indices within each device's part (jax.shard_map, or reshape to (devices, rows)): across a split axis "
        "they gather all of it."
    ),
    ("sharded_turns", "", ""): OTHER_AXIS_JAX,
    ("exposed_collective", PYTORCH, ""): FEWER_TORCH,
    ("exposed_collective", PYTORCH, facts.DDP): "Send fewer, larger pieces (DDP's bucket_cap_mb) while others compute.",
    ("gather", PYTORCH, ""): (
        "Gather less: sums and counts instead of whole tensors, or every N steps; or start ahead (async_op=True)."
    ),
    ("gather", PYTORCH, facts.FSDP): (
        "Start gathers earlier, in few large pieces: each layer's while the one before it computes (async_op=True, or "
        "FSDP2's set_modules_to_forward_prefetch)."
    ),
    **{(cause, PYTORCH, facts.GATHERS_EACH_PASS): KEEP_WEIGHTS_TORCH for cause in ("exposed_collective", "gather")},
    **{(cause, PYTORCH, facts.SHARDS_LAYERS): SHARD_BLOCKS_TORCH for cause in ("exposed_collective", "gather")},
    ("few_collectives", PYTORCH, ""): "Start these collectives ahead of their use (async_op=True), or send less.",
    **{("few_collectives", PYTORCH, fact): OVERLAP for fact in (facts.DDP, facts.FSDP)},
    **{
        (cause, PYTORCH, facts.OWN_REDUCTIONS): OWN_REDUCTIONS_TORCH
        for cause in ("exposed_collective", "few_collectives")
    },
    **{
        (cause, PYTORCH, facts.REDUCES_EACH_PASS): REDUCE_ONCE_TORCH
        for cause in ("exposed_collective", "few_collectives", "collective_host")
    },
    **{(cause, PYTORCH, facts.ACCUMULATES): NO_SYNC_TORCH for cause in ("exposed_collective", "few_collectives")},
    ("resharding", "", ""): (
        "Make shardings match (in_shardings, with_sharding_constraint): each change of an array's sharding costs this "
        "exchange."
    ),
    ("exposed_collective", "", ""): OVERLAP,
    ("late_turns", "", ""): "Run this worker's extra work less often, or share it among the workers.",
    ("late_input", "", ""): "Prepare this worker's input as the others do theirs: it waits longer for its batches.",
    **{(cause, PYTORCH, facts.BROADCASTS_BATCHES): OWN_BATCHES_TORCH for cause in ("broadcast", "late_input")},
    ("late_compute", "", ""): "Give all workers equal work; where they have that, check this worker's device.",
    ("late_pause", "", ""): "Do this less often, or in a background thread: the other workers wait for it.",
    ("late_peer", "", ""): "Find what takes longer on the straggler; the Pod page compares it with the others.",
    **WORK_REMEDIES,
}
"""By cause or kind of it, framework, and what the capture shows; empty strings are any."""
