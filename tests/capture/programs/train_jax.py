"""Trains until its input ends, with a profiler server at the port that is named."""

import os
import sys
import threading
import time

import jax
import jax.numpy as jnp

server = jax.profiler.start_server(int(sys.argv[1]))
train = jax.jit(lambda weights: weights - 0.01 * jnp.tanh(weights @ weights))
weights = jax.block_until_ready(train(jnp.ones((64, 64))))
print("ready", flush=True)
reader = threading.Thread(target=sys.stdin.read, daemon=True)
reader.start()
step = 0
while reader.is_alive():
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        weights = jax.block_until_ready(train(weights))
    step += 1
    time.sleep(0.005)
os._exit(0)
