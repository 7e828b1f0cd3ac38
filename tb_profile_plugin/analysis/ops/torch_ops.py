"""PyTorch's ops by name, by input shapes and by source line, and what each ``nn.Module`` costs, forward and backward.

As PyTorch's plugin for TensorBoard counted: ops nest by time on their thread, an op directly within one of its own name
is part of that one, and what runs on a device belongs to the op that launched it (tb_plugin, ``op_agg.py``,
``module_parser.py``). Unlike there, modules count what their gradients cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.events.links import LAUNCH
from ...model.host import Host
from ...model.names import kernels
from ...model.per_host import per_host
from ...runtime.arrays import I64, Array, Bool
from ...runtime.records import mutable_record, record
from ...runtime.regex import regex
from .callers import user_lines

_DRIVER = regex(r"(?:runtime|driver)$", re.IGNORECASE)
"""End of the categories of calls of a driver."""


@mutable_record
class CallCost:
    """What calls of something cost; times in ps, over all threads and streams."""

    calls: int = 0
    host_total: int = 0
    host_self: int = 0
    """Without ops inside and calls of the driver; of modules, without modules inside."""
    device_total: int = 0
    device_self: int = 0
    """What it launched itself, not within ops (or modules) inside."""
    tensor_core: int = 0
    """Part of ``device_self`` in kernels that are known to use tensor cores."""
    backward_host: int = 0
    """For modules, time of ops that compute the gradients of ops inside, modules inside included."""
    backward_device: int = 0

    def add(self, other: CallCost) -> None:
        """Add the other's figures."""
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))


Costs = dict[tuple[str, str], CallCost]
"""By name and a second text: shapes, a source line, or nothing."""


@record
class TorchOps:
    """Costs on one or many hosts."""

    by_name: Costs
    """Ops, by name alone."""
    by_shapes: Costs
    """Ops, by name and shapes of inputs; empty where none are recorded."""
    by_source_line: Costs
    """Ops, by name and source line; empty where none is known."""
    by_module: Costs
    """Modules, by path, e.g. ``Net_0/Conv2d_0``."""
    by_range: Costs
    """What the program, or torch itself, names by ``record_function``; self time is without ranges inside."""


def merged(host_ops: Iterable[TorchOps]) -> TorchOps:
    """The sums over hosts."""
    total = TorchOps({}, {}, {}, {}, {})
    for ops in host_ops:
        for name, costs in vars(ops).items():
            for key, cost in costs.items():
                getattr(total, name).setdefault(key, CallCost()).add(cost)
    return total


@per_host(keep=True)
def torch_ops(host: Host) -> TorchOps:
    """What ops and modules of a host cost; all empty where the capture is none of PyTorch's profiler."""
    plane = host.cpu
    if plane is None or not any(category in vocabulary.TORCH_OPS for category in plane.categories):
        return TorchOps({}, {}, {}, {}, {})
    return _HostOps(host, plane).torch_ops()


class _HostOps:
    """The ops of one host; arrays are over the n events of its threads, which they name by their rows."""

    def __init__(self, host: Host, plane: Plane):
        self.host, self.plane = host, plane
        self.name = plane.events.name.astype(np.int64)
        rows = host.trace.slice_of(plane)
        parent, last = host.trace.nesting
        self.parent = np.maximum(parent[rows].astype(np.int64) - rows.start, -1)
        """int64[n]: the event directly around each one, or -1."""
        self.last = last[rows].astype(np.int64) - rows.start
        """int64[n]: the end of the rows that each one encloses."""
        self.ps: I64 = plane.events.duration
        self.is_call = self._has_category(lambda category: _DRIVER.search(category) is not None)
        self.is_op = self._is_op()
        self.outer_op = self._outer(self.is_op)
        self.launched_ps, self.on_tensor_cores_ps = self._launched()
        self.launched_before = np.concatenate(([0], np.cumsum(self.launched_ps)))
        """int64[n + 1] ps: what all earlier events launched."""

    def torch_ops(self) -> TorchOps:
        """The costs of all ops, modules and ranges."""
        ops = np.flatnonzero(self.is_op)
        is_outer_call = self.is_call & (self._outer(self.is_op | self.is_call) == self.outer_op)
        costs = self._costs(self.is_op, self.outer_op, np.concatenate((ops, np.flatnonzero(is_outer_call))))
        names = self.plane.names
        stat = self.plane.stat(vocabulary.INPUT_SHAPES)
        codes, texts = stat.codes
        shape, shapes = np.zeros(len(self.name), np.int64), ["", *("".join(text.split()) for text in texts)]
        shape[stat.owner] = codes + 1
        line, lines = self._lines()
        is_range = self._has_category(vocabulary.TORCH_RANGE.__eq__)
        return TorchOps(
            _costs_by_texts(costs, self.name[ops], names),
            _costs_by_texts(costs, self.name[ops], names, shape[ops], shapes) if len(shapes) > 1 else {},
            _costs_by_texts(costs, self.name[ops], names, line[ops], lines) if len(lines) > 1 else {},
            self._modules(),
            _costs_by_texts(self._costs(is_range, self._outer(is_range)), self.name[is_range], names),
        )

    def _is_op(self) -> Bool:
        """bool[n]: ops, but those directly within one of their own name, which are part of that one."""
        is_op = self._has_category(vocabulary.TORCH_OPS.__contains__)
        outer = self._outer(is_op)
        outer_name = np.where(outer >= 0, self.name[outer], -1)
        return is_op & (outer_name != self.name)

    def _has_category(self, condition: Callable[[str], bool]) -> Bool:
        """bool[n]: events whose category meets the condition."""
        return np.array([condition(category) for category in self.plane.categories], bool)[self.name]

    def _outer(self, is_marked: Bool) -> I64:
        """int64[n]: the nearest marked event around each one, or -1."""
        outer: I64 = self.parent.copy()
        while (unmarked := np.flatnonzero((outer >= 0) & ~is_marked[outer])).size:
            # Each hop takes what its target has reached so far.
            outer[unmarked] = outer[outer[unmarked]]
        return outer

    def _costs(self, is_marked: Bool, outer: I64, inner_rows: Array | None = None) -> dict[str, I64]:
        """int64[k] by field of a `CallCost`, without those of gradients: the costs of each marked event.

        ``outer`` is the marked event around each event. Self time is without that of ``inner_rows``; without these, of
        the marked events inside. What is launched counts for the nearest marked event.
        """
        marked_rows, size = np.flatnonzero(is_marked), len(is_marked)
        inner_rows = marked_rows if inner_rows is None else inner_rows
        nearest = np.where(is_marked, np.arange(size), outer)
        inner_ps = _sums(outer[inner_rows], self.ps[inner_rows], size)[marked_rows]
        launched_ps = self.launched_before[self.last[marked_rows]] - self.launched_before[marked_rows]
        self_launched_ps, tensor_core_ps = (
            _sums(nearest, values, size)[marked_rows] for values in (self.launched_ps, self.on_tensor_cores_ps)
        )
        ps = self.ps[marked_rows]
        return {
            "calls": np.ones(len(marked_rows), np.int64),
            "host_total": ps,
            "host_self": np.maximum(ps - inner_ps, 0),
            "device_total": launched_ps,
            "device_self": self_launched_ps,
            "tensor_core": tensor_core_ps,
        }

    def _launched(self) -> tuple[I64, I64]:
        """int64[n] ps each: what each call led to on devices, and of it on tensor cores."""
        trace, rows = self.host.trace, self.host.trace.slice_of(self.plane)
        links = trace.links
        is_launch = (links.kind == LAUNCH) & (links.source >= rows.start) & (links.source < rows.stop)
        source, target = links.source[is_launch] - rows.start, links.target[is_launch]
        ps = (trace.end - trace.begin)[target]
        is_on_tensor_cores = np.zeros(len(trace), bool)
        for offset, plane in trace.parts:
            if plane.name.startswith(vocabulary.DEVICE):
                uses_tensor_core = np.array([kernels.uses_tensor_core(name) for name in plane.heads], bool)
                is_on_tensor_cores[offset : offset + len(plane.events)] = uses_tensor_core[plane.events.name]
        size = len(self.name)
        return _sums(source, ps, size), _sums(source, np.where(is_on_tensor_cores[target], ps, 0), size)

    def _lines(self) -> tuple[Array, list[str]]:
        """(int64[n], source lines): the innermost line of the program around each event; 0 where none is known."""
        number, lines = user_lines(self.plane)
        outer = self._outer(number > 0)
        return np.where(number > 0, number, np.where(outer >= 0, number[outer], 0)), lines

    def _modules(self) -> Costs:
        """`TorchOps.by_module`, where modules are told from one another by those that they were called in."""
        prefix, labels = vocabulary.TORCH_MODULE, self.plane.display_names
        modules = [label.removeprefix(prefix) if label.startswith(prefix) else "" for label in labels]
        is_module = np.array([bool(name) for name in modules], bool)[self.name]
        if not is_module.any():
            return {}
        frames, outer = np.flatnonzero(is_module), self._outer(is_module)
        path_of_frame, paths, path_index = np.zeros(len(is_module), np.int64), [""], dict[tuple[int, int], int]()
        for frame, name in zip(frames.tolist(), self.name[frames].tolist(), strict=True):
            outer_path = int(path_of_frame[outer[frame]]) if outer[frame] >= 0 else 0
            if (outer_path, name) not in path_index:
                path_index[outer_path, name] = len(paths)
                paths.append(f"{paths[outer_path]}/{modules[name]}".lstrip("/"))
            path_of_frame[frame] = path_index[outer_path, name]
        costs = _costs_by_texts(self._costs(is_module, outer), path_of_frame[frames], paths)
        self._add_backward(costs, is_module | (outer >= 0))
        return costs

    def _add_backward(self, costs: Costs, in_module: Bool) -> None:
        """Add to each module what ops outside of all modules cost that compute the gradients of ops inside of it."""
        stat = self.plane.stat(vocabulary.TF_OP)
        codes, texts = stat.codes
        text_of_event = np.full(len(self.is_op), -1, np.int64)
        text_of_event[stat.owner] = codes
        gradients = np.flatnonzero(self.is_op & ~in_module & (text_of_event >= 0) & (self.outer_op < 0))
        launched_ps = self.launched_before[self.last[gradients]] - self.launched_before[gradients]
        host_ps = _sums(text_of_event[gradients], self.ps[gradients], len(texts))
        device_ps = _sums(text_of_event[gradients], launched_ps, len(texts))
        for text, backward_host, backward_device in zip(texts, host_ps.tolist(), device_ps.tolist(), strict=True):
            path = text.split("/")
            for depth in range(1, len(path)) if backward_host or backward_device else ():
                cost = costs.get(("/".join(path[:depth]), ""))
                if cost:
                    cost.backward_host += backward_host
                    cost.backward_device += backward_device


def _sums(rows: Array, values: Array, size: int) -> I64:
    """int64[size]: sums of the values by row; row -1 is left out. Exact: floats would lose picoseconds."""
    sums = np.zeros(size, np.int64)
    is_valid = rows >= 0
    np.add.at(sums, rows[is_valid], values[is_valid])
    return sums


def _costs_by_texts(
    costs: Mapping[str, I64],
    name: Array,
    names: Sequence[str],
    text: Array | None = None,
    texts: Sequence[str] = ("",),
) -> Costs:
    """The costs of those that share a name and a text; ``name`` and ``text`` are indices, of the first text if None."""
    if not len(name):
        return {}
    text = np.zeros(len(name), np.int64) if text is None else text
    example, code = combine(name, text)
    sums = {field: _sums(code, values, len(example)).tolist() for field, values in costs.items()}
    sums_by_texts: Costs = {}
    for i, row in enumerate(example.tolist()):
        cost = CallCost(**{field: values[i] for field, values in sums.items()})
        sums_by_texts.setdefault((names[int(name[row])], texts[int(text[row])]), CallCost()).add(cost)
    return sums_by_texts
