"""Code that remedies show and that runs as it stands, by the keys of `texts`."""

from __future__ import annotations

from ....model.framework import JAX, PYTORCH, TENSORFLOW
from ..program import facts

PINNED = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

on_gpu = torch.cuda.is_available()
loader = DataLoader(TensorDataset(torch.zeros(64, 4)), batch_size=8, pin_memory=on_gpu)
for (batch,) in loader:
    batch = batch.to("cuda" if on_gpu else "cpu", non_blocking=True)
"""

COMPILED = """\
import torch

model = torch.compile(torch.nn.Linear(8, 8))
"""
LIST_GPUS = """\
import tensorflow as tf

print(tf.config.list_physical_devices("GPU"))
"""
CUDA_GRAPH = """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), mode="reduce-overhead")
"""
ALL_ROWS_AT_ONCE = """\
import jax
import jax.numpy as jnp

sums = jax.vmap(lambda row: jnp.tanh(row).sum())(jnp.ones((64, 8)))
"""
XLA_TENSORFLOW = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(tf.nn.relu(x) * 2 + 1)


step(tf.ones([4]))
"""
EXAMPLES: dict[tuple[str, str, str], str] = {
    ("channels_last", PYTORCH, ""): """\
import torch

model = torch.nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last)
images = torch.rand(2, 3, 32, 32).contiguous(memory_format=torch.channels_last)
model(images)
""",
    ("input", TENSORFLOW, ""): """\
import tensorflow as tf

dataset = tf.data.Dataset.range(1024)
dataset = dataset.map(lambda x: x * 2, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.cache().batch(32).prefetch(tf.data.AUTOTUNE)
""",
    ("input", JAX, ""): """\
import queue
import threading

import jax


def ahead(batches, size=2):
    ready, end = queue.Queue(size), object()

    def fill():
        try:
            for batch in batches:
                ready.put(jax.device_put(batch))
        finally:
            ready.put(end)

    threading.Thread(target=fill, daemon=True).start()
    return iter(ready.get, end)


for batch in ahead(range(4)):
    pass
""",
    ("input", PYTORCH, ""): """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(
    TensorDataset(torch.zeros(64, 4)), batch_size=8, num_workers=2, pin_memory=torch.cuda.is_available(),
    persistent_workers=True, prefetch_factor=4,
)
""",
    ("network", "", ""): """\
from concurrent.futures import ThreadPoolExecutor


def request(number):
    return number


with ThreadPoolExecutor(1) as pool:
    waiting = pool.submit(request, 0)
    for step in range(4):
        data = waiting.result()
        waiting = pool.submit(request, step + 1)
        # Train on the data.
""",
    ("loop", "", ""): """\
import numpy as np

values = np.arange(8.0)
squares = np.where(values > 0, values**2, 0.0)
""",
    ("compile", TENSORFLOW, ""): """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32)])
def step(batch):
    return tf.reduce_sum(batch)


step(tf.zeros([4, 8]))
step(tf.zeros([5, 8]))
""",
    ("compile", JAX, ""): """\
import jax
import numpy as np


@jax.jit
def step(batch):
    return batch.sum()


def padded(batch, multiple=128):
    return np.pad(batch, (0, -len(batch) % multiple))


step(padded(np.ones(100)))
step(padded(np.ones(101)))
""",
    ("compile", PYTORCH, ""): """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), dynamic=True)
""",
    ("retrace", TENSORFLOW, ""): """\
import tensorflow as tf


@tf.function(reduce_retracing=True)
def step(batch, rate):
    return tf.reduce_sum(batch) * rate


step(tf.zeros([4]), tf.constant(0.1))
step(tf.zeros([4]), tf.constant(0.2))
""",
    ("eager", TENSORFLOW, ""): """\
import tensorflow as tf


@tf.function
def step(x):
    for _ in range(8):
        x = x * 2 + 1
    return x


step(tf.ones([4]))
""",
    ("eager", JAX, ""): """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for _ in range(8):
        x = x * 2 + 1
    return x


step(jnp.ones(4))
""",
    ("eager", PYTORCH, ""): CUDA_GRAPH,
    ("optimizer", PYTORCH, ""): """\
import torch

optimizer = torch.optim.AdamW(torch.nn.Linear(8, 8).parameters(), 1e-3, fused=True)
""",
    ("compiled", PYTORCH, ""): CUDA_GRAPH,
    ("compiled", PYTORCH, facts.GRAPH_BREAKS): """\
import torch

model = torch.compile(torch.nn.Linear(8, 8), fullgraph=True)
""",
    ("dispatch", TENSORFLOW, ""): """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", steps_per_execution=10)
""",
    ("executor", "", ""): """\
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    for _ in tf.range(1000):
        x = tf.tanh(x * 0.9)
    return x
""",
    ("dispatch", JAX, ""): """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def steps(weights, batches):
    return jax.lax.scan(lambda w, batch: (w - 0.1 * batch.mean(), None), weights, batches)[0]


steps(jnp.zeros(()), jnp.ones((10, 8)))
""",
    ("dispatch", PYTORCH, ""): COMPILED,
    **{(cause, TENSORFLOW, ""): XLA_TENSORFLOW for cause in ("launch", "elementwise_types")},
    ("launch", PYTORCH, ""): CUDA_GRAPH,
    ("sync", JAX, ""): """\
import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x * 0.5)
x = jnp.ones(4)
for number in range(100):
    x = step(x)
    if number % 50 == 0:
        print(number, float(x[0]))
""",
    ("transfer", PYTORCH, ""): PINNED,
    ("copy_pageable", PYTORCH, ""): PINNED,
    ("checkpoint", TENSORFLOW, ""): """\
import tensorflow as tf

saving = tf.keras.callbacks.ModelCheckpoint("model.weights.h5", save_weights_only=True, save_freq=1000)
""",
    ("gpu_unused", TENSORFLOW, ""): LIST_GPUS,
    ("gpu_unused", TENSORFLOW, facts.LOOKS_FOR_CUPTI): LIST_GPUS,
    ("float32", PYTORCH, ""): """\
import torch

torch.set_float32_matmul_precision("high")
with torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16):
    pass
""",
    ("float32", PYTORCH, facts.NO_BF16): """\
import torch

on_gpu = torch.cuda.is_available()
scaler = torch.amp.GradScaler("cuda", enabled=on_gpu)
with torch.autocast("cuda" if on_gpu else "cpu", torch.float16 if on_gpu else torch.bfloat16):
    pass
""",
    ("float32", TENSORFLOW, ""): """\
import tensorflow as tf

on_gpu = tf.config.list_physical_devices("GPU")
tf.keras.mixed_precision.set_global_policy("mixed_float16" if on_gpu else "mixed_bfloat16")
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1, dtype="float32")])
""",
    ("compute", PYTORCH, facts.DENSE_EMBEDDING): """\
import torch

embedding = torch.nn.Embedding(1000, 8, sparse=True)
optimizer = torch.optim.SparseAdam(embedding.parameters())
""",
    ("compute", PYTORCH, facts.CONCATENATES): """\
import torch

steps, row = 100, torch.zeros(1, 8)
rows = torch.empty(steps, 8)
for step in range(steps):
    rows[step : step + 1] = row
""",
    ("attention", PYTORCH, facts.UNFUSED_ATTENTION): """\
import torch
import torch.nn.functional as F

query, key, value = torch.randn(3, 2, 4, 128, 16)
F.scaled_dot_product_attention(query, key, value, is_causal=True)
""",
    ("compute", PYTORCH, facts.UNUSED_FORWARD): """\
import torch

model = torch.nn.Linear(8, 8)
outputs = model(torch.zeros(4, 8))
outputs.sum().backward()
predicted = outputs.detach().argmax(-1)
""",
    ("compute", PYTORCH, facts.MULTIPLIES_ONE_HOT): """\
import torch
import torch.nn.functional as F

table = torch.randn(1000, 8, requires_grad=True)
rows = F.embedding(torch.tensor([3, 5]), table)
""",
    ("input", PYTORCH, facts.LOADS_ROWS): """\
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

data = TensorDataset(torch.zeros(64, 4))
sampler = BatchSampler(RandomSampler(data), batch_size=8, drop_last=False)
for (batch,) in DataLoader(data, sampler=sampler, batch_size=None):
    pass
""",
    ("compute", JAX, facts.DENSE_EMBEDDING): """\
import jax
import jax.numpy as jnp

table, rows = jnp.zeros((1000, 8)), jnp.array([3, 5, 3])


def loss(read):
    return jnp.square(read - 1).mean()


gradients = jax.grad(loss)(table[rows])
table = table.at[rows].add(-0.1 * gradients)
""",
    ("compute", TENSORFLOW, facts.BUILDS_JACOBIAN): """\
import tensorflow as tf

x = tf.random.normal([64, 1])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.tanh(x)
slopes = tape.gradient(y, x)
""",
    ("compute", JAX, facts.BUILDS_HESSIAN): """\
import jax
import jax.numpy as jnp


def loss(weights):
    return jnp.sum(jnp.tanh(weights) ** 2)


weights = jnp.ones(8)
_, product = jax.jvp(jax.grad(loss), (weights,), (weights,))
""",
    ("compute", JAX, facts.INDEPENDENT_PRODUCTS): """\
import jax
import jax.numpy as jnp

rows, weights, recurrent = jnp.ones((48, 8, 64)), jnp.ones((64, 32)), jnp.ones((32, 32))
state, _ = jax.lax.scan(
    lambda state, row: (jnp.tanh(row + state @ recurrent), None), jnp.zeros((8, 32)), rows @ weights
)
""",
    ("compute", JAX, facts.DEPTHWISE_CONVOLUTIONS): """\
import jax.numpy as jnp

rows, taps = jnp.ones((8, 128, 64)), jnp.ones((4, 64))
padded = jnp.pad(rows, ((0, 0), (len(taps) - 1, 0), (0, 0)))
convolved = sum(padded[:, at : at + rows.shape[1]] * tap for at, tap in enumerate(taps))
""",
    **{(cause, JAX, facts.SMALL_TURNS): ALL_ROWS_AT_ONCE for cause in ("between", "compute", "dispatch")},
    ("zero_grad", PYTORCH, ""): """\
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(set_to_none=True)
""",
    ("eager", PYTORCH, facts.ON_CPU): COMPILED,
}
