"""A loop that trains with JAX under its profiler."""

import time
from contextlib import nullcontext
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="layers")
def update(weight, batch, layers):
    x = batch
    for _ in range(layers):
        x = jnp.tanh(x @ weight)
    return weight - 1e-6 * x.mean()


class Model:
    """Its steps wait for their result, as loops do that print the loss."""

    def __init__(self, layers=12, size=512):
        self.layers = layers
        self.weight = jnp.eye(size)
        self.batch = jnp.ones((256, size))

    def step(self, batch=None):
        self.dispatch(batch)
        self.weight.block_until_ready()

    def dispatch(self, batch=None):
        self.weight = update(self.weight, self.batch if batch is None else batch, self.layers)


def profile(clock, traced=True):
    """As people start it: Python frames are recorded unless they say otherwise."""
    if traced:
        return jax.profiler.trace(clock.folder)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    return jax.profiler.trace(clock.folder, profiler_options=options)


def mark(number, marked=True):
    return jax.profiler.StepTraceAnnotation("train", step_num=number) if marked else nullcontext()


def loop(clock, work, steps=12, marked=True, traced=True, warm=True):
    """Steps that wait for what they do."""
    if warm:
        work(0)
    with profile(clock, traced):
        for number in range(steps):
            clock.begin()
            with mark(number, marked):
                work(number)
            clock.end()
        clock.stop()


def asynchronous(clock, model, pause=0.0, marked=True):
    """Nobody waits before the last step."""
    model.step()
    with profile(clock):
        for number in range(12):
            clock.begin()
            with mark(number, marked):
                model.dispatch()
            if pause:
                time.sleep(pause)
        model.weight.block_until_ready()
        clock.stop()
