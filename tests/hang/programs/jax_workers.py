"""Workers of JAX on the CPU that sum over all of them in each step: `jax_workers.py OUT CAUSE RANKS`.

The last one is late with a cause: ``python`` sleeps, ``work`` computes more, ``none`` does neither.
"""

import os
import socket
import subprocess
import sys
import time

SIZE = 400


def main(out, cause, ranks):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, __file__, out, cause, ranks]
    workers = [subprocess.Popen([*command, str(rank), str(port)]) for rank in range(int(ranks))]
    sys.exit(max(worker.wait() for worker in workers))


def worker(out, cause, ranks, rank, port):
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", ranks, rank)
    mesh = Mesh(np.array(jax.devices()), ("workers",))
    split, whole = PartitionSpec("workers"), PartitionSpec()
    batch = jnp.ones((SIZE, SIZE)) * 0.01
    is_late = rank == ranks - 1

    @jax.jit
    def products(x):
        for _ in range(8):
            x = jnp.tanh(x @ x)
        return x

    def local(x):
        if is_late and cause == "python":
            time.sleep(0.05)
        if is_late and cause == "work":
            for _ in range(8):
                products(x).block_until_ready()
        return products(x)

    total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "workers"), mesh=mesh, in_specs=split, out_specs=whole))

    def step():
        parts = NamedSharding(mesh, split)
        summed = jax.make_array_from_single_device_arrays((ranks * SIZE, SIZE), parts, [local(batch)])
        total(summed).block_until_ready()

    for _ in range(3):
        step()
    with jax.profiler.trace(os.path.join(out, str(rank))):
        for number in range(20):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                step()


if len(sys.argv) == 4:
    main(*sys.argv[1:])
else:
    worker(*sys.argv[1:3], *map(int, sys.argv[3:]))
