/** How captures are made, as code: what the page offers where there is none yet, and README. */

import { t } from "./messages";

export function recipes(logdir: string): readonly (readonly [string, string])[] {
  const folder = JSON.stringify(logdir || "logs");
  return [
    [
      t("A running program with a profiler server"),
      `tb-profile capture localhost:6009 ${/[\s'"]/.test(logdir) ? folder : logdir || "logs"} --duration 2s`,
    ],
    [
      "Keras",
      `callback = tf.keras.callbacks.TensorBoard(log_dir=${folder}, profile_batch=(10, 20))\nmodel.fit(dataset, epochs=1, callbacks=[callback])`,
    ],
    [
      t("TensorFlow, own loop"),
      `with tf.profiler.experimental.Profile(${folder}):\n    for step in range(20):\n        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):\n            train_step(next(batches))`,
    ],
    [
      "JAX",
      `with jax.profiler.trace(${folder}):\n    for step in range(20):\n        with jax.profiler.StepTraceAnnotation("train", step_num=step):\n            state = train_step(state, next(batches))\n    jax.block_until_ready(state)`,
    ],
  ];
}
