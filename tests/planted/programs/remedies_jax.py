"""JAX on the CPU: steps before and after what a remedy says; the clock runs while no profiler does."""

import queue
import threading
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from clock import main
from jax_loop import mark, profile

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


def loop(clock, step, steps=STEPS, warm=1, wait=lambda: None):
    """Measured first, then captured."""
    for number in range(warm):
        step(number)
    wait()
    for number in range(steps):
        clock.begin()
        step(number)
    wait()
    clock.stop()
    with profile(clock):
        for number in range(steps):
            with mark(number):
                step(number)
        wait()


def jax_eager(clock, cause):
    """Many small ops, or one program."""

    def ops(x):
        for _ in range(60):
            x = jnp.tanh(x * 0.9 + 0.1)
        return x.sum()

    run, batch = ops if cause else jax.jit(ops), jnp.ones((16, 16))
    loop(clock, lambda _: run(batch).block_until_ready(), 6)


def jax_chain(clock, cause):
    """A chain of small programs, or one."""

    @jax.jit
    def layer(x):
        return jnp.tanh(x * 0.9 + 0.1)

    def step(x):
        for _ in range(60):
            x = layer(x)
        return x

    run, batch = step if cause else jax.jit(step), jnp.ones((64, 64))
    loop(clock, lambda _: run(batch).block_until_ready(), 6)


def jax_float64(clock, cause):
    """Arrays keep the float64 of NumPy."""
    with jax.enable_x64(cause):
        weight = jnp.asarray(np.random.default_rng(0).normal(size=(256, 256)) / 32)
        batch = jnp.ones((128, 256), weight.dtype)

        @jax.jit
        def run(x):
            for _ in range(3):
                x = jnp.tanh(x @ weight)
            return x.mean()

        loop(clock, lambda _: run(batch).block_until_ready(), 6)


def jax_donation(clock, cause):
    """A step writes all state anew, or into the arrays that it was given."""
    state = [jnp.ones((1024, 1024)) for _ in range(16)]

    @partial(jax.jit, donate_argnums=() if cause else 0)
    def update(state, at):
        return [array.at[at].add(1.0) for array in state]

    def step(number):
        nonlocal state
        state = update(state, number)
        state[-1].block_until_ready()

    loop(clock, step)


def jax_dispatch(clock, cause):
    """A tiny step for each call, or twenty of them."""
    weight = jnp.ones((8,))

    def update(weight, batch):
        return weight - 0.1 * (weight * batch).mean(), None

    one, many = jax.jit(lambda weight, batch: update(weight, batch)[0]), jax.jit(partial(jax.lax.scan, update))
    batch, batches = jnp.ones((8,)), jnp.ones((20, 8))

    def step(number):
        nonlocal weight
        if cause:
            weight = one(weight, batch)
        elif number % 20 == 0:
            weight = many(weight, batches)[0]

    loop(clock, step, 100, 20, lambda: weight.block_until_ready())


def jax_sync(clock, cause):
    """The loss is read in each step, or in the last: the host prepares batches meanwhile."""
    rows = np.random.default_rng(0).normal(size=(1200, 64)).astype(np.float32)
    state = jnp.zeros((32, 64))

    @jax.jit
    def update(state, batch):
        return jax.lax.fori_loop(0, 300, lambda _, x: jnp.tanh(x * 0.9 + batch), state)

    def step(number):
        nonlocal state
        state = update(state, np.sort(rows, 0)[:32])
        if cause or number == STEPS - 1:
            float(state[0, 0])

    loop(clock, step, wait=lambda: state.block_until_ready())


def _model(layers):
    @jax.jit
    def update(weight, batch):
        x = batch
        for _ in range(layers):
            x = jnp.tanh(x @ weight)
        return weight - 1e-6 * x.mean()

    return update


def jax_new_shapes(clock, cause):
    """Each batch has a shape of its own, or is padded to one."""

    @jax.jit
    def run(x):
        for _ in range(4):
            x = jnp.tanh(x @ jnp.eye(64))
        return x.sum()

    def step(number):
        step.rows += 1
        rows = np.ones((step.rows, 64), np.float32)
        run(rows if cause else np.pad(rows, ((0, 128 - step.rows), (0, 0)))).block_until_ready()

    step.rows = 8
    loop(clock, step, 4)


def _slow_batches(seconds):
    while True:
        time.sleep(seconds)
        yield np.ones((256, 512), np.float32)


def _ahead(batches):
    ready = queue.Queue(4)

    def fill():
        for batch in batches:
            ready.put(jax.device_put(batch))

    threading.Thread(target=fill, daemon=True).start()
    return iter(ready.get, None)


def jax_input(clock, cause):
    """Batches are made in the loop, or by a thread ahead of it."""
    batches, model, weight = _slow_batches(0.01), _model(3), jnp.eye(512)
    batches = batches if cause else _ahead(batches)

    def step(_):
        nonlocal weight
        weight = model(weight, next(batches))
        weight.block_until_ready()

    loop(clock, step)


def jax_callback(clock, cause):
    """A function of NumPy within the program, or the same in jax.numpy."""
    shape = jax.ShapeDtypeStruct((256, 256), jnp.float32)

    def ranked(x):
        rows = np.asarray(x)
        return np.array([[np.tanh(value) for value in row[:20]] * 12 + [0.0] * 16 for row in rows], np.float32)

    def ranked_by_jax(x):
        return jnp.concatenate([jnp.tile(jnp.tanh(x[:, :20]), (1, 12)), jnp.zeros((256, 16))], 1)

    @jax.jit
    def run(x):
        y = jnp.tanh(x @ x)
        return (jax.pure_callback(ranked, shape, y) if cause else ranked_by_jax(y)).sum()

    batch = jnp.ones((256, 256)) / 256
    loop(clock, lambda _: run(batch).block_until_ready())


def jax_python_loop(clock, cause):
    """Features are made of values one by one, or of all at once."""
    values = np.random.default_rng(0).normal(size=3_000)
    numbers, model, weight = values.tolist(), _model(2), jnp.eye(512)

    def features():
        if not cause:
            return np.where(values > 0, values * values, 0.5 * values)
        return np.array([max(number, 0.5) * min(number, 2.0) for number in numbers])

    def step(_):
        nonlocal weight
        batch = jnp.asarray(features()[:512].astype(np.float32))
        weight = model(weight, jnp.tile(batch, (64, 1)))
        weight.block_until_ready()

    loop(clock, step)


def jax_hessian(clock, cause):
    """A product with a Hessian that is built, or not."""
    targets, weights = jnp.ones((256, 300)), jnp.ones(300)

    def loss(weights):
        return jnp.mean(jnp.logaddexp(0.0, -(targets @ jnp.tanh(weights))))

    @jax.jit
    def product(weights):
        if cause:
            return jax.hessian(loss)(weights) @ weights
        return jax.jvp(jax.grad(loss), (weights,), (weights,))[1]

    loop(clock, lambda _: product(weights).block_until_ready(), 6)


def jax_small_turns(clock, cause):
    """Rows one by one within a program, or all at once."""
    rows, weight = jnp.ones((600, 16)), jnp.eye(16)

    def one(row):
        for _ in range(4):
            row = jnp.tanh(row @ weight)
        return row.sum()

    run = jax.jit((lambda rows: jax.lax.map(one, rows)) if cause else jax.vmap(one))
    loop(clock, lambda _: run(rows).block_until_ready(), 6)


def jax_nested_lists(clock, cause):
    """Arrays of nested lists, by JAX or by NumPy."""
    rows = np.random.default_rng(0).normal(size=(64, 20)).tolist()
    model = jax.jit(lambda batch: jnp.tanh(batch @ batch.T).sum())

    def step(_):
        model(jnp.array(rows) if cause else jnp.asarray(np.asarray(rows, np.float32))).block_until_ready()

    loop(clock, step, 6)


def jax_growing_list(clock, cause):
    """A list that grows is among the arguments, or an array of one size."""
    history, size = [jnp.zeros(8)], 3 * STEPS

    @jax.jit
    def update(past):
        return (jnp.stack(past) if cause else past).mean(0) + 1.0

    def step(number):
        if not cause:
            update(jnp.zeros((size, 8))).block_until_ready()
            return
        history.append(update(list(history)).block_until_ready())

    loop(clock, step, 5)


main(
    [
        jax_debug_nans,
        jax_eager,
        jax_chain,
        jax_float64,
        jax_donation,
        jax_dispatch,
        jax_sync,
        jax_new_shapes,
        jax_input,
        jax_callback,
        jax_python_loop,
        jax_hessian,
        jax_small_turns,
        jax_nested_lists,
        jax_growing_list,
    ]
)
