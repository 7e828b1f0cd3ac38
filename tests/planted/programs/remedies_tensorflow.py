"""Keras and loops of TensorFlow on the CPU: steps before and after what a remedy says; the clock runs while no
profiler does.
"""

import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from clock import main
from tf_loop import as_written, mark

FIRST, STEPS = 8, 8


def fit(clock, data, depth=8, at_once=1, **options):
    """Measured first, then captured."""
    layers = [keras.layers.Dense(128, activation="tanh") for _ in range(depth)]
    net = keras.Sequential([keras.layers.Input((32,)), *layers, keras.layers.Dense(1)])
    net.compile("adam", "mse", steps_per_execution=at_once)
    own = options.pop("callbacks", [])
    net.fit(data, verbose=0, callbacks=own, **options)
    net.fit(data, verbose=0, callbacks=[Measured(clock, at_once), *own], **options)
    net.fit(data, verbose=0, callbacks=[Captured(clock.folder), *own], **options)


class Measured(keras.callbacks.Callback):
    """Of batches that come one by one, or several at once."""

    def __init__(self, clock, at_once=1):
        super().__init__()
        self.clock, self.at_once = clock, at_once

    def on_train_batch_begin(self, batch, logs=None):
        if FIRST <= batch < FIRST + STEPS:
            for _ in range(self.at_once):
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
        if batch == FIRST + STEPS:
            tf.profiler.experimental.stop()


def batches(count=20):
    return np.random.rand(64 * count, 32).astype("float32"), np.random.rand(64 * count, 1).astype("float32")


class Slow(keras.utils.PyDataset):
    """Each batch takes 20 ms to make."""

    def __len__(self):
        return 20

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


def loop(clock, step, steps=STEPS, warm=2):
    """Measured first, then captured."""
    for _ in range(warm):
        step()
    for _ in range(steps):
        clock.begin()
        step()
    clock.stop()
    with tf.profiler.experimental.Profile(clock.folder):
        for number in range(steps):
            with mark(number):
                step()


def tensorflow_eager(clock, cause):
    """Ops of a step one by one, or as one graph."""

    def ops(x):
        for _ in range(120):
            x = tf.tanh(x * 0.9 + 0.1)
        return tf.reduce_sum(x)

    run, batch = ops if cause else tf.function(ops), tf.ones((16, 16))
    loop(clock, lambda: run(batch).numpy())


def keras_dispatch(clock, cause):
    """One step for each call, or eight."""
    data = tf.data.Dataset.from_tensor_slices(batches(32)).batch(64).prefetch(4)
    fit(clock, data, 2, 1 if cause else 8)


def tensorflow_input(clock, cause):
    """The next batch is made when it is needed, or ahead by other threads."""
    data = tf.data.Dataset.range(10_000).map(sorted_rows, None if cause else tf.data.AUTOTUNE)
    data = as_written(data if cause else data.prefetch(4))
    batches_of = iter(data)
    update, weight = _update(), tf.Variable(tf.eye(512))
    loop(clock, lambda: update(weight, next(batches_of)).numpy())


def sorted_rows(number):
    """Some milliseconds on one core."""
    values = tf.random.stateless_uniform((256, 512), tf.stack([number, number]))
    for _ in range(4):
        values = tf.sort(values, axis=1)
    return values


def _update():
    @tf.function
    def update(weight, batch):
        x = batch
        for _ in range(12):
            x = tf.tanh(tf.linalg.matmul(x, weight))
        loss = tf.reduce_mean(x)
        weight.assign_sub(1e-6 * loss * tf.ones_like(weight))
        return loss

    return update


def tensorflow_cache(clock, cause):
    """Each epoch of four batches reads and sorts them anew, or keeps them."""
    data = tf.data.Dataset.range(4).map(sorted_rows)
    data = as_written((data if cause else data.cache()).repeat())
    batches_of = iter(data)
    update, weight = _update(), tf.Variable(tf.eye(512))
    loop(clock, lambda: update(weight, next(batches_of)).numpy(), warm=5)


def tensorflow_python_input(clock, cause):
    """A generator in Python makes the batches, or ops of TensorFlow do."""

    def generated():
        while True:
            yield np.array([[np.tanh(value) for value in range(512)] for _ in range(8)], np.float32)

    if cause:
        data = tf.data.Dataset.from_generator(generated, output_signature=tf.TensorSpec((8, 512), tf.float32))
    else:
        rows = tf.range(512, dtype=tf.float32)
        data = tf.data.Dataset.range(10_000).map(lambda _: tf.tanh(tf.tile(rows[None], (8, 1))))
    batches_of = iter(as_written(data))
    update, weight = _update(), tf.Variable(tf.eye(512))
    loop(clock, lambda: update(weight, next(batches_of)).numpy())


def tensorflow_retrace(clock, cause):
    """A Python number, or a tensor, is an argument of a function."""

    @tf.function
    def scaled(x, rate):
        for _ in range(30):
            x = tf.tanh(x * rate)
        return tf.reduce_sum(x)

    batch = tf.ones((64, 64))

    def step():
        step.rate *= 0.99
        scaled(batch, step.rate if cause else tf.constant(step.rate)).numpy()

    step.rate = 1.0
    loop(clock, step)


def tensorflow_executor(clock, cause):
    """Thousands of tiny ops in a loop within the graph, or one program of XLA."""

    @tf.function(jit_compile=not cause)
    def run(x):
        for _ in tf.range(500):
            x = tf.tanh(x * 0.9)
        return x

    batch = tf.ones((4,))
    loop(clock, lambda: run(batch).numpy(), 4)


def tensorflow_py_function(clock, cause):
    """Python within the graph, or ops."""

    def ranked(x):
        return np.array([[np.tanh(value) for value in row] for row in x.numpy()[:16]], np.float32)

    @tf.function
    def run(x):
        x = tf.tanh(tf.linalg.matmul(x, x))
        y = tf.py_function(ranked, [x], tf.float32) if cause else tf.tanh(x[:16])
        return tf.reduce_sum(y)

    batch = tf.ones((512, 512)) / 512
    loop(clock, lambda: run(batch).numpy())


def keras_validation(clock, cause):
    """Validation after each epoch of eight steps, or after each tenth."""
    features, labels = batches(256)
    few = tf.data.Dataset.from_tensor_slices((features[:512], labels[:512])).batch(64)
    many = tf.data.Dataset.from_tensor_slices((features, labels)).batch(2048)
    fit_epochs(clock, few, validation_data=many, validation_freq=1 if cause else 10)


def fit_epochs(clock, data, **options):
    """Short epochs: measured first, then captured."""
    layers = [keras.layers.Dense(512, activation="tanh") for _ in range(3)]
    net = keras.Sequential([keras.layers.Input((32,)), *layers, keras.layers.Dense(1)])
    net.compile("adam", "mse")
    net.fit(data, verbose=0, epochs=4, **options)
    net.fit(data, verbose=0, epochs=5, callbacks=[MeasuredEpochs(clock)], **options)
    net.fit(data, verbose=0, epochs=5, callbacks=[CapturedEpochs(clock.folder)], **options)


class MeasuredEpochs(keras.callbacks.Callback):
    """From the second epoch on."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.epoch = clock, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if self.epoch:
            self.clock.begin()

    def on_train_end(self, logs=None):
        self.clock.stop()


class CapturedEpochs(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 1:
            tf.profiler.experimental.start(self.folder)

    def on_train_end(self, logs=None):
        tf.profiler.experimental.stop()


def tensorflow_checkpoint(clock, cause):
    """Variables are saved after each second step, or after the eighth."""
    variables = [tf.Variable(tf.ones((256, 256))) for _ in range(8)]
    saving = tf.train.Checkpoint(variables=variables)
    update, weight, batch = _update(), tf.Variable(tf.eye(512)), tf.ones((256, 512))
    done = 0

    def step():
        nonlocal done
        update(weight, batch).numpy()
        done += 1
        if done % (2 if cause else 8) == 0:
            saving.write(f"{clock.folder}-weights")

    loop(clock, step)
    for path in Path(clock.folder).parent.glob(f"{Path(clock.folder).name}-weights*"):
        path.unlink()


main(
    [
        keras_py_dataset,
        keras_check_numerics,
        tensorflow_eager,
        keras_dispatch,
        tensorflow_input,
        tensorflow_cache,
        tensorflow_python_input,
        tensorflow_retrace,
        tensorflow_executor,
        tensorflow_py_function,
        keras_validation,
        tensorflow_checkpoint,
    ]
)
