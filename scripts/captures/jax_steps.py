"""JAX: training steps marked with StepTraceAnnotation, Python frames recorded (JAX's default)."""

import sys

import jax
import jax.numpy as jnp


def loss(weights, x, y):
    hidden = jnp.tanh(x @ weights[0])
    return jnp.mean((hidden @ weights[1] - y) ** 2)


@jax.jit
def step(weights, x, y):
    gradients = jax.grad(loss)(weights, x, y)
    return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients, strict=True)]


key = jax.random.key(0)
weights = [jax.random.normal(key, (64, 128)), jax.random.normal(key, (128, 8))]
x, y = jax.random.normal(key, (32, 64)), jax.random.normal(key, (32, 8))
weights = jax.block_until_ready(step(weights, x, y))
with jax.profiler.trace(sys.argv[1]):
    for number in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            weights = jax.block_until_ready(step(weights, x, y))
