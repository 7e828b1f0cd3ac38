"""A small program that trains, with its profiler started: so that anybody can try a capture.

``python -m tb_profile_plugin.capture.demo tensorflow`` (or jax) prints the address of its profiler and trains until its
input ends. PyTorch's profiler has no server: ``torch FOLDER`` trains a few steps and writes their trace there.
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
from pathlib import Path
from typing import Any

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error

FRAMEWORKS = ("tensorflow", "jax", "torch")
"""Packages of the frameworks in which the demo can train, the preferred one first."""
_END_S = 20.0
"""How long the program may take to end before it is killed."""
_TORCH_STEPS = 10


def installed_framework(framework: str = "") -> str:
    """The framework that this Python has: the one that is named, else the first; raises `ProblemError` for none."""
    candidates = [framework] if framework else FRAMEWORKS
    installed = next((name for name in candidates if importlib.util.find_spec(name)), "")
    if installed:
        return installed
    commands = [f"pip install {name}" for name in candidates]
    if framework:
        message = Message("The training program did not start: this Python has no {framework}.", framework=framework)
        remedy = Message("Install it: {command}.", command=commands[0])
    else:
        message = Message("The training program did not start: this Python has neither TensorFlow nor JAX nor PyTorch.")
        remedy = Message("Install a framework: {commands}.", commands=", ".join(commands))
    raise problem_error("no_demo", message, remedy, sys.executable)


@contextmanager
def training(framework: str) -> Iterator[str]:
    """A program that trains meanwhile in TensorFlow or JAX; gives the address of its profiler.

    Raises `ProblemError` where it does not start.
    """
    command = [sys.executable, "-m", __name__, framework]
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
                raise _not_started(framework, log)
            yield address
        finally:
            program.stdin.close()
            try:
                program.wait(_END_S)
            except subprocess.TimeoutExpired:
                program.kill()
            reader.join()


def torch_trace(folder: Path) -> Path:
    """The trace of a few steps in PyTorch on the CPU, in that folder; raises `ProblemError` where none was written."""
    process = subprocess.run([sys.executable, "-m", __name__, "torch", folder], capture_output=True, text=True)
    traces = sorted(folder.glob("*.pt.trace.json.gz"))
    if process.returncode or not traces:
        raise _not_started("torch", process.stderr.splitlines())
    return traces[-1]


def _not_started(framework: str, log: list[str]) -> ProblemError:
    remedy = Message(
        "Run it alone: {executable} -c 'import {framework}'.", executable=sys.executable, framework=framework
    )
    if log:
        message = Message("The training program did not start: {output}.", output=log[-1].strip())
    else:
        message = Message("The training program did not start and printed nothing.")
    return problem_error("no_demo", message, remedy, sys.executable)


def main(framework: str, folder: str = "") -> None:
    """Train in that framework."""
    if framework == "torch":
        _train_torch(folder)
        return
    with socket.create_server(("127.0.0.1", 0)) as free_socket:
        port = free_socket.getsockname()[1]
    step = _tensorflow_step(port) if framework == "tensorflow" else _jax_step(port)
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


def _tensorflow_step(port: int) -> Callable[[int], Any]:
    """A function that trains the step of a number; a profiler's server runs at the port."""
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


def _jax_step(port: int) -> Callable[[int], Any]:
    """What `_tensorflow_step` returns, in JAX."""
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


def _train_torch(folder: str) -> None:
    torch = importlib.import_module("torch")
    nn, profiler = torch.nn, importlib.import_module("torch.profiler")
    images = torch.utils.data.TensorDataset(torch.randn(512, 3, 16, 16), torch.randint(10, (512,)))
    batches = iter(torch.utils.data.DataLoader(images, batch_size=32, shuffle=True))
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16 * 16, 10))
    optimizer, loss = torch.optim.SGD(model.parameters(), 0.01), nn.CrossEntropyLoss()
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=1, warmup=1, active=_TORCH_STEPS, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(folder, use_gzip=True),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
    ) as recorder:
        for _ in range(2 + _TORCH_STEPS):
            x, y = next(batches)
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
            recorder.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
