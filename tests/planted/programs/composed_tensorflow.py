"""Composed programs with TensorFlow on the CPU: Keras' fit(), and loops of one's own."""

import os
import tempfile
import time
from contextlib import nullcontext
from itertools import count

import keras
import numpy as np
import tensorflow as tf
from composed import decoy, main
from tf_loop import as_written

SIZE, ROWS = 512, 256
NEW = count()
"""What was never there before."""
EPOCH = 5


@tf.function
def small(x):
    return x + 1.0


class Base:
    """What both loops have: their input, and what each step may do too much."""

    def __init__(self, variant):
        self.variant = variant
        self.little = tf.ones([8])
        self.writer = None
        if variant.size("summary_each"):
            self.writer = tf.summary.create_file_writer(tempfile.mkdtemp())

    def data(self, *row):
        """Endless, and a batch ahead unless it is the fault."""
        variant, data = self.variant, tf.data.Dataset.from_tensors(row).repeat()

        def slow(*row):
            for name in ("python_map", "generator"):
                if variant.size(name):
                    variant.measured(name, lambda name=name: time.sleep(variant.size(name) / 1000))
            return np.float32(0)

        def generate():
            while True:
                slow()
                yield tuple(each.numpy() for each in row)

        if variant.size("generator"):
            signature = tuple(tf.TensorSpec(each.shape, each.dtype) for each in row)
            return as_written(tf.data.Dataset.from_generator(generate, output_signature=signature))
        if variant.size("python_map"):

            def in_python(x, *more):
                return x + tf.ensure_shape(tf.numpy_function(slow, [], tf.float32), []), *more

            return as_written(data.map(in_python))
        if size := variant.size("slow_map"):
            weight = tf.eye(SIZE)

            def heavy(x, *more):
                for _ in range(4 * size):
                    x = tf.tanh(x @ weight)
                return x, *more

            return as_written(data.map(heavy))
        return data.prefetch(2)

    def in_step(self, number):
        due = self.variant.due
        for _ in range(due("eager_ops", number)):
            self.little = self.little * 0.5 + 1.0
        for _ in range(due("read_each", number)):
            small(self.little).numpy()
        if due("new_function", number):
            tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ x)))(tf.eye(64))
        if due("python_argument", number):
            tf.function(lambda x, n: x + n)(self.little, next(NEW))
        for _ in range(due("summary_each", number)):
            with self.writer.as_default(step=number):
                tf.summary.histogram("weights", tf.ones([SIZE, 64]))

    def profile(self, folder):
        options = tf.profiler.experimental.ProfilerOptions(python_tracer_level=int(self.variant.program["traced"]))
        return tf.profiler.experimental.Profile(str(folder), options=options)

    def close(self):
        pass


class Custom(Base):
    """A loop of one's own around a tf.function."""

    def __init__(self, variant):
        super().__init__(variant)
        dtype = tf.float64 if variant.size("float64") else tf.float32
        self.weight = tf.Variable(tf.eye(SIZE, dtype=dtype))
        self.large = tf.ones([variant.size("larger_op") * 256 or 1, 2048])
        self.batches = iter(self.data(tf.ones([ROWS, SIZE], dtype)))
        self.update = tf.function(self._update)

    def _update(self, x):
        variant = self.variant
        for _ in range(6 + variant.size("more_layers")):
            x = tf.tanh(x @ self.weight)
        loss = tf.reduce_mean(x)
        if variant.size("numpy_function"):
            loss += tf.cast(tf.numpy_function(self._slow, [loss], tf.float32), loss.dtype)
        if variant.size("py_function"):
            loss += tf.cast(tf.py_function(self._slow, [loss], tf.float32), loss.dtype)
        if rows := variant.size("print_in_graph"):
            for _ in range(rows):
                tf.print("loss", loss, output_stream="file:///dev/null")
        if turns := variant.size("small_loop"):
            loss = tf.while_loop(lambda i, _: i < turns, lambda i, x: (i + 1, x * 0.5 + 1.0), [0, loss])[1]
        if variant.size("larger_op"):
            loss += tf.cast(tf.reduce_mean(tf.matmul(self.large, self.large, transpose_b=True)), loss.dtype) * 1e-9
        self.weight.assign_sub(1e-6 * loss * tf.ones_like(self.weight))
        return loss

    def _slow(self, loss):
        for name in ("numpy_function", "py_function"):
            if self.variant.size(name):
                self.variant.measured(name, lambda name=name: time.sleep(self.variant.size(name) / 1000))
        return np.float32(0)

    def step(self, number, batch):
        self.variant.strike("step", number)
        self.in_step(number)
        decoy(self.variant, number, tf.profiler.experimental.Trace)
        self.update(batch).numpy()

    def turns(self, steps):
        marks = self.variant.program["marks"]
        for number in range(steps):
            self.variant.clock.begin()
            with self.mark(number, marks == "turn"):
                self.variant.strike("input", number)
                (batch,) = next(self.batches)
                with self.mark(number, marks == "step"):
                    self.step(number, batch)
                self.variant.strike("between", number)
                if self.variant.due("save_each", number):
                    tf.train.Checkpoint(weight=self.weight).write(os.path.join(tempfile.mkdtemp(), "weights"))
            self.variant.clock.end()

    def mark(self, number, is_marked):
        return tf.profiler.experimental.Trace("train", step_num=number, _r=1) if is_marked else nullcontext()


class Keras(Base, keras.callbacks.Callback):
    """fit(), with what callbacks do in it."""

    def __init__(self, variant):
        Base.__init__(self, variant)
        keras.callbacks.Callback.__init__(self)
        self.made = keras.Sequential([keras.layers.Input((SIZE,))])
        for _ in range(4 + variant.size("more_layers")):
            self.made.add(keras.layers.Dense(SIZE, activation="tanh"))
        self.made.add(keras.layers.Dense(10))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.made.compile("sgd", loss, run_eagerly=bool(variant.size("run_eagerly")))
        self.batch = tf.ones([ROWS, SIZE]), tf.zeros([ROWS], tf.int32)
        self.batches = self.data(*self.batch)
        self.number = 0
        if variant.size("predict_each"):
            self.made.predict(self.batch[0], verbose=0)

    def on_train_batch_begin(self, batch, logs=None):
        self.variant.clock.begin()
        self.variant.strike("input", self.number)

    def on_train_batch_end(self, batch, logs=None):
        self.variant.strike("step", self.number)
        self.in_step(self.number)
        decoy(self.variant, self.number, tf.profiler.experimental.Trace)
        self.variant.strike("between", self.number)
        self.seldom()
        self.number += 1
        self.variant.clock.end()
        if self.number == self.steps:
            # What ends the last epoch is no part of a step.
            self.variant.clock.stop()

    def seldom(self):
        for _ in range(self.variant.due("predict_each", self.number)):
            self.made.predict(self.batch[0], batch_size=ROWS, verbose=0)
        if self.variant.due("save_each", self.number):
            with tempfile.TemporaryDirectory() as folder:
                self.made.save_weights(os.path.join(folder, "model.weights.h5"))

    def turns(self, steps):
        batches, validation = self.variant.size("validation"), {}
        each = min(EPOCH, steps) if batches else steps
        self.number, self.steps = 0, steps // each * each
        if batches:
            validation = {"validation_data": self.batches.take(batches)}
        epochs = steps // each
        self.made.fit(
            self.batches, steps_per_epoch=each, epochs=epochs, verbose=0, callbacks=[self], shuffle=False, **validation
        )


def make(variant):
    return (Keras if variant.program["loop"] == "keras" else Custom)(variant)


if __name__ == "__main__":
    main(make)
