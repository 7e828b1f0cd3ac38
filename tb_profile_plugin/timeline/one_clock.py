"""What brings the hosts of a session onto one clock, as the Timeline shows them."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import clock
from ..model.host import Host, window
from ..model.per_host import need
from ..model.session import Session
from ..store import ALL_HOSTS


def shifts(session: Session, host: str = "", *, as_recorded: bool = False) -> dict[str, int]:
    """ps by host: added to a host's own times they are since the first event of all, on clocks that collectives align
    unless they are wanted as they were recorded. Empty for a single host, whose times are since its own first event.

    Raises `ProblemError` where no host can be read.
    """
    if len(session.hosts) < 2 or host not in ("", ALL_HOSTS):
        return {}
    from ..analysis.workers.late_peers import NEEDS, late_peers

    hosts = session.select("", [need(function) for function in (window, *NEEDS)])
    peers = None if as_recorded else late_peers(hosts)
    shift_ps = clock.shifts(hosts, peers.host_offset_ps if peers else ())
    return dict(zip((selected.name for selected in hosts), shift_ps, strict=True))


def zero_of(host: Host, shifts_of_hosts: Mapping[str, int]) -> int:
    """ps of a host's own times that are 0 in `shifts`; its first event where it is not among them."""
    return -shifts_of_hosts[host.name] if host.name in shifts_of_hosts else host.window[0]
