"""Everything that is asked of a capture: by the model, by every tool, by the timeline and by exports."""

from contextlib import suppress
from pathlib import Path

from tb_profile_plugin import compat
from tb_profile_plugin.api import Capture
from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.model.host import Host, HostWithSteps
from tb_profile_plugin.runtime.problems import Problem, ProblemError
from tb_profile_plugin.store import StoredSession
from tb_profile_plugin.timeline import chrome, perfetto
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.tiles import timeline
from tb_profile_plugin.tools import all_tools

PROGRAMS = ("op_profile", "hlo_stats", "roofline_model", "memory_viewer")
"""Tools of XLA's programs that have an old shape."""


def work_out(space: XSpace) -> None:
    """What every tool asks of the model."""
    host = Host("fuzz", space).with_steps()
    assert len(host.trace) == len(host.grouped_steps.group_of)
    assert host.window[0] <= host.window[1]
    assert all(module.title for module in host.modules.values())


class Damaged(Capture):
    """A session of one host that is decoded already."""

    def __init__(self, space: XSpace):
        super().__init__(StoredSession("damaged", Path(), ()))
        self.hosts = ("fuzz",)
        self._only = Host("fuzz", space).with_steps()

    def host(self, name: str) -> HostWithSteps:
        return self._only

    def problems(self) -> list[Problem]:
        return self._only.problems


def ask_every_tool(space: XSpace) -> None:
    session = Damaged(space)
    for tool in all_tools().values():
        with suppress(ProblemError):
            tool.run(session, "fuzz")
        if tool.name in PROGRAMS:
            with suppress(ProblemError):
                compat.answer(tool, session, "fuzz")
    for kind in ("graph", "short_txt", "long_txt", "adj_nodes", "custom_call"):
        with suppress(ProblemError):
            compat.graph_document(all_tools()["graph_viewer"], session, "fuzz", {"type": kind})
    host = session.host("fuzz")
    for pieces in (chrome.pieces([host]), perfetto.pieces([host])):
        assert sum(map(len, pieces))
    for place in range(len(timeline(host).rows)):
        timeline(host).slices([(place, 0)], *host.window, 100)
    search(host, Pattern("a"))
