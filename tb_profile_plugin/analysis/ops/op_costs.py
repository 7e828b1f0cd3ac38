"""What ops cost beside what their events state: by the instructions of XLA programs that they are made of.

The work is in `xla_costs`, which is imported only for captures with XLA programs and of TPUs: others start faster.
"""

from __future__ import annotations

from ...formats.columns import vocabulary
from ...model.host import Host
from ...model.per_host import per_host
from .op_table import OpTable
from .rates import Rates


def _has_programs(host: Host) -> bool:
    """Whether costs can be known: XLA's programs are in the capture, or a TPU's events state them."""
    return bool(host.modules or host.tpus)


def add_costs(host: Host, table: OpTable) -> None:
    """Fill in, in place, FLOPs and bytes of ops, what limits them, and where they come from; on the CPU also the time
    in which threads of a pool go on with XLA's ops.
    """
    computes_on_cpu = not host.devices and host.cpu is not None and host.cpu.has_stat(vocabulary.HLO_OP)
    if _has_programs(host) or computes_on_cpu:
        from .xla_costs import add_xla_costs

        add_xla_costs(host, table)


@per_host(keep=True)
def rates(host: Host) -> Rates:
    """What the host's devices calculated; empty without XLA's programs."""
    if not _has_programs(host):
        return Rates()
    from .xla_costs import xla_rates

    return xla_rates(host)
