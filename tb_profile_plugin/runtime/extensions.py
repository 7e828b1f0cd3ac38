"""Tools that other distributions bring: under the entry point group `GROUP`, names and the `Tool` of each."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tb_profile_plugin.tools"

logger = logging.getLogger(__name__)


def tools() -> Iterator[Any]:
    """What the entry points stand for; one that cannot be imported is left out, and said in the log."""
    for entry in _entry_points():
        try:
            yield entry.load()
        except Exception as error:  # noqa: PERF203 - one that fails must not hide the others
            # Whatever another distribution's module does when it is imported, our own tools go on.
            logger.warning("The tool %s of %s cannot be loaded: %r", entry.name, entry.value, error)


def code_facts() -> list[tuple[object, ...]]:
    """What changes with these distributions' code: their versions, and the files of their packages."""
    facts: list[tuple[object, ...]] = []
    for entry in _entry_points():
        facts.append((entry.name, entry.value, entry.dist.version if entry.dist else ""))
        spec = find_spec(entry.module.partition(".")[0])
        for folder in (spec.submodule_search_locations or [spec.origin or ""]) if spec else []:
            facts += source_files(folder)
    return facts


def source_files(root: str) -> list[tuple[object, ...]]:
    """Name, size and time of the Python files in a folder, or of one file."""
    if os.path.isfile(root):
        facts = os.stat(root)
        return [(root, facts.st_size, facts.st_mtime_ns)]
    facts_of_files: list[tuple[object, ...]] = []
    folders = [root]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    facts = entry.stat()
                    facts_of_files.append((entry.path, facts.st_size, facts.st_mtime_ns))
                elif entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    folders.append(entry.path)
    return facts_of_files


def _entry_points() -> list[EntryPoint]:
    if not any(map(_may_have_tools, sys.path)):
        return []
    # Imports a mail reader, which takes longer than an answer that was kept.
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def _may_have_tools(root: str) -> bool:
    """Whether some distribution in a folder of the path names the group; an archive may hold any."""
    if os.path.isfile(root):
        return True
    with suppress(OSError):
        names = (name for name in os.listdir(root or os.curdir) if name[-5:].lower() == "-info")
        return any(_names_group(os.path.join(root, name, "entry_points.txt")) for name in names)
    return False


def _names_group(path: str) -> bool:
    with suppress(OSError), open(path, "rb", buffering=0) as file:
        return GROUP.encode() in file.read()
    return False
