"""A model that waits for its input: records are read, resized one by one and not prefetched."""

import sys

import numpy as np
import tensorflow as tf

with tf.io.TFRecordWriter("images.tfrecord") as writer:
    for image in np.random.randint(0, 255, (64, 96, 96, 3), np.uint8):
        writer.write(tf.io.encode_jpeg(image).numpy())


def load(record):
    image = tf.image.resize(tf.io.decode_jpeg(record), (2048, 2048), "bicubic")
    return tf.image.resize(image, (32, 32))


# TensorFlow would prefetch by itself, inside a fused map and batch too, and whether it keeps up depends on the machine.
options = tf.data.Options()
options.experimental_optimization.inject_prefetch = False
options.experimental_optimization.map_and_batch_fusion = False
data = tf.data.TFRecordDataset(["images.tfrecord"]).repeat().map(load).batch(4).with_options(options)
weight = tf.Variable(tf.random.normal((3, 4)))


@tf.function
def step(x):
    return tf.reduce_sum(tf.linalg.matmul(x, weight))


batches = iter(data)
step(next(batches))
with tf.profiler.experimental.Profile(sys.argv[1]):
    for number in range(4):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(next(batches))
