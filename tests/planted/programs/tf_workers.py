"""TensorFlow: two workers on one machine that add up what they have; the second comes late."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from clock import Clock, kinds

NAME = "tf_late_worker"


def start(folder, kind):
    """Both workers, each with a capture of its own; then the two as one session."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    cluster = {"worker": [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]}
    for each in sockets:
        each.close()
    workers = []
    for index in range(2):
        task = {"cluster": cluster, "task": {"type": "worker", "index": index}}
        command = [sys.executable, __file__, str(folder / str(index)), kind]
        workers.append(subprocess.Popen(command, env={**os.environ, "TF_CONFIG": json.dumps(task)}))
    if max(worker.wait() for worker in workers):
        sys.exit(1)
    run = folder / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    for index in range(2):
        [capture] = (folder / str(index)).rglob("*.xplane.pb")
        capture.rename(run / f"worker-{index}.xplane.pb")
    # Both take equally long; the late one knows how long it slept.
    (folder / "1" / "measured.json").rename(folder / "measured.json")


def work(folder, late):
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    index = strategy.cluster_resolver.task_id
    with strategy.scope():
        weight = tf.Variable(tf.eye(512))

    @tf.function
    def step(x):
        def replica(x):
            for _ in range(8):
                x = tf.tanh(tf.linalg.matmul(x, weight))
            total = tf.distribute.get_replica_context().all_reduce("sum", tf.reduce_mean(x, axis=0))
            weight.assign_add(total * 1e-6 * tf.ones_like(weight))
            return tf.reduce_sum(total)

        return strategy.run(replica, args=(x,))

    clock, x = Clock(folder), tf.eye(512)
    step(x)
    with tf.profiler.experimental.Profile(clock.folder):
        for number in range(12):
            clock.begin()
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                if late and index == 1:
                    with clock.planting():
                        time.sleep(0.05)
                step(x).numpy()
            clock.end()
        clock.stop()
    clock.write()


if "TF_CONFIG" in os.environ:
    work(sys.argv[1], sys.argv[2] == "with")
else:
    for kind in kinds():
        start(Path(sys.argv[1], NAME, kind), kind)
