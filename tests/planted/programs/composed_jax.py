"""Composed programs with JAX on the CPU."""

import tempfile
import time
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import count

import jax
import jax.numpy as jnp
import numpy as np
from composed import decoy, main
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

SIZE, ROWS = 512, 256
NEW = count()
"""What was never there before."""


@jax.jit
def small(x):
    return x + 1.0


class Loop:
    """A loop that trains, in one of several shapes."""

    def __init__(self, variant):
        self.variant, self.kind = variant, variant.program["loop"]
        self.open = ExitStack()
        if variant.size("float64"):
            self.open.enter_context(jax.enable_x64(True))
        dtype = jnp.float64 if variant.size("float64") else jnp.float32
        self.weight = jnp.eye(SIZE, dtype=dtype)
        self.batch = jnp.ones((ROWS, SIZE), dtype)
        if self.kind == "sharded":
            mesh = Mesh(np.array(jax.devices()[:2]), ("rows",))
            self.weight = jax.device_put(self.weight, NamedSharding(mesh, PartitionSpec()))
            self.batch = jax.device_put(self.batch, NamedSharding(mesh, PartitionSpec("rows")))
        self.large = jnp.ones((variant.size("larger_op") * 256 or 1, 2048))
        self.little = jnp.ones(8)
        self.update = jax.jit(self._update, static_argnames="value")

    def _update(self, weight, batch, value=0):
        layers = 6 + self.variant.size("more_layers")
        x = batch
        if self.kind == "scan":
            x, _ = jax.lax.scan(lambda x, _: (jnp.tanh(x @ weight), None), x, None, length=layers)
        else:
            for _ in range(layers):
                x = jnp.tanh(x @ weight)
        loss = x.mean() + value * 0
        for name, call in (("pure_callback", jax.pure_callback), ("io_callback", io_callback)):
            if self.variant.size(name):
                slow = partial(self._slow, name)
                loss = loss + call(slow, jax.ShapeDtypeStruct((), loss.dtype), loss).astype(loss.dtype)
        if self.variant.size("larger_op"):
            loss = loss + (self.large @ self.large.T).mean() * 1e-9
        return weight - 1e-6 * loss

    def _slow(self, name, loss):
        self.variant.measured(name, lambda: time.sleep(self.variant.size(name) / 1000))
        return np.zeros((), loss.dtype)

    def in_step(self, number):
        due = self.variant.due
        for _ in range(due("eager_ops", number)):
            self.little = self.little * 0.5 + 1.0
        for _ in range(due("small_programs", number)):
            self.little = small(self.little)
        for _ in range(due("read_each", number)):
            float(small(self.little)[0])
        if due("new_function", number):
            jax.jit(lambda x: jnp.tanh(x @ x).sum())(jnp.eye(64)).block_until_ready()
        if megabytes := due("convert_input", number):
            jax.device_put(np.ones(megabytes << 17, np.float64)).block_until_ready()
        if megabytes := due("read_back", number):
            np.array(jnp.ones(megabytes << 18)).copy()
        if due("new_shape", number):
            small(jnp.asarray(np.ones(ROWS + next(NEW), np.float32))).block_until_ready()

    def seldom(self, number):
        for _ in range(self.variant.due("evaluate_each", number)):
            self.evaluate()
        for _ in range(self.variant.due("save_each", number)):
            with tempfile.TemporaryFile() as file:
                np.savez(file, weight=np.asarray(self.weight))

    def evaluate(self):
        self.update(self.weight, self.batch, 0).block_until_ready()

    def step(self, number):
        self.variant.strike("step", number)
        self.in_step(number)
        decoy(self.variant, number, jax.profiler.TraceAnnotation)
        value = next(NEW) if self.variant.size("static_value") else 0
        self.weight = self.update(self.weight, self.batch, value)
        if self.kind != "asynchronous":
            self.weight.block_until_ready()

    def turns(self, steps):
        marks = self.variant.program["marks"]
        for number in range(steps):
            self.variant.clock.begin()
            with self.mark(number, marks == "turn"):
                self.variant.strike("input", number)
                with self.mark(number, marks == "step"):
                    self.step(number)
                self.variant.strike("between", number)
                self.seldom(number)
            if self.kind != "asynchronous":
                self.variant.clock.end()
        self.weight.block_until_ready()

    def mark(self, number, is_marked):
        return jax.profiler.StepTraceAnnotation("train", step_num=number) if is_marked else nullcontext()

    def profile(self, folder):
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = int(self.variant.program["traced"])
        return jax.profiler.trace(str(folder), profiler_options=options)

    def close(self):
        self.open.close()


if __name__ == "__main__":
    main(Loop)
