"""TensorFlow: batches from tf.data."""

import time

import numpy as np
import tensorflow as tf
from clock import Clock, main
from tf_loop import SIZE, Model, as_written, loop, mark

SHAPE = (256, SIZE)


def sleeping(clock, cause, seconds=0.03):
    def load():
        if cause:
            with clock.planting():
                time.sleep(seconds)
        return np.ones(SHAPE, "float32")

    return load


def from_py_function(clock, cause, seconds=0.03):
    load = sleeping(clock, cause, seconds)
    data = tf.data.Dataset.range(1000).map(lambda _: tf.py_function(load, [], tf.float32))
    return data.map(lambda x: tf.ensure_shape(x, SHAPE))


def tf_py_function(clock, cause, **how):
    model, source = Model(), iter(as_written(from_py_function(clock, cause)))
    loop(clock, lambda number: model.step(next(source)), **how)


def tf_py_function_unmarked(clock, cause):
    tf_py_function(clock, cause, marked=False)


def tf_py_function_outside(clock, cause):
    """The loop takes its batch before the mark."""
    model, source = Model(), iter(as_written(from_py_function(clock, cause)))
    model.step(next(source))
    with tf.profiler.experimental.Profile(clock.folder):
        for number in range(12):
            clock.begin()
            batch = next(source)
            clock.enter()
            with mark(number):
                model.step(batch)
            clock.end()
        clock.stop()


def waiting(clock, data, layers):
    """What counts is how long the loop waits, not how long the pipeline takes."""
    model, source = Model(layers), iter(data)

    def work(number):
        with clock.planting():
            batch = next(source)
        model.step(batch)

    loop(clock, work)


def tf_py_function_ahead(clock, cause):
    """As TensorFlow improves it by itself: the map goes on during the step, and the rest of its time is waited for."""
    waiting(clock, from_py_function(Clock(clock.folder), cause, seconds=0.06), layers=20)


def tf_generator(clock, cause):
    load = sleeping(clock, cause)

    def batches():
        while True:
            yield load()

    data = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec(SHAPE, tf.float32))
    model, source = Model(), iter(as_written(data))
    loop(clock, lambda number: model.step(next(source)))


def tf_py_function_prefetched(clock, cause):
    """Steps are longer than the sleep: nothing waits."""
    waiting(clock, from_py_function(Clock(clock.folder), cause).prefetch(2), layers=80)


def sort(times):
    """Work on one thread."""

    def sorted_often(x):
        for _ in range(times):
            x = tf.sort(x, axis=1)[:, ::-1]
        return x

    data = tf.data.Dataset.from_tensors(tf.random.uniform(SHAPE)).repeat()
    return as_written(data.map(sorted_often))


def tf_map(clock, cause):
    """All the work of the input is in one map, without parallel calls."""
    waiting(clock, sort(8 if cause else 0), layers=12)


def tf_map_prefetched(clock, cause):
    """Some such work, while longer steps go on: nothing waits."""
    waiting(clock, sort(2 if cause else 0).prefetch(4), layers=80)


main(
    [
        tf_py_function,
        tf_py_function_unmarked,
        tf_py_function_outside,
        tf_py_function_ahead,
        tf_generator,
        tf_py_function_prefetched,
        tf_map,
        tf_map_prefetched,
    ]
)
