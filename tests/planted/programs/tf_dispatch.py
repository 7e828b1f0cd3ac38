"""TensorFlow: tracing, compiling and small ops in each step, sleeping, calling Python; and steps that just compute."""

import time

import tensorflow as tf
from clock import main
from tf_loop import Model, loop, mark


def tf_new_function(clock, cause):
    """tf.function in the step: each is traced anew."""
    x = tf.eye(64)

    def body(x):
        for _ in range(60):
            x = tf.tanh(tf.linalg.matmul(x, x)) + 1.0
        return x

    kept = tf.function(body)
    loop(clock, lambda number: (tf.function(lambda x: body(x)) if cause else kept)(x).numpy())


def tf_new_shape(clock, cause):
    """jit_compile with a batch of another size each step: all is compiled anew."""

    @tf.function(jit_compile=True, reduce_retracing=False)
    def step(x):
        for _ in range(4):
            x = tf.tanh(tf.linalg.matmul(x, x, transpose_b=True)) @ x
        return x

    loop(clock, lambda number: step(tf.ones((64 + number if cause else 64, 64))).numpy(), steps=10)


def tf_tiny_eager(clock, cause, **how):
    x = tf.ones((8, 8))

    def body(value):
        for _ in range(500):
            value = tf.tanh(value * 0.5 + 0.25)
        return value

    step = body if cause else tf.function(body)
    loop(clock, lambda number: step(x).numpy(), **how)


def tf_tiny_eager_unmarked(clock, cause):
    tf_tiny_eager(clock, cause, marked=False)


def tf_large_eager(clock, cause):
    """Nothing to blame: six large ops take twice as long as three."""
    x = tf.eye(1024)

    def work(number):
        value = x
        for _ in range(6 if cause else 3):
            value = tf.linalg.matmul(value, x)
        value.numpy()

    loop(clock, work)


def tf_more_layers(clock, cause, **how):
    """Nothing to blame: more layers take longer."""
    model = Model(layers=48 if cause else 24)
    loop(clock, lambda number: model.step(), **how)


def tf_more_layers_unmarked(clock, cause):
    tf_more_layers(clock, cause, marked=False)


def tf_callback(clock, cause):
    """Python in the middle of a graph, which waits for it."""
    model = Model()

    def python(x):
        with clock.planting():
            time.sleep(0.02)
        return x

    @tf.function
    def step(x):
        x = tf.tanh(tf.linalg.matmul(x, model.weight))
        if cause:
            x = tf.ensure_shape(tf.numpy_function(python, [x], tf.float32), x.shape)
        return model.update(x)

    loop(clock, lambda number: step(model.batch).numpy())


def tf_small_loop(clock, cause):
    """A loop of thousands of tiny ops within a function, which leave no events."""

    @tf.function
    def step(x):
        for _ in tf.range(2000 if cause else 20):
            x = tf.tanh(x * 0.9)
        return x

    x = tf.ones((8, 8))
    loop(clock, lambda number: step(x).numpy())


def tf_printing(clock, cause):
    """tf.print of much in the function."""
    model = Model()

    @tf.function
    def step(x):
        for _ in range(6):
            x = tf.tanh(tf.linalg.matmul(x, model.weight))
            if cause:
                tf.print(x, summarize=500, output_stream="file:///dev/null")
        return model.update(x)

    loop(clock, lambda number: step(model.batch).numpy())


def tf_callback_in_loop(clock, cause):
    """The training loop is in the function, and calls Python in each iteration."""
    model = Model()

    def python(x):
        with clock.planting():
            time.sleep(0.02)
        return x

    def turn(x):
        clock.begin()
        return x

    @tf.function
    def steps(count):
        loss = tf.zeros(())
        for _ in tf.range(count):
            loss = tf.ensure_shape(tf.numpy_function(turn, [loss], tf.float32), ())
            loss = model.update(model.batch + 0 * loss)
            if cause:
                loss = tf.ensure_shape(tf.numpy_function(python, [loss], tf.float32), ())
        return loss

    count = tf.constant(12)
    steps(tf.constant(1)).numpy()
    clock.begun, clock.entered, clock.lost = [], [], []
    with tf.profiler.experimental.Profile(clock.folder):
        steps(count).numpy()
        clock.stop()


def tf_sleep_inside(clock, cause, **how):
    model = Model()

    def work(number):
        if cause:
            with clock.planting():
                time.sleep(0.02)
        model.step()

    loop(clock, work, **how)


def tf_sleep_between(clock, cause):
    model = Model()
    model.step()
    with tf.profiler.experimental.Profile(clock.folder):
        for number in range(12):
            clock.begin()
            with mark(number):
                model.step()
            clock.end()
            if cause:
                with clock.planting():
                    time.sleep(0.02)
        clock.stop()


main(
    [
        tf_new_function,
        tf_new_shape,
        tf_tiny_eager,
        tf_tiny_eager_unmarked,
        tf_large_eager,
        tf_more_layers,
        tf_more_layers_unmarked,
        tf_callback,
        tf_callback_in_loop,
        tf_small_loop,
        tf_printing,
        tf_sleep_inside,
        tf_sleep_between,
    ]
)
