"""JAX on the CPU: steps before and after what a remedy says; the clock runs while no profiler does."""

import jax
import jax.numpy as jnp
from clock import main
from jax_loop import profile

STEPS = 12


def jax_debug_nans(clock, cause):
    """Each result is looked through for NaN, so that the host waits for it."""
    weights = [jnp.eye(64) * 0.5 for _ in range(6)]

    @jax.jit
    def layers(batch):
        for weight in weights:
            batch = jnp.tanh(batch @ weight)
        return batch

    def run(batch, begin=lambda: None):
        for number in range(STEPS):
            begin()
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                batch = layers(batch)
        batch.block_until_ready()

    jax.config.update("jax_debug_nans", cause)
    try:
        run(jnp.ones((8, 64)))
        run(jnp.ones((8, 64)), clock.begin)
        clock.stop()
        with profile(clock):
            run(jnp.ones((8, 64)))
    finally:
        jax.config.update("jax_debug_nans", False)


main([jax_debug_nans])
