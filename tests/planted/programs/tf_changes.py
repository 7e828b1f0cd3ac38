"""TensorFlow: changes that a comparison is held to; `cause` is the changed program."""

import time

import numpy as np
import tensorflow as tf
from clock import main
from tf_loop import SIZE, Model, as_written, loop

SHAPE = (256, SIZE)


def tf_extra_matmul(clock, cause):
    """One more matmul, of a size of its own."""
    more = tf.ones((512, 768))

    @tf.function
    def step(x, weight):
        for _ in range(8):
            x = tf.tanh(tf.linalg.matmul(x, weight))
        total = tf.reduce_sum(x)
        if cause:
            total += tf.reduce_sum(tf.linalg.matmul(more, more, transpose_b=True, name="extra"))
        return total

    x, weight = tf.ones(SHAPE), tf.eye(SIZE)
    loop(clock, lambda number: step(x, weight).numpy(), steps=20)


def tf_prefetch_removed(clock, cause):
    """The input goes on during the steps, or each waits for it."""

    def load():
        time.sleep(0.01)
        return np.ones(SHAPE, "float32")

    data = tf.data.Dataset.range(1000).map(lambda _: tf.py_function(load, [], tf.float32))
    data = data.map(lambda x: tf.ensure_shape(x, SHAPE))
    data = as_written(data)
    source, model = iter(data if cause else data.prefetch(2)), Model(40)
    loop(clock, lambda number: model.step(next(source)), steps=20)


def tf_map_sleeps(clock, cause):
    """3 ms more in the map."""

    def load():
        if cause:
            time.sleep(0.003)
        return np.ones(SHAPE, "float32")

    data = tf.data.Dataset.range(1000).map(lambda _: tf.py_function(load, [], tf.float32))
    data = data.map(lambda x: tf.ensure_shape(x, SHAPE))
    source, model = iter(as_written(data)), Model(4)
    loop(clock, lambda number: model.step(next(source)), steps=20)


def tf_batch_doubled(clock, cause):
    """Twice as many rows in each step."""
    model, batch = Model(), tf.ones((512 if cause else 256, SIZE))
    loop(clock, lambda number: model.step(batch), steps=20)


def tf_same(clock, cause):
    """Nothing is changed."""
    model = Model()
    loop(clock, lambda number: model.step(), steps=20)


def tf_leak(clock, cause):
    """One tensor of each step is kept."""
    model, kept = Model(), []

    @tf.function
    def grown(x):
        return x + 1.0

    x = tf.ones((512, 512))

    def work(number):
        model.step()
        kept.append(grown(x))
        if not cause:
            kept.clear()

    loop(clock, work, steps=20)


main([tf_extra_matmul, tf_prefetch_removed, tf_map_sleeps, tf_batch_doubled, tf_same, tf_leak])
