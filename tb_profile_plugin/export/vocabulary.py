"""Words that profilers, frameworks, compilers and kernel libraries put into names, and thus tell nothing of their user.

From the names of TensorFlow's and PyTorch's ops, Keras' and torch's layers, JAX's primitives, HLO's opcodes and XLA's
passes, of CUDA's and ROCm's runtimes and libraries, of threads and stats, and from what profilers say when something
fails. In lower case.
"""

from __future__ import annotations

from pathlib import Path

WORDS = frozenset(Path(__file__).with_name("vocabulary.txt").read_text("ascii").split())
