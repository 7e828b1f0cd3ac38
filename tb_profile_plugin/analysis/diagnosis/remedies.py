"""What would help, in the program's own framework: a sentence, and code that runs as it stands."""

from __future__ import annotations

from typing import NamedTuple

from ...model.framework import JAX, PYTORCH, TENSORFLOW
from .already_done import FUSED, TRACED


class Remedy(NamedTuple):
    """What to do about a cause."""

    text: str
    code: str = ""
    """An example that runs by itself; empty where none would be shorter than the sentence."""


def remedy(framework: str, *causes: str, done: frozenset[str] = frozenset()) -> Remedy:
    """Of the first of the causes that has one in a framework, else what holds in all.

    What is ``done`` already, as `already_done` names it, is not advised.
    """
    told = ("unexplained" if cause == "unrecorded" else cause for cause in causes)
    ids = [next((_INSTEAD[id, what] for what in done if (id, what) in _INSTEAD), id) for id in told]
    known = (_REMEDIES.get((id, framework)) or _REMEDIES.get((id, "")) for id in ids)
    return next(filter(None, known), Remedy(""))


_INSTEAD = {("unexplained", TRACED): "native", ("optimizer", FUSED): "fused_already"}
"""Under which id something else is advised where a capture shows that it was done; none if there is none."""


_PINNED = """\
import torch

batch = torch.zeros(8, 4)
if torch.cuda.is_available():
    batch = batch.pin_memory().to("cuda", non_blocking=True)
"""
_REMEDIES: dict[tuple[str, str], Remedy] = {
    ("input", TENSORFLOW): Remedy(
        "Prefetch, read and map in parallel, and cache; the page tf.data says what of it wins most here.",
        """\
import tensorflow as tf

dataset = tf.data.Dataset.range(1024)
dataset = dataset.map(lambda x: x * 2, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.cache().batch(32).prefetch(tf.data.AUTOTUNE)
""",
    ),
    ("input", JAX): Remedy(
        "Make the next batches in a thread of their own while the device works.",
        """\
import queue
import threading

import jax


def ahead(batches, size=2):
    ready, end = queue.Queue(size), object()

    def fill():
        for batch in batches:
            ready.put(jax.device_put(batch))
        ready.put(end)

    threading.Thread(target=fill, daemon=True).start()
    return iter(ready.get, end)


for batch in ahead(range(4)):
    pass
""",
    ),
    ("input", PYTORCH): Remedy(
        "Load batches in processes of their own, into pinned memory.",
        """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(
    TensorDataset(torch.zeros(64, 4)), batch_size=8, num_workers=2, pin_memory=torch.cuda.is_available(),
    persistent_workers=True, prefetch_factor=4,
)
""",
    ),
    ("input_workers", PYTORCH): Remedy("The workers are too slow: start more (num_workers), or let them do less."),
    ("cpu_ops", ""): Remedy("Do it on the device, or ahead of time in the workers of a DataLoader."),
    ("thread_wait", ""): Remedy("Let the other thread or process work further ahead: the Timeline shows what it does."),
    ("compile", TENSORFLOW): Remedy(
        "Compile once: give the function one shape, by padding batches or by a signature that leaves the size open.",
        """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32)])
def step(batch):
    return tf.reduce_sum(batch)


step(tf.zeros([4, 8]))
step(tf.zeros([5, 8]))
""",
    ),
    ("compile", JAX): Remedy(
        "Compile once: pad arrays to few sizes, and pass values that change as arrays, not as static arguments.",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(batch):
    return batch.sum()


def padded(batch, multiple=128):
    return jnp.pad(batch, (0, -len(batch) % multiple))


step(padded(jnp.ones(100)))
step(padded(jnp.ones(101)))
""",
    ),
    ("compile", PYTORCH): Remedy(
        "Compile once: mark the sizes that change, or pad to few sizes.",
        """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), dynamic=True)
""",
    ),
    ("retrace", ""): Remedy("Trace once: keep shapes and Python values the same from call to call."),
    ("retrace", TENSORFLOW): Remedy(
        "Trace once: pass tensors instead of Python numbers, make the function outside the loop, fix its signature.",
        """\
import tensorflow as tf


@tf.function(reduce_retracing=True)
def step(batch, rate):
    return tf.reduce_sum(batch) * rate


step(tf.zeros([4]), tf.constant(0.1))
step(tf.zeros([4]), tf.constant(0.2))
""",
    ),
    ("eager", TENSORFLOW): Remedy(
        "Wrap the step in tf.function, so that its ops run as one graph.",
        """\
import tensorflow as tf


@tf.function
def step(x):
    for _ in range(8):
        x = x * 2 + 1
    return x


step(tf.ones([4]))
""",
    ),
    ("eager", JAX): Remedy(
        "Put the step under one jax.jit, so that its ops are fused into few programs.",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for _ in range(8):
        x = x * 2 + 1
    return x


step(jnp.ones(4))
""",
    ),
    ("eager", PYTORCH): Remedy(
        "Compile the step (torch.compile), on a GPU as a CUDA graph, so that few launches are left.",
        """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), mode="reduce-overhead")
""",
    ),
    ("optimizer", PYTORCH): Remedy(
        "Let one kernel update all weights: fused=True; then compile the rest of the step.",
        """\
import torch

optimizer = torch.optim.AdamW(torch.nn.Linear(8, 8).parameters(), 1e-3, fused=True)
""",
    ),
    ("compiled", PYTORCH): Remedy(
        "What is compiled comes in many parts, or small ones: TORCH_LOGS=graph_breaks names the breaks, and CUDA "
        "graphs launch the parts at once.",
        """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), fullgraph=True, mode="reduce-overhead")
""",
    ),
    ("dispatch", TENSORFLOW): Remedy(
        "Run more in one call: several steps in one tf.function, or steps_per_execution in Keras.",
        """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", steps_per_execution=10)
""",
    ),
    ("executor", ""): Remedy(
        "Many small ops: let XLA make few kernels of them (jit_compile=True), or do the same in fewer, larger ops.",
        """\
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    for _ in tf.range(1000):
        x = tf.tanh(x * 0.9)
    return x
""",
    ),
    ("dispatch", JAX): Remedy(
        "Run more in one call: several steps in one program by lax.scan, and give buffers away by donate_argnums.",
        """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def steps(weights, batches):
    return jax.lax.scan(lambda w, batch: (w - 0.1 * batch.mean(), None), weights, batches)[0]


steps(jnp.zeros(()), jnp.ones((10, 8)))
""",
    ),
    ("dispatch", PYTORCH): Remedy(
        "Run more in one call: compile the model, and use fused optimizers.",
        """\
import torch

model = torch.compile(torch.nn.Linear(8, 8))
""",
    ),
    ("launch", TENSORFLOW): Remedy(
        "Launch fewer, larger kernels: let XLA fuse them, and use larger batches.",
        """\
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(tf.nn.relu(x) * 2 + 1)


step(tf.ones([4]))
""",
    ),
    ("launch", JAX): Remedy(
        "Launch fewer, larger kernels: one jax.jit over the whole step, larger batches, lax.scan over several steps.",
    ),
    ("launch", PYTORCH): Remedy(
        "Launch fewer kernels: CUDA graphs repeat a whole step by one launch.",
        """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), mode="reduce-overhead")
""",
    ),
    ("between", ""): Remedy("Fuse short kernels into longer ones, by the compiler or by larger batches."),
    ("peer", ""): Remedy("Give the devices equal work, or let each begin before the other has finished."),
    ("stream", ""): Remedy("Capture more steps: what the stream waits for was launched before the capture."),
    ("latency", ""): Remedy("Launch further ahead: let the host wait for results once in many steps, not in each one."),
    ("python", TENSORFLOW): Remedy("Take Python out of the loop: put what it computes into tf.function or tf.data."),
    ("python", JAX): Remedy(
        "Take Python out of the loop: compute with jax.numpy under jax.jit, and do what else is needed in a thread.",
    ),
    ("python", ""): Remedy("Take Python out of the loop, or do it in a thread or process of its own."),
    ("between_steps", ""): Remedy(
        "Do it less often, or in a thread of its own while steps run; what belongs to the step goes under its mark.",
    ),
    ("sync", JAX): Remedy(
        "Let steps run ahead: read results (float(), print, block_until_ready) only every so many steps.",
        """\
import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x * 0.5)
x = jnp.ones(4)
for number in range(100):
    x = step(x)
    if number % 50 == 0:
        print(number, float(x[0]))
""",
    ),
    ("sync", TENSORFLOW): Remedy("Read results (.numpy(), print) only every so many steps; metrics can stay tensors."),
    ("sync", PYTORCH): Remedy("Read results (.item(), .cpu(), print) only every so many steps."),
    ("transfer", JAX): Remedy("Hand arrays to jax.device_put ahead of time, in the dtype in which they are needed."),
    ("transfer", PYTORCH): Remedy("Copy from pinned memory without waiting.", _PINNED),
    ("transfer", ""): Remedy("Copy less, ahead of time, and in the dtype in which it is needed."),
    ("exposed_copy", ""): Remedy(
        "Copy ahead of time, while the device computes, and keep on the device what it needs again."
    ),
    ("copy_back", ""): Remedy("Work it out on the device and copy back only the result, or copy less often."),
    ("copy_within", JAX): Remedy("Let programs write into their inputs' memory: jax.jit(step, donate_argnums=0)."),
    ("copy_within", ""): Remedy("Change arrays in place instead of copying them."),
    ("copy_pageable", PYTORCH): Remedy(
        "Copy from pinned memory, while the device computes: pin_memory=True in the DataLoader, or as here.",
        _PINNED,
    ),
    ("host_offload", ""): Remedy(
        "Keep what each step needs in the device's own memory, or copy it ahead of time while the device computes.",
    ),
    ("callback", JAX): Remedy(
        "Write the callback's work in jax.numpy, take it out of the step, or call it only every so many steps.",
    ),
    ("callback", TENSORFLOW): Remedy(
        "Write tf.py_function's work in TensorFlow's ops, or call it only every so many steps.",
    ),
    ("checkpoint", TENSORFLOW): Remedy(
        "Save less often: Keras saves as often as save_freq says, and only weights if asked.",
        """\
import tensorflow as tf

saving = tf.keras.callbacks.ModelCheckpoint("model.weights.h5", save_weights_only=True, save_freq=1000)
""",
    ),
    ("checkpoint", JAX): Remedy("Save less often, or let orbax's AsyncCheckpointer write while steps go on."),
    ("checkpoint", ""): Remedy("Save less often, or write in a thread of its own from a copy."),
    ("evaluation", TENSORFLOW): Remedy("Evaluate less often (validation_freq), or fewer batches (validation_steps)."),
    ("evaluation", ""): Remedy("Evaluate less often, or on fewer batches."),
    ("summary", ""): Remedy("Write summaries only every so many steps."),
    ("printing", ""): Remedy("Print only every so many steps."),
    ("hook", ""): Remedy("Let the callback work less often, or in a thread of its own."),
    ("pause", ""): Remedy("Do it less often, or in a thread of its own from a copy."),
    ("allocator", PYTORCH): Remedy("Keep memory for reuse: batches of one size, and set_to_none in zero_grad."),
    ("freed", PYTORCH): Remedy(
        "Memory is given back to the driver and asked for again: leave torch.cuda.empty_cache() out of the loop, keep "
        "batches to few sizes, or set PYTORCH_ALLOC_CONF=expandable_segments:True.",
    ),
    ("allocator", ""): Remedy("Keep arrays of one size and let the framework reuse their memory."),
    ("collective_host", ""): Remedy(
        "See which worker arrives last (Pod viewer), and send less: larger batches, compressed or fewer gradients.",
    ),
    ("exposed_collective", JAX): Remedy(
        "Overlap communication with compute: --xla_gpu_enable_latency_hiding_scheduler=true, larger batches, "
        "bfloat16 gradients.",
    ),
    ("exposed_collective", PYTORCH): Remedy("Send fewer, larger pieces (DDP's bucket_cap_mb), while others compute."),
    ("exposed_collective", ""): Remedy("Overlap communication with compute, send less, or use larger batches."),
    ("late_peer", ""): Remedy(
        "Find in that host's own diagnosis what it does longer than the others before they meet."
    ),
    ("unexplained", JAX): Remedy("Capture with Python's tracer (its default in jax.profiler), which names what runs."),
    ("unexplained", TENSORFLOW): Remedy(
        "Capture with Python's tracer: tb-profile capture ADDRESS LOGDIR --python-tracer-level 1, or the page's dialog."
    ),
    ("native", ""): Remedy("Look at the Timeline: Python's tracer ran, so this is native code, or a sleep."),
    ("unexplained", ""): Remedy("Capture with a tracer of calls, or with stacks, which name what runs."),
    ("before_capture", ""): Remedy("Capture longer: what was launched before it is not known."),
    ("pauses", ""): Remedy("See what else ran on the machine: threads that wait for a core leave such pauses."),
    ("counted", ""): Remedy("Capture again without metrics of CUPTI (profiler_metrics) to see times."),
    ("start_up", ""): Remedy("Nothing, where the program goes on for long; else capture later, after its first steps."),
    ("warmup", ""): Remedy("Nothing, where training goes on for long; else compile ahead and keep compiled programs."),
    ("unusual_steps", ""): Remedy("Look at what these steps do that the others do not."),
    ("gpu_unused", TENSORFLOW): Remedy(
        "Make TensorFlow use the GPU: install it with CUDA, and check that it lists the GPU.",
        'import tensorflow as tf\n\nprint(tf.config.list_physical_devices("GPU"))\n',
    ),
    ("gpu_unused", ""): Remedy("Install a build of the framework with CUDA, and check that it lists the GPU."),
    ("not_recorded", ""): Remedy(
        "On Nvidia, add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH; on AMD, install rocprofiler; then look at the "
        "errors under Capture health.",
    ),
    ("float32", PYTORCH): Remedy(
        "Products of matrices and convolutions run in float32: compute in 16 bits, or from Ampere on in TF32.",
        """\
import torch

torch.set_float32_matmul_precision("high")
with torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16):
    pass
""",
    ),
    ("compute", ""): Remedy("Make the largest ops cheaper: Ops and Kernels say which they are."),
}
