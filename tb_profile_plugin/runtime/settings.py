"""The environment variables that the package reads; an option of the command line or a server that says otherwise wins.

TensorBoard knows no option of ours, so that they are the way to set anything there; processes of an executor inherit
them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

EXECUTOR = "TB_PROFILE_EXECUTOR"
"""Where the hosts of a session are worked on: ``threads``, ``processes:4``, ``dask://scheduler:8786``.

Not set, in processes where they do not all stay decoded, else in threads.
"""
MEMORY_LIMIT = "TB_PROFILE_MEMORY_LIMIT"
"""Bytes (``8G``) that decoded captures may take, and one capture while it is read."""
CACHE_DIR = "TB_PROFILE_CACHE_DIR"
"""Folder of fetched captures and earlier results, instead of the user's cache directory."""
CACHE_LIMIT = "TB_PROFILE_CACHE_LIMIT"
"""Bytes (``50G``) that the cache may take; ``0`` keeps nothing."""
HIDE_CAPTURE = "TB_PROFILE_HIDE_CAPTURE"
"""``1`` takes the Capture button and its route away."""
JOIN = "TB_PROFILE_JOIN"
"""Which sessions are one: patterns of their names, such as ``job7/*``; ``never`` leaves all as they lie."""
LOGDIR = "TB_PROFILE_LOGDIR"
"""Set for commands that ``check --ab`` runs: the folder into which they write a capture."""
GITHUB_SUMMARY = "GITHUB_STEP_SUMMARY"
"""GitHub's own: a file whose Markdown is shown with a job."""
LANGUAGE = "TB_PROFILE_LANG"
"""Language of texts in a terminal: ``en``, ``ko``, ``ja`` or ``zh``; not set, the system's."""
KERNELS = "TB_PROFILE_KERNELS"
"""How kernels run (see `jit`), and no other way: ``native``, ``numba`` or ``python``; not set, the first there is."""
LITTLE_WORK = "short"
"""One more value of it, for little work: the library, or else plain Python, which is done before numba is loaded."""
DEFAULT_ROWS, DEFAULT_SECONDS = 10_000, 30
"""Limits of a query of SQL that states none; here, since the command line states them before it loads SQL."""
DEFAULT_THRESHOLD = 0.01
"""The smallest change of a step, as a share of it, that matters in practice; here for the same reason."""


def read(name: str) -> str:
    """What a variable says; empty where it is not set."""
    return os.environ.get(name, "")


def user_cache() -> Path:
    """The folder for what this user's programs can make anew; nothing says that it exists."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return Path(home, "Library", "Caches", "tb-profile")
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "tb-profile")
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "tb-profile")


_SMALL_BYTES = 500_000
"""Captures below take plain Python two seconds at most; numba takes one to load, and 18 the first time on a machine."""


def choose_kernels(size: int, is_compressed: bool) -> None:
    """Set `KERNELS` by the bytes of captures that one command will decode, before modules with kernels are imported."""
    if size < _SMALL_BYTES and not is_compressed:
        os.environ.setdefault(KERNELS, LITTLE_WORK)
