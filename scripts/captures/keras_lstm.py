"""A Keras LSTM, whose time steps are a loop of TensorFlow's executor, trained with marks and without."""

import sys
import time

import numpy as np
import tensorflow as tf
from measured import write

model = tf.keras.Sequential([tf.keras.layers.Input((6, 8)), tf.keras.layers.LSTM(8), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()
optimizer.build(model.trainable_variables)
x, y = np.random.rand(16, 6, 8).astype("float32"), np.random.rand(16, 1).astype("float32")


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


step(x, y)
for name in ("marked", "unmarked"):
    times = []
    with tf.profiler.experimental.Profile(f"{sys.argv[1]}/{name}"):
        for number in range(4):
            began = time.perf_counter()
            if name == "marked":
                with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                    step(x, y).numpy()
            else:
                step(x, y).numpy()
            times.append(time.perf_counter() - began)
    write(f"{sys.argv[1]}/{name}", times)
