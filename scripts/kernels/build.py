"""Compiles the package's kernels ahead.

`here` puts the library for this machine into the package, or says why it cannot and ends with 1. `wheels FOLDER` makes
a wheel with the library for each platform, of the wheel for any platform that lies in the folder.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def here() -> None:
    """The library in the package, made anew where it is missing or of other sources."""
    if not find_spec("numba"):
        sys.exit("There is no numba to compile the kernels with.")
    os.environ["TB_PROFILE_KERNELS"] = "numba"
    from tb_profile_plugin.runtime.jit import library

    if library.find_current_library():
        return
    from link import c_compiler, link_here

    if not (c_compiler() or find_spec("ziglang")):
        sys.exit("There is neither a C compiler nor the package ziglang to link the kernels with.")
    print("Compiling the kernels ahead (one to two minutes) …", flush=True)
    import llvmlite.binding as llvm
    from emit import emit
    from parts import compiled_side_by_side

    triple = llvm.get_process_triple()
    made = link_here(emit(compiled_side_by_side(), triple), triple)
    library.PATH.parent.mkdir(exist_ok=True)
    # A process that has the old one loaded keeps it.
    fresh = library.PATH.with_suffix(".new")
    fresh.write_bytes(made)
    fresh.replace(library.PATH)
    library.PATH.with_name(library.PATH.name + library.SEAL).write_text(library.seal(made))


def wheels(folder: Path) -> None:
    """A wheel for each platform beside the one for any."""
    from emit import emit
    from link import PLATFORMS, link
    from parts import compiled_side_by_side
    from wheels import with_library

    (plain,) = folder.glob("*-py3-none-any.whl")
    module = compiled_side_by_side()
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
