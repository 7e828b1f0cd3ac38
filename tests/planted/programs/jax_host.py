"""JAX: what the host does beside the step: sleeping, numpy, checkpoints, another thread."""

import gc
import os
import tempfile
import threading
import time

import numpy as np
from clock import main
from jax_loop import Model, loop, mark, profile


def jax_sleep_inside(clock, cause, **how):
    model = Model()

    def work(number):
        if cause:
            with clock.planting():
                time.sleep(0.02)
        model.step()

    loop(clock, work, **how)


def jax_sleep_inside_untraced(clock, cause):
    jax_sleep_inside(clock, cause, traced=False)


def jax_sleep_between(clock, cause, traced=True):
    model = Model()
    model.step()
    with profile(clock, traced):
        for number in range(12):
            clock.begin()
            with mark(number):
                model.step()
            clock.end()
            if cause:
                with clock.planting():
                    time.sleep(0.02)
        clock.stop()


def jax_sleep_between_untraced(clock, cause):
    jax_sleep_between(clock, cause, traced=False)


def augment(images):
    """Some work in numpy on one thread."""
    for _ in range(4):
        images = np.fft.ifft2(np.fft.fft2(images)).real
    return images.astype("float32")


def jax_numpy_inside(clock, cause):
    model, images = Model(), np.random.rand(256, 512).astype("float32")

    def work(number):
        batch = images
        if cause:
            with clock.planting():
                batch = augment(images)
        model.step(batch)

    loop(clock, work)


def jax_collecting_garbage(clock, cause):
    model, kept = Model(), [[number] for number in range(100_000)]

    def work(number):
        model.step()
        if cause:
            with clock.planting():
                gc.collect()

    loop(clock, work)
    del kept


def save_checkpoint(folder, weights):
    """To the disk, so that it survives."""
    with open(os.path.join(folder, "checkpoint.npy"), "wb") as file:
        np.save(file, weights)
        file.flush()
        os.fsync(file.fileno())


def checkpointing(clock, cause, inside):
    model, weights = Model(), np.ones((8, 1024, 1024), "float32")
    model.step()
    with tempfile.TemporaryDirectory() as folder:

        def save(number):
            if cause and number % 5 == 2:
                with clock.planting():
                    save_checkpoint(folder, weights)

        with profile(clock):
            for number in range(15):
                clock.begin()
                with mark(number):
                    model.step()
                    if inside:
                        save(number)
                clock.end()
                if not inside:
                    save(number)
            clock.stop()


def jax_checkpoint_between(clock, cause):
    checkpointing(clock, cause, inside=False)


def jax_checkpoint_inside(clock, cause):
    checkpointing(clock, cause, inside=True)


def jax_busy_thread(clock, cause):
    """Another thread holds the interpreter: whoever lets go of it waits to get it back."""
    model, done = Model(layers=4), threading.Event()

    def spin():
        total = 0
        while not done.is_set():
            for number in range(1000):
                total += number * number

    def work(number):
        for _ in range(4):
            model.step()

    other = threading.Thread(target=spin, name="spinning", daemon=True)
    if cause:
        other.start()
    loop(clock, work)
    done.set()
    if cause:
        other.join()


def jax_two_causes(clock, cause):
    """A generator of batches sleeps 10 ms and the step 25: the longer one is the planted cause."""
    model = Model(layers=6)

    def generated():
        while True:
            time.sleep(0.01)
            yield None

    batches = generated()

    def work(number):
        model.step(next(batches))
        if cause:
            with clock.planting():
                time.sleep(0.025)

    loop(clock, work)


main(
    [
        jax_sleep_inside,
        jax_sleep_inside_untraced,
        jax_sleep_between,
        jax_sleep_between_untraced,
        jax_numpy_inside,
        jax_collecting_garbage,
        jax_checkpoint_between,
        jax_checkpoint_inside,
        jax_busy_thread,
        jax_two_causes,
    ]
)
