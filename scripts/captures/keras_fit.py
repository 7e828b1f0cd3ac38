"""Keras as its tutorial has it: fit() with the TensorBoard callback, batches 10 to 15 profiled."""

import sys

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
model = tf.keras.Sequential([layers.Input((32,)), layers.Dense(64, activation="relu"), layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
x, y = np.random.rand(320, 32).astype("float32"), np.random.randint(0, 10, 320)
watch = tf.keras.callbacks.TensorBoard(sys.argv[1], profile_batch=(10, 15), write_graph=False)
model.fit(x, y, batch_size=16, epochs=1, verbose=0, callbacks=[watch])
