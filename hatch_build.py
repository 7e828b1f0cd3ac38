"""What a build makes and git does not hold: the messages' descriptors, the pages, and compiled kernels.

The build hook of hatchling makes them all, and thereby a wheel for this machine. Where kernels cannot be compiled, or
``TB_PROFILE_WHEEL=any`` says so, it is the wheel for any machine, whose kernels numba compiles at first use. With
``TB_PROFILE_WHEEL=later`` it makes the messages alone: an editable installation whose other parts scripts/setup makes.
``python hatch_build.py protos packages frontend`` makes any of them in a source tree; ``pages`` makes the frontend only
where it is of other sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "tb_profile_plugin"
DESCRIPTORS = PACKAGE / "protos.binpb"
STATIC = PACKAGE / "static"
NOTICES = STATIC / "notices.txt"
MADE_OF = STATIC / ".made-of"
"""A digest of the sources that the pages were built from."""
KERNELS = ROOT / "scripts" / "kernels"
PACKAGES = ROOT / "frontend" / "node_modules" / ".package-lock.json"
"""What npm writes when it has installed what the frontend is built with."""
FOR_ANY_MACHINE = os.environ.get("TB_PROFILE_WHEEL") == "any"
LATER = os.environ.get("TB_PROFILE_WHEEL") == "later"


def build_protos() -> None:
    """Compile protos/*.proto into one descriptor set; comments and sources stay out of it."""
    from grpc_tools import protoc

    folder = ROOT / "protos"
    names = sorted(path.name for path in folder.glob("*.proto"))
    arguments = ["protoc", f"--proto_path={folder}", f"--descriptor_set_out={DESCRIPTORS}", "--include_imports"]
    if protoc.main([*arguments, *names]) != 0:
        sys.exit("protos/*.proto do not compile; protoc's message is above.")


def run_npm(*words: str) -> None:
    """A verb of npm on the frontend."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("Building tb-profile-plugin needs npm (Node 20 or newer) on the PATH; its wheel needs neither.")
    if subprocess.run([npm, *words], cwd=ROOT / "frontend").returncode != 0:
        sys.exit(f"npm {words[0]} failed in frontend/; its message is above.")


def install_packages() -> None:
    """Install what the frontend is built and checked with, unless it is there as the lock file names it."""
    lock = ROOT / "frontend" / "package-lock.json"
    if not (PACKAGES.is_file() and PACKAGES.stat().st_mtime >= lock.stat().st_mtime):
        run_npm("ci", "--no-audit", "--no-fund")


def build_frontend() -> None:
    """Run the frontend's own build into the package."""
    install_packages()
    run_npm("run", "build")
    if not (STATIC / "index.js").is_file():
        sys.exit("The frontend's build left no index.js in tb_profile_plugin/static.")
    MADE_OF.write_text(sources_of_pages())


def make_pages() -> None:
    """Build the pages unless they are of these very sources."""
    if not (MADE_OF.is_file() and MADE_OF.read_text() == sources_of_pages()):
        build_frontend()


def sources_of_pages() -> str:
    """A digest of all that the pages are built from."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "frontend").rglob("*")):
        name = path.relative_to(ROOT / "frontend")
        if "node_modules" not in name.parts and path.is_file():
            digest.update(f"{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def start_kernels() -> subprocess.Popen[bytes]:
    """Makes the library of compiled kernels for this machine where it is missing; ends with 0 if it is there."""
    return subprocess.Popen([sys.executable, str(KERNELS / "build.py"), "here"])


class BuildHook(BuildHookInterface[Any]):
    """Runs before hatchling packs a wheel or installs in editable mode."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What kernels are compiled with, in the versions of developers."""
        if FOR_ANY_MACHINE or LATER:
            return []
        sys.path.insert(0, str(KERNELS))
        from link import c_compiler

        wanted = ("numba==",) if c_compiler() else ("numba==", "ziglang==")
        return [each for each in self.metadata.core.optional_dependencies["dev"] if each.startswith(wanted)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make all; hatchling takes them as the artifacts named in pyproject.toml and here."""
        build_protos()
        if LATER and version == "editable":
            return
        # One processor compiles them while another builds the pages.
        kernels = None if FOR_ANY_MACHINE else start_kernels()
        make_pages()
        self.metadata.core.license_files.append(NOTICES.relative_to(ROOT).as_posix())
        if not kernels:
            return
        if kernels.wait() != 0:
            self.app.display_warning("Kernels could not be compiled: numba compiles them when they are first used.")
        elif version == "standard":
            from packaging.requirements import Requirement
            from packaging.tags import platform_tags

            # Not one that promises to run on others' machines, too.
            own = next(tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))
            build_data |= {"tag": f"py3-none-{own}", "pure_python": False}
            build_data["artifacts"].append("/tb_profile_plugin/compiled/")
            needed = self.metadata.core.dependencies
            needed[:] = [each for each in needed if Requirement(each).name != "numba"]


if __name__ == "__main__":
    for target in sys.argv[1:] or ["protos", "frontend"]:
        {"protos": build_protos, "packages": install_packages, "frontend": build_frontend, "pages": make_pages}[
            target
        ]()
