"""The mistake that the guide warns of: the loop waits for its input outside the mark of the step."""

import sys
import time

import tensorflow as tf


def slow(x):
    time.sleep(0.02)
    return x


data = (
    tf.data.Dataset.range(12).map(lambda x: tf.py_function(slow, [x], tf.int64)).map(lambda x: tf.fill((64, 64), 1.0))
)


@tf.function
def train(x):
    return tf.reduce_sum(tf.matmul(x, x))


with tf.profiler.experimental.Profile(sys.argv[1]):
    for step, batch in enumerate(data):
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            train(batch)
