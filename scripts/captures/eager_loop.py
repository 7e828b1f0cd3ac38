"""TensorFlow without tf.function: many small ops in each step."""

import sys
import time

import tensorflow as tf
from measured import write

x = tf.random.normal((64, 64))


def step(x):
    for _ in range(20):
        x = tf.tanh(tf.linalg.matmul(x, x)) * 0.5
    return x


step(x)
times = []
with tf.profiler.experimental.Profile(sys.argv[1]):
    for number in range(4):
        began = time.perf_counter()
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            x = step(x)
        times.append(time.perf_counter() - began)
write(sys.argv[1], times)
