"""The op of each event, on devices and on the host's threads, as the tool Ops tells them."""

from __future__ import annotations

import numpy as np

from ...formats.columns import Plane
from ...model.framework import op_names_of
from ...model.host import Host
from ...runtime.arrays import Array
from .device_ops import device_events
from .host_ops import _host_op_of_event
from .op_table import Op


def ops_of_events(host: Host, plane: Plane) -> tuple[Array, list[Op]]:
    """int32[events], the op of each event of a plane or -1, and the ops that these index."""
    for device, of_event, ops in device_events(host):
        if device is plane:
            return of_event, ops
    if plane is host.cpu and len(plane.events):
        return _host_op_of_event(plane, op_names_of(host))
    return np.full(len(plane.events), -1, np.int32), []
