"""Two workers of a MultiWorkerMirroredStrategy on one machine; the second has more input work to do."""

import json
import os
import socket
import subprocess
import sys

if "TF_CONFIG" not in os.environ:
    ports = []
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    for each in sockets:
        ports.append(each.getsockname()[1])
        each.close()
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    workers = []
    for index in range(2):
        task = {"cluster": cluster, "task": {"type": "worker", "index": index}}
        command = [sys.executable, __file__, os.path.join(sys.argv[1], str(index))]
        workers.append(subprocess.Popen(command, env={**os.environ, "TF_CONFIG": json.dumps(task)}))
    sys.exit(max(worker.wait() for worker in workers))

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = strategy.cluster_resolver.task_id
with strategy.scope():
    weight = tf.Variable(tf.random.normal((64, 64)))


def heavy(x):
    for _ in range(1 + 20 * index):
        x = tf.tanh(tf.linalg.matmul(x, x))
    return x


data = tf.data.Dataset.from_tensors(tf.random.normal((64, 64))).repeat().map(heavy)


@tf.function
def step(x):
    def replica(x):
        total = tf.distribute.get_replica_context().all_reduce("sum", tf.linalg.matmul(x, weight))
        weight.assign_add(total * 1e-6)

    strategy.run(replica, args=(x,))


batches = iter(data)
step(next(batches))
tf.profiler.experimental.start(sys.argv[1])
for number in range(6):
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
        step(next(batches))
tf.profiler.experimental.stop()
