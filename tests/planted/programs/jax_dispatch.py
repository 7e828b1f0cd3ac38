"""JAX: many small calls, waits and compilations where one call would do."""

import jax
import jax.numpy as jnp
from clock import main
from jax_loop import loop


@jax.jit
def small(x):
    return x * 1.0001 + 1.0


@jax.jit
def fused(x):
    return jax.lax.fori_loop(0, 2000, lambda _, x: x * 1.0001 + 1.0, x)


def jax_tiny_jitted(clock, cause, **how):
    x = jnp.ones((8, 8))

    def each(number):
        value = x
        for _ in range(2000):
            value = small(value)
        value.block_until_ready()

    loop(clock, each if cause else lambda number: fused(x).block_until_ready(), **how)


def jax_tiny_jitted_untraced(clock, cause):
    jax_tiny_jitted(clock, cause, traced=False)


def jax_tiny_eager(clock, cause, **how):
    x = jnp.ones((8, 8))

    def body(value):
        for _ in range(300):
            value = jnp.tanh(value * 0.5 + 0.25)
        return value

    step = body if cause else jax.jit(body)
    loop(clock, lambda number: step(x).block_until_ready(), **how)


def jax_tiny_eager_untraced(clock, cause):
    jax_tiny_eager(clock, cause, traced=False)


@jax.jit
def medium(x):
    return jnp.tanh(x @ x)


def jax_wait_each(clock, cause):
    x = jnp.eye(128)

    def work(number):
        value = x
        for _ in range(200):
            value = medium(value)
            if cause:
                value.block_until_ready()
        value.block_until_ready()

    loop(clock, work)


def jax_new_shape(clock, cause, **how):
    """A batch of another size each step: all is compiled anew."""

    @jax.jit
    def step(x):
        for _ in range(6):
            x = jnp.tanh(x @ x.T) @ x
        return x

    def work(number):
        step(jnp.ones((64 + number if cause else 64, 64))).block_until_ready()

    loop(clock, work, **how)


def jax_new_shape_untraced(clock, cause):
    jax_new_shape(clock, cause, traced=False)


def jax_new_shape_each_fourth(clock, cause):
    """Most steps have the same shape, and those between them another one each."""

    @jax.jit
    def step(x):
        for _ in range(8):
            x = jnp.tanh(x @ x.T) @ x
        return x

    def work(number):
        other = number if cause and number % 4 == 3 else 0
        step(jnp.ones((256 + other, 256))).block_until_ready()

    loop(clock, work, steps=16)


def jax_new_function(clock, cause):
    """jit() inside the step: each makes another function, which is traced and compiled anew."""
    x = jnp.eye(64)

    def body(x):
        for _ in range(6):
            x = jnp.tanh(x @ x)
        return x

    kept = jax.jit(body)
    loop(clock, lambda number: (jax.jit(lambda x: body(x)) if cause else kept)(x).block_until_ready())


main(
    [
        jax_tiny_jitted,
        jax_tiny_jitted_untraced,
        jax_tiny_eager,
        jax_tiny_eager_untraced,
        jax_wait_each,
        jax_new_shape,
        jax_new_shape_untraced,
        jax_new_shape_each_fourth,
        jax_new_function,
    ]
)
