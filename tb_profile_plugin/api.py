"""What `tb_profile_plugin.open` returns: a session with its tools."""

from __future__ import annotations

import os

from . import store, tools
from .model.session import Session
from .runtime.executors import executor
from .tools.base import JsonValue


class Capture(Session):
    """A session that answers by the names of its tools."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], spec: str = "") -> Capture:
        """The capture at a logdir (its newest session), a run folder or a single file."""
        return cls(store.resolve(path), executor=executor(spec))

    def tool(self, name: str, host: str = "", **options: str) -> JsonValue:
        """A tool's JSON data for one host, or for all with nothing; options as ``tb-profile tool`` takes them.

        Raises `ProblemError` for a tool, a host or an option that does not exist, and for an unreadable capture.
        """
        return tools.get(name).run(self, host, **options)
