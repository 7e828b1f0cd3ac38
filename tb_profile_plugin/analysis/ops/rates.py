"""What devices calculated per time, of one host or of several."""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_S


class Rates(NamedTuple):
    """What a host's devices calculated, by the ops whose cost is known. Times in ps."""

    flops: float = 0.0
    """Floating-point operations."""
    at_peak_ps: float | None = None
    """What the model's FLOPs take at the peaks for their types; None where no peak is known."""
    window_ps: int = 0
    """From the first to the last event of a device, summed over devices."""
    self_ps: int = 0
    """Self time of the ops, without control flow and transfers."""
    unknown_ps: int = 0
    """Part of it in ops of which nothing tells the FLOPs."""
    may_multiply: bool = False
    """Whether any op may be a matrix product or a convolution, which the peak is of."""

    @property
    def utilization(self) -> float | None:
        """The model's FLOPs as a share of the peak, idle time included; None where no peak, or no product, is known."""
        if self.at_peak_ps is None or not self.window_ps or not self.flops or not self.may_multiply:
            return None
        return self.at_peak_ps / self.window_ps

    @property
    def flops_per_second(self) -> float | None:
        """The mean over devices, idle time included; None where nothing is known."""
        return self.flops / (self.window_ps / PS_PER_S) if self.window_ps and self.flops else None


def summed_rates(rates: Sequence[Rates]) -> Rates:
    """The sums over hosts."""
    active = [rate for rate in rates if rate.window_ps]
    peaks = [rate.at_peak_ps for rate in active]
    return Rates(
        sum(rate.flops for rate in active),
        sum(peak or 0.0 for peak in peaks) if active and None not in peaks else None,
        sum(rate.window_ps for rate in active),
        sum(rate.self_ps for rate in active),
        sum(rate.unknown_ps for rate in active),
        any(rate.may_multiply for rate in active),
    )
