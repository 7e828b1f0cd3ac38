"""Keras on the CPU: steps before and after what a remedy says; the clock runs while no profiler does."""

import time

import keras
import numpy as np
import tensorflow as tf
from clock import main

FIRST, STEPS = 4, 8


def fit(clock, data):
    """Measured first, then captured."""
    layers = [keras.layers.Dense(128, activation="tanh") for _ in range(8)]
    net = keras.Sequential([keras.layers.Input((32,)), *layers, keras.layers.Dense(1)])
    net.compile("adam", "mse")
    net.fit(data, verbose=0)
    net.fit(data, verbose=0, callbacks=[Measured(clock)])
    net.fit(data, verbose=0, callbacks=[Captured(clock.folder)])


class Measured(keras.callbacks.Callback):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def on_train_batch_begin(self, batch, logs=None):
        if FIRST <= batch < FIRST + STEPS:
            self.clock.begin()
        if batch == FIRST + STEPS:
            self.clock.stop()


class Captured(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def on_train_batch_begin(self, batch, logs=None):
        if batch == FIRST:
            tf.profiler.experimental.start(self.folder)

    def on_train_batch_end(self, batch, logs=None):
        if batch == FIRST + STEPS:
            tf.profiler.experimental.stop()


def batches(count=16):
    return np.random.rand(64 * count, 32).astype("float32"), np.random.rand(64 * count, 1).astype("float32")


class Slow(keras.utils.PyDataset):
    """Each batch takes 20 ms to make."""

    def __len__(self):
        return 16

    def __getitem__(self, index):
        time.sleep(0.02)
        return batches(1)


def keras_py_dataset(clock, cause):
    """One worker makes the batches, or eight."""
    fit(clock, Slow(workers=1 if cause else 8))


def keras_check_numerics(clock, cause):
    """Each op's result is looked through for NaN; this cannot be undone for functions that were traced before."""
    if cause:
        tf.debugging.enable_check_numerics()
    data = tf.data.Dataset.from_tensor_slices(batches()).batch(64).prefetch(4)
    try:
        fit(clock, data)
    finally:
        if cause:
            tf.debugging.disable_check_numerics()


main([keras_py_dataset, keras_check_numerics])
