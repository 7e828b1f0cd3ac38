"""Every piece of code that the tf.data page offers runs as it stands, in TensorFlow."""

import subprocess
from pathlib import Path

import pytest
from frameworks import ENVIRONMENT, Python, python

from tb_profile_plugin.analysis.tfdata import snippets

__all__ = ["python"]

pytestmark = pytest.mark.slow

PIECES = [text for name, text in vars(snippets).items() if name.isupper() and isinstance(text, str)]
PIECES += [
    snippets.interleave(),
    snippets.shuffle(100),
    f"{snippets.PARALLEL_MAP}\n{snippets.CACHE}",
]
PIECES += [
    snippets.parallel_shards(call)
    for call in (".filter(keep)", ".batch(batch_size).unbatch()", ".padded_batch(batch_size, padded_shapes=[])")
]

RECORDS = """
import tensorflow as tf
for path in ("0.tfrecord", "1.tfrecord"):
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(4):
            writer.write(str(number).encode())
"""
TAKE = """
made = [each for each in list(globals().values()) if isinstance(each, tf.data.Dataset)]
assert made
for each in made:
    next(iter(each))
"""


def test_every_piece_runs_and_gives_an_element(python: Python, tmp_path: Path) -> None:
    lines = [RECORDS]
    for number, piece in enumerate(PIECES):
        path = tmp_path / f"{number}.py"
        path.write_text(snippets.runnable(piece) + "\n" + TAKE)
        lines.append(f"exec(compile(open({path.name!r}).read(), {piece!r}, 'exec'), {{}})")
    done = subprocess.run(
        [python, "-c", "\n".join(lines)], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
