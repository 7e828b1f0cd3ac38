"""Workers of JAX on the CPU."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from late_workers import STEPS, WARM_STEPS

SIZE = 256


def work(worker):
    """Train, with one sum of the gradient in each step."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{worker.ports[0]}", worker.count, worker.rank)
    mesh = Mesh(np.array(jax.devices()), ("workers",))
    split, whole = PartitionSpec("workers"), PartitionSpec()
    batches = worker.batches(jnp.ones((worker.rows, SIZE)) * 0.01)
    weight = jnp.eye(SIZE)

    @jax.jit
    def gradient(x):
        for _ in range(worker.layers):
            x = jnp.tanh(x @ weight)
        return x.mean(axis=0, keepdims=True)

    total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "workers"), mesh=mesh, in_specs=split, out_specs=whole))

    def step():
        batch = next(batches)
        worker.prepare()
        own = gradient(batch).block_until_ready()
        worker.meet()
        parts = jax.make_array_from_single_device_arrays((worker.count, SIZE), NamedSharding(mesh, split), [own])
        total(parts).block_until_ready()

    for _ in range(WARM_STEPS):
        step()
    with jax.profiler.trace(str(worker.folder)):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                step()
