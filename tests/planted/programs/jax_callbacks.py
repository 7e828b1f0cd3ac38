"""JAX: compiled programs that call Python and wait for it."""

import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from clock import main
from jax.experimental import io_callback
from jax_loop import loop


def sleeper(clock, seconds):
    def called(x):
        with clock.planting():
            time.sleep(seconds)
        return np.float32(x)

    return called


def calling(clock, call, cause, **how):
    @jax.jit
    def step(x):
        for _ in range(8):
            x = jnp.tanh(x @ x)
        value = x.mean()
        return x + (call(value) if cause else value)

    x = jnp.eye(512)
    loop(clock, lambda number: step(x).block_until_ready(), **how)


def jax_pure_callback(clock, cause, **how):
    shape = jax.ShapeDtypeStruct((), "float32")
    calling(clock, partial(jax.pure_callback, sleeper(clock, 0.03), shape), cause, **how)


def jax_pure_callback_untraced(clock, cause):
    jax_pure_callback(clock, cause, traced=False)


def jax_io_callback(clock, cause):
    shape = jax.ShapeDtypeStruct((), "float32")
    calling(clock, partial(io_callback, sleeper(clock, 0.02), shape), cause)


main([jax_pure_callback, jax_pure_callback_untraced, jax_io_callback])
