"""A pipeline that ends in prefetch() and is cut short by take()."""

import sys
import time

import tensorflow as tf
from measured import write

data = tf.data.Dataset.range(64).map(lambda x: tf.ones((64, 64)) * tf.cast(x, tf.float32)).batch(4)
batches = iter(data.repeat().prefetch(2).take(12))


@tf.function
def step(x):
    return tf.reduce_sum(tf.linalg.matmul(x, x))


step(next(batches))
times = []
with tf.profiler.experimental.Profile(sys.argv[1]):
    for number in range(6):
        began = time.perf_counter()
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(next(batches)).numpy()
        times.append(time.perf_counter() - began)
write(sys.argv[1], times)
