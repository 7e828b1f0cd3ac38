"""A small program that trains, with its profiler started: so that anybody can try a capture.

``python -m tb_profile_plugin.capture.demo`` prints the address of its profiler and trains until its input ends.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..problems import Problem, ProblemError

_END_S = 20.0


@contextmanager
def training(python: str = sys.executable) -> Iterator[str]:
    """A program that trains meanwhile; gives the address of its profiler.

    Raises `ProblemError` where that Python has neither TensorFlow nor JAX.
    """
    command = [python, "-m", __name__]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) as program:
        assert program.stdin and program.stdout and program.stderr
        log: list[str] = []
        reader = threading.Thread(target=log.extend, args=(program.stderr,), daemon=True)
        reader.start()
        try:
            address = program.stdout.readline().strip()
            if not address:
                reader.join()
                what = log[-1].strip() if log else "it said nothing"
                remedy = "Install one of them: pip install tensorflow, or pip install jax."
                raise ProblemError(Problem("no_demo", f"The training program did not start: {what}.", remedy, python))
            yield address
        finally:
            program.stdin.close()
            try:
                program.wait(_END_S)
            except subprocess.TimeoutExpired:
                program.kill()
            reader.join()


def main() -> None:
    """Train with what is installed."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if importlib.util.find_spec("tensorflow"):
        step = _tensorflow(port)
    elif importlib.util.find_spec("jax"):
        step = _jax(port)
    else:
        sys.exit("this Python has neither TensorFlow nor JAX")
    step(0)
    print(f"localhost:{port}", flush=True)
    listener = threading.Thread(target=sys.stdin.read, daemon=True)
    listener.start()
    number = 1
    while listener.is_alive():
        step(number)
        number += 1
    # Frameworks take long to put everything away, and nothing here is worth it.
    os._exit(0)


def _tensorflow(port: int) -> Callable[[int], Any]:
    tf = importlib.import_module("tensorflow")
    tf.profiler.experimental.server.start(port)
    images, labels = tf.random.normal((512, 16, 16, 3)), tf.random.uniform((512,), maxval=10, dtype=tf.int32)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(256).batch(32).repeat().prefetch(2)
    kernel = tf.Variable(tf.random.normal((3, 3, 3, 8), stddev=0.1))
    weights = tf.Variable(tf.random.normal((16 * 16 * 8, 10), stddev=0.1))

    @tf.function  # type: ignore[untyped-decorator]
    def train(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            hidden = tf.reshape(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME")), (-1, 16 * 16 * 8))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=hidden @ weights)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip((kernel, weights), tape.gradient(loss, (kernel, weights)), strict=True):
            variable.assign_sub(0.01 * gradient)

    batches = iter(data)

    def step(number: int) -> None:
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            train(*next(batches))

    return step


def _jax(port: int) -> Callable[[int], Any]:
    jax = importlib.import_module("jax")
    jax.profiler.start_server(port)
    keys = jax.random.split(jax.random.key(0), 4)
    state = [jax.random.normal(keys[0], (256, 512)) * 0.1, jax.random.normal(keys[1], (512, 10)) * 0.1]
    x, y = jax.random.normal(keys[2], (128, 256)), jax.random.normal(keys[3], (128, 10))

    def loss(weights: Any) -> Any:
        return ((jax.numpy.tanh(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    @jax.jit  # type: ignore[untyped-decorator]
    def train(weights: Any) -> Any:
        return [w - 0.1 * gradient for w, gradient in zip(weights, jax.grad(loss)(weights), strict=True)]

    def step(number: int) -> None:
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            state[:] = jax.block_until_ready(train(state))

    return step


if __name__ == "__main__":
    main()
