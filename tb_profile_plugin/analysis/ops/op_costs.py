"""What ops cost beside what their events state: by the instructions of XLA programs that they are made of.

Only captures with XLA programs, and of TPUs, are looked at for it; what looks is imported for these alone.
"""

from __future__ import annotations

from ...model.host import Host
from ...model.per_host import per_host
from .op_table import OpTable
from .rates import Rates


def _tells(host: Host) -> bool:
    """Whether anything could tell what the host's ops cost."""
    return bool(host.modules or host.tpus)


def costed(host: Host, table: OpTable) -> OpTable:
    """The table, its ops with what their instructions cost, what holds them up, and where they come from."""
    if _tells(host):
        from .xla_costs import fill

        fill(host, table)
    return table


@per_host(keep=True)
def rates(host: Host) -> Rates:
    """See `Rates`."""
    if not _tells(host):
        return Rates()
    from .xla_costs import rates_of

    return rates_of(host)
