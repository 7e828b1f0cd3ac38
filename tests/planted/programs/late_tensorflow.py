"""Workers of TensorFlow's MultiWorkerMirroredStrategy on the CPU."""

import json
import os
import time

import tensorflow as tf
from late_workers import SLEEP_S, STEPS, WARM_STEPS

SIZE = 256


def rows(worker):
    """A pipeline of batches; late where that is the fault."""

    def read(batch):
        time.sleep(SLEEP_S)
        return batch

    data = tf.data.Dataset.from_tensors(tf.ones((worker.rows, SIZE))).repeat()
    if worker.fault == "input":
        data = data.map(lambda batch: tf.ensure_shape(tf.py_function(read, [batch], tf.float32), (worker.rows, SIZE)))
    return data


def work(worker):
    """Train, with one sum of the gradient in each step."""
    cluster = {"worker": [f"127.0.0.1:{port}" for port in worker.ports]}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": worker.rank}})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weight = tf.Variable(tf.eye(SIZE))

    @tf.function
    def gradient(x):
        for _ in range(worker.layers):
            x = tf.tanh(tf.linalg.matmul(x, weight))
        return tf.reduce_mean(x, axis=0)

    @tf.function
    def total(own):
        # The identity puts it on the replica's device, where the sum looks for it.
        of_replica = lambda own: tf.distribute.get_replica_context().all_reduce("sum", tf.identity(own))  # noqa: E731
        return strategy.run(of_replica, args=(own,))

    batches = iter(rows(worker))

    def step():
        batch = next(batches)
        worker.prepare()
        own = gradient(batch)
        own.numpy()
        worker.meet()
        total(own).numpy()

    for _ in range(WARM_STEPS):
        step()
    with tf.profiler.experimental.Profile(str(worker.folder)):
        for number in range(STEPS):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                step()
