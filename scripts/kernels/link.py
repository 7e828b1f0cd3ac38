"""From an object file to a shared library that needs no other library, not even the system's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Platform(NamedTuple):
    """Where a library runs."""

    tag: str
    """Of its wheel."""
    triple: str
    """As LLVM names it."""
    linker: tuple[str, ...]
    """What makes zig link for it; output and object follow."""
    suffix: str


_LINUX = ("ld.lld", "-shared", "--strip-all", "--no-undefined", "-o")
_MACOS = ("build-lib", "-dynamic", "-fstrip", "-fno-compiler-rt", "--name", "kernels", "-target")
_WINDOWS = ("lld-link", "/dll", "/noentry", "/nodefaultlib", "/Brepro", "/noimplib")

PLATFORMS = (
    Platform("manylinux_2_17_x86_64.musllinux_1_1_x86_64", "x86_64-unknown-linux-gnu", _LINUX, ".so"),
    Platform("manylinux_2_17_aarch64.musllinux_1_1_aarch64", "aarch64-unknown-linux-gnu", _LINUX, ".so"),
    Platform("macosx_11_0_x86_64", "x86_64-apple-macosx11.0", (*_MACOS, "x86_64-macos.11.0"), ".dylib"),
    Platform("macosx_11_0_arm64", "arm64-apple-macosx11.0", (*_MACOS, "aarch64-macos.11.0"), ".dylib"),
    Platform("win_amd64", "x86_64-pc-windows-msvc", (*_WINDOWS, "/machine:x64"), ".dll"),
    Platform("win_arm64", "aarch64-pc-windows-msvc", (*_WINDOWS, "/machine:arm64"), ".dll"),
)


def link(code: bytes, platform: Platform) -> bytes:
    """The library of an object file, on any machine that has the Python package ziglang."""
    output = {".so": ["kernels.so"], ".dylib": ["-femit-bin=kernels.dylib"], ".dll": ["/out:kernels.dll"]}
    command = [sys.executable, "-m", "ziglang", *platform.linker, *output[platform.suffix], "kernels.o"]
    return _made(code, command, f"kernels{platform.suffix}")


def c_compiler() -> str:
    """This system's own, which can link for it; empty where there is none."""
    return "" if sys.platform == "win32" else shutil.which(os.environ.get("CC", "cc")) or ""


def link_here(code: bytes, triple: str) -> bytes:
    """The library of an object file for this machine, which LLVM names so: by its C compiler, or else by ziglang.

    Raises `SystemExit` where there is no C compiler, and ziglang links for other machines only.
    """
    compiler = c_compiler()
    if not compiler:
        for platform in PLATFORMS:
            if platform.triple.split("-")[:2] == triple.split("-")[:2]:
                return link(code, platform)
        raise SystemExit(f"There is no C compiler, and ziglang does not link for {triple}.")
    flags = ["-dynamiclib"] if sys.platform == "darwin" else ["-shared", "-nostdlib", "-s"]
    return _made(code, [compiler, *flags, "-o", "library", "kernels.o"], "library")


def _made(code: bytes, command: list[str], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.o").write_bytes(code)
        subprocess.run(command, cwd=folder, check=True)
        return Path(folder, name).read_bytes()
