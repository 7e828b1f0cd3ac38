"""Trains until its input ends, with a profiler server at the port that is named."""

import os
import sys
import threading
import time

import tensorflow as tf

tf.profiler.experimental.server.start(int(sys.argv[1]))
batches = iter(tf.data.Dataset.from_tensors(tf.ones((64, 64))).repeat().map(lambda x: x * 2.0).prefetch(1))
weights = tf.Variable(tf.ones((64, 64)))


@tf.function
def train(x):
    weights.assign_add(tf.matmul(x, weights) * 1e-9)


train(next(batches))
print("ready", flush=True)
reader = threading.Thread(target=sys.stdin.read, daemon=True)
reader.start()
step = 0
while reader.is_alive():
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train(next(batches))
    step += 1
    time.sleep(0.005)
os._exit(0)
