"""What a build makes and git does not hold: the messages' descriptors and the pages.

The build hook of hatchling runs both; ``python hatch_build.py protos frontend`` makes either in a source tree.
"""

from __future__ import annotations

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


def build_protos() -> None:
    """Compile protos/*.proto into one descriptor set; comments and sources stay out of it."""
    from grpc_tools import protoc

    folder = ROOT / "protos"
    names = sorted(path.name for path in folder.glob("*.proto"))
    arguments = ["protoc", f"--proto_path={folder}", f"--descriptor_set_out={DESCRIPTORS}", "--include_imports"]
    if protoc.main([*arguments, *names]) != 0:
        sys.exit("protos/*.proto do not compile; protoc's message is above.")


def build_frontend() -> None:
    """Run the frontend's own build into the package."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("Building tb-profile-plugin needs npm (Node 20 or newer) on the PATH; its wheel needs neither.")
    for verb in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        if subprocess.run([npm, *verb], cwd=ROOT / "frontend").returncode != 0:
            sys.exit(f"npm {verb[0]} failed in frontend/; its message is above.")
    if not (STATIC / "index.js").is_file():
        sys.exit("The frontend's build left no index.js in tb_profile_plugin/static.")


class BuildHook(BuildHookInterface[Any]):
    """Runs before hatchling packs a wheel or installs in editable mode."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make both; hatchling takes them as the artifacts named in pyproject.toml."""
        build_protos()
        build_frontend()


if __name__ == "__main__":
    for target in sys.argv[1:] or ["protos", "frontend"]:
        {"protos": build_protos, "frontend": build_frontend}[target]()
