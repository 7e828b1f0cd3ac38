"""Reads profiler captures of TensorFlow, JAX and PyTorch/XLA, and answers questions about them.

``open("logs").tool("overview_page")`` gives what the Summary shows: named tables and facts, as plain data.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .runtime.version import __version__

if TYPE_CHECKING:
    from .api import Capture

__all__ = ["__version__", "open", "sessions"]

# Modules that others import by the paths that these had.
__path__.append(os.path.join(__path__[0], "compat", "paths"))


def open(path: str | os.PathLike[str], executor: str = "") -> Capture:
    """The capture at a path: a logdir (its newest session), a run folder or a single file.

    What works on its hosts is told as ``tb-profile --executor`` takes it, e.g. ``dask://scheduler:8786``.
    Raises `ProblemError` where there is none. Nothing is decoded before a tool is asked.
    """
    # TensorBoard imports this package at its start, whether or not there is anything to profile.
    from .api import Capture

    return Capture.at(path, executor)


def sessions(logdir: str | os.PathLike[str], executor: str = "") -> list[Capture]:
    """All captures below a folder (or ``name:path,name:path``), the newest first; none is decoded yet."""
    from .api import Capture

    return Capture.below(logdir, executor)


def __dir__() -> list[str]:
    return __all__
