"""JAX: changes that a comparison is held to; `cause` is the changed program."""

import jax
import jax.numpy as jnp
from clock import main
from jax_loop import loop

ROWS = 256


def stack(size, layers=8, dtype=jnp.float32, scopes="layer", extra=0, rows=ROWS):
    """A step of many layers; an op of its own where there is something extra."""

    def step(x, weight, more):
        for number in range(layers):
            with jax.named_scope(f"{scopes}_{number}"):
                x = jnp.tanh(x @ weight)
        for _ in range(extra):
            with jax.named_scope("extra"):
                more = jnp.sin(more @ more)
        return x.sum() + more.sum()

    arguments = jnp.ones((rows, size), dtype), jnp.eye(size, dtype=dtype), jnp.ones((384, 384), dtype)
    compiled = jax.jit(step)
    return lambda number: compiled(*arguments).block_until_ready()


def jax_extra_matmul(clock, cause):
    """One more matmul, in a scope of its own."""
    loop(clock, stack(512, extra=4 if cause else 0), steps=20)


def jax_hidden_larger(clock, cause):
    """The layers are half as wide again."""
    loop(clock, stack(768 if cause else 512), steps=20)


def jax_bfloat16(clock, cause):
    """Half the precision."""
    loop(clock, stack(512, dtype=jnp.bfloat16 if cause else jnp.float32), steps=20)


def jax_batch_doubled(clock, cause):
    """Twice as many rows in each step."""
    loop(clock, stack(512, rows=2 * ROWS if cause else ROWS), steps=20)


def jax_scopes_renamed(clock, cause):
    """The same program with other names of scopes."""
    loop(clock, stack(512, scopes="block" if cause else "layer"), steps=20)


def jax_same(clock, cause):
    """Nothing is changed."""
    loop(clock, stack(512), steps=20)


def jax_traced(clock, cause):
    """The same program, with Python's frames recorded."""
    loop(clock, stack(512), steps=20, traced=cause)


def jax_split(clock, cause):
    """One jitted function, or one for each layer, and a wait after each."""
    x, weight = jnp.ones((ROWS, 64)), jnp.eye(64)

    def layer(x):
        return jnp.tanh(x @ weight)

    def layers(x):
        for _ in range(40):
            x = layer(x)
        return x

    whole, single = jax.jit(layers), jax.jit(layer)

    def work(number):
        value = x
        if not cause:
            whole(value).block_until_ready()
            return
        for _ in range(40):
            value = single(value).block_until_ready()

    loop(clock, work, steps=20)


main(
    [
        jax_extra_matmul,
        jax_hidden_larger,
        jax_bfloat16,
        jax_batch_doubled,
        jax_scopes_renamed,
        jax_same,
        jax_traced,
        jax_split,
    ]
)
