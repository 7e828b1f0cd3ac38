"""Captures a TensorFlow run of so many steps, with a tf.data pipeline: about 28 kB and 1,000 events a step."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

steps, target = int(sys.argv[1]), Path(sys.argv[2])
layers = [tf.keras.layers.Dense(32, activation="relu") for _ in range(6)]
model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
model.build((None, 32))
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensor_slices((np.random.rand(2048, 32).astype("f"), np.random.randint(0, 10, 2048)))
data = data.map(lambda x, y: (x + 1.0, y), num_parallel_calls=2).shuffle(512).batch(8).repeat().prefetch(2)


@tf.function  # type: ignore[untyped-decorator]
def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """One step of training."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


batches = iter(data)
step(*next(batches))
with tempfile.TemporaryDirectory() as folder:
    with tf.profiler.experimental.Profile(folder, tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)):
        for number in range(steps):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                step(*next(batches))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(next(Path(folder).rglob("*.xplane.pb")), target)
