"""What the routes of the timeline share: the hosts of a request on one clock, its range of time, its lanes.

Times are ps since the first event of the hosts that are shown, on clocks that collectives align. A lane or an event is
named ``host.number``, where ``host`` is an index into the session's hosts, so that names do not depend on which hosts
are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request

from ...runtime.memo import lazy
from ...runtime.messages import Message, shortened
from ...store import ALL_HOSTS
from ..workspace import Workspace
from .query import bounded_integer, is_number, parameter_error

if TYPE_CHECKING:
    from ...model.host import Host
    from ...timeline.host_view import HostView
    from ...timeline.selection import LaneRows
    from ...timeline.tiles import HostTimeline, Timeline

_LONGEST_NAME = 300
"""Letters of a name that are sent."""
_MOST_LISTED = 4000
"""Lanes in a request."""


class Hosts:
    """The hosts of a request, on one clock; most functions take a host's index in `views`."""

    def __init__(self, workspace: Workspace, request: Request, run_parameter: str = "run"):
        """``run_parameter`` names the session, or its baseline, in which an unknown host stands for all of them."""
        run = request.args.get(run_parameter, "")
        if not run:
            raise parameter_error(run_parameter, Message("The parameter {of} is missing.", of=repr(run_parameter)))
        self._workspace, host = workspace, request.args.get("host", "")
        self.session = workspace.session(run)
        self.host_name = host if run_parameter == "run" or host in self.session.hosts else ALL_HOSTS
        # Not for all of more hosts than fit into memory: each would be decoded anew.
        self.why = request.args.get("why") == "1" and (host in self.session.hosts or self.session.fits)
        self._raw_clocks = request.args.get("clocks") == "raw"

    @lazy
    def views(self) -> list[HostView]:
        """What it takes to draw the hosts, without their events."""
        return self._workspace.views.views_of(self.session, self.host_name)

    def host(self, index: int) -> Host:
        """The decoded host; ask for one after another, so that not all need be in memory."""
        return self.session.host(self.views[index].host)

    @lazy
    def host_indices(self) -> list[int]:
        """Indices of ``views`` among the session's hosts."""
        return [self.session.hosts.index(view.host) for view in self.views]

    @lazy
    def clocks(self) -> dict[str, Any] | None:
        """As `Workspace.host_clocks`; None for a single host."""
        return self._workspace.host_clocks(self.session) if len(self.views) > 1 else None

    @lazy
    def _ahead_ps(self) -> list[int]:
        """By how much each host's clock is ahead; empty where the request wants times as they were recorded."""
        if self._raw_clocks or self.clocks is None:
            return []
        return [self.clocks["ahead_ps"].get(view.host, 0) for view in self.views]

    @lazy
    def shifts(self) -> list[int]:
        """By host, ps that are added to its own times to bring them onto the request's clock."""
        from ...model import clock

        return clock.shifts(self.views, self._ahead_ps)

    @property
    def duration(self) -> int:
        """ps: from the first event of all hosts to the last one's end."""
        from ...model import clock

        return clock.duration(self.views, ahead_ps=self._ahead_ps)

    def timeline(self, index: int) -> Timeline:
        """The host's timeline; behind all others, if the request wants them, lanes that tell why devices are idle."""
        return self.decoded_timeline(index) if self.why else self.views[index].timeline

    def decoded_timeline(self, index: int) -> HostTimeline:
        """The host's `timeline` with its events, for which the host is decoded."""
        from ...timeline.tiles import timeline
        from ...timeline.why import why_timeline

        return why_timeline(self.host(index)) if self.why else timeline(self.host(index))

    def is_recorded(self, index: int, lane_index: int) -> bool:
        """Whether the lane was recorded, rather than made to tell why a device is idle."""
        return lane_index < len(self.views[index].timeline.rows)

    def host_and_number(self, text: str, kind: str) -> tuple[int, int]:
        """(index in ``views``, number) of a lane or event, ``host.number``; raises `ProblemError` for another host."""
        host, dot, number = text.partition(".")
        if not (dot and is_number(host) and is_number(number)) or int(host) not in self.host_indices:
            raise parameter_error(
                kind, Message("{text} names no {what} of the hosts that are shown.", text=repr(text), what=kind)
            )
        return self.host_indices.index(int(host)), int(number)

    def lane(self, text: str) -> tuple[int, int]:
        """(index in ``views``, index of the lane); raises `ProblemError` where there is none."""
        index, lane_index = self.host_and_number(text, "lane")
        if lane_index >= len(self.timeline(index).rows):
            raise parameter_error("lane", Message("There is no lane {text}.", text=repr(text)))
        return index, lane_index


def time_range(request: Request, hosts: Hosts, prefix: str = "") -> tuple[int, int]:
    """(begin, end) of the request, ps; raises `ProblemError` where the range is empty.

    The parameters are ``{prefix}begin`` and ``{prefix}end``.
    """
    # Pages may look beyond the ends, and at least a µs.
    limit = 2 * hosts.duration + 1_000_000
    begin = bounded_integer(request, f"{prefix}begin", -limit, limit, 0)
    end = bounded_integer(request, f"{prefix}end", -limit, limit, hosts.duration)
    if end <= begin:
        raise parameter_error(f"{prefix}end", Message("The range of time is empty."))
    return begin, end


def comma_separated(request: Request, name: str) -> list[str]:
    """The parts of a parameter between its commas; raises `ProblemError` for too many."""
    parts = [part for part in request.args.get(name, "").split(",") if part]
    if len(parts) > _MOST_LISTED:
        raise parameter_error(name, Message("{count} are too many to show.", count=len(parts)))
    return parts


def short_name(name: str) -> str:
    """A name as it is sent, cut where it is very long."""
    return shortened(name, _LONGEST_NAME)


def selected_areas(hosts: Hosts, request: Request) -> list[tuple[int, LaneRows]]:
    """(index of the host, rows of a lane) from each ``lane:low-high`` of the request, but of lanes not recorded."""
    from ...timeline.selection import LaneRows

    areas = []
    for text in comma_separated(request, "lanes"):
        lane, _, bounds = text.partition(":")
        low, _, high = bounds.partition("-")
        index, lane_index = hosts.lane(lane)
        if hosts.is_recorded(index, lane_index):
            has_rows = is_number(low) and is_number(high)
            areas.append((index, LaneRows(lane_index, int(low), int(high)) if has_rows else LaneRows(lane_index)))
    return areas
