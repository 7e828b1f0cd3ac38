"""PyTorch's ops by name, by input shapes and by source line, and what each ``nn.Module`` costs, forward and backward.

As PyTorch's plugin for TensorBoard counted: ops nest by time on their thread, an op directly within one of its own name
is part of that one, and what runs on a device belongs to the op that launched it (tb_plugin, ``op_agg.py``,
``module_parser.py``). Unlike there, modules count what their gradients cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.events.links import LAUNCH
from ...model.host import Host
from ...model.names import kernels
from ...model.per_host import per_host
from ...runtime.arrays import I64, Array, Bool
from ...runtime.regex import regex
from .callers import MODULE, own_lines

_SHAPES = "Input Dims"
_DRIVER = regex(r"(?:runtime|driver)$", re.IGNORECASE)
"""End of the categories of calls of a driver."""


@dataclass
class Cost:
    """What calls of something cost; times in ps, over all threads and streams."""

    calls: int = 0
    host_total: int = 0
    host_self: int = 0
    """Without ops inside and calls of the driver; of modules, without modules inside."""
    device_total: int = 0
    device_self: int = 0
    """What it launched itself, not within ops (or modules) inside."""
    tensor_core: int = 0
    """Of ``device_self``, in kernels that are known to use tensor cores."""
    backward_host: int = 0
    """Of modules: ops that compute the gradients of ops inside, modules inside included."""
    backward_device: int = 0

    def add(self, other: Cost) -> None:
        """Take the other's figures in."""
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))


Costs = dict[tuple[str, str], Cost]
"""By name, and by what is told apart besides: shapes, a source line, or nothing."""


@dataclass(frozen=True)
class TorchOps:
    """Of one or many hosts."""

    names: Costs
    shapes: Costs
    lines: Costs
    modules: Costs
    """By path, e.g. ``Net_0/Conv2d_0``."""
    ranges: Costs
    """What the program, or torch itself, names by ``record_function``; self time is without ranges inside."""


def merged(of_hosts: Iterable[TorchOps]) -> TorchOps:
    """The sums over hosts."""
    total = TorchOps({}, {}, {}, {}, {})
    for one in of_hosts:
        for target, more in zip(vars(total).values(), vars(one).values(), strict=True):
            for key, cost in more.items():
                target.setdefault(key, Cost()).add(cost)
    return total


@per_host(keep=True)
def torch_ops(host: Host) -> TorchOps:
    """What ops and modules of a host cost; all empty where the capture is none of PyTorch's profiler."""
    plane = host.cpu
    if plane is None or not any(category in vocabulary.TORCH_OPS for category in plane.categories):
        return TorchOps({}, {}, {}, {}, {})
    return _Ops(host, plane).torch_ops()


class _Ops:
    """The ops of one host; arrays are over the events of its threads."""

    def __init__(self, host: Host, plane: Plane):
        self.host, self.plane = host, plane
        rows = host.trace.rows(plane)
        parent, last = host.trace.nesting
        self.parent = np.maximum(parent[rows].astype(np.int64) - rows.start, -1)
        self.last = last[rows].astype(np.int64) - rows.start
        self.ps: I64 = plane.events.duration
        of_name = np.array([category in vocabulary.TORCH_OPS for category in plane.categories], bool)
        is_call = np.array([_DRIVER.search(category) is not None for category in plane.categories], bool)
        is_op, self.is_call = of_name[plane.events.name], is_call[plane.events.name]
        self.above = _nearest(self.parent, is_op)
        # Directly within one of its own name: part of that one.
        outer = np.where(self.above >= 0, plane.events.name[self.above], -1)
        self.is_op: Bool = is_op & (outer != plane.events.name)
        self.above = _nearest(self.parent, self.is_op)
        self.launched, self.on_tensor_cores = self._launched()

    def torch_ops(self) -> TorchOps:
        ops = np.flatnonzero(self.is_op)
        inside = np.where(self.is_op, np.arange(len(self.is_op)), self.above)
        calls = np.flatnonzero(self.is_call & (_nearest(self.parent, self.is_op | self.is_call) == self.above))
        costs = self._costs(ops, np.concatenate((ops, calls)), self.above, inside)
        name = self.plane.events.name[ops].astype(np.int64)
        names = self.plane.names
        stat = self.plane.stat(_SHAPES)
        codes, texts = stat.codes
        shape, shapes = self._texts(ops, stat.owner, codes, ["".join(text.split()) for text in texts])
        line, lines = self._lines(ops)
        return TorchOps(
            _grouped(costs, name, names, np.zeros(len(ops), np.int64), [""]),
            _grouped(costs, name, names, shape, shapes) if len(shapes) > 1 else {},
            _grouped(costs, name, names, line, lines) if len(lines) > 1 else {},
            self._modules(),
            self._costs_of_ranges(),
        )

    def _costs_of_ranges(self) -> Costs:
        is_range = np.array([category == vocabulary.TORCH_RANGE for category in self.plane.categories], bool)
        marked = is_range[self.plane.events.name]
        at, above = np.flatnonzero(marked), _nearest(self.parent, marked)
        inside = np.where(marked, np.arange(len(marked)), above)
        name = self.plane.events.name[at].astype(np.int64)
        return _grouped(self._costs(at, at, above, inside), name, self.plane.names, np.zeros(len(at), np.int64), [""])

    def _costs(self, at: Array, parts: Array, above: Array, inside: Array) -> Array:
        """int64[k, 6]: the fields of a `Cost` up to ``tensor_core`` of each of the events.

        Time of ``parts`` is not that of what is ``above`` them itself; ``inside`` int64[n] tells what a launch is of.
        """
        size = len(above)
        children = _sums(above[parts], self.ps[parts], size)
        own, cores = (_sums(inside, values, size) for values in (self.launched, self.on_tensor_cores))
        until = np.concatenate(([0], np.cumsum(self.launched)))
        total = until[self.last[at]] - until[at]
        ones = np.ones(len(at), np.int64)
        return np.stack([ones, self.ps[at], np.maximum(self.ps[at] - children[at], 0), total, own[at], cores[at]], 1)

    def _launched(self) -> tuple[I64, I64]:
        """int64[n] ps each: what each call led to on devices, and of it on tensor cores."""
        trace, rows = self.host.trace, self.host.trace.rows(self.plane)
        links = trace.links
        is_launch = (links.kind == LAUNCH) & (links.source >= rows.start) & (links.source < rows.stop)
        source, target = links.source[is_launch] - rows.start, links.target[is_launch]
        ps = (trace.end - trace.begin)[target]
        cores = np.zeros(len(trace), bool)
        for first, plane in trace.parts:
            if plane.name.startswith(vocabulary.DEVICE):
                uses_cores = np.array([kernels.uses_tensor_core(name) for name in plane.heads], bool)
                cores[first : first + len(plane.events)] = uses_cores[plane.events.name]
        size = len(self.plane.events)
        return _sums(source, ps, size), _sums(source, np.where(cores[target], ps, 0), size)

    def _texts(self, at: Array, owner: Array, codes: Array, texts: Sequence[str]) -> tuple[Array, list[str]]:
        """(int64[k], texts): the text of each of the events; 0 stands for none."""
        of_event = np.zeros(len(self.is_op), np.int64)
        of_event[owner] = codes + 1
        return of_event[at], ["", *texts]

    def _lines(self, ops: Array) -> tuple[Array, list[str]]:
        """(int64[k], source lines): the innermost line of the program itself around each op; 0 where none is known."""
        number, lines = own_lines(self.plane)
        above = _nearest(self.parent, number > 0)
        return np.where(number > 0, number, np.where(above >= 0, number[above], 0))[ops], lines

    def _modules(self) -> Costs:
        labels = self.plane.display_names
        modules = [name.removeprefix(MODULE) if name.startswith(MODULE) else "" for name in labels]
        is_module = np.array([bool(name) for name in modules], bool)[self.plane.events.name]
        if not is_module.any():
            return {}
        frames, above = np.flatnonzero(is_module), _nearest(self.parent, is_module)
        number, paths, path_index = np.zeros(len(is_module), np.int64), [""], dict[tuple[int, int], int]()
        for frame, name in zip(frames.tolist(), self.plane.events.name[frames].tolist(), strict=True):
            outer_path = int(number[above[frame]]) if above[frame] >= 0 else 0
            if (outer_path, name) not in path_index:
                path_index[outer_path, name] = len(paths)
                paths.append(f"{paths[outer_path]}/{modules[name]}".lstrip("/"))
            number[frame] = path_index[outer_path, name]
        inside = np.where(is_module, np.arange(len(is_module)), above)
        costs = _grouped(
            self._costs(frames, frames, above, inside), number[frames], paths, np.zeros(len(frames), np.int64), [""]
        )
        self._backward(costs, inside)
        return costs

    def _backward(self, costs: Costs, inside: Array) -> None:
        """Add what ops outside of all modules cost that compute the gradients of ops inside."""
        stat = self.plane.stat(vocabulary.TF_OP)
        codes, texts = stat.codes
        path = np.full(len(self.is_op), -1, np.int64)
        path[stat.owner] = codes
        late = np.flatnonzero(self.is_op & (inside < 0) & (path >= 0) & (self.above < 0))
        until = np.concatenate(([0], np.cumsum(self.launched)))
        host = _sums(path[late], self.ps[late], len(texts))
        device = _sums(path[late], until[self.last[late]] - until[late], len(texts))
        for text, on_host, on_device in zip(texts, host.tolist(), device.tolist(), strict=True):
            parts = text.split("/")
            for depth in range(1, len(parts)) if on_host or on_device else ():
                cost = costs.get(("/".join(parts[:depth]), ""))
                if cost:
                    cost.backward_host += on_host
                    cost.backward_device += on_device


def _nearest(parent: I64, marked: Bool) -> I64:
    """int64[n]: the nearest marked event around each one, or -1."""
    answer = parent.copy()
    while (climbs := np.flatnonzero((answer >= 0) & ~marked[answer])).size:
        # Each hop takes what its target has found so far.
        answer[climbs] = answer[answer[climbs]]
    return answer


def _sums(at: Array, values: Array, size: int) -> I64:
    """int64[size]: sums of the values by place; -1 is nowhere. Exact: floats would lose picoseconds."""
    answer = np.zeros(size, np.int64)
    is_valid = at >= 0
    np.add.at(answer, at[is_valid], values[is_valid])
    return answer


def _grouped(costs: Array, name: Array, names: Sequence[str], more: Array, texts: Sequence[str]) -> Costs:
    """The costs of those that share a name and a further text."""
    if not len(costs):
        return {}
    example, code = combine(name, more)
    sums = np.zeros((len(example), costs.shape[1]), np.int64)
    np.add.at(sums, code, costs)
    answer: Costs = {}
    for at, row in zip(example.tolist(), sums.tolist(), strict=True):
        answer.setdefault((names[int(name[at])], texts[int(more[at])]), Cost()).add(Cost(*row))
    return answer
