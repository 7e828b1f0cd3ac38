"""The op profile as the existing plugin answers: a tree with and one without idle time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.xla.op import XlaOp
from ..analysis.xla.op_profile import ProfileNode, tree
from ..analysis.xla.roofline import OpSums, Peaks
from ..formats.xspace.hlo import program_text
from ..model.devices.properties import device_type, hardware_type
from ..model.host import Host
from ..runtime.units import PS_PER_S
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from ..tools.columns import xla

_KEYS = {"program": "byProgram", "category": "byCategory", "provenance": "byProvenance", "source": "bySource"}


def op_profile(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """Two trees of the ops' time: with the devices' idle time, and without."""
    peak_options = (str(options[name]) for name in ("peak_tflops", "peak_gbps"))
    table, peaks, bounds = xla.all_ops(hosts, *peak_options)
    group_by = str(options["group_by"])
    root, key = tree(table.ops, bounds, group_by), _KEYS[group_by]
    other = [_node_without_ops("Other work", table.other_ps)] if table.other_ps else []
    idle = [_node_without_ops("IDLE", table.idle_ps)] if table.idle_ps else []
    busy_ps = table.self_ps + table.other_ps
    return {
        key: _root_node(root, peaks, busy_ps + table.idle_ps, [*other, *idle]),
        f"{key}ExcludeIdle": _root_node(root, peaks, busy_ps, other),
        "deviceType": hardware_type(device_type(hosts)),
        "aggDvfsTimeScaleMultiplier": 0,
    }


def _root_node(root: ProfileNode, peaks: Peaks, total_ps: int, extra_nodes: list[Json]) -> Json:
    fields = _node(root, peaks, total_ps)
    children = sorted([*fields["children"], *extra_nodes], key=lambda node: -node["metrics"]["rawTime"])
    fields |= {"children": children, "numChildren": len(children)}
    fields["metrics"] |= {"rawTime": total_ps, "occurrences": 0, "avgTimePs": 0}
    return fields


def _node(node: ProfileNode, peaks: Peaks, total_ps: int) -> Json:
    children = [_node(child, peaks, total_ps) for child in node.sorted_children()]
    fields = {"name": node.name, "metrics": _metrics(node.sums, peaks, total_ps), "children": children}
    if node.op:
        fields["xla"] = _xla_fields(node.op)
    return fields | {"numChildren": len(children)}


def _metrics(sums: OpSums, peaks: Peaks, total_ps: int) -> Json:
    share = sums.self_ps / total_ps if total_ps else 0.0
    seconds = sums.self_ps / PS_PER_S
    compute = sums.flops / seconds / peaks.best_flops if seconds and peaks.best_flops else 0.0
    memory = sums.bytes / seconds / peaks.bandwidth if seconds and peaks.bandwidth else 0.0
    has_bound = sums.bounded_ps > 0
    return {
        "flops": min(compute, 1.0) * share,
        "bandwidthUtils": [min(memory, 1.0), 0, 0],
        "rawTime": sums.self_ps,
        "rawFlops": sums.flops,
        "rawBytesAccessedArray": [sums.bytes, 0, 0],
        "occurrences": sums.executions,
        "avgTimePs": sums.self_ps / sums.executions if sums.executions else 0,
        "bf16Flops": sums.flops,
        "uncappedFlops": compute * share,
        "normalizedTimePs": sums.self_ps,
        "utilization": compute,
        "boundTimePs": sums.bound_ps if has_bound else None,
        "wastedPs": sums.wasted_ps if has_bound else None,
        "unknownPs": sums.unknown_ps,
    }


def _xla_fields(op: XlaOp) -> Json:
    file, _, line = op.source.rpartition(":")
    source = {"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0, "stackFrame": "\n".join(op.stack)}
    return {
        "op": "",
        "expression": op.text,
        "provenance": f"{op.op_name}:" if op.op_name else "",
        "category": op.category,
        "computationPrimitiveSize": 0,
        "fingerprint": "0",
        "programId": program_text(op.program) or "0",
        "sourceInfo": source,
        "xprofKernelMetadata": "",
    }


def _node_without_ops(name: str, time: int) -> Json:
    sums = OpSums(self_ps=time)
    return {
        "name": name,
        "metrics": _metrics(sums, Peaks(), 0),
        "children": [],
        "xla": _xla_fields(XlaOp(-1, "", name, category=name)),
        "numChildren": 0,
    }
