"""What the routes of the timeline share: the hosts of a request on one clock, its range of time, its lanes.

Times are ps since the first event of the hosts that are shown, on clocks that collectives align. A lane or an event is
named ``host.number``, where the host is its place among the session's hosts, so that a name stays good whichever hosts
are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request

from ...runtime.memo import lazy
from ...runtime.messages import Message
from ..workspace import Workspace
from .query import ALL_HOSTS, bad, bounded_integer, is_number

if TYPE_CHECKING:
    from ...model.host import Host
    from ...timeline.selection import Area
    from ...timeline.tiles import HostTimeline, Timeline
    from ...timeline.view import View

_LONGEST_NAME = 300
_MOST_LISTED = 4000


class Hosts:
    """The hosts that a request is about, on one clock."""

    def __init__(self, workspace: Workspace, request: Request, of: str = "run"):
        """``of`` is the parameter that names the session; a host that it lacks stands for all of them."""
        run = request.args.get(of, "")
        if not run:
            raise bad(of, Message("The parameter {of} is missing.", of=repr(of)))
        self._workspace, host = workspace, request.args.get("host", "")
        self.session = workspace.session(run)
        self.host_name = host if of == "run" or host in self.session.hosts else ALL_HOSTS
        # Of more hosts than fit into memory, each would be decoded anew.
        self.why = request.args.get("why") == "1" and (host in self.session.hosts or self.session.fits)
        self._is_raw = request.args.get("clocks") == "raw"

    @lazy
    def views(self) -> list[View]:
        """All that it takes to look at them."""
        return self._workspace.views.of(self.session, self.host_name)

    def host(self, index: int) -> Host:
        """The same, decoded; of many hosts one after another, so that not all need be in memory."""
        return self.session.host(self.views[index].host)

    @lazy
    def host_indices(self) -> list[int]:
        """Places of ``views`` among the session's hosts."""
        return [self.session.hosts.index(view.host) for view in self.views]

    @lazy
    def clocks(self) -> dict[str, Any] | None:
        """As `Workspace.host_clocks`; None for a single host."""
        return self._workspace.host_clocks(self.session) if len(self.views) > 1 else None

    @lazy
    def _ahead_ps(self) -> list[int]:
        """By how much each host's times are too late; nothing where the request wants them as they were recorded."""
        if self._is_raw or self.clocks is None:
            return []
        return [self.clocks["ahead_ps"].get(view.host, 0) for view in self.views]

    @lazy
    def shifts(self) -> list[int]:
        """ps: added to a host's own time it is that of the request."""
        from ...model import clock

        return clock.shifts(self.views, self._ahead_ps)

    @property
    def duration(self) -> int:
        """ps: from the first event of all hosts to the last one's end."""
        from ...model import clock

        return clock.duration(self.views, ahead_ps=self._ahead_ps)

    def timeline(self, index: int) -> Timeline:
        """With lanes that tell why devices are idle, behind all others, where they are asked for."""
        return self.of_host(index) if self.why else self.views[index].timeline

    def of_host(self, index: int) -> HostTimeline:
        """The same of the decoded host."""
        from ...timeline.tiles import timeline
        from ...timeline.why import why_timeline

        return why_timeline(self.host(index)) if self.why else timeline(self.host(index))

    def is_recorded(self, index: int, lane_index: int) -> bool:
        """Whether the lane is there without being asked for."""
        return lane_index < len(self.views[index].timeline.rows)

    def pair(self, text: str, what: str) -> tuple[int, int]:
        """(index in ``views``, number) of a lane or event."""
        host, dot, number = text.partition(".")
        if not (dot and is_number(host) and is_number(number)) or int(host) not in self.host_indices:
            raise bad(what, Message("{text} names no {what} of the hosts that are shown.", text=repr(text), what=what))
        return self.host_indices.index(int(host)), int(number)

    def lane(self, text: str) -> tuple[int, int]:
        """(index in ``views``, place) of a lane; raises `ProblemError` where there is none."""
        index, lane_index = self.pair(text, "lane")
        if lane_index >= len(self.timeline(index).rows):
            raise bad("lane", Message("There is no lane {text}.", text=repr(text)))
        return index, lane_index


def time_range(request: Request, hosts: Hosts, prefix: str = "") -> tuple[int, int]:
    """(begin, end) of the request, ps; raises `ProblemError` where nothing lies between.

    The names of both parameters have the prefix.
    """
    limit = 2 * hosts.duration + 1_000_000
    begin = bounded_integer(request, f"{prefix}begin", -limit, limit, 0)
    end = bounded_integer(request, f"{prefix}end", -limit, limit, hosts.duration)
    if end <= begin:
        raise bad(f"{prefix}end", Message("The range of time is empty."))
    return begin, end


def listed(request: Request, name: str) -> list[str]:
    """The parts of a parameter between its commas; raises `ProblemError` for too many."""
    parts = [part for part in request.args.get(name, "").split(",") if part]
    if len(parts) > _MOST_LISTED:
        raise bad(name, Message("{count} are too many to show.", count=len(parts)))
    return parts


def short(name: str) -> str:
    """A name as it is sent, cut where it is very long."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def selected_areas(hosts: Hosts, request: Request) -> list[tuple[int, Area]]:
    """(index of the host, rows of a lane) as the request lists them, but for lanes that were not recorded."""
    from ...timeline.selection import Area

    areas = []
    for text in listed(request, "lanes"):
        lane, _, bounds = text.partition(":")
        low, _, high = bounds.partition("-")
        index, lane_index = hosts.lane(lane)
        if hosts.is_recorded(index, lane_index):
            some = is_number(low) and is_number(high)
            areas.append((index, Area(lane_index, int(low), int(high)) if some else Area(lane_index)))
    return areas
