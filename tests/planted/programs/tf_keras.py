"""Keras: fit() with the TensorBoard callback, which captures some of its batches."""

import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from clock import main

FIRST, LAST = 4, 15


class Board(keras.callbacks.TensorBoard):
    """With the clock of the captured batches; what starting and stopping the profiler takes is no part of them."""

    def __init__(self, clock):
        super().__init__(clock.folder, profile_batch=(FIRST, LAST), write_graph=False)
        self.clock, self.batches = clock, 0

    def on_train_batch_begin(self, batch, logs=None):
        super().on_train_batch_begin(batch, logs)
        self.batches += 1
        if FIRST <= self.batches <= LAST:
            self.clock.begin()

    def on_train_batch_end(self, batch, logs=None):
        if FIRST <= self.batches <= LAST:
            self.clock.end()
        if self.batches == LAST:
            self.clock.stop()
        super().on_train_batch_end(batch, logs)


def model(layers=6):
    made = keras.Sequential([keras.layers.Input((512,))])
    for _ in range(layers):
        made.add(keras.layers.Dense(512, activation="tanh"))
    made.add(keras.layers.Dense(10))
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return made


def fit(clock, made, callbacks=(), batch=256, batches=18):
    x, y = np.random.rand(batch * batches, 512).astype("float32"), np.random.randint(0, 10, batch * batches)
    made.fit(x, y, batch_size=batch, epochs=1, verbose=0, callbacks=[Board(clock), *callbacks])


def keras_slow_callback(clock, cause):
    class Slow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            with clock.planting():
                time.sleep(0.02)

    fit(clock, model(), [Slow()] if cause else [])


def keras_checkpoint(clock, cause):
    """The weights are written after each fifth batch."""

    class Save(keras.callbacks.ModelCheckpoint):
        def _save_model(self, *arguments, **options):
            with clock.planting():
                super()._save_model(*arguments, **options)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weights.h5")
        fit(clock, model(), [Save(path, save_weights_only=True, save_freq=5)] if cause else [])


def keras_evaluation(clock, cause):
    """Short epochs, each with an evaluation at its end."""
    made = model()
    x, y = np.random.rand(256 * 4, 512).astype("float32"), np.random.randint(0, 10, 256 * 4)
    made.evaluate(x, y, batch_size=256, verbose=0)

    class Evaluate(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch % 4 == 3:
                with clock.planting():
                    made.evaluate(x, y, batch_size=256, verbose=0)

    fit(clock, made, [Evaluate()] if cause else [])


def keras_input(clock, cause):
    """A Python generator of batches that sleeps."""
    made = model()

    def batches():
        x, y = np.random.rand(256, 512).astype("float32"), np.random.randint(0, 10, 256)
        while True:
            if cause:
                with clock.planting():
                    time.sleep(0.03)
            yield x, y

    signature = (tf.TensorSpec((256, 512), tf.float32), tf.TensorSpec((256,), tf.int64))
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    data = tf.data.Dataset.from_generator(batches, output_signature=signature).with_options(options)
    made.fit(data, steps_per_epoch=18, epochs=1, verbose=0, callbacks=[Board(clock)])


def keras_more_layers(clock, cause):
    """Nothing to blame: more layers take longer."""
    fit(clock, model(layers=24 if cause else 12), batch=512)


def keras_epochs(clock, cause):
    """Short epochs, and a callback at the end of each."""

    class Slow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if cause and batch % 6 == 5:
                with clock.planting():
                    time.sleep(0.2)

    fit(clock, model(), [Slow()])


def keras_run_eagerly(clock, cause):
    """``run_eagerly`` was left on after debugging."""
    made = keras.Sequential([keras.layers.Input((512,)), *(keras.layers.Dense(64, "relu") for _ in range(8))])
    made.compile("adam", "mse", run_eagerly=cause)
    x, y = np.random.rand(64 * 18, 512).astype("float32"), np.zeros((64 * 18, 64), "float32")
    made.fit(x, y, batch_size=64, epochs=1, verbose=0, callbacks=[Board(clock)])


class Profiled(keras.callbacks.Callback):
    """Captures 18 batches that nobody marks, over as many epochs as that takes; none ends with the last."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.batches = clock, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self.batches == 4:
            tf.profiler.experimental.start(self.clock.folder)
        if self.batches == 22:
            self.clock.stop()
            tf.profiler.experimental.stop()
            self.model.stop_training = True
        if 4 <= self.batches < 22:
            self.clock.begin()
        self.batches += 1


def keras_validation(clock, cause):
    """Epochs of four batches, each validated with six."""
    data = tf.data.Dataset.from_tensors((tf.random.normal((256, 512)), tf.zeros((256,), tf.int64))).repeat()
    validation = data.take(6) if cause else None
    many = 4 if cause else 100
    model().fit(
        data, epochs=30, steps_per_epoch=many, validation_data=validation, verbose=0, callbacks=[Profiled(clock)]
    )


main(
    [
        *(keras_epochs, keras_slow_callback, keras_checkpoint, keras_evaluation, keras_input, keras_more_layers),
        *(keras_run_eagerly, keras_validation),
    ]
)
