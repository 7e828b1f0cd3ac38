"""The code that helps a tf.data pipeline, each snippet ready to run: what stands for the reader's own is marked so."""

from __future__ import annotations

import re

_STAND_INS = {
    "paths": 'paths = ["0.tfrecord", "1.tfrecord"]  # yours',
    "dataset": "dataset = tf.data.Dataset.range(1000)  # yours",
    "batch_size": "batch_size = 32  # yours",
    "function": "\n\ndef function(element):  # yours\n    return tf.cast(element, tf.float32) / 255.0\n\n",
    "keep": "\n\ndef keep(element):  # yours\n    return element % 2 == 0\n\n",
}
"""Definitions of what snippets use that is the reader's own, by name, in the order in which they must stand."""


def runnable(code: str) -> str:
    """The code with imports and with stand-ins for what it uses but does not define; empty for empty code."""
    if not code:
        return ""
    imports = "import os\n\nimport tensorflow as tf\n" if "os." in code else "import tensorflow as tf\n"
    stand_ins = [
        definition
        for name, definition in _STAND_INS.items()
        if re.search(rf"\b{name}\b", code) and not _is_defined_in(code, name)
    ]
    separator = ("\n\n" if stand_ins else "\n") if code.startswith("def ") else ""
    return "\n".join([imports, *stand_ins, separator + code])


def _is_defined_in(code: str, name: str) -> bool:
    """Whether the first mention of a name in the code defines it."""
    return bool(re.match(rf"(?s)(?:(?!\b{name}\b).)*(?:def {name}\(|\b{name} = (?!{name}\b))", code))


def interleave(cycle_length: int = 8) -> str:
    """Reading several files at a time."""
    return (
        "dataset = tf.data.Dataset.from_tensor_slices(paths).interleave(\n"
        f"    tf.data.TFRecordDataset, cycle_length={cycle_length},\n"
        "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)"
    )


def parallel_shards(transformation: str) -> str:
    """A sequential transformation on parts of the data at a time; ``transformation`` is its call."""
    return (
        "def part(index):\n"
        f"    return dataset.shard(8, index){transformation}  # and what else is sequential\n\n\n"
        "parallel = tf.data.Dataset.range(8).interleave(\n"
        "    part, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)"
    )


PARALLEL_MAP = "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)"
CACHE = "dataset = dataset.cache()  # if the results fit into memory and are not random"
SHUFFLE_FIRST = "dataset = dataset.shuffle(1000)\n" + PARALLEL_MAP
BATCH_FIRST = (
    "dataset = dataset.batch(batch_size)\n"
    "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)  # on whole batches"
)
FILTER_FIRST = (
    "dataset = dataset.filter(keep)  # by what is cheap to read\n"
    "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)  # of what stays"
)
SHARD_FIRST = (
    "dataset = dataset.shard(num_shards, index)  # right after reading\n"
    "dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)  # of this worker's elements"
)
PREFETCH = "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last call on the dataset"
PARALLEL_BATCH = "dataset = dataset.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)"
CACHE_BEFORE_REPEAT = "dataset = dataset.map(function).cache().repeat()"
SHUFFLE_FILES = (
    "files = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths))\n"
    "dataset = files.interleave(tf.data.TFRecordDataset).shuffle(buffer_size=1000)"
)
GENERATORS = (
    "def numbers(part):  # yours: makes the elements of one part\n"
    "    yield from range(part, 1000, 4)\n\n\n"
    "def generate(part):\n"
    "    return tf.data.Dataset.from_generator(\n"
    "        numbers, args=[part], output_signature=tf.TensorSpec([], tf.int64))\n\n\n"
    "dataset = tf.data.Dataset.range(4).interleave(\n"
    "    generate, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)"
)
GENERATED_BATCHES = (
    "def batches():  # yours: makes a whole batch at a time\n"
    "    for begin in range(0, 1000, 32):\n"
    "        yield list(range(begin, min(begin + 32, 1000)))\n\n\n"
    "dataset = tf.data.Dataset.from_generator(\n"
    "    batches, output_signature=tf.TensorSpec([None], tf.int64))\n"
    "dataset = dataset.prefetch(tf.data.AUTOTUNE)"
)
ROW_NUMBERS = (
    'table = {"a": tf.range(1000), "b": tf.random.normal([1000])}  # yours: rows of all columns\n\n\n'
    "def gather(rows):\n"
    "    return tf.nest.map_structure(lambda column: tf.gather(column, rows), table)\n\n\n"
    "dataset = tf.data.Dataset.range(1000).shuffle(1000).batch(batch_size).map(gather)\n"
    "dataset = dataset.prefetch(tf.data.AUTOTUNE)"
)
WINDOWS = (
    "series = tf.random.normal([1000, 8])  # yours: a row for each moment\n"
    "size = 48  # rows of a window\n\n\n"
    "def gather(first_rows):\n"
    "    return tf.gather(series, first_rows[:, None] + tf.range(size, dtype=tf.int64))\n\n\n"
    "dataset = tf.data.Dataset.range(1000 - size + 1).shuffle(1000).batch(batch_size).map(gather)\n"
    "dataset = dataset.prefetch(tf.data.AUTOTUNE)"
)
TENSORFLOW_OPS = (
    "def function(element):  # of TensorFlow's ops instead of Python's\n"
    "    return tf.cast(element, tf.float32) / 255.0\n\n\n" + PARALLEL_MAP
)
FEWER_THREADS = (
    "options = tf.data.Options()\n"
    "options.threading.private_threadpool_size = max(1, (os.cpu_count() or 1) - 1)\n"
    "options.threading.max_intra_op_parallelism = 1\n"
    "dataset = dataset.with_options(options)"
)


def shuffle(buffer_size: int) -> str:
    """A shuffle with such a buffer."""
    return f"dataset = dataset.shuffle(buffer_size={buffer_size})"
