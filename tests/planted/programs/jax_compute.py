"""JAX: the time is spent computing: in all steps alike, in some, in the first; and loops that do not wait."""

from contextlib import nullcontext

import jax
import jax.numpy as jnp
from clock import main
from jax_loop import Model, asynchronous, loop


def jax_larger_op(clock, cause, **how):
    """One op is twice as large."""
    weight = jnp.ones((1024, 1024))

    @jax.jit
    def step(large, small):
        return jnp.tanh(large @ weight).sum() + jnp.tanh(small @ small).sum()

    large, small = jnp.ones((1024 if cause else 512, 1024)), jnp.ones((640, 640))
    loop(clock, lambda number: step(large, small).block_until_ready(), **how)


def jax_more_layers(clock, cause, **how):
    """Nothing to blame: more layers take longer."""
    model = Model(layers=48 if cause else 24)
    loop(clock, lambda number: model.step(), **how)


def jax_more_layers_untraced(clock, cause):
    jax_more_layers(clock, cause, traced=False)


def jax_more_layers_unmarked(clock, cause):
    jax_more_layers(clock, cause, marked=False)


def jax_asynchronous(clock, cause):
    """Nothing to blame: more layers take longer."""
    asynchronous(clock, Model(layers=48 if cause else 24))


def jax_asynchronous_unmarked(clock, cause):
    asynchronous(clock, Model(layers=48 if cause else 24), marked=False)


def jax_asynchronous_sleep(clock, cause):
    """A sleep that costs nothing: the computation goes on meanwhile."""
    asynchronous(clock, Model(layers=48), pause=0.005 if cause else 0.0)


def jax_every_tenth(clock, cause):
    """Each tenth step computes ten times as much."""
    model = Model(layers=8)

    def work(number):
        model.layers = 80 if cause and number % 10 == 9 else 8
        with clock.planting() if model.layers == 80 else nullcontext():
            model.step()

    work(9)
    loop(clock, work, steps=30)


def jax_warm_up(clock, cause):
    """The first step compiles."""

    @jax.jit
    def step(x):
        for _ in range(8):
            x = jnp.tanh(x @ x)
        return x

    x = jnp.eye(384)
    loop(clock, lambda number: step(x).block_until_ready(), warm=not cause)


main(
    [
        jax_larger_op,
        jax_more_layers,
        jax_more_layers_untraced,
        jax_more_layers_unmarked,
        jax_asynchronous,
        jax_asynchronous_unmarked,
        jax_asynchronous_sleep,
        jax_every_tenth,
        jax_warm_up,
    ]
)
