"""What each device of a host did; the CPU stands for it where there is none."""

from __future__ import annotations

from ....model.host import Host
from ....model.per_host import per_host
from ....model.profiler_options import is_unrecorded
from .cpu_work import work_of_cpu
from .plane_work import plane_work
from .work import DeviceWork


@per_host
def device_work(host: Host) -> tuple[DeviceWork, ...]:
    """One for each device that recorded something; the CPU where the capture names no other device; else none."""
    if host.devices:
        works = [plane_work(host, plane) for plane in host.devices]
    elif host.cpu is None or is_unrecorded(host):
        return ()
    else:
        works = [work_of_cpu(host)]
    return tuple(work for work in works if len(work))


@per_host
def host_work(host: Host) -> tuple[DeviceWork, ...]:
    """`device_work`; where devices recorded nothing, what the CPU computes, even if that is nothing, too."""
    return device_work(host) or ((work_of_cpu(host),) if host.cpu is not None and len(host.cpu.events) else ())
