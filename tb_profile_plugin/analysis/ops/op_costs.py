"""What ops cost beside what their events state: by the instructions of XLA programs that they are made of.

Only captures with XLA programs, and of TPUs, are looked at for it; what looks is imported for these alone.
"""

from __future__ import annotations

from ...model.host import Host
from ...model.per_host import per_host
from .op_table import OpTable
from .rates import Rates


def _has_programs(host: Host) -> bool:
    """Whether costs can be known: XLA's programs are in the capture, or a TPU's events state them."""
    return bool(host.modules or host.tpus)


def add_costs(host: Host, table: OpTable) -> None:
    """Fill in, in place, what the instructions of ops cost, what limits them, and where they come from."""
    if _has_programs(host):
        from .xla_costs import fill

        fill(host, table)


@per_host(keep=True)
def rates(host: Host) -> Rates:
    """Peak rates that bound the host's ops; empty without XLA's programs."""
    if not _has_programs(host):
        return Rates()
    from .xla_costs import rates_of

    return rates_of(host)
