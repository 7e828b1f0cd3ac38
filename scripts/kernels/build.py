"""Compiles the package's kernels ahead.

`here` puts the library for this machine into the package, where there is a C compiler to link it. `wheels FOLDER` makes
one with the library for each platform, of the wheel for any platform that lies in the folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def here() -> None:
    """The library in the package, made anew where it is missing or of other sources."""
    os.environ["TB_PROFILE_KERNELS"] = "numba"
    from tb_profile_plugin.jit import library

    if library.find():
        return
    if sys.platform == "win32" or not shutil.which(os.environ.get("CC", "cc")):
        print("There is no C compiler to link the kernels with: numba compiles them when they are first used.")
        return
    print("Compiling the kernels ahead (about half a minute) …", flush=True)
    import llvmlite.binding as llvm
    from compile import compiled, kernels
    from emit import emit
    from link import link_here

    made = link_here(emit(compiled(kernels()), llvm.get_process_triple()))
    library.PATH.parent.mkdir(exist_ok=True)
    # A process that has the old one loaded keeps it.
    fresh = library.PATH.with_suffix(".new")
    fresh.write_bytes(made)
    fresh.replace(library.PATH)


def wheels(folder: Path) -> None:
    """A wheel for each platform beside the one for any."""
    from compile import compiled, kernels
    from emit import emit
    from link import PLATFORMS, link
    from wheels import with_library

    (plain,) = folder.glob("*-py3-none-any.whl")
    module = compiled(kernels())
    for platform in PLATFORMS:
        library = link(emit(module, platform.triple), platform)
        made = with_library(plain, platform.tag, f"kernels{platform.suffix}", library)
        print(f"{made.name}: {made.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("here")
    verbs.add_parser("wheels").add_argument("folder", type=Path)
    asked = parser.parse_args()
    here() if asked.verb == "here" else wheels(asked.folder)
