"""A loop that trains with TensorFlow under its profiler, which records no Python frames."""

from contextlib import nullcontext

import tensorflow as tf

SIZE = 512


class Model:
    """Its steps wait for their result, as loops do that print the loss."""

    def __init__(self, layers=12):
        self.layers = layers
        self.weight = tf.Variable(tf.eye(SIZE))
        self.batch = tf.ones((256, SIZE))

    @tf.function
    def update(self, batch):
        x = batch
        for _ in range(self.layers):
            x = tf.tanh(tf.linalg.matmul(x, self.weight))
        loss = tf.reduce_mean(x)
        self.weight.assign_sub(1e-6 * loss * tf.ones_like(self.weight))
        return loss

    def step(self, batch=None):
        return self.update(self.batch if batch is None else batch).numpy()


def mark(number, marked=True):
    return tf.profiler.experimental.Trace("train", step_num=number, _r=1) if marked else nullcontext()


def loop(clock, work, steps=12, marked=True, warm=True):
    """Steps that wait for what they do."""
    if warm:
        work(0)
    with tf.profiler.experimental.Profile(clock.folder):
        for number in range(steps):
            clock.begin()
            with mark(number, marked):
                work(number)
            clock.end()
        clock.stop()


def as_written(data):
    """TensorFlow would prefetch and run maps ahead by itself, and whether that keeps up depends on the machine."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.experimental_optimization.map_parallelization = False
    return data.with_options(options)
