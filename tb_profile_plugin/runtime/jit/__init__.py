"""``@jit`` makes a kernel of a Python function, and is all that other modules know of how kernels run.

The types of its parameters and of what it returns stand in its signature, by the names of `arrays`: an array of one
dtype and number of dimensions in C order, ``Int`` for int64, ``bool``, tuples and named tuples of these, and ``|``
between alternatives.
``kernel.py_func`` is the function itself. No index in it is negative, since compiled ahead none counts from the end.

There are three ways to run kernels, which give the same bytes: the `library` that scripts/kernels compiles ahead and
that wheels bring along, numba where it is installed, and plain Python. The first one that there is is taken, unless
`settings.KERNELS` names one; then nothing else is taken instead, not even for a single call. For little work, which the
command line does for small captures, numba is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from .. import settings
from ..problems import ProblemError, problem_error

logger = logging.getLogger(__name__)

_F = TypeVar("_F", bound=Callable[..., Any])

WAYS = ("native", "numba", "python")


def _interpreted(function: _F) -> _F:
    """Plain Python, where hashes overflow as they do in compiled code."""
    kernel: Any = wraps(function)(np.errstate(over="ignore")(function))
    kernel.py_func = function
    return kernel


def _selected_way() -> tuple[str, Any, Any]:
    """(one of `WAYS`, what makes a kernel, what makes one that is compiled into each kernel that calls it)."""
    wanted = settings.read(settings.KERNELS)
    if wanted not in ("", settings.LITTLE_WORK, *WAYS):
        raise _unusable(f"{settings.KERNELS}={wanted!r} is not a valid choice.", f"Use one of: {', '.join(WAYS)}.")
    if wanted in ("", settings.LITTLE_WORK, "native"):
        from . import library

        compiled = library.find_current_library(strict=wanted == "native")
        if compiled:
            return "native", compiled.kernel, compiled.kernel
        if wanted == "native":
            remedy = "Install a wheel for this platform; in a checkout, run scripts/build kernels."
            raise _unusable("The library of compiled functions is missing or outdated.", remedy)
    if wanted == "numba" or (not wanted and find_spec("numba")):
        from . import compiler

        return "numba", compiler.jit, compiler.inlined
    if wanted == settings.LITTLE_WORK:
        logger.warning("The library of compiled functions is missing: plain Python reads this small capture.")
    elif not wanted:
        logger.warning("The library of compiled functions and numba are missing: plain Python is slow.")
    return "python", _interpreted, _interpreted


def _unusable(message: str, remedy: str) -> ProblemError:
    return problem_error("kernels", message, remedy)


def compiled_share() -> float | None:
    """While kernels are being compiled, the share of all that is done; None while they are not."""
    if way != "numba":
        return None
    from . import compiler

    return compiler.compiled_share()


way: str
"""The one of `WAYS` that is taken."""
jit: Callable[[_F], _F]
inlined: Callable[[_F], _F]
"""What `jit` makes, but compiled into each kernel that calls it."""
way, jit, inlined = _selected_way()
