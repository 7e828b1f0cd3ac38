"""One clock for the hosts that are shown together: time since the first event on any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

_FAR_NS = 10**15
"""11 days: captures of one session are made together, so that clocks which differ by more are wrong."""


class HasClock(Protocol):
    """Anything with a host's own times, such as a `Host`."""

    @property
    def window(self) -> tuple[int, int]:
        """Begin and end of everything recorded, ps."""

    @property
    def origin_ns(self) -> int:
        """What the wall clock said at 0, or 0 where it is not known."""


def comparable(hosts: Sequence[HasClock]) -> bool:
    """Whether all captures state the time of day, and nearly the same one, or none does."""
    origins = [host.origin_ns for host in hosts]
    return len({origin == 0 for origin in origins}) == 1 and max(origins) - min(origins) < _FAR_NS


def shifts(hosts: Sequence[HasClock], ahead_ps: Sequence[int] = ()) -> list[int]:
    """What to add to each host's own times, ps: by the clock where they are `comparable`, else by their starts.

    ``ahead_ps`` is what each host's clock is ahead beyond that, where it is known.
    """
    starts = [host.origin_ns * 1000 for host in hosts] if comparable(hosts) else [-host.window[0] for host in hosts]
    origins = [origin - ahead for origin, ahead in zip(starts, ahead_ps or [0] * len(starts), strict=True)]
    start = min(host.window[0] + origin for host, origin in zip(hosts, origins, strict=True))
    return [origin - start for origin in origins]


def duration(hosts: Sequence[HasClock], windows: Sequence[tuple[int, int]] = (), ahead_ps: Sequence[int] = ()) -> int:
    """From the first event to the end of the last, ps; or from begin to end of these ``windows`` of the hosts.

    ``ahead_ps`` is that of `shifts`.
    """
    spans = zip(windows or [host.window for host in hosts], shifts(hosts, ahead_ps), strict=True)
    shifted = [(begin + shift, end + shift) for (begin, end), shift in spans]
    return max(end for _, end in shifted) - min(begin for begin, _ in shifted)
