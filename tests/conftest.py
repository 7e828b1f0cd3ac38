"""What all tests share: a cache of their own, so that none finds what another or the user left; strict kernels; and
garbage that is sought among their own objects alone.
"""

import gc
import importlib
import os
import signal

import pytest
from hypothesis import settings

# How long an example takes is the machine's affair.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Before anything imports the package's kernels: where there is a library of these sources, a call for which it holds
# no compiled form is an error, and not only slow.
if "TB_PROFILE_KERNELS" not in os.environ:
    from tb_profile_plugin.runtime import jit

    if jit.way == "native":
        os.environ["TB_PROFILE_KERNELS"] = "native"
        importlib.reload(jit)


# Of tests that a shell runs in the background, programs that they start would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Half a million objects of modules and of tests stay until the end, and need not be looked through again."""
    gc.freeze()


@pytest.fixture(autouse=True)
def cache_directory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
