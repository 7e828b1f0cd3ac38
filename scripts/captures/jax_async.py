"""JAX as its guide has it: steps are dispatched and nobody waits for them before the last; with marks and without."""

import sys
import time

import jax
import jax.numpy as jnp
from measured import write


@jax.jit
def step(weight, x):
    for _ in range(3):
        x = jnp.tanh(x @ weight)
    return weight + 1e-6 * x.mean()


def loop(marked):
    value = weight
    began = time.perf_counter()
    for number in range(12):
        if marked:
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                value = step(value, x)
        else:
            value = step(value, x)
    value.block_until_ready()
    return [(time.perf_counter() - began) / 12]


weight, x = jnp.eye(512), jnp.ones((512, 512))
loop(False)
for name in ("marked", "unmarked"):
    with jax.profiler.trace(f"{sys.argv[1]}/{name}"):
        times = loop(name == "marked")
    write(f"{sys.argv[1]}/{name}", times)
