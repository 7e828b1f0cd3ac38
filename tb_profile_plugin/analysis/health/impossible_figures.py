"""Figures of a capture that cannot be: what `model.devices.plausible` keeps off the pages, counted once per kind."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...formats.columns import vocabulary
from ...model.devices import plausible
from ...model.devices.properties import host_facts
from ...model.host import Host
from ...model.names import kernels
from ...model.per_host import per_host
from ...runtime.messages import Message, message
from ..ops.gpu_copies import copies_of_host


@per_host(keep=True)
def impossible_figures(host: Host) -> list[str]:
    """What is stated that cannot be, in words: ``12 launches with impossible registers per thread (at most 255)``."""
    vendor = plausible.vendor(host.gpus[0].facts()) if host.gpus else ""
    limit_counts: Counter[plausible.Limit] = Counter()
    for plane in [*host.gpus, *([host.cpu] if host.cpu else [])]:
        codes, texts = plane.stat(vocabulary.KERNEL_DETAILS).codes
        for text, count in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
            limit = plausible.exceeded_limit(kernels.parse_launch(text), vendor)
            if limit:
                limit_counts[limit] += count
    figures = [
        Message(
            "{count, plural, one {# launch} other {# launches}} with impossible {what} (at most {most})",
            count=count,
            what=message(limit.description),
            most=f"{limit.most:,.0f}",
        )
        for limit, count in limit_counts.items()
    ]
    fast_copies = sum(
        copies.sized_count
        for copies in copies_of_host(host)
        if copies.stated_bandwidth is not None and copies.bandwidth is None
    )
    if fast_copies:
        figures.append(
            Message("{count, plural, one {# copy} other {# copies}} faster than the device's memory", count=fast_copies)
        )
    facts = host_facts(host)
    names = [name for name, value in facts.items() if name.endswith("_percent") and _is_impossible_share(value)]
    return [*figures, *(f"{name}={facts[name]:.3g}" for name in names)]


def _is_impossible_share(value: object) -> bool:
    return isinstance(value, int | float) and plausible.percent(value) is None
