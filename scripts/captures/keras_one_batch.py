"""Keras with a single profiled batch, convolutions and a tf.data pipeline."""

import sys

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
model = tf.keras.Sequential(
    [layers.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu"), layers.Flatten(), layers.Dense(10)]
)
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images, labels = np.random.rand(160, 16, 16, 3).astype("float32"), np.random.randint(0, 10, 160)
data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(64).batch(16).prefetch(tf.data.AUTOTUNE)
watch = tf.keras.callbacks.TensorBoard(sys.argv[1], profile_batch=5, write_graph=False)
model.fit(data, epochs=1, verbose=0, callbacks=[watch])
