"""A loop of one's own: steps marked with Trace, input from tf.data with prefetch."""

import sys

import numpy as np
import tensorflow as tf

images, labels = np.random.rand(512, 32).astype("float32"), np.random.randint(0, 10, 512)
data = tf.data.Dataset.from_tensor_slices((images, labels))
data = data.map(lambda x, y: (x * 2.0, y), num_parallel_calls=2).shuffle(128).batch(32).repeat().prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
model.build((None, 32))
optimizer.build(model.trainable_variables)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


batches = iter(data)
step(*next(batches))
with tf.profiler.experimental.Profile(sys.argv[1]):
    for number in range(8):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(*next(batches))
