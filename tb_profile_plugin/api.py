"""What `tb_profile_plugin.open` returns: a session with its tools."""

from __future__ import annotations

import os

from . import compat, store, tools
from .contract.answer import Json
from .model.session import Session
from .runtime.executors import executor


class Capture(Session):
    """A session that answers by the names of its tools."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], spec: str = "") -> Capture:
        """The capture at a logdir (its newest session), a run folder or a single file."""
        return cls(store.resolve(path), executor=executor(spec))

    def answer(self, name: str, host: str = "", **options: str) -> Json:
        """A tool's named answer (see docs/answers.md) for one host, or for all with nothing.

        Options as ``tb-profile tool`` takes them. Raises `ProblemError` for a tool, a host or an option that does not
        exist, and for an unreadable capture.
        """
        return tools.get(name).run(self, host, **options)

    def tool(self, name: str, host: str = "", **options: str) -> Json:
        """The same in the shape of the existing plugin, for scripts that were made for it."""
        return compat.answer(tools.get(name), self, host, **options)
