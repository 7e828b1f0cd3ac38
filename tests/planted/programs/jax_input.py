"""JAX: batches from a generator that sleeps."""

import queue
import threading
import time

import jax
import numpy as np
from clock import Clock, main
from jax_loop import Model, loop, mark, profile

BATCH = np.ones((256, 512), "float32")


def batches(clock, cause, seconds=0.02):
    while True:
        if cause:
            with clock.planting():
                time.sleep(seconds)
        yield BATCH


def prefetched(source):
    """The same batches, from a thread that is two ahead."""
    ready = queue.Queue(maxsize=2)

    def fill():
        for batch in source:
            ready.put(batch)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield ready.get()


def jax_generator_inside(clock, cause, **how):
    source, model = batches(clock, cause), Model()
    loop(clock, lambda number: model.step(next(source)), **how)


def jax_generator_inside_untraced(clock, cause):
    jax_generator_inside(clock, cause, traced=False)


def jax_generator_unmarked(clock, cause):
    jax_generator_inside(clock, cause, marked=False)


def jax_generator_outside(clock, cause, traced=True):
    model = Model()
    model.step(BATCH)
    with profile(clock, traced):
        clock.begin()
        for number, batch in enumerate(batches(clock, cause)):
            clock.enter()
            with mark(number):
                model.step(batch)
            clock.end()
            if number == 11:
                break
            clock.begin()
        clock.stop()


def jax_generator_outside_untraced(clock, cause):
    jax_generator_outside(clock, cause, traced=False)


def waiting(clock, cause, layers, seconds):
    """What counts is how long the loop waits, not how long the other thread sleeps."""
    source, model = prefetched(batches(Clock(clock.folder), cause, seconds)), Model(layers)

    def work(number):
        with clock.planting():
            batch = next(source)
        model.step(batch)

    loop(clock, work)


def jax_generator_prefetched(clock, cause):
    """Steps are longer than the sleep: nothing waits."""
    waiting(clock, cause, layers=80, seconds=0.02)


def jax_prefetch_too_slow(clock, cause):
    """Steps are shorter than the sleep: a thread that is ahead does not help."""
    waiting(clock, cause, layers=12, seconds=0.06)


def jax_annotated(clock, cause):
    """Parts of the step have names of the program's own, and Python's frames are not recorded."""
    model = Model()

    def work(number):
        if cause:
            with clock.planting():
                with jax.profiler.TraceAnnotation("load data"):
                    time.sleep(0.02)
                with jax.profiler.TraceAnnotation("augment"):
                    np.fft.fft(np.ones(400_000))
        model.step()

    loop(clock, work, traced=False)


main(
    [
        jax_generator_inside,
        jax_generator_inside_untraced,
        jax_generator_unmarked,
        jax_generator_outside,
        jax_generator_outside_untraced,
        jax_generator_prefetched,
        jax_prefetch_too_slow,
        jax_annotated,
    ]
)
