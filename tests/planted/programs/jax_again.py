"""JAX: one program, captured again and again by one process: `jax_again.py OUT COUNT`."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from clock import Clock
from jax_loop import loop


@jax.jit
def step(x, weight):
    for _ in range(8):
        x = jnp.tanh(x @ weight)
    return x.sum()


out, count = Path(sys.argv[1]), int(sys.argv[2])
x, weight = jnp.ones((128, 256)), jnp.eye(256)
for number in range(count):
    clock = Clock(out / f"{number:03d}")
    loop(clock, lambda _: step(x, weight).block_until_ready(), steps=25, traced=False)
    clock.write()
