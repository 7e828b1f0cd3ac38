"""start() and stop() around a loop of one's own, with options that ask for Python calls."""

import sys

import tensorflow as tf

batches = iter(tf.data.Dataset.from_tensors(tf.ones((64, 64))).repeat().prefetch(1))
weights = tf.Variable(tf.ones((64, 64)))


@tf.function
def train(x):
    weights.assign_add(tf.matmul(x, weights) * 1e-6)


train(next(batches))
options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3, python_tracer_level=1, device_tracer_level=1)
tf.profiler.experimental.start(sys.argv[1], options)
for step in range(6):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train(next(batches))
tf.profiler.experimental.stop()
