"""JAX on a GPU: copies, waits and small kernels; the rest of what JAX programs suffer from needs no GPU."""

import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from clock import main
from jax_loop import asynchronous, loop


class Large:
    """Steps of some milliseconds on a GPU."""

    def __init__(self, layers=12, size=4096):
        self.weight, self.batch = jnp.eye(size, dtype="bfloat16"), jnp.ones((size, size), "bfloat16")

        @jax.jit
        def update(weight, batch):
            x = batch
            for _ in range(layers):
                x = jnp.tanh(x @ weight)
            return weight - (1e-6 * x.mean()).astype("bfloat16")

        self._update = update

    def dispatch(self):
        self.weight = self._update(self.weight, self.batch)

    def step(self):
        self.dispatch()
        self.weight.block_until_ready()


def jax_gpu_layers(clock, cause):
    """Nothing to blame: more layers take longer."""
    model = Large(layers=24 if cause else 12)
    loop(clock, lambda number: model.step())


def jax_gpu_sleep(clock, cause, **how):
    model = Large()

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                time.sleep(0.02)

    loop(clock, work, **how)


def jax_gpu_sleep_unmarked(clock, cause):
    jax_gpu_sleep(clock, cause, marked=False)


def jax_gpu_asynchronous(clock, cause):
    """Nothing to blame: nobody waits."""
    asynchronous(clock, Large(layers=24 if cause else 12))


def jax_gpu_asynchronous_unmarked(clock, cause):
    """Nothing to blame: nobody waits."""
    asynchronous(clock, Large(layers=24 if cause else 12), marked=False)


def jax_gpu_asynchronous_sleep(clock, cause):
    """Nothing to blame: a sleep while the steps before compute."""
    asynchronous(clock, Large(layers=24), 0.001 if cause else 0.0)


def jax_gpu_upload(clock, cause):
    """256 MB are copied to the device in each step."""
    model, images = Large(), np.ones((64 << 20,), "float32")

    def work(number):
        if cause:
            with clock.planting():
                jax.device_put(images).block_until_ready()
        model.step()

    loop(clock, work)


def jax_gpu_fetch(clock, cause):
    """256 MB are read back in each step."""
    model, images = Large(), jnp.ones((64 << 20,), "float32")

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                np.asarray(images + number)

    loop(clock, work)


def jax_gpu_small_kernels(clock, cause):
    """A loop of 2,000 small kernels in one program; without: one kernel."""
    x = jnp.ones((64, 64))

    @jax.jit
    def many(x):
        return jax.lax.fori_loop(0, 2000, lambda _, x: jnp.tanh(x @ x), x)

    @jax.jit
    def one(x):
        return jnp.tanh(x @ x)

    step = many if cause else one
    loop(clock, lambda number: step(x).block_until_ready())


def jax_gpu_offload(clock, cause):
    """The weights lie in the host's memory, from where each step takes them."""
    device = jax.devices()[0]
    there, here = (jax.sharding.SingleDeviceSharding(device, memory_kind=kind) for kind in ("pinned_host", "device"))
    weights = jax.device_put(jnp.ones((4, 4096, 4096), "bfloat16"), there if cause else here)
    batch = jnp.ones((4096, 4096), "bfloat16")

    @jax.jit
    def step(weights, batch):
        return jnp.tanh(batch @ jax.device_put(weights, here).sum(0))

    loop(clock, lambda number: step(weights, batch).block_until_ready())


def jax_gpu_scan(clock, cause):
    """A scan of 500 matrix products, which only compute one after another; without: half of them."""
    weight, x = jnp.eye(2048, dtype="bfloat16"), jnp.ones((2048, 2048), "bfloat16")

    @jax.jit
    def step(x):
        return jax.lax.scan(lambda x, _: (jnp.tanh(x @ weight), None), x, length=500 if cause else 250)[0]

    loop(clock, lambda number: step(x).block_until_ready())


def jax_gpu_every_tenth(clock, cause):
    """Each tenth step computes ten times as much."""
    model = Large()

    def work(number):
        for _ in range(10 if cause and number % 10 == 4 else 1):
            model.dispatch()
        model.weight.block_until_ready()

    loop(clock, work, steps=30)


def jax_gpu_future(clock, cause):
    """The next batch is asked of a pool's thread only when it is needed."""
    model, batch = Large(size=1024), np.ones((4096, 1024), "float32")

    def load():
        time.sleep(0.02)
        return np.ones_like(batch)

    with ThreadPoolExecutor(1) as pool:

        def work(number):
            if cause:
                with clock.planting():
                    pool.submit(load).result()
            jax.device_put(batch)
            model.step()

        loop(clock, work)


main(
    [
        jax_gpu_future,
        jax_gpu_layers,
        jax_gpu_sleep,
        jax_gpu_sleep_unmarked,
        jax_gpu_asynchronous,
        jax_gpu_asynchronous_unmarked,
        jax_gpu_asynchronous_sleep,
        jax_gpu_upload,
        jax_gpu_fetch,
        jax_gpu_small_kernels,
        jax_gpu_offload,
        jax_gpu_scan,
        jax_gpu_every_tenth,
    ]
)
